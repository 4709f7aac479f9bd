"""Pages of what models write and of several translations, in Firefox and in WebKit, by mouse, keyboard and touch."""

import json
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.access.tokens import token_of
from annotation.services.assignments import start_assignment
from campaigns.models import HitItem
from evalsite.accounts.models import User
from tests.annotation.cast import launch
from tests.e2e.engines.tabs import WAIT_S, Tab
from tests.e2e.test_protocol_pictures import ANSWER, STEPS, TALK, build
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
FOLD, DETAILS, PICTURE = ".fold-switch input", ".spoken-folded summary", ".picture-tools [title='Zoom in']"
OPENED = {
    "llm-answer": FOLD,
    "llm-pair": FOLD,
    "conversation": DETAILS,
    "agent-trace": DETAILS,
    "code-review": "",
    "caption": PICTURE,
    "cesa": "",
}
"""What is opened on the page of each protocol."""
STATE = {
    FOLD: "document.querySelector('.fold').offsetHeight",
    DETAILS: "document.querySelector('.spoken-folded details').open",
    PICTURE: "new DOMMatrix(getComputedStyle(document.querySelector('.picture-frame').firstElementChild).transform).a",
}
LONG = {
    "llm-answer": ANSWER * 12,
    "llm-pair": ANSWER * 12,
    "conversation": json.dumps(TALK * 8),
    "agent-trace": json.dumps(STEPS[:-1] * 8 + STEPS[-1:]),
}
WIDTHS = (1440, 360)
FITS = "document.documentElement.scrollWidth <= innerWidth"
GROUPS = """[...document.querySelectorAll("main [name^=answer_]:is([type=radio], [type=checkbox])")].map(
    (field) => [field.name, field.value])"""
SLIDERS = "[...document.querySelectorAll('[data-slider] input')].map((each) => each.dataset.name)"
LISTS = "[...document.querySelectorAll('select[name^=answer_]')].map((each) => each.name)"
MARKED = "document.querySelectorAll('[data-spans-text=target]').length"


def one(tab: Tab, selector: str, place: int = 0) -> str:
    """Return a selector of one of several elements."""
    tab.run("document.querySelectorAll('[data-one]').forEach((each) => each.removeAttribute('data-one'))")
    tab.run(f"document.querySelectorAll(`{selector}`)[{place}].setAttribute('data-one', '')")
    return "[data-one]"


def act(tab: Tab, way: str, selector: str) -> None:
    """Press a button, open what is folded, or choose an option."""
    if way == "keyboard":
        tab.press(selector, "Space")
    else:
        {"mouse": tab.click, "touch": tab.touch}[way](selector)


def unfold(tab: Tab, way: str, opened: str) -> None:
    """Open what is folded, or zoom in, and wait until that is seen."""
    before = tab.run(STATE[opened])
    act(tab, way, one(tab, opened))
    wait_until(lambda: tab.run(STATE[opened]) != before, WAIT_S, f"{opened} is opened by {way}")


def answer(tab: Tab, way: str) -> None:
    """Answer all that is asked; in lists, which open outside the page, by keyboard."""
    for name, value in dict(tab.run(GROUPS)).items():
        act(tab, way, f'[name="{name}"][value="{value}"]')
    for place in range(tab.run(MARKED)):
        if way == "keyboard":
            tab.press(one(tab, "[data-spans-text=target]", place), "Right")
            tab.press("[data-one]", "Enter")
        else:
            act(tab, way, one(tab, "[data-spans-text=target] [data-start='0']", place))
        act(tab, way, one(tab, ".spans-panel:not([hidden]) .spans-severity"))
    for name in tab.run(SLIDERS):
        slider = f'[data-name="{name}"]'
        tab.press(slider, "End") if way == "keyboard" else act(tab, way, slider)
    for name in tab.run(LISTS):
        tab.choose(f'[name="{name}"]', 2)


@pytest.mark.parametrize("slug", OPENED)
def test_browser_items_of_each_protocol_of_models_are_opened_answered_and_saved(
    tab: Tab, framed_address: str, owner: User, settings: SettingsWrapper, tmp_path: Path, slug: str
) -> None:
    settings.MEDIA_ROOT = tmp_path
    campaign, opened = launch(build(owner, slug, len(WIDTHS))), OPENED[slug]
    if slug in LONG:
        HitItem.objects.filter(hit__campaign=campaign).update(text=LONG[slug])
    for way in ("mouse", "keyboard", "touch"):
        assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{way}", consented=True)
        tab.open(f"{framed_address}/rate/{token_of(assignment)}/")
        for number, width in enumerate(WIDTHS, start=1):
            tab.resize(width)
            tab.wait_for_text("h1", f"Item {number} of {len(WIDTHS)}")
            tab.wait_for("[data-rating-next]")
            assert tab.run("innerWidth") == width
            assert tab.run(FITS), (way, width)
            if opened:
                unfold(tab, way, opened)
                assert tab.run(FITS), (way, width)
            answer(tab, way)
            assert tab.complaints() == [], (way, width)
            act(tab, way, "[data-rating-next]")
        tab.wait_for("[data-rating-next]", 0)
        assert tab.complaints() == [], way
        assignment.refresh_from_db()
        assert assignment.n_rated == assignment.n_items, way
        answered = assignment.responses.values_list("criterion", flat=True)
        assert set(answered) == set(campaign.criteria.values_list("pk", flat=True)), way
