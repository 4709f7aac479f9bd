"""Every page that a member, a worker or anybody else opens, as a browser draws it: at three widths, light and dark.

The pages are those of the URL configuration and of `permissions.csv`, so that a new one is among them. A page of a
campaign is looked at in each state of it, and for each kind of campaign, as an owner sees it; as editors and viewers
see it, where that is another page. Whether a page moves while it is loaded is seen at the width at which it is opened:
owners open it wide, editors at a middle width, viewers on a phone, all others at all three.

Django draws them in this process (`page_server.py`). `page_checks.js` looks at the geometry: nothing is wider than the
window, cut or out of sight; side bars fit a laptop; nothing moves once it was drawn.
axe-core looks at names, contrast, headings, landmarks, sizes of targets.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.core.signals import request_finished
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page

from campaigns.models import Campaign
from tests.analysis.campaigns import analysed, rated_campaign
from tests.campaigns.cast import make_campaign
from tests.e2e.page_server import CHECKS, PageServer
from tests.permission_world import PEOPLE, World, make_world
from tests.test_permission_matrix import ADDRESSES, EXPECTED, TABLE, Address, rows_of, url_of

_SCRIPTS = [Path(axe_playwright_python.__file__).parent / "axe.min.js", Path(__file__).parent / "page_checks.js"]
WIDE, MIDDLE, NARROW = 1440, 768, 360
# What depends on colours, or on the width: all else is the same in both themes and at each width.
_COLOURS = ["color-contrast", "link-in-text-block"]
_WIDTHS = ["target-size", "scrollable-region-focusable"]
# States of a campaign besides those of the permission matrix, for pages that need nothing but a campaign.
_STATES = {"rated": ("draft", "ready", "closed"), "live": ("live-draft",)}
_PROVIDER = {
    "OIDC_ISSUER": "https://sso.example.org",
    "OIDC_CLIENT_ID": "evalsite",
    "OIDC_CLIENT_SECRET": "secret",
    "OIDC_NAME": "the Federation of Universities and Research Institutes",
}
_OWNER = 4  # among PEOPLE
_OF_MEMBERS = ("viewer", "editor", "owner")
_WIDTH_OF = {"editor": MIDDLE, "viewer": NARROW}
_LONG = "A name as long as somebody may give it, with an UnbreakableWordOfManyLettersInIt_and_more_of_it, of no use"


@dataclass(frozen=True)
class Case:
    """A page: its address, and the kind of campaign, worker or file that it is about."""

    address: Address
    kind: str
    who: str

    def __str__(self) -> str:
        return f"{self.address.name} {self.kind}".strip()


def cases() -> Iterator[Case]:
    """Yield each address that an owner, or a worker, may get, in each state of a campaign."""
    for address in ADDRESSES:
        if (address.is_operation and "docs" not in address.name) or address.name.startswith("admin"):
            continue
        for row in rows_of(address, TABLE):
            if not {"GET", "*"} & {*row.methods.split()} or EXPECTED[row.who][_OWNER] != "allowed":
                continue
            more = _STATES.get(row.kind, ()) if address.parameters == ["public_id"] and row.who != "anyone" else ()
            for kind in (row.kind, *more):
                yield Case(address, kind, row.who)


CASES = list(dict.fromkeys(cases()))
MEMBER_CASES = [
    (role, case)
    for role in _WIDTH_OF
    for case in CASES
    if case.kind in ("rated", "live", "crowd")
    and case.who in _OF_MEMBERS
    and EXPECTED[case.who][PEOPLE.index(role)] == "allowed"
]


@pytest.fixture(scope="module")
def world(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("media")):
        world = make_world()
        owner = Campaign.objects.get(public_id=world.arguments["rated"]["public_id"]).memberships.get(role="owner").user
        closed = rated_campaign(owner, n_hits=2)
        for system in closed.systems.all()[:2]:
            system.name = f"{system.pk} {_LONG}"[:100]
            system.save()
        run = analysed(closed)
        Campaign.objects.filter(pk=closed.pk).update(name=_LONG, status="closed", closed_at=timezone.now())
        ready = rated_campaign(owner, n_hits=1, n_rated=0)
        Campaign.objects.filter(pk=ready.pk).update(status="ready", launched_at=None)
        states = {
            "draft": make_campaign(owner, "qg", _LONG),
            "ready": ready,
            "closed": closed,
            "live-draft": make_campaign(owner, "dialogue-icebreaker", _LONG),
        }
        for kind, campaign in states.items():
            world.arguments[kind] = {"public_id": campaign.public_id}
        world.arguments["closed"]["run_id"] = run.pk
        yield world


@pytest.fixture(scope="module")
def server(module_db: None) -> Iterator[PageServer]:
    with PageServer(_SCRIPTS) as server:
        yield server


@pytest.fixture(scope="module")
def tab(browser: Browser, server: PageServer) -> Iterator[Page]:
    """One tab for all pages, whose policy lets the checks in."""
    size = {"width": WIDE, "height": 900}
    context = browser.new_context(base_url=server.address, bypass_csp=True, reduced_motion="reduce", viewport=size)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def seen() -> set[str]:
    """The kinds of text whose contrast was looked at."""
    return set()


def show(tab: Page, server: PageServer, client: Client, path: str, width: int = WIDE) -> HttpResponse:
    """Draw a page of Django's in the tab, with what it fetches; return what was answered, drawn or not."""
    answer = server.draw(client, path)
    if is_page(answer):
        open_page(tab, path, width)
    elif answer.streaming:
        answer.getvalue()  # which closes its file
    return answer


