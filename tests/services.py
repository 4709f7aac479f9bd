"""Private servers and browsers for tests, found on this machine: started on a free port, gone afterwards."""

import json
import os
import pwd
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import psycopg
import pytest
import redis

from evalsite.lib.env import env_bool

if TYPE_CHECKING:
    from selenium import webdriver

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The same browser without the code of its windows: a page takes half the processor's time.
HEADLESS_NAMES = ("chromium-headless-shell", "chrome-headless-shell")
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
# No cookies of third parties. Only this machine is reached without a proxy, and there is none. No process for
# extensions, and none before a page needs it.
FIREFOX_PREFERENCES = {
    "dom.ipc.processCount": 1,
    "dom.ipc.processPrelaunch.enabled": False,
    "extensions.enabledScopes": 0,
    "layout.frame_rate": 10,  # nobody watches
    "fission.webContentIsolationStrategy": 0,  # else keys and clicks do not reach a frame of another site
    "network.cookie.cookieBehavior": 1,
    "network.proxy.type": 1,
    "network.proxy.socks": "127.0.0.1",
    "network.proxy.socks_port": 9,
}
# Debian keeps WebKitGTK's browser among its libraries.
MINI_BROWSER_FOLDERS = "usr/lib/*/webkit*gtk-*"


def missing(service: str) -> NoReturn:
    """Skip the test that needs `service`, or fail it where REQUIRE_SERVICES says that all must be there."""
    reason = f"{service} is not installed on this machine"
    if env_bool("REQUIRE_SERVICES", False):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def find_program(*names: str, folders: str = "") -> Path | None:
    """Return the first of these programs on the PATH, or in the newest of the folders that match a glob."""
    for name in names:
        if found := shutil.which(name):
            return Path(found)
        for folder in sorted(Path("/").glob(folders), reverse=True) if folders else []:
            if (folder / name).exists():
                return folder / name
    return None


