"""The records of a simulated platform: what exists there, and every effect that a call had, in order.

A test that asks whether something was paid twice reads the effects, not the state.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_TABLES = """
CREATE TABLE IF NOT EXISTS thing (kind TEXT, id TEXT, data TEXT, PRIMARY KEY (kind, id));
CREATE TABLE IF NOT EXISTS effect (
    number INTEGER PRIMARY KEY, at TEXT, operation TEXT, target TEXT, token TEXT, data TEXT
);
CREATE TABLE IF NOT EXISTS call (number INTEGER PRIMARY KEY, at TEXT, operation TEXT, outcome TEXT);
"""


@dataclass(frozen=True)
class Effect:
    """Something that a call has changed."""

    operation: str
    target: str
    token: str
    data: Mapping[str, Any]


class Ledger:
    """Things by kind and id, and effects. Threads share it; `changing` makes several changes one."""

    def __init__(self, path: Path | str = ":memory:", *, clock_skew_s: float = 0.0) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._skew = timedelta(seconds=clock_skew_s)
        self._database = sqlite3.connect(str(path), check_same_thread=False, isolation_level=None)
        self._database.executescript(_TABLES)

    def now(self) -> datetime:
        """Return the time by the platform's clock, which may be wrong."""
        return datetime.now(UTC) + self._skew

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make all changes of the block, or none if it raises; one block at a time."""
        with self._lock:
            if self._depth == 0:
                self._database.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0:
                    self._database.execute("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._database.execute("COMMIT")

    def put(self, kind: str, id: str, data: Mapping[str, Any]) -> None:
        """Store a thing in place of what had its id."""
        with self._lock:
            self._database.execute("REPLACE INTO thing VALUES (?, ?, ?)", (kind, id, json.dumps(dict(data))))

    def get(self, kind: str, id: str) -> dict[str, Any] | None:
        """Return a thing, None if there is none."""
        with self._lock:
            row = self._database.execute("SELECT data FROM thing WHERE kind = ? AND id = ?", (kind, id)).fetchone()
        return json.loads(row[0]) if row else None

    def remove(self, kind: str, id: str) -> None:
        """Forget a thing."""
        with self._lock:
            self._database.execute("DELETE FROM thing WHERE kind = ? AND id = ?", (kind, id))

    def all(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return all things of a kind by id, oldest first."""
        with self._lock:
            rows = self._database.execute(
                "SELECT id, data FROM thing WHERE kind = ? ORDER BY rowid", (kind,)
            ).fetchall()
        return {id: json.loads(data) for id, data in rows}

    def record(self, operation: str, target: str, token: str = "", **data: Any) -> None:
        """Write down that an operation had an effect on a target."""
        with self._lock:
            self._database.execute(
                "INSERT INTO effect (at, operation, target, token, data) VALUES (?, ?, ?, ?, ?)",
                (self.now().isoformat(), operation, target, token, json.dumps(data)),
            )

    def effects(self, operation: str | None = None) -> list[Effect]:
        """Return the effects of an operation, or of all, in order."""
        with self._lock:
            rows = self._database.execute(
                "SELECT operation, target, token, data FROM effect WHERE ? IS NULL OR operation = ? ORDER BY number",
                (operation, operation),
            ).fetchall()
        return [Effect(operation, target, token, json.loads(data)) for operation, target, token, data in rows]

    def note_call(self, operation: str, outcome: str) -> None:
        """Write down that a call came, and what became of it: `ok`, `refused` or the name of a fault."""
        with self._lock:
            self._database.execute(
                "INSERT INTO call (at, operation, outcome) VALUES (?, ?, ?)",
                (self.now().isoformat(), operation, outcome),
            )

    def calls(self) -> list[tuple[datetime, str, str]]:
        """Return the time, operation and outcome of every call, in order."""
        with self._lock:
            rows = self._database.execute("SELECT at, operation, outcome FROM call ORDER BY number").fetchall()
        return [(datetime.fromisoformat(at), operation, outcome) for at, operation, outcome in rows]
