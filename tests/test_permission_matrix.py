"""Who may open which page and use which operation: every address of the site × everybody × their scopes.

`permissions.csv` says it, an address and its methods in a row:

* `address`: its name, or its route if it has none; a `*` stands for anything, and a row without one comes first. `*` as
  method: all.
* `kind`: the campaign of `permission_world` that is asked for, or a file of ratings of one's own (`own`).
* `who`: `anyone`; everybody who is `signed-in`; members who are at least `viewer`, `editor`, `owner` (others do not
  find it); the `user` whom it belongs to (others do not find it); the `worker` whose token the address has; the crowd
  `platform` whose signature the request has; an `admin` of the site (others are asked to sign in as one), or
  `admin-or-403` (others are refused); an administrator at the `desk` (others do not find it); `no-admin`, what not even
  an admin may; `nobody` and, in the pages of the database, `nobody-there`, where nothing is.
* `scope`: what a token needs. Where there is none, a token is no sign-in.

Nothing that is sent is valid: who may is decided before it is read. A request that is refused writes nothing; each is
undone. Each answer has the headers that `tests/headers.py` asks for.
"""

import csv
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, path, resolve, reverse

from campaigns.queries import Role, get_campaign_for
from campaigns.views import access
from evalsite import urls
from evalsite.audit.acts import SAYS_SUCCESS_BY_REDIRECT, find_title, is_left_out, names_in_words
from tests.headers import header_faults
from tests.permission_world import PEOPLE, World, make_world

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ALLOWED, SIGN_IN, HIDDEN, FORBIDDEN, NO_METHOD = "allowed", "sign-in", "hidden", "forbidden", "no such method"
_ADMIN = "/admin/database/login/?next="
_USE_OF_TOKEN = "accounts_apitoken"  # is noted before anything is decided
_AUDIT_LOG, _NO_ACTS = "audit_auditentry", ("audit_auditentry", "django_session", "api_", "SAVEPOINT")
# What becomes of anonymous, stranger, viewer, editor, owner, admin.
_MEMBERS = (SIGN_IN, HIDDEN, *[ALLOWED] * 3, HIDDEN)
EXPECTED: dict[str, tuple[str, ...]] = {
    "anyone": (ALLOWED,) * 6,
    "signed-in": (SIGN_IN, *[ALLOWED] * 5),
    "viewer": _MEMBERS,
    "editor": (SIGN_IN, HIDDEN, FORBIDDEN, ALLOWED, ALLOWED, HIDDEN),
    "owner": (SIGN_IN, HIDDEN, FORBIDDEN, FORBIDDEN, ALLOWED, HIDDEN),
    "user": (SIGN_IN, HIDDEN, HIDDEN, HIDDEN, ALLOWED, HIDDEN),
    "worker": (ALLOWED,) * 6,
    "platform": (FORBIDDEN,) * 6,
    "admin": (*[SIGN_IN] * 5, ALLOWED),
    "admin-or-403": (SIGN_IN, *[FORBIDDEN] * 4, ALLOWED),
    "desk": (SIGN_IN, *[HIDDEN] * 4, ALLOWED),
    "no-admin": (*[SIGN_IN] * 5, FORBIDDEN),
    "nobody": (HIDDEN,) * 6,
    "nobody-there": (*[SIGN_IN] * 5, HIDDEN),
}
_ADMINS = {"admin", "desk", "admin-or-403", "no-admin", "nobody-there"}
_MEMBERS_ONLY = {"viewer", "editor", "owner"}
# Taking out what is not there is no mistake: it may have been done before.
_REPEATABLE = {"campaigns:criterion_delete", "campaigns:member_remove", "campaigns:invitation_withdraw"}
# Django answers every method there, before it looks at it.
_OF_DJANGO = {"accounts:sign_in", "accounts:reset_confirm"}


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    address: str
    methods: str
    kind: str
    who: str
    scope: str


