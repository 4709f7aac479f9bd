"""Nothing of a text runs, is fetched, leads anywhere or brings its own style, in any format."""

import json
from contextlib import suppress

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from annotation.access.tokens import token_of
from annotation.services.assignments import start_assignment
from campaigns.blocks import html_of
from campaigns.contracts.format import ContentFormat, FileFormat, Place
from campaigns.formats import list_formats
from campaigns.formats.code import Difference
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.markup.cleaning import ATTRIBUTES, CLASSES, LONGEST, TAGS, VALUES
from tests.annotation.open_campaigns import open_campaign
from tests.campaigns.formats.hostile import hostile_texts, nested_texts
from tests.conftest import signed_in

TEXTS = hostile_texts()
# What the formats themselves put around a text, to fold it.
_ELEMENTS = {*TAGS, "label", "input"}
_ATTRIBUTES = {
    *("class", "tabindex", "role", "aria-label", "open", "start", "colspan", "rowspan", "type", "autocomplete"),
    *(name for names in (*ATTRIBUTES.values(), *VALUES.values()) for name in names),
}
_CLASSES = {
    *("fold", "fold-narrow", "fold-body", "fold-switch"),
    *(name for names in CLASSES.values() for name in names),
}
# What an HTML parser makes of it, each thing once.
_FOUND = """texts => {
  const found = new Set();
  for (const text of texts) {
    const page = new DOMParser().parseFromString("<!DOCTYPE html><body><div>" + text + "</div>", "text/html");
    if (page.body.children.length !== 1) found.add("outside " + text);
    for (const element of page.body.querySelectorAll("*")) {
      found.add("element " + element.localName);
      for (const each of element.attributes) {
        if (each.name === "class") element.classList.forEach(name => found.add("class " + name));
        else found.add("attribute " + each.name + " " + (each.name === "start" ? "" : each.value));
      }
    }
    const comments = page.createTreeWalker(page.documentElement, NodeFilter.SHOW_COMMENT);
    if (comments.nextNode()) found.add("comment " + text);
  }
  return [...found];
}"""

_HARM = (
    """document.querySelector(".rich-text").innerHTML = '<img src="https://evil.example/x.png" onerror="alert(1)">'"""
)
_USE_ALL = """() => document.querySelectorAll(".rich-text, .rich-text *").forEach(each =>
  ["click", "mouseover", "focus", "error", "load", "toggle"].forEach(name => each.dispatchEvent(new Event(name))))"""


def values_of(format: type[ContentFormat], texts: list[str]) -> list[str]:
    """Return what the format reads of each text or, where it is none of its values, of an example that says it."""
    return [value for text in texts if (value := _value_of(format, text))]


def _value_of(format: type[ContentFormat], text: str) -> str | None:
    for cell in (text, format.example(text)):
        with suppress(DomainError):
            return format.read(cell, is_output=format.is_for_outputs)
    return None


def rendered(format: type[ContentFormat], values: list[str]) -> list[str]:
    """Return all that workers are shown of values as HTML."""
    place = Place("it", "Heading", is_output=format.is_for_outputs)
    blocks = (block for value in values for block in format.blocks(value, place))
    return [html for block in blocks if (html := html_of(block))]


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Page:
    """An empty page, whose parser is asked."""
    return browser.new_page()


def faults(found: list[str]) -> list[str]:
    """Return what is not allowed of what a parser found."""
    return [each for each in found if not _is_allowed(*each.split(" ", 2))]


def _is_allowed(what: str, name: str, value: str = "") -> bool:
    match what:
        case "element":
            return name in _ELEMENTS
        case "class":
            return name in _CLASSES
        case "attribute":
            return name in _ATTRIBUTES and ":" not in value and "(" not in value
    return False


def test_there_are_thousands_of_hostile_texts() -> None:
    assert len(TEXTS) >= 2_000


