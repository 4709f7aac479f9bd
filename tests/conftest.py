"""What every test may ask for: the cast, private servers, a browser. No test reaches the network."""

import gc
import ipaddress
import json
import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import dj_database_url
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client, TransactionTestCase
from django.test import client as test_client
from django.utils import timezone
from django.utils.crypto import get_random_string
from hypothesis import settings as hypothesis_settings
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright
from pytest_django import Settings

from evalsite.accounts.models import User
from evalsite.lib.env import env_bool
from tests import buckets, databases, services
from tests.campaigns.receiver import Receiver
from tests.chance import fixed_seeds, keep_drawing_tests, pytest_unconfigure  # noqa: F401
from tests.jobs.processes import make_installation
from tests.mail_server import SmtpServer

# Tests assert results, not times: a busy machine may take longer than the five seconds that a browser test waits for.
expect.set_options(timeout=20_000)
# By chance each time here, so that more is tried; the same each time where a change waits for it.
hypothesis_settings.register_profile("evalsite", deadline=None, derandomize=env_bool("CI", False))
hypothesis_settings.load_profile("evalsite")

# Playwright's synchronous API keeps an event loop in the test's thread; Django would refuse its ORM there.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


# Files are given to processes in this order, whole, so that what a module's tests share is made once: those that take
# longest first, so that no process is left alone with one at the end.
_LONG = (
    "test_browser_protocols",
    "test_all_pages",
    "test_permission_matrix",
    "test_browser_engines",
    "test_wheel",
    "test_release",
    "test_browser_analysis",
    "test_migrations",
    "test_processes",
    "test_browser_platforms",
    "test_looks_of_kinds",
    "test_open_link",
    "test_figures",
    "test_browser_chat",
    "test_concurrency",
    "test_backups",
    "test_resilience_chat",
    "test_resilience_rating",
    "test_faults",
    "test_comparison_campaigns",
    "test_browser_chat_trouble",
    "test_no_secret_appears",
    "test_campaign_attributes",
    "test_browser_chat_frame",
    "test_exactly_once_platforms",
    "test_downloads",
    "test_span_campaigns",
    "test_answered_campaigns",
    "test_once",
    "test_questions",
    "test_plans",
    "test_rated_replies",
    "test_browser_chat_access",
    "test_guide_commands",
    "test_stored_order",
    "test_client",
    "test_tutorial_items",
    "test_by_groups",
    "test_fuzz",
    "test_upgrades",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than processors: while one waits for a browser or for a server's lease, the others work."""
    n_processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_processors + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each process begin with modules of its own: rewritten and compiled, they are there when the others come.

    Nearly all that is made here stays: no garbage is looked for until it is finished.
    """
    own = getattr(session.config, "workerinput", None)
    if own is None:
        return
    gc.disable()
    if session.config.getoption("lf", False):  # few are needed
        return
    root = session.config.rootpath
    modules = sorted(path for folder in session.config.args for path in (root / folder).rglob("test_*.py"))
    for path in modules[int(own["workerid"].removeprefix("gw")) :: own["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):  # the collection reports it
            import_module(".".join(path.relative_to(root).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, then those with browsers; the rest keep their order."""
    keep_drawing_tests(items)
    places = {stem: place for place, stem in enumerate(_LONG)}
    items.sort(key=lambda item: (places.get(item.path.stem, len(_LONG)), "e2e" not in item.path.parts))


def pytest_collection_finish() -> None:
    """Collect garbage less often, and never look through what the whole session needs: a tenth of the CPU time."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is marked with databases, and uses one, on each of them."""
    mark = metafunc.definition.get_closest_marker("databases")
    is_stored = "db" in metafunc.fixturenames or metafunc.definition.get_closest_marker("django_db")
    if mark and (is_stored or "transactional_db" in metafunc.fixturenames):
        metafunc.parametrize("database", mark.args, indirect=True, scope="session")


# --- The databases


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that the processes of the session share."""
    folder = tmp_path_factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any, session_folder: Path) -> Iterator[None]:
    """Use a file for SQLite, as in production: threads that share one in memory never wait for a lock."""
    path = settings.DATA_DIR / "test.sqlite3"
    with django_db_blocker.unblock():
        databases.sqlite_copy(session_folder, path)
        # The one who closes the last connection waits for the disk: nobody does, as long as this one stays open.
        with databases.using_database(databases.sqlite_at(path)), closing(sqlite3.connect(path)) as one:
            one.execute("PRAGMA user_version").fetchone()
            yield


@pytest.fixture(scope="session")
def postgres_database(postgres_url: str, django_db_blocker: Any, session_folder: Path, worker_id: str) -> str:
    """The URL of this process's own database on PostgreSQL."""
    with django_db_blocker.unblock():
        return databases.postgres_copy(postgres_url, session_folder, f"test_{worker_id}")


@pytest.fixture(scope="session", autouse=True)
def database(request: pytest.FixtureRequest) -> Iterator[None]:
    """The database that Django uses: SQLite, but for tests that are marked with others."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield
        return
    request.getfixturevalue("django_db_setup")
    blocker = request.getfixturevalue("django_db_blocker")
    own = dj_database_url.parse(request.getfixturevalue("postgres_database"), conn_max_age=60)
    with blocker.unblock(), databases.using_database(own):
        yield


@pytest.fixture(scope="module")
def module_db(database: None, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Let fixtures of a module store what all its tests find; each undoes its own changes, and its end undoes all."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session", autouse=True)
def emptied_tables() -> Iterator[None]:
    """After a test that commits, delete what it left in few tables: to truncate all of them takes ten times as long.

    What Django makes of the models stays: content types and permissions.
    """
    models = set(apps.get_models(include_auto_created=True)) - {ContentType, Permission}
    tables = sorted({f'"{model._meta.db_table}"' for model in models})
    find_filled = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables)

    def empty_tables(_: TransactionTestCase) -> None:
        with transaction.atomic(), connection.cursor() as cursor:  # foreign keys are checked at its end
            cursor.execute(find_filled)
            for (table,) in cursor.fetchall():
                cursor.execute(f"DELETE FROM {table}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_tables)
        yield


@pytest.fixture(scope="session")
def installation(django_db_setup: None, django_db_blocker: Any, session_folder: Path) -> Path:
    """The data folder of an installation of one researcher, to be copied."""
    with django_db_blocker.unblock():
        return make_installation(session_folder)


@pytest.fixture(scope="session", autouse=True)
def static_folder() -> Iterator[None]:
    """Make the folder of collected files, without which WhiteNoise warns; a test that collects has one of its own.

    WhiteNoise looks at each file in it for each new `Client`, which takes longer than most requests.
    """
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    yield
    assert not [*settings.STATIC_ROOT.iterdir()], "a test has collected static files for all that come after it"


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Refuse every connection that would leave this machine."""
    connect = socket.socket.connect

    def connect_here_only(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
            raise RuntimeError(f"a test tried to reach {address[0]}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect_here_only)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_context() -> Iterator[None]:
    """Keep the context of a page for its test, and no copies for each of the templates that draw its form."""
    keep = test_client.store_rendered_templates

    def keep_first(store: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        if "context" not in store:
            keep(store, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_client, "store_rendered_templates", keep_first)
        yield


@pytest.fixture(autouse=True)
def no_use_counted() -> None:
    """Begin each test with nothing counted against a rate limit."""
    caches["rate_limits"].clear()


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real ratings and published tables that lies beside the checkout."""
    beside = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("EVALSITE_SHARED_DATA") or beside)
    return folder if folder.is_dir() else services.missing("EVALSITE_SHARED_DATA, the folder of real ratings,")


@pytest.fixture(scope="session")
def cases(shared_data: Path) -> Path:
    """Return the folder of files as people have them; the project has files of the same kinds, which tests write."""
    folder = shared_data.parent / "cases"
    if not folder.is_dir():
        pytest.skip("the files as people have them are not beside the real ratings")
    return folder


@pytest.fixture(scope="session")
def expected(cases: Path) -> dict[str, Any]:
    """Return what is right for each of these files, worked out apart from the project."""
    found: dict[str, Any] = json.loads((cases / "expected.json").read_text())
    return found


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[str]:
    with buckets.running_server() as url:
        yield url


@pytest.fixture
def bucket(bucket_server: str) -> Iterator[buckets.Bucket]:
    """The site keeps its files in a bucket, which is empty at first."""
    bucket = buckets.Bucket(bucket_server)
    with bucket.used():
        yield bucket


# --- The cast: everyone knows them


def make_owner() -> User:
    return User.objects.create_user("owner@example.org", "owner-password", name="Olu Owner")


@pytest.fixture
def owner(db: None) -> User:
    return (
        User.objects.filter(email="owner@example.org").first() or make_owner()
    )  # a fixture of the module may have made it


@pytest.fixture
def colleague(db: None) -> User:
    return User.objects.create_user("colleague@example.org", "colleague-password", name="Cleo Colleague")


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("stranger@example.org", "stranger-password", name="Sam Stranger")


@pytest.fixture
def owner_client(owner: User) -> Client:
    return signed_in(owner)


@pytest.fixture
def colleague_client(colleague: User) -> Client:
    return signed_in(colleague)


@pytest.fixture
def stranger_client(stranger: User) -> Client:
    return signed_in(stranger)


def signed_in(user: User) -> Client:
    """Return a client with a session of the user's, as `force_login` makes it, by one query instead of twenty."""
    signed_in = {
        SESSION_KEY: str(user.pk),
        BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
        HASH_SESSION_KEY: user.get_session_auth_hash(),
    }
    session = Session.objects.create(
        session_key=get_random_string(32),
        session_data=SessionStore().encode(signed_in),
        expire_date=timezone.now() + timedelta(days=1),
    )
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    return client


# --- Programs of researchers


@pytest.fixture(scope="session")
def one_receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def receiver(one_receiver: Receiver, settings: Settings) -> Receiver:
    """A receiver of webhooks on this machine, which the admin has allowed by its name."""
    settings.WEBHOOK_HOSTS = ["127.0.0.1", "*"]
    one_receiver.forget()
    return one_receiver


# --- Mail


@pytest.fixture
def smtp_server() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


# --- Private servers: skipped where the program is not installed, failed where REQUIRE_SERVICES is set


@pytest.fixture(scope="session")
def postgres_url(session_folder: Path) -> Iterator[str]:
    with databases.shared(session_folder / "postgres_url", services.running_postgres) as url:
        yield url


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with services.running_redis() as url:
        yield url


# --- The browser; Firefox and WebKit are in e2e/engines


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    program = services.find_program(*services.HEADLESS_NAMES, *services.CHROMIUM_NAMES) or services.missing("Chromium")
    browser = playwright.chromium.launch(executable_path=program, args=services.CHROMIUM_ARGS)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """What the pages of a module have in common: scripts that are fetched once."""
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that nothing is kept for: no cookie, no choice, no tab of the test before."""
    page = context.new_page()
    yield page
    everywhere = {"origin": "*", "storageTypes": "local_storage"}
    context.new_cdp_session(page).send("Storage.clearDataForOrigin", everywhere)
    for each in context.pages:
        each.close()
    context.unroute_all()
    context.set_offline(False)
    context.clear_cookies()