@dataclass(frozen=True)
class Address:
    """An address of the site: its name and its route from the root."""

    name: str
    route: str

    @property
    def is_operation(self) -> bool:
        """Whether it is one of the API."""
        return self.name.startswith("api:")

    @property
    def parameters(self) -> list[str]:
        """What has to be filled in."""
        return [one or other for one, other in re.findall(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)", self.route)]


def read_table() -> list[Row]:
    with (Path(__file__).parent / "permissions.csv").open(newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def walk(patterns: Iterable[URLPattern | URLResolver], names: str = "", route: str = "") -> Iterator[Address]:
    """Return all addresses, in the order in which Django looks for them."""
    for each in patterns:
        here = route + str(each.pattern).removeprefix("^")
        if isinstance(each, URLResolver):
            yield from walk(each.url_patterns, f"{names}{each.namespace}:" if each.namespace else names, here)
        else:
            yield Address(f"{names}{each.name}" if each.name else here, here)


def addresses(urlconf: ModuleType | str = urls) -> list[Address]:
    """Return each address once: Django takes the first of a route."""
    return list({each.route: each for each in reversed(list(walk(get_resolver(urlconf).url_patterns)))}.values())[::-1]


def rows_of(address: Address, table: list[Row]) -> list[Row]:
    """Return the rows that are about an address: those with its name come before those with a pattern, by method."""
    own = [row for row in table if row.address == address.name]
    named = {method for row in own for method in row.methods.split()}
    more = [row for row in table if "*" in row.address and fnmatchcase(address.name, row.address)]
    return own + [row for row in more if not named & {*row.methods.split()}]


def gaps(table: list[Row], found: list[Address]) -> list[str]:
    """Return what the table does not say, and what it says of nothing."""
    used = {row for address in found for row in rows_of(address, table)}
    return [
        *(f"{address.name} has no row" for address in found if not rows_of(address, table)),
        *(f"{row.address} {row.methods} is no address" for row in table if row not in used),
    ]


Case = tuple[Any, ...]  # an address, and for most what is asked there: the row of the table, the method
TABLE, ADDRESSES = read_table(), addresses()
CASES = [
    (address, row, method)
    for address in ADDRESSES
    for row in rows_of(address, TABLE)
    for method in (METHODS if row.methods == "*" else row.methods.split())
]


_FIRST_METHOD = {address: method for address, _, method in reversed(CASES)}


def grouped(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Return cases by app and, where they have one, method: a test each."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        app, method = case[0].name.partition(":")[0], case[-1]
        found.setdefault(f"{app} {method}" if isinstance(method, str) else app, []).append(case)
    return found


def check_each(check: Callable[..., None], world: World, cases: Iterable[Case]) -> None:
    """Check all cases, each with nothing counted against a rate limit; raise what fails together, each by its name."""
    faults = []
    for case in cases:
        caches["rate_limits"].clear()
        try:
            check(world, *case)
        except Exception as fault:
            fault.add_note(" ".join(each.name if isinstance(each, Address) else str(each) for each in case))
            faults.append(fault)
    if faults:
        raise ExceptionGroup(f"{len(faults)} addresses", faults)


def in_groups(cases: Iterable[Case]) -> pytest.MarkDecorator:
    groups = grouped(cases)
    return pytest.mark.parametrize("cases", groups.values(), ids=groups)


@pytest.fixture(scope="module")
def world(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    logging.getLogger("django").setLevel(logging.ERROR)  # each refusal is a warning
    secure = dict.fromkeys(("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE"), True)
    with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("media"), **secure):
        yield make_world()
    logging.getLogger("django").setLevel(logging.INFO)


def url_of(world: World, address: Address, kind: str, **others: Any) -> str:
    """Return an address of the kind's, with other arguments for some parameters."""
    known = world.arguments[""] | world.arguments[kind]
    known |= known.get(address.name, {}) | others
    url = "/" + address.route.removesuffix("$")
    for name in address.parameters:
        url = re.sub(rf"<(?:\w+:)?{name}>|\(\?P<{name}>[^)]*\)", str(known[name]), url)
    return url + known.get("?", {}).get(address.name, "")


def unrecorded(url: str, method: str, status: int, written: list[str]) -> list[str]:
    """Return what a researcher's request has written that the audit log does not know of."""
    changes = [sql for sql in written if not any(table in sql for table in _NO_ACTS)]
    is_in_log = any(_AUDIT_LOG in sql for sql in written)
    is_meant = method != "GET" and status < 400 and not is_left_out(resolve(urlsplit(url).path).view_name)
    return changes if is_meant and not is_in_log else []


def send(client: Client, url: str, method: str, **headers: str) -> str:
    """Return what becomes of a request with nothing valid in it, and undo it."""
    sent = {"data": "{", "content_type": "application/json"} if url.startswith("/api/") and method != "GET" else {}
    written: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        done = execute(sql, params, many, context)
        # Of an INSERT that returns the key, SQLite counts no row yet.
        is_change = sql.startswith("INSERT") or (sql.startswith(("UPDATE", "DELETE")) and context["cursor"].rowcount)
        if is_change and _USE_OF_TOKEN not in sql:
            written.append(sql)
        return done

    with transaction.atomic(), connection.execute_wrapper(note):
        response = getattr(client, method.lower())(url, **sent, headers=headers)
        if response.streaming:
            response.getvalue()  # which closes its file
        transaction.set_rollback(True)
    assert not (faults := header_faults(response, is_for_workers=url.startswith("/rate/"))), faults
    if response.status_code == 302 and response["Location"].startswith(
        (f"{reverse('accounts:sign_in')}?next=", _ADMIN)
    ):
        return SIGN_IN
    assert response.status_code < 500, response.status_code
    assert not (missing := unrecorded(url, method, response.status_code, written)), missing
    outcome = {401: SIGN_IN, 403: FORBIDDEN, 404: HIDDEN, 405: NO_METHOD}.get(response.status_code, ALLOWED)
    assert outcome == ALLOWED or not written, written
    return outcome


def left_out(expected: dict[str, str], row: Row) -> list[str]:
    """Return who need not be asked.

    Of those who may, the first is asked, with the least of roles, and the owner's token; the admin's pages know no
    members.
    """
    if row.who in _ADMINS:
        return ["stranger", "viewer", "editor"]
    return [who for who in PEOPLE if expected[who] == ALLOWED][1:]


def outcomes(world: World, address: Address, row: Row, method: str) -> dict[str, tuple[str, str]]:
    """Return, by who asks and how, what should become of a request and what does."""
    url = url_of(world, address, row.kind)
    expected = dict(zip(PEOPLE, EXPECTED[row.who], strict=True))
    asked = [who for who in PEOPLE if who not in left_out(expected, row)]
    if row.who in _MEMBERS_ONLY and method != _FIRST_METHOD[address]:
        asked.remove("admin")  # finds no more than a stranger, whom the same query decides on
    found = {who: (expected[who], send(world.clients[who], url, method)) for who in asked}

    def with_token(name: str) -> str:
        return send(Client(), url, method, Authorization=f"Bearer {world.tokens[name]}")

    if row.scope:
        found[f"owner's token of scope {row.scope}"] = (expected["owner"], with_token(row.scope))
        found[f"owner's token of all scopes but {row.scope}"] = (FORBIDDEN, with_token(f"all but {row.scope}"))
    elif not address.is_operation and row.who not in _ADMINS:
        found["owner's token"] = (expected["anonymous"], with_token("all"))
    if row.who == "worker":
        wrong = url_of(world, address, row.kind, token="1:wrong")
        found["a worker with a wrong token"] = (HIDDEN, send(Client(), wrong, method))
    elif method != "GET" and row.who not in ("platform", "nobody") and not address.name.startswith("rate:"):
        browser = Client(enforce_csrf_checks=True, headers={"Cookie": world.clients["owner"].defaults["HTTP_COOKIE"]})
        found["owner without a CSRF token"] = (FORBIDDEN, send(browser, url, method))
    return found


def violations(world: World, address: Address, row: Row, method: str) -> list[str]:
    """Return who may what they should not, or may not what they should."""
    found = outcomes(world, address, row, method).items()
    return [f"{who}: {is_found}, not {should}" for who, (should, is_found) in found if should != is_found]


def test_every_address_is_in_the_table() -> None:
    assert not gaps(TABLE, ADDRESSES)


def check_permissions(world: World, address: Address, row: Row, method: str) -> None:
    assert not violations(world, address, row, method)


@in_groups(CASES)
def test_permission_matrix(world: World, cases: list[Case]) -> None:
    check_each(check_permissions, world, cases)


WITH_METHODS = [each for each in ADDRESSES if not each.name.startswith("admin") and each.name not in _OF_DJANGO]


def check_methods(world: World, address: Address) -> None:
    rows = rows_of(address, TABLE)
    known = {method for row in rows for method in row.methods.split()}
    if "*" not in known and rows[0].who != "nobody":
        url = url_of(world, address, rows[0].kind)
        # A page has a list of its methods, so that one stands for those that no form sends.
        others = METHODS if address.is_operation else ("GET", "POST", "DELETE")
        found = {method: send(world.clients["owner"], url, method) for method in others if method not in known}
        assert {*found.values()} <= {NO_METHOD}, found


@in_groups((address,) for address in WITH_METHODS)
def test_an_address_has_no_other_methods(world: World, cases: list[Case]) -> None:
    check_each(check_methods, world, cases)


OF_PARTS = [
    (address, row, method)
    for address, row, method in CASES
    if row.kind in ("rated", "live", "crowd")
    and row.who in ("viewer", "editor", "owner")
    and any(name.endswith("_id") and name != "public_id" for name in address.parameters)
    and "public_id" in address.parameters
    and address.name not in _REPEATABLE
]


def check_parts(world: World, address: Address, row: Row, method: str) -> None:
    url = url_of(world, address, row.kind, public_id=world.of_stranger[row.kind])
    assert send(world.clients["stranger"], url, method) == HIDDEN


@in_groups(OF_PARTS)
def test_parts_of_another_campaign_are_hidden(world: World, cases: list[Case]) -> None:
    check_each(check_parts, world, cases)


ACTS = [
    (address, method)
    for address, row, method in CASES
    if method not in ("GET", "HEAD") and row.who not in ("no-admin", "nobody-there", "nobody", "worker", "platform")
]


def without_words(acts: list[tuple[Address, str]]) -> list[str]:
    """Return acts that the audit log could not say in words, and that nobody has said why it leaves out."""
    named = ((address.name, method) for address, method in acts)
    return [f"{name} {method}" for name, method in named if not is_left_out(name) and not find_title(name, method)]


def test_the_audit_log_has_words_for_every_act() -> None:
    assert not without_words(ACTS)
    known = {address.name for address in ADDRESSES}
    assert not {*SAYS_SUCCESS_BY_REDIRECT} - known
    assert not {name for name in names_in_words() if name not in known}, "words for what is no address"


# --- It can fail


def test_a_new_address_and_a_row_of_nothing_are_found() -> None:
    more = ModuleType("more")
    more.urlpatterns = [*urls.urlpatterns, path("new/", lambda request: None, name="new")]  # type: ignore[attr-defined]
    nothing = Row("campaigns:no-such", "GET", "", "viewer", "")
    assert gaps([*TABLE, nothing], addresses(more)) == ["new has no row", "campaigns:no-such GET is no address"]


def test_a_new_act_without_words_and_one_that_is_not_recorded_are_found(world: World) -> None:
    assert without_words([(Address("campaigns:new-act", "new/"), "POST")]) == ["campaigns:new-act POST"]
    deletes = ['DELETE FROM "campaigns_criterion"']
    url = reverse("campaigns:launch", args=[world.arguments["rated"]["public_id"]])
    assert unrecorded(url, "POST", 302, deletes) == deletes
    assert not unrecorded(url, "POST", 302, [*deletes, f'INSERT INTO "{_AUDIT_LOG}"'])


def test_a_role_that_is_not_checked_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def get_for_any_role(user: Any, public_id: UUID, role: Role = Role.VIEWER) -> Any:
        return get_campaign_for(user, public_id)

    case = next(case for case in CASES if case[0].name == "campaigns:member_remove")
    monkeypatch.setattr(access, "get_campaign_for", get_for_any_role)
    assert violations(world, *case) == ["viewer: allowed, not forbidden", "editor: allowed, not forbidden"]
    with pytest.raises(ExceptionGroup) as found:
        check_each(check_permissions, world, [case, case])
    assert len(found.value.exceptions) == 2 and "campaigns:member_remove" in found.value.exceptions[0].__notes__[0]
