"""Faults that pass by themselves or with some room on a disk: what a request is answered while they last."""

import errno
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from django.db import InterfaceError, OperationalError

from evalsite.lib.media import MediaAwayError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_POSTGRES_DISK_FULL = "53100"
_SQLITE_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_PRIMARY_CODE = 0xFF  # the rest of SQLite's codes says more


class Outage(NamedTuple):
    """The status of the answer, a stable code, and what people read."""

    status: int
    code: str
    title: str
    text: str


DISK_FULL = Outage(
    507,
    "disk_full",
    "The disk of this site is full",
    "What you sent was not saved. What was saved before is safe. Try again in some minutes; if it goes on, tell an "
    "administrator of this site that its disk is full.",
)
UNAVAILABLE = Outage(
    503,
    "unavailable",
    "This site does not answer at the moment",
    "Its database could not be reached in time. What was saved before is safe. Try again in a minute.",
)
FILES_AWAY = Outage(
    503,
    "files_unavailable",
    "The files of this site do not answer at the moment",
    "The storage of its uploads and results could not be reached in time. What was saved before is safe. Try again in "
    "a minute; if it goes on, tell an administrator of this site.",
)


def outage_of(error: BaseException | None) -> Outage | None:
    """Return what an exception says of the server's disk, database or bucket; None if it is a fault of another kind."""
    causes = list(_causes(error))
    if any(_is_disk_full(each) for each in causes):
        return DISK_FULL
    if any(isinstance(each, MediaAwayError) for each in causes):
        return FILES_AWAY
    return UNAVAILABLE if any(_is_away(each) for each in causes) else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _is_disk_full(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        return _sqlite_code(error) == sqlite3.SQLITE_FULL
    is_of_file = isinstance(error, OSError) and error.errno in _NO_ROOM
    return is_of_file or getattr(error, "sqlstate", None) == _POSTGRES_DISK_FULL


def _is_away(error: BaseException) -> bool:
    """Tell whether the database was away or busy; SQLite calls faults of statements operational, too."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__
    return _sqlite_code(cause) in _SQLITE_BUSY if isinstance(cause, sqlite3.Error) else cause is not None


def _sqlite_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