def free_port() -> int:
    """Return a port of this machine that nobody listens on.

    It is none of those that the system gives to whom no port matters, who would take it before it is used.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)  # not by the seed of the tests, which other processes share
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def wait_until(check: Callable[[], object], timeout_s: float, what: str) -> None:
    """Call `check` until it returns something true; fail the test, naming `what`, if it never does."""
    deadline = time.monotonic() + timeout_s
    while not check():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {timeout_s} s: {what}")
        time.sleep(0.05)


def site_answers(url: str) -> bool:
    """Tell whether the site at this address shows its page to sign in.

    It is for `wait_until`: each client of httpx reads all certificates, which takes longer than the request.
    """
    with suppress(OSError):
        return urllib.request.urlopen(f"{url}/accounts/sign-in/", timeout=2).status == 200
    return False


@contextmanager
def running_postgres(*, is_durable: bool = False) -> Iterator[str]:
    """Run a private PostgreSQL; yield its URL. Its user may create databases.

    What is committed survives a power cut only where it `is_durable`, at the usual cost.
    """
    folder = Path(tempfile.mkdtemp(prefix="evalsite-postgres-"))
    try:
        postgres = make_postgres(folder, is_durable=is_durable)
        with _running(postgres.command, folder, postgres.user):
            wait_until(lambda: postgres_answers(postgres.url), 60, "PostgreSQL answers")
            yield postgres.url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Program(NamedTuple):
    """How a private server is started, as whom, and its URL."""

    command: list[Any]
    user: str | None
    url: str


def make_postgres(folder: Path, *, is_durable: bool = False, initdb_options: Sequence[str] = ()) -> Program:
    """Make an empty PostgreSQL in an empty folder, which the user that it runs as gets; return how to start it."""
    initdb = find_program("initdb", folders="usr/lib/postgresql/*/bin")
    if initdb is None:
        missing("PostgreSQL")
    user = _unprivileged_user()
    port = free_port()
    if user:
        shutil.chown(folder, user)
    options = ["--username=evalsite", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", *initdb_options]
    subprocess.run([initdb, "-D", folder / "data", *options], user=user, cwd=folder, check=True, capture_output=True)
    settings = [f"unix_socket_directories={folder}", "listen_addresses=127.0.0.1"]
    settings += [] if is_durable else ["fsync=off"]
    command = [initdb.with_name("postgres"), "-D", folder / "data", "-p", str(port)]
    command += [word for setting in settings for word in ("-c", setting)]
    return Program(command, user, f"postgres://evalsite@127.0.0.1:{port}/postgres")


@contextmanager
def running_redis(port: int | None = None) -> Iterator[str]:
    """Run a private Redis that stores nothing; yield its URL."""
    server = make_redis(port or free_port())
    with (
        tempfile.TemporaryDirectory(prefix="evalsite-redis-") as folder,
        _running(server.command, Path(folder)),
    ):
        wait_until(lambda: redis_answers(server.url), 60, "Redis answers")
        yield server.url


def make_redis(port: int) -> Program:
    """Return how to start a Redis that stores nothing."""
    program = find_program("redis-server")
    if program is None:
        missing("Redis")
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    return Program(command, None, f"redis://127.0.0.1:{port}/0")


@contextmanager
def running_firefox() -> Iterator[str]:
    """Run Firefox without a window; yield the address where it is driven by WebDriver BiDi."""
    program = find_program("firefox-esr", "firefox") or missing("Firefox")
    with tempfile.TemporaryDirectory(prefix="evalsite-firefox-", ignore_cleanup_errors=True) as folder:
        preferences = (json.dumps(each)[1:-1] for each in FIREFOX_PREFERENCES.items())
        Path(folder, "user.js").write_text("\n".join(f"user_pref({each});" for each in preferences))
        with _running([program, "--headless", "--profile", folder, "--remote-debugging-port", "0"], Path(folder)):
            said, log = r"BiDi listening on (ws://\S+)", Path(folder, "log")
            wait_until(lambda: _said_in(log, said), 60, "Firefox listens")
            yield _said_in(log, said)


@contextmanager
def running_webkit() -> "Iterator[webdriver.WebKitGTK]":
    """Run WebKitGTK's browser on a screen that nobody sees; yield what drives it."""
    from selenium import webdriver  # it takes as long to import as Django, and every process of the tests comes here
    from selenium.webdriver.webkitgtk.service import Service

    screen, driver = find_program("Xvfb"), find_program("WebKitWebDriver")
    browser = find_program("MiniBrowser", folders=MINI_BROWSER_FOLDERS)
    if screen is None or driver is None or browser is None:
        missing("WebKitGTK (webkit2gtk-driver) or Xvfb")
    with tempfile.TemporaryDirectory(prefix="evalsite-webkit-", ignore_cleanup_errors=True) as folder:
        style = Path(folder, "gtk-3.0", "gtk.css")
        style.parent.mkdir()
        style.write_text("* { min-width: 0; padding: 0; }")  # else its window is 447 pixels wide at least
        command = [screen, "-displayfd", "1", "-screen", "0", "1440x1000x24", "-nolisten", "tcp", "-noreset"]
        with _running(command, Path(folder)):
            log = Path(folder, "log")
            display = r"(?m)^(\d+)$"
            wait_until(lambda: _said_in(log, display), 60, "Xvfb has a display")
            environment = os.environ | dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"), folder)
            environment |= {"DISPLAY": f":{_said_in(log, display)}", "GSETTINGS_BACKEND": "memory"}
            environment |= {"GTK_A11Y": "none", "NO_AT_BRIDGE": "1"}
            options = webdriver.WebKitGTKOptions()
            options.binary_location = str(browser)
            options.add_argument("--automation")
            service = Service(str(driver), env=environment)
            with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # Selenium's, of itself
                session = webdriver.WebKitGTK(options=options, service=service)
            session.set_page_load_timeout(20)  # else it may wait for five minutes for a page that is there
            try:
                yield session
            finally:
                session.quit()


def _said_in(log: Path, pattern: str) -> str:
    """Return the first group of a pattern where a program said it, "" before."""
    found = re.search(pattern, log.read_text(errors="replace"))
    return found[1] if found else ""


def new_database(server_url: str, name: str, template: str = "template1") -> str:
    """Create a database on the PostgreSQL server, empty or a copy of another; return its URL."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return f"{server_url.rpartition('/')[0]}/{name}"


@contextmanager
def _running(command: list, folder: Path, user: str | None = None) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, user=user, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _unprivileged_user() -> str | None:
    """Return whom to be for initdb, which refuses root; None where we are not root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def postgres_answers(url: str) -> bool:
    """Tell whether a PostgreSQL accepts connections."""
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def redis_answers(url: str) -> bool:
    """Tell whether a Redis works."""
    try:
        with redis.Redis.from_url(url) as client:
            return bool(client.ping())
    except redis.ConnectionError:  # it is not there, or still loads
        return False
