"""Sets that may become larger than the memory."""

import sqlite3
from types import TracebackType
from typing import Self

_IN_MEMORY_KB = 16_000


class DiskSet:
    """Texts in a temporary file of this process, which has no name and is gone with it; a part is kept in memory.

    Texts that begin alike lie together: give what changes most slowly first. Use it in a `with` statement.
    """

    def __init__(self) -> None:
        # Pages are made by one thread after the other, some of a stream by another than the first.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_IN_MEMORY_KB}"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute("CREATE TABLE texts (text TEXT PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def add(self, text: str) -> bool:
        """Add a text; return whether it is new."""
        return self._database.execute("INSERT OR IGNORE INTO texts VALUES (?)", (text,)).rowcount == 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
