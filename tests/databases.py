"""Databases of tests: made once a session, and copied for each process of the tests and each installation."""

import fcntl
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.test import override_settings

from tests.services import new_database

# Marks of tests. In a module with some on both, the others have the mark of SQLite: then its fixtures are made once for
# each database.
on_both = pytest.mark.databases("sqlite", "postgresql")
on_sqlite = pytest.mark.databases("sqlite")


def once(path: Path, make: Callable[[Path], object]) -> Path:
    """Return `path`: the first process of the session that asks for it makes it, the others wait."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            draft = path.with_name(f"{path.name}.draft")
            make(draft)
            draft.rename(path)
    return path


@contextmanager
def shared(path: Path, start: Callable[[], Any]) -> Iterator[str]:
    """Yield what the context manager `start` yields; processes of the session share it by the file `path`.

    The process that started it ends it when no other uses it any more.
    """
    with path.with_name(f"{path.name}.lock").open("w") as starting, path.open("a+") as users, ExitStack() as stack:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        is_mine = not path.read_text()
        if is_mine:
            path.write_text(stack.enter_context(start()))
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield path.read_text()
        if is_mine:
            fcntl.flock(users, fcntl.LOCK_EX)
            path.write_text("")


@contextmanager
def using_database(settings_: dict[str, Any]) -> Iterator[None]:
    """Let Django's connection be one to this database, also in threads that start in the block."""
    before = settings.DATABASES["default"]
    connections["default"].close()
    del connections["default"]
    settings.DATABASES["default"] = settings_
    connections.configure_settings(settings.DATABASES)
    try:
        yield
    finally:
        connections["default"].close()
        del connections["default"]
        settings.DATABASES["default"] = before


def sqlite_at(path: Path) -> dict[str, Any]:
    """Return the settings of a database of SQLite in a file."""
    return {**settings.DATABASES["default"], "NAME": str(path)}


def sqlite_copy(folder: Path, to: Path) -> None:
    """Copy the session's SQLite database."""
    shutil.copy(once(folder / "template.sqlite3", _make_sqlite), to)


def _make_sqlite(path: Path) -> None:
    with using_database(sqlite_at(path)):
        _make_tables()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")  # one file


def postgres_copy(server_url: str, folder: Path, name: str) -> str:
    """Copy the database of the session's PostgreSQL; return the copy's URL."""

    def make(done: Path) -> None:
        with using_database(dj_database_url.parse(new_database(server_url, "template"))):
            _make_tables()
        done.touch()

    # Whose server has ended begins another, which has no template yet.
    once(folder / f"postgres_template_{urlsplit(server_url).port}", make)
    return new_database(server_url, name, template="template")


def _make_tables() -> None:
    """Make the tables as the models say, in a tenth of the time that migrations take; note these as applied.

    `campaigns/test_migrations.py` tests that migrations make the same tables.
    """
    with override_settings(MIGRATION_MODULES={app.label: None for app in apps.get_app_configs()}):
        call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)
    call_command("migrate", verbosity=0, interactive=False, fake=True)


def migrate_to(*targets: tuple[str, str]) -> Any:
    """Migrate to these migrations, back or on; return all models as they are then."""
    state = MigrationExecutor(connection).migrate(list(targets))
    state.__dict__.pop("apps", None)  # models of a migration may point to others of one before
    return state.apps


@contextmanager
def migrated_back(*targets: tuple[str, str]) -> Iterator[Any]:
    """Migrate back to these migrations, give the models as they were then, and migrate to the newest at the end."""
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        yield migrate_to(*targets)
    finally:
        MigrationExecutor(connection).migrate(latest)


def at_once(n: int, act: Callable[[int], object]) -> None:
    """Call `act(k)` in n threads that start together and use the database; what one raises fails the test."""
    barrier, faults = threading.Barrier(n), []

    def run(k: int) -> None:
        try:
            barrier.wait()
            act(k)
        except Exception as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == [], [repr(fault) for fault in faults]
