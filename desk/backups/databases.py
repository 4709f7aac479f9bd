"""The database as files, taken at one moment while others write, and back: a way for each kind of database.

SQLite is copied by its backup API. Of PostgreSQL each table is a CSV file (COPY), read in one transaction; the tables
themselves are made again by migrations. So neither needs another program, nor one of the server's version.
"""

import csv
import json
import shutil
import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from evalsite.lib.errors import DomainError
from evalsite.lib.private_files import PrivateConnection

_BLOCK = 2**20


class DatabaseFiles(ABC):
    """How one kind of database becomes files."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the database, as it is at one moment, to files in an empty folder."""

    @abstractmethod
    def load(self, folder: Path, migrations: list[tuple[str, str]]) -> None:
        """Let the database be what the files say, and bring it to this version.

        `migrations` are those that it had. An error while the files are loaded leaves the database as it was.
        """


def database_files() -> DatabaseFiles:
    """Return the way of the database that is in use."""
    return _KINDS[connection.vendor]()


class SqliteFiles(DatabaseFiles):
    """One file, by the online backup API: writers go on meanwhile."""

    _NAME = "db.sqlite3"

    def save(self, folder: Path) -> None:
        """Copy the database with what its write-ahead log holds."""
        path = Path(connection.settings_dict["NAME"])
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=20)) as source,
            closing(PrivateConnection(folder / self._NAME)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file

    def load(self, folder: Path, migrations: list[tuple[str, str]]) -> None:
        """Check and migrate the copy, then put it in place of the database."""
        path, copy = Path(connection.settings_dict["NAME"]), folder / self._NAME
        with closing(sqlite3.connect(copy)) as checked:
            [found] = checked.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise DomainError("backup_damaged", f"The backup's database is damaged: {found}. Nothing was changed.")
        connection.close()
        try:
            connection.settings_dict["NAME"] = str(copy)
            call_command("migrate", verbosity=0, interactive=False)
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA journal_mode=DELETE")
        finally:
            connection.close()
            connection.settings_dict["NAME"] = str(path)
        draft = path.with_name(f"{path.name}.restored")
        shutil.move(copy, draft)  # to the disk of the database, from which a rename is one step
        for ending in ("-wal", "-shm"):  # they belong to the database that goes
            path.with_name(path.name + ending).unlink(missing_ok=True)
        draft.replace(path)


class PostgresFiles(DatabaseFiles):
    """A CSV file for each table, and the state of the sequences."""

    _SEQUENCES = "sequences.json"

    def save(self, folder: Path) -> None:
        """Read all tables in one transaction, which sees one moment."""
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for table, columns in _columns(cursor).items():
                with (
                    (folder / f"{table}.csv").open("wb") as file,
                    cursor.copy(f'COPY "{table}" ({_listed(columns)}) TO STDOUT WITH (FORMAT csv, HEADER)') as copy,
                ):
                    for block in copy:
                        file.write(block)
            cursor.execute(
                "SELECT pg_get_serial_sequence(quote_ident(table_name), column_name), table_name, column_name"
                " FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'"
            )
            last = {}
            for sequence, table, column in cursor.fetchall():
                cursor.execute(f"SELECT last_value FROM {sequence} WHERE is_called")
                if found := cursor.fetchone():
                    last[f"{table}.{column}"] = found[0]
        (folder / self._SEQUENCES).write_text(json.dumps(last, indent=1))

    def load(self, folder: Path, migrations: list[tuple[str, str]]) -> None:
        """Make the tables as they were, fill them, all in one transaction; then migrate to this version."""
        files = {path.stem: path for path in sorted(folder.glob("*.csv"))}
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            ours = {*connection.introspection.django_table_names(only_existing=True), "django_migrations", *files}
            cursor.execute(f"DROP TABLE IF EXISTS {_listed(sorted(ours))} CASCADE")
            _migrate_to(migrations)
            cursor.execute(f"TRUNCATE {_listed([*files])} RESTART IDENTITY CASCADE")  # what migrations put in
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")  # migrations may have left them immediate
            for table, path in files.items():
                _copy_in(cursor, table, path)
            for place, value in json.loads((folder / self._SEQUENCES).read_text()).items():
                table, _, column = place.rpartition(".")
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", [f'"{table}"', column, value])
        call_command("migrate", verbosity=0, interactive=False)


def _columns(cursor: Any) -> dict[str, list[str]]:
    """Return the columns of each table that hold values of their own."""
    cursor.execute(
        "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
        " USING (table_schema, table_name) WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
        " AND is_generated = 'NEVER' ORDER BY table_name, ordinal_position"
    )
    found: dict[str, list[str]] = {}
    for table, column in cursor.fetchall():
        found.setdefault(table, []).append(column)
    return found


def _migrate_to(migrations: list[tuple[str, str]]) -> None:
    """Apply these migrations to a database without tables."""
    executor = MigrationExecutor(connection)
    MigrationRecorder(connection).ensure_schema()
    everything = executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True)
    had = set(migrations)
    plan = [step for step in everything if (step[0].app_label, step[0].name) in had]
    executor.migrate([], plan=plan)


def _copy_in(cursor: Any, table: str, path: Path) -> None:
    with path.open("rb") as file:
        columns = next(csv.reader([file.readline().decode()]))
        with cursor.copy(f'COPY "{table}" ({_listed(columns)}) FROM STDIN WITH (FORMAT csv)') as copy:
            while block := file.read(_BLOCK):
                copy.write(block)


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


_KINDS: dict[str, type[DatabaseFiles]] = {"sqlite": SqliteFiles, "postgresql": PostgresFiles}