def open_page(tab: Page, path: str, width: int = WIDE) -> None:
    """Open what the server shows, with the checks in it."""
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(path)
    tab.add_script_tag(url=CHECKS)


def is_page(answer: HttpResponse) -> bool:
    """Whether an answer is a page: no file, no way to another page."""
    is_html = answer.headers.get("Content-Type", "").startswith("text/html")
    return is_html and not 300 <= answer.status_code < 400 and answer.status_code not in (404, 405)


def problems(tab: Page, seen: set[str], *, is_brief: bool = False) -> list[str]:
    """Return what is wrong with the page in the tab, at all widths and in both themes.

    `is_brief`: at the two ends of widths and in one theme, of a page that is nearly one that was looked at.

    Contrast costs as much as all else. It is looked at in texts of a kind (letters on a background) that is not yet
    among those seen; the kinds of this page are added to them.
    """
    found: list[str] = []

    def check(where: str, expression: str, argument: Any = None) -> None:
        found.extend(f"{where}: {each}" for each in tab.evaluate(expression, argument))

    def check_colours(where: str) -> None:
        new = {*tab.evaluate("colourPairs()")} - seen
        if new:
            seen.update(new)
            check(where, "rules => axeProblems(rules)", {"only": _COLOURS, "colours": [*new]})

    tab.set_viewport_size({"width": WIDE, "height": 900})
    check("wide", "sideBarProblems()")
    tab.evaluate("setTheme('light')")
    check("wide", "pageProblems()")
    if tab.evaluate("openEverything()"):
        check("wide, open", "pageProblems()")
    check("wide", "rules => axeProblems(rules)", {"without": _COLOURS})
    check_colours("wide, light")
    if is_brief:
        tab.set_viewport_size({"width": NARROW, "height": 700})
        check("narrow", "pageProblems()")
        return list(dict.fromkeys(found))
    tab.evaluate("setTheme('dark')")
    check_colours("wide, dark")
    tab.set_viewport_size({"width": MIDDLE, "height": 900})
    check("middle", "pageProblems()")
    tab.set_viewport_size({"width": NARROW, "height": 700})
    check("narrow", "pageProblems()")
    tab.evaluate("openSideBar(true)")
    check("narrow, with the side bar", "pageProblems()")
    check("narrow", "rules => axeProblems(rules)", {"only": _WIDTHS})
    check_colours("narrow, dark")
    return list(dict.fromkeys(found))


def shifts(tab: Page) -> list[str]:
    """Return how what was drawn moved while the page was loaded, twice: a busy machine may be late with a part once."""
    if not tab.evaluate("shiftProblems()"):
        return []
    tab.reload()
    tab.add_script_tag(url=CHECKS)
    return [f"{tab.evaluate('innerWidth')} wide: {each}" for each in tab.evaluate("shiftProblems()")]


