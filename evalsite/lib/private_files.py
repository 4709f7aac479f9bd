"""Files that only the user who runs evalsite may read: the database, uploads, the key."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def make_private(path: Path) -> None:
    """Take every right to an existing file or folder from group and others.

    Leave what belongs to another user, and files whose rights cannot be set: read-only ones, or those on a share.
    """
    with suppress(OSError):
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            path.chmod(mode & 0o700)


class PrivateConnection(sqlite3.Connection):
    """A connection to SQLite that makes a new database private; its -wal and -shm files get the same rights."""

    def __init__(self, database: Any, *args: Any, **options: Any) -> None:
        if not str(database).startswith(("file:", ":memory:")):
            with suppress(OSError):  # it is there already, or SQLite says better what is wrong
                os.close(os.open(database, os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        super().__init__(database, *args, **options)
