"""Settings of the tests: the product's own, with a private data folder and plain static names."""

import os
import tempfile

os.environ["EVALSITE_DATA"] = tempfile.mkdtemp(prefix="evalsite-tests-")
os.environ.setdefault("SECRET_KEY", "tests-only")

from evalsite.settings import *  # noqa: F403
from evalsite.settings import STORAGES

ALLOWED_HOSTS = ["*"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
JOBS_IN_PROCESS = False