def shape_of(answer: HttpResponse) -> list[str]:
    """Return the elements of a page and their classes, whatever its text is."""
    return re.findall(r'<[a-z][a-z0-9]*(?: class="[^"]*")?', answer.text)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_page(tab: Page, server: PageServer, world: World, seen: set[str], case: Case) -> None:
    client = world.clients["anonymous" if case.who in ("anyone", "worker") else "owner"]
    path = url_of(world, case.address, case.kind)
    answer = show(tab, server, client, path)
    if not is_page(answer):
        assert answer.status_code in (200, 301, 302, 303)
        return
    found = shifts(tab) + problems(tab, seen)
    for width in () if case.who in _OF_MEMBERS else (MIDDLE, NARROW):
        open_page(tab, path, width)
        found += shifts(tab)
    assert "\n".join(found) == ""


@pytest.mark.parametrize(("role", "case"), MEMBER_CASES, ids=str)
def test_page_of_a_member(tab: Page, server: PageServer, world: World, seen: set[str], role: str, case: Case) -> None:
    path = url_of(world, case.address, case.kind)
    of_owner = server.draw(world.clients["owner"], path)
    if of_owner.streaming:
        of_owner.getvalue()  # which closes its file
    if not is_page(of_owner):
        return
    answer = show(tab, server, world.clients[role], path, _WIDTH_OF[role])
    assert is_page(answer)
    found = shifts(tab)
    if shape_of(answer) != shape_of(of_owner):
        found += problems(tab, seen, is_brief=True)
    assert "\n".join(found) == ""


@pytest.mark.parametrize("name", ["sign_in", "connection", "oidc_callback"])
def test_page_where_a_provider_signs_people_in(
    tab: Page, server: PageServer, world: World, seen: set[str], name: str
) -> None:
    client = world.clients["owner" if name == "connection" else "anonymous"]
    with override_settings(**_PROVIDER):
        assert is_page(show(tab, server, client, reverse(f"accounts:{name}")))
    assert "\n".join(problems(tab, seen)) == ""


def test_the_command_menu(tab: Page, server: PageServer, world: World, seen: set[str]) -> None:
    assert is_page(show(tab, server, world.clients["owner"], reverse("campaigns:list")))
    tab.keyboard.press("Control+k")
    tab.wait_for_selector(".commands [role=option]")
    assert "\n".join(problems(tab, seen)) == ""


def test_a_request_that_ends_in_another_thread_leaves_the_transaction_open(server: PageServer, world: World) -> None:
    request_finished.send(sender=PageServer)
    assert Campaign.objects.filter(public_id=world.arguments["rated"]["public_id"]).exists()


# --- They can fail

_PAGE = "<!doctype html><html lang=en><title>t</title><meta name=viewport content='width=device-width'><main><h1>h</h1>"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("<input>", "label ("),
        ("<p style='color:#999'>Too pale.", "color-contrast ("),
        ("<h3>Too deep</h3>", "heading-order ("),
        ("<div style='width:400px'>Wide", "narrow: the page is"),
        ("<p style='width:90px;overflow:hidden;white-space:nowrap'>A text that ends too early", "is cut at its end"),
        ("<p style='height:1em;overflow:hidden'>One<br>Two", "is cut below"),
        ("<div style='overflow-x:auto'><div style='width:2000px'>Wide", "scrolls sideways without a label"),
        ("<p style='margin-left:-90px'>Left", "is out of the window"),
        ("<header class=site-head><a href='#' style='position:absolute;left:-9px'>Home", "the navigation is cut"),
        ("<nav class=side aria-label=s><p style='height:701px'>Long</nav>", "the side bar ends at 7"),
        pytest.param(
            "<i id=a></i><p style='height:600px'>Low"
            "<script>const move = () => a.style = 'display:block;padding:99px';"
            "new PerformanceObserver(move).observe({type: 'paint', buffered: true})</script>",
            "the page moved by 0.",
        ),
    ],
)
def test_a_bad_page_is_noticed(tab: Page, server: PageServer, content: str, problem: str) -> None:
    server.show(Client(), "/bad/", HttpResponse(_PAGE + content))
    open_page(tab, "/bad/")
    assert problem in "\n".join(shifts(tab) + problems(tab, set()))