@pytest.mark.parametrize("format", list_formats(), ids=lambda each: each.slug)
def test_nothing_but_what_is_allowed_is_left(format: type[ContentFormat], blank: Page) -> None:
    values = values_of(format, TEXTS)
    assert len(values) > len(TEXTS) / 2 or issubclass(format, FileFormat)
    assert faults(blank.evaluate(_FOUND, rendered(format, values))) == []
    for text in values:
        assert len("".join(rendered(format, [text]))) < 60 * len(text) + 2_000
        assert isinstance(format.words(text), str) and format.seconds(text) >= 0
        assert all(count >= 0 for count in format.style_of(text).values())


@pytest.mark.parametrize(
    "html", ["<script>1</script>", "<p onclick=x>", "<b style=x>", "<a href=x>", "</div><p>", "<!-- x -->"]
)
def test_what_is_not_allowed_would_be_found(html: str, blank: Page) -> None:
    assert faults(blank.evaluate(_FOUND, [html]))


@pytest.mark.parametrize("format", list_formats(), ids=lambda each: each.slug)
def test_texts_of_any_depth_are_read_and_shown(format: type[ContentFormat], blank: Page) -> None:
    for text in nested_texts():
        try:
            format.read(text, is_output=format.is_for_outputs)
        except DomainError as error:
            assert len(error.message) < 300
        for value in values_of(format, [text]):
            html = "".join(rendered(format, [value]))
            assert len(html) < 60 * len(value)
            assert html.count("<div") == html.count("</div>")
            format.words(value)


@pytest.mark.django_db(transaction=True)
def test_browser_nothing_runs_and_nothing_is_fetched(page: Page, live_server: LiveServer, owner: User) -> None:
    """All texts on pages as workers see them, the policy of their headers on: it has nothing to refuse."""
    happened: list[str] = []
    page.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda said: happened.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: happened.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(live_server.url) else happened.append(asked.url))
    page.add_init_script("addEventListener('securitypolicyviolation', each => console.error(each.blockedURI))")
    cookie = signed_in(owner).cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    for format in list_formats():
        if not format.html("<b>x</b>"):
            continue
        campaign, n_places = campaign_of(owner, format)
        for place in range(1, n_places + 1):
            page.goto(live_server.url + reverse("monitoring:preview_item", args=[campaign.public_id, 1, place]))
            assert page.locator(".text-output .rich-text").count() == 1
            page.evaluate(_USE_ALL)
        assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
        page.goto(f"{live_server.url}/rate/{token_of(assignment)}/")
        assert page.locator(".text-output .rich-text").count() == 1
    assert happened == []
    page.evaluate(_HARM)
    page.wait_for_function("document.querySelector('.rich-text img').complete")
    page.wait_for_timeout(100)
    assert [each for each in happened if "evil.example" in each], "what happens is noticed"


def batches(format: type[ContentFormat]) -> list[str]:
    """Return the texts, as many to one output as are shown with their markup."""
    # What would swallow the texts after it has fewer after it.
    swallowing = [each for each in TEXTS if any(open in each.lower() for open in ("<!", "<?", "<s", "<template"))]
    others = [each for each in TEXTS if each not in set(swallowing)]
    joined = json.dumps if format.slug == "json" else "\n\n".join
    found: list[list[str]] = [[]]
    for text in others:
        if len(joined([*found[-1], text])) > LONGEST:
            found.append([])
        found[-1].append(text)
    return [*map(joined, found), *map(joined, zip(swallowing[::60], swallowing[1::60], strict=False))]


def campaign_of(owner: User, format: type[ContentFormat]) -> tuple[Campaign, int]:
    """Return a running campaign with an item for each batch, and how many they are."""
    texts = batches(format)
    campaign = open_campaign(owner, n_hits=1, size=len(texts), protocol="likert", consent_text="")
    campaign.screen["output_format"] = format.slug
    campaign.save()
    for item, text in zip(HitItem.objects.filter(hit__campaign=campaign).order_by("position"), texts, strict=True):
        item.text = text
        item.save()
    return campaign, len(texts)


def test_two_versions_of_hostile_texts_are_shown_as_any_difference(blank: Page) -> None:
    kept = []
    for text in TEXTS:
        with suppress(DomainError):
            kept.append(Difference.read(json.dumps({"before": text[:9], "after": text}), is_output=True))
    assert len(kept) > len(TEXTS) / 2
    assert faults(blank.evaluate(_FOUND, rendered(Difference, kept))) == []
