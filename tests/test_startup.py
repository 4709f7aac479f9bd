"""What starting the site imports: a command that needs no statistics, figures or files should not wait for them."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from celery import signals
from django.template import engines

from evalsite.celery import app
from evalsite.jobs import handlers, timing, workers
from evalsite.warming import warm_pages

# Each is imported where it is used.
_LARGE = {
    "boto3", "botocore", "celery", "cryptography", "drf_spectacular", "fontTools", "httpx", "jwt", "kombu",
    "latex2mathml", "markdown_it", "matplotlib", "nh3", "openpyxl", "pandas", "PIL", "pyarrow",
    "python_calamine", "redis", "regex", "scipy", "statsmodels",
}  # fmt: skip
# As in an installation without pandas, which pyarrow imports by itself where it finds it: evalsite needs none.
_SETUP = """
import os
import sys
sys.modules["pandas"] = None
os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
import django
django.setup()
"""
_CHECK = """
from django.core.management import call_command
call_command("check")
"""
_OF_A_FILE = """
import io
from django.core.management import call_command
call_command("analyse", "examples/ratings.csv", protocol="mrc-adequacy", format="json", stdout=io.StringIO())
"""
_OF_A_FILE_ALONE = """
import os
import sys
os.environ.pop("DJANGO_SETTINGS_MODULE", None)  # nobody sets it for the command
sys.modules["pandas"] = None
from evalsite.command import run
run(["evalsite", "analyse", "examples/ratings.csv"])
from django.conf import settings
assert not settings.configured
"""
_FIRST_ANALYSIS = """
import sys
from pathlib import Path
from evalsite.jobs.handlers import import_for_jobs
import_for_jobs()
before = set(sys.modules)
from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import from_protocol
from analysis.methods.study.study import run_study
settings = from_protocol("mrc-adequacy")
run_study(load_ratings(Path("examples/ratings.csv"), criteria=settings.criterion_names), settings)
for name in before:
    sys.modules.pop(name, None)
"""
_PRINT = """
import sys
print("imported:", *sorted({{".".join(name.split(".")[:{}]) for name, module in sys.modules.items() if module}}))
"""


def imported_by(code: str, n_words: int = 1) -> set[str]:
    """Return the modules that are imported in the end, by the first words of their names."""
    root = Path(__file__).parent.parent
    command = [sys.executable, "-c", code + _PRINT.format(n_words)]
    printed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=120).stdout
    return set(printed.partition("imported: ")[2].split())


def test_the_analysis_of_a_file_imports_nothing_of_the_site_that_is_large():
    imported = imported_by(_SETUP + _OF_A_FILE)
    assert {"scipy", "pyarrow"} <= imported
    assert not imported & (_LARGE - {"scipy", "pyarrow", "regex"} | {"psycopg", "requests", "rest_framework", "yaml"})


def test_the_command_that_analyses_a_file_imports_no_part_of_the_site():
    imported = imported_by(_OF_A_FILE_ALONE, 2)
    assert {"scipy.special", "analysis.stats", "django.core"} <= imported
    assert not imported & {
        *("evalsite.settings", "evalsite.urls", "evalsite.accounts", "evalsite.jobs", "django.contrib", "django.urls"),
        *("campaigns.models", "annotation.models", "analysis.models", "analysis.web", "crowd", "api", "desk"),
        *("rest_framework", "requests", "yaml", "jwt", "psycopg", "httpx", "PIL", "matplotlib", "scipy.stats"),
    }


def test_checks_import_no_large_library():
    assert imported_by(_SETUP + _CHECK) & _LARGE == set()


def test_checks_import_neither_what_pages_show_nor_what_jobs_do():
    imported = imported_by(_SETUP + _CHECK, 3)
    assert {"campaigns.urls", "analysis.models"} <= imported
    assert not imported & {
        *("analysis.templatetags.results", "campaigns.templatetags.hits", "analysis.results.result"),
        *("campaigns.views", "annotation.views.worker", "analysis.web.views", "crowd.views", "desk.views.system"),
        *("api.resources", "rest_framework", "prometheus_client.core", "segno"),
        *("campaigns.tasks", "analysis.web.tasks", "analysis.methods", "analysis.planning.plans"),
    }


def test_the_first_analysis_of_a_job_worker_imports_no_large_library():
    assert imported_by(_SETUP + _FIRST_ANALYSIS) & _LARGE == set()


def test_a_server_has_imported_views_handlers_and_plug_ins_before_the_first_request():
    imported = imported_by(_SETUP + "from evalsite.warming import warm_pages; warm_pages()", 4)
    assert {
        *("campaigns.views.campaigns", "annotation.views.worker", "api.resources.campaigns", "analysis.web.tasks"),
        *("campaigns.platforms.prolific.plugin", "campaigns.protocols.mrc", "campaigns.formats.markdown"),
    } <= imported


@pytest.mark.parametrize("server", ["wsgi", "asgi"])
def test_what_a_server_has_imported_is_not_searched_for_garbage(server: str, tmp_path: Path):
    code = f"import evalsite.{server}, gc; print(gc.get_freeze_count(), len(gc.get_objects()))"
    environment = os.environ | {"JOBS_IMPORT_EARLY": "1", "JOBS_IN_PROCESS": "0", "EVALSITE_DATA": str(tmp_path)}
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout
    n_kept, n_searched = map(int, printed.split()[-2:])
    assert n_kept > 100_000 > 10 * n_searched


def test_a_large_library_would_be_noticed():
    assert imported_by("import PIL") & _LARGE == {"PIL"}


def test_pandas_cannot_be_imported_unnoticed():
    with pytest.raises(subprocess.CalledProcessError):
        imported_by(_SETUP + "import pandas")


def test_pages_and_letters_are_ready_before_the_first_request():
    warm_pages()
    [loader] = engines["django"].engine.template_loaders
    assert {"crowd/payments.html", "analysis/ranking.html", "accounts/link_email.txt"} <= set(loader.get_template_cache)


@pytest.mark.parametrize("is_early", [True, False])
def test_celery_workers_import_what_jobs_need_when_they_start_if_they_may(
    monkeypatch: pytest.MonkeyPatch, is_early: bool
):
    imported = []
    monkeypatch.setattr(timing, "IMPORT_EARLY", is_early)
    monkeypatch.setattr(handlers, "import_for_jobs", lambda: imported.append("all"))
    signals.worker_init.send(sender=app)
    assert imported == ["all"] * is_early


@pytest.mark.parametrize("is_early", [True, False])
def test_the_worker_of_a_web_process_does_so_a_moment_later(monkeypatch: pytest.MonkeyPatch, is_early: bool):
    timers = []
    monkeypatch.setattr(workers, "_worker", None)
    monkeypatch.setattr(workers, "InProcessWorker", Mock)
    monkeypatch.setattr(workers, "IMPORT_EARLY", is_early)
    monkeypatch.setattr(workers.threading, "Timer", lambda *what: timers.append(what) or Mock())
    monkeypatch.setattr(workers.atexit, "register", Mock())
    workers.start_worker()
    assert timers == [(timing.IMPORT_AFTER_S, handlers.import_for_jobs)] * is_early
