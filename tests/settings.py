"""Settings of the tests: the product's own, with a private data folder and plain static names."""

import atexit
import os
import shutil
import tempfile

_folder, _pid = tempfile.mkdtemp(prefix="evalsite-tests-"), os.getpid()
os.environ["EVALSITE_DATA"] = _folder
os.environ.setdefault("SECRET_KEY", "tests sign with this, and nothing real does")
os.environ.pop("DATABASE_URL", None)
# Processes that tests start inherit it: a test kills them, and cuts no power.
os.environ["SQLITE_SYNCHRONOUS"] = "NORMAL"
# They live for seconds, and few of them analyse anything.
os.environ["JOBS_IMPORT_EARLY"] = "0"

from evalsite.settings import *  # noqa: F403
from evalsite.settings import STORAGES


@atexit.register
def _clean_up() -> None:
    if os.getpid() == _pid:  # not a forked worker
        shutil.rmtree(_folder, ignore_errors=True)


ALLOWED_HOSTS = ["*"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
JOBS_IN_PROCESS = False
EVALSITE_KEPT_KEYS = ""  # tests without a database make names, too
