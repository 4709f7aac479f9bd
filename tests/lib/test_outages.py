"""What is answered while the disk is full or the database is away, by real errors of both databases and of files."""

import errno
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from django.contrib.auth.decorators import login_not_required
from django.db import DEFAULT_DB_ALIAS, OperationalError, ProgrammingError, connection, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.utils import DatabaseErrorWrapper
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django import DjangoDbBlocker

from api.problems import answer
from evalsite.lib.outages import DISK_FULL, UNAVAILABLE, outage_of
from tests.databases import on_both
from tests.services import free_port

pytestmark = pytest.mark.urls("tests.lib.test_outages")


def raised_by(act: Callable[[], Any]) -> Exception:
    """Return what Django raises where the driver of SQLite raises something."""
    with pytest.raises(Exception) as caught, DatabaseErrorWrapper(connection):  # type: ignore[arg-type]
        act()
    return caught.value


def fill_sqlite() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA max_page_count = 2")
        database.execute("CREATE TABLE a (b)")
        database.execute("INSERT INTO a VALUES (zeroblob(100000))")


def call_sqlite_with_a_fault() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("SELECT * FROM nothing")


def connect_to_nobody() -> None:
    settings = connection.settings_dict | {"HOST": "127.0.0.1", "PORT": str(free_port()), "NAME": "a", "OPTIONS": {}}
    DatabaseWrapper(settings | {"USER": "", "PASSWORD": ""}, DEFAULT_DB_ALIAS).ensure_connection()


def test_a_full_disk_and_a_database_that_is_away_are_told_from_faults(django_db_blocker: DjangoDbBlocker) -> None:
    assert outage_of(raised_by(fill_sqlite)) is DISK_FULL
    assert outage_of(raised_by(call_sqlite_with_a_fault)) is None
    assert outage_of(OSError(errno.ENOSPC, "No space left on device")) is DISK_FULL
    assert outage_of(FileNotFoundError(errno.ENOENT, "There is no such file")) is None
    assert outage_of(RuntimeError()) is None
    assert outage_of(None) is None
    with django_db_blocker.unblock(), pytest.raises(OperationalError) as away:
        connect_to_nobody()
    assert outage_of(away.value) is UNAVAILABLE


@on_both
@pytest.mark.django_db
def test_what_postgresql_says_is_understood() -> None:
    if connection.vendor == "postgresql":
        for code, outage in {"53100": DISK_FULL, "57P01": UNAVAILABLE}.items():
            with pytest.raises(OperationalError) as refused, transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$")
            assert outage_of(refused.value) is outage
    with (
        pytest.raises((OperationalError, ProgrammingError)) as fault,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT * FROM nothing")
    assert outage_of(fault.value) is None


@pytest.mark.parametrize(("page", "status"), [("full", 507), ("away", 503), ("fault", 500)])
def test_pages_and_the_api_say_what_passes(page: str, status: int) -> None:
    response = Client(raise_request_exception=False).get(f"/{page}/")
    assert response.status_code == status
    assert f"Error {status}" in response.text
    assert ("disk" in response.text) is (page == "full")
    error = ERRORS[page]
    problem = answer(error, {"request": HttpRequest()})
    assert (problem.status_code, problem.data["status"]) == (status, status)


def _away() -> OperationalError:
    error = OperationalError("the connection is lost")
    error.__cause__ = ConnectionError()
    return error


ERRORS = {"full": OSError(errno.ENOSPC, "No space left on device"), "away": _away(), "fault": RuntimeError()}


def _view(request: HttpRequest, page: str) -> HttpResponse:
    raise ERRORS[page]


handler500 = "evalsite.web.server_error"
urlpatterns = [path("<str:page>/", login_not_required(_view))]
