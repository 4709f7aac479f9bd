"""A trace of an agent in a browser: its steps are opened and rated, by mouse, by keyboard, with a finger at 360 px."""

import json

import pytest
from playwright.sync_api import Browser, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from annotation.services.assignments import start_assignment
from campaigns.formats import get_format
from campaigns.models import HitItem
from evalsite.accounts.models import User
from tests.annotation.conversations import steps_of
from tests.annotation.open_campaigns import campaign_asking
from tests.e2e.answering import PHONE, Worker

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = [
    ("The trace is good.", "slider", {}, {}),
    ("The step helps.", "scale", {}, {"scope": "turn"}),
    ("Which step is the first that is wrong?", "step", {}, {}),
]


@pytest.mark.parametrize("way", ["mouse", "keyboard", "touch"])
def test_steps_are_opened_and_rated(browser: Browser, live_server, owner: User, way: str) -> None:
    campaign = campaign_asking(owner, ASKED)
    campaign.screen |= {"output_format": "trace"}
    campaign.save()
    text = get_format("trace").read(json.dumps(steps_of(0, "alder")), is_output=True)
    HitItem.objects.filter(hit__campaign=campaign).update(text=text)
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)

    context = browser.new_context(**PHONE if way == "touch" else {"viewport": {"width": 1440, "height": 900}})
    worker = Worker(context.new_page(), way, {statement: kind for statement, kind, *_ in ASKED})
    worker.page.goto(f"{live_server.url}/rate/{token_of(assignment)}/")
    assert worker.heading() == "Item 1 of 3"
    long = worker.page.locator(".dialogue summary").get_by_text("characters")
    expect(long).to_have_text("Result · 959 characters")
    worker.activate(long)
    expect(worker.page.get_by_text("sailing takes patience. sailing").first).to_be_visible()
    assert worker.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off"
    worker.answer(worker.asked(), 1)
    worker.next_page(worker.go_on)

    found = Response.objects.filter(assignment=assignment)
    assert sorted(found.filter(criterion__response="scale").values_list("turn", flat=True)) == [1, 2, 3, 4, 5]
    assert found.get(criterion__response="step").value == {"step": 1, "of": 5}
    assert found.count() == 7
    assert worker.complaints == []
    context.close()
