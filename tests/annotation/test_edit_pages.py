"""Correcting outputs on a worker's page, and options that come from the source: what is shown, kept and refused."""

import html
import re

import pytest
from django.test import Client

from annotation.models import Response
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, Criterion, HitItem, Source
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.annotation.worker_pages import form_of, url

pytestmark = pytest.mark.django_db


def asking(owner: User, response: str, **settings: str) -> Campaign:
    """Return an open campaign with one criterion."""
    campaign = open_campaign(owner, n_hits=1, size=3)
    campaign.criteria.all().delete()
    Criterion.objects.create(campaign=campaign, name="it", statement="Do it.", response=response, settings=settings)
    return campaign


def test_a_box_begins_with_the_output_and_works_without_script(owner: User, client: Client) -> None:
    campaign = asking(owner, "edit")
    output = "\n<b>Two</b>\r\nlines & more"
    HitItem.objects.filter(hit__campaign=campaign).update(text=output)
    assignment = start_assignment(campaign=campaign, worker_key="ann")
    page = client.get(url("hit", assignment))
    (box,) = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)
    assert html.unescape(box) == output
    assert ".img" not in page.text, "texts that are corrected are shown as text"

    (name,) = set(re.findall(r'name="(answer_\d+)"', page.text))
    hidden = {key: value for key, value in form_of(page).hidden.items() if key != name}
    refused = client.post(url("hit", assignment), hidden | {name: [output, ""]})
    assert refused.status_code == 422
    assert "Correct the text, or confirm that there is nothing to change: 1 of 1 have no answer." in refused.text
    for position, sent in ((1, [output.replace("Two", "2"), ""]), (2, [output, "", "[unchanged]"])):
        assert client.post(url("hit", assignment), hidden | {"position": position, name: sent}).status_code == 200
    values = [response.value for response in Response.objects.order_by("pk")]
    assert [value["text"] for value in values] == ["\n<b>2</b>\nlines & more", "\n<b>Two</b>\nlines & more"]
    assert [value["is_unchanged"] for value in values] == [False, True]


def test_options_of_a_source_are_those_of_its_field(owner: User, client: Client) -> None:
    campaign = asking(owner, "choice", field="options", is_several="yes")
    sources = Source.objects.filter(campaign=campaign)
    for number, source in enumerate(sources):
        source.fields["options"] = f"<one {number}>\n\ntwo\ntwo\n"
        source.save()
    assignment = start_assignment(campaign=campaign, worker_key="ann")
    page = client.get(url("hit", assignment))
    options = [
        html.unescape(each) for each in re.findall(r'type="checkbox" name="answer_\d+" value="([^"]*)"', page.text)
    ]
    assert options == ["<one 0>", "two", "none of these"]
    (name,) = set(re.findall(r'name="(answer_\d+)"', page.text))
    sent = form_of(page).hidden | {name: ["two", "<one 0>"]}
    assert client.post(url("hit", assignment), sent | {name: ["<one 1>"]}).status_code == 422
    assert client.post(url("hit", assignment), sent).status_code == 200
    assert Response.objects.get().value == ["<one 0>", "two"]
