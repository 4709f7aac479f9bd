"""Which connections to the database a process keeps: settings of processes of their own."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from psycopg_pool import ConnectionPool

from evalsite.lib.databases import pool_options
from evalsite.lib.postgresql.base import DatabaseWrapper
from tests.faults.installation import Service, disk
from tests.services import make_postgres, postgres_answers

ROOT = Path(__file__).parents[1]
POSTGRES = "postgres://somebody@127.0.0.1:1/nowhere?application_name=evalsite"
# The settings alone are read much sooner.
NO_MODELS = "from django.core import asgi, wsgi; asgi.get_asgi_application = wsgi.get_wsgi_application = lambda: None"


def database_of(folder: Path, program: str, **environment: str) -> dict[str, Any]:
    """Return the database's settings as a process sees them that begins with these lines."""
    program = f"{program}; from django.conf import settings"
    found: dict[str, Any] = seen_by(folder, program, "settings.DATABASES['default']", **environment)
    return found


def seen_by(folder: Path, program: str, expression: str, **environment: str) -> Any:
    """Return what an expression gives in a process that begins with these lines."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_", "DJANGO_"))}
    own = {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "EVALSITE_DATA": str(folder), "JOBS_IN_PROCESS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; import json; print(json.dumps({expression}, default=str))"],
        cwd=ROOT,
        env=inherited | own | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("program", ["import evalsite.wsgi", "import evalsite.asgi"])
def test_threads_of_a_web_process_share_connections(tmp_path: Path, program: str) -> None:
    database = database_of(tmp_path, program, DATABASE_URL=POSTGRES)  # with the models
    assert database["OPTIONS"]["pool"]["max_size"] == 16
    assert database["OPTIONS"]["application_name"] == "evalsite"
    assert (database["CONN_MAX_AGE"], database["ENGINE"]) == (0, "evalsite.lib.postgresql")
    database = database_of(tmp_path, f"{NO_MODELS}; {program}", DATABASE_URL=POSTGRES, DATABASE_POOL="5")
    assert database["OPTIONS"]["pool"]["max_size"] == 5
    assert database["DISABLE_SERVER_SIDE_CURSORS"] is False


def test_cursors_of_the_server_can_be_left_out(tmp_path: Path) -> None:
    database = database_of(tmp_path, NO_MODELS, DATABASE_URL=POSTGRES, SERVER_SIDE_CURSORS="0")
    assert database["DISABLE_SERVER_SIDE_CURSORS"] is True


def test_who_waits_for_postgresql_has_a_connection_once_it_is_there(tmp_path: Path) -> None:
    """Many attempts fail meanwhile, and nobody else asks."""
    with disk() as folder:
        program = make_postgres(folder.postgres)
        postgres = Service(
            "postgres", program.command, tmp_path / "log", lambda: postgres_answers(program.url), user=program.user
        )
        failed = threading.Semaphore(0)

        def count(pool: ConnectionPool) -> None:
            failed.release()
            own["reconnect_failed"](pool)

        own = pool_options(4)
        shortened = own | {"timeout": 60, "reconnect_timeout": 0.2, "reconnect_failed": count}
        url = program.url.replace("postgres://", "postgresql://")
        with ConnectionPool(url, open=True, **shortened) as pool, ThreadPoolExecutor(3) as threads:
            waiting = [threads.submit(pool.getconn) for _ in range(3)]
            assert all(failed.acquire(timeout=60) for _ in range(5))
            assert not any(each.done() for each in waiting)
            postgres.start()
            try:
                for each in waiting:
                    pool.putconn(each.result())
            finally:
                postgres.kill()


@pytest.mark.parametrize("program", ["import evalsite.celery", "import evalsite.settings"])
def test_workers_and_commands_keep_connections_of_their_own(tmp_path: Path, program: str) -> None:
    database = database_of(tmp_path, program, DATABASE_URL=POSTGRES)
    assert "pool" not in database["OPTIONS"]
    assert database["CONN_MAX_AGE"] == 60


def test_a_web_process_may_do_without_a_pool(tmp_path: Path) -> None:
    database = database_of(tmp_path, f"{NO_MODELS}; import evalsite.wsgi", DATABASE_URL=POSTGRES, DATABASE_POOL="0")
    assert "pool" not in database["OPTIONS"]
    assert database["CONN_MAX_AGE"] == 60


@pytest.mark.parametrize("named", [False, True])
def test_sqlite_has_its_own_options_and_no_pool(tmp_path: Path, named: bool) -> None:
    url = f"sqlite:///{tmp_path / 'mine.sqlite3'}" if named else ""
    database = database_of(tmp_path, f"{NO_MODELS}; import evalsite.wsgi", DATABASE_URL=url)
    assert database["OPTIONS"].keys() == {"transaction_mode", "timeout", "factory", "init_command"}
    assert database["CONN_MAX_AGE"] == 60


def test_sqlite_acknowledges_what_is_on_the_disk(tmp_path: Path) -> None:
    """2 is FULL: SQLite's documentation of `PRAGMA synchronous`."""
    names = ("synchronous", "journal_mode")
    ask = f"[connection.cursor().execute('PRAGMA ' + name).fetchone()[0] for name in {names}]"
    program = f"{NO_MODELS}; import evalsite.wsgi; from django.db import connection"
    assert seen_by(tmp_path, program, ask, DATABASE_URL="", SQLITE_SYNCHRONOUS="") == [2, "wal"]


@pytest.mark.parametrize(("level", "pragma"), [("", "FULL"), ("full", "FULL"), ("NORMAL", "NORMAL")])
def test_how_often_sqlite_waits_for_the_disk_is_a_setting(tmp_path: Path, level: str, pragma: str) -> None:
    database = database_of(tmp_path, f"{NO_MODELS}; import evalsite.wsgi", SQLITE_SYNCHRONOUS=level)
    assert f"PRAGMA synchronous={pragma};" in database["OPTIONS"]["init_command"]


def test_a_level_that_would_lose_ratings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        database_of(tmp_path, "import evalsite.settings", SQLITE_SYNCHRONOUS="OFF")
    assert "SQLITE_SYNCHRONOUS='OFF' is none of FULL, NORMAL" in failed.value.stderr


@pytest.mark.databases("postgresql")
@pytest.mark.django_db(transaction=True)
def test_connections_that_the_server_has_closed_are_not_lent() -> None:
    options = connection.settings_dict["OPTIONS"] | {"pool": pool_options(3) | {"min_size": 3}}
    settings = connection.settings_dict | {"OPTIONS": options, "CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False}
    borrower = DatabaseWrapper(settings, "borrower")
    try:
        borrower.pool.open(wait=True)
        pids = set()
        for _ in range(6):
            with borrower.cursor() as cursor:
                pids.add(cursor.connection.info.backend_pid)
            borrower.close()
        assert len(pids) == 3
        with connection.cursor() as cursor:
            for pid in pids:
                cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
        for _ in range(6):
            with borrower.cursor() as cursor:
                cursor.execute("SELECT 1")
                assert cursor.fetchone() == (1,)
                assert cursor.connection.info.backend_pid not in pids
            borrower.close()
    finally:
        borrower.close_pool()
