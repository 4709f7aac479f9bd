"""Pages of what models write and of several translations, rated in Firefox and in WebKit, wide and narrow."""

import json
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.access.tokens import token_of
from annotation.services.assignments import start_assignment
from campaigns.models import HitItem
from evalsite.accounts.models import User
from tests.annotation.cast import launch
from tests.e2e.engines.tabs import Tab
from tests.e2e.test_protocol_pictures import ANSWER, STEPS, TALK, build

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


def answer(tab: Tab) -> None:
    """Answer all that is asked, by keyboard; by mouse mark a word of each text in which errors are marked."""
    for name, value in dict(tab.run(GROUPS)).items():
        tab.press(f'[name="{name}"][value="{value}"]', "Space")
    for place in range(tab.run(MARKED)):
        tab.click(one(tab, "[data-spans-text=target] [data-start='0']", place))
        tab.click(one(tab, ".spans-panel:not([hidden]) .spans-severity"))
    for name in tab.run(SLIDERS):
        tab.press(f'[data-name="{name}"]', "End")
    for name in tab.run(LISTS):
        tab.choose(f'[name="{name}"]', 2)


def test_browser_an_item_of_each_protocol_of_models_is_opened_answered_and_saved(
    tab: Tab, framed_address: str, owner: User, settings: SettingsWrapper, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    for slug, opened in OPENED.items():
        campaign = launch(build(owner, slug))
        if slug in LONG:
            HitItem.objects.filter(hit__campaign=campaign).update(text=LONG[slug])
        assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
        tab.resize(1440)
        tab.open(f"{framed_address}/rate/{token_of(assignment)}/")
        tab.wait_for("[data-rating-next]")
        for width in (1440, 360):
            tab.resize(width)
            assert tab.run(FITS), (slug, width)
            if opened:
                before = tab.run(STATE[opened])
                tab.click(one(tab, opened))
                assert tab.run(STATE[opened]) != before, (slug, width)
                assert tab.run(FITS), (slug, width)
        answer(tab)
        assert tab.complaints() == [], slug
        tab.click("[data-rating-next]")
        tab.wait_for("[data-rating-next]", 0)
        assert tab.complaints() == [], slug
        assignment.refresh_from_db()
        assert assignment.n_rated == assignment.n_items, slug
        answered = assignment.responses.values_list("criterion", flat=True)
        assert set(answered) == set(campaign.criteria.values_list("pk", flat=True)), slug
