"""A HIT as workers see it, read by a script."""

import io
from typing import Any

import pytest
from django.test import Client
from PIL import Image
from pytest_django import DjangoAssertNumQueries

from annotation.queries import shown_items
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import Scope, User
from tests.annotation.cast import build
from tests.api.conftest import Api
from tests.campaigns.cast import add_outputs, make_campaign
from tests.campaigns.live import build as build_live
from tests.campaigns.live import make_live

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return make_campaign(owner, "qg")


@pytest.fixture
def script(api: Api, owner: User) -> Client:
    return api(owner, Scope.READ)


def _preview(script: Client, campaign: Campaign, number: int = 1) -> Any:
    return script.get(f"/api/v1/campaigns/{campaign.public_id}/hits/{number}/preview/")


def test_items_are_shown_as_workers_see_them(script: Client, campaign: Campaign) -> None:
    build(campaign, 2)
    found = _preview(script, campaign, 2).json()
    assert [each["statement"] for each in found["criteria"]] == [each.statement for each in campaign.criteria.all()]
    shown = shown_items(HitItem.objects.filter(hit__number=2).order_by("position"))
    assert [each["position"] for each in found["items"]] == [item.position for item in shown]
    assert [each["texts"][-1]["text"] for each in found["items"]] == [item.text for item in shown]
    passage, output = found["items"][0]["texts"][0], found["items"][0]["texts"][-1]
    (start, end), = passage["highlights"]  # fmt: skip
    assert passage["text"][start:end] in shown[0].fields.values()
    assert (passage["is_output"], output["is_output"]) == (False, True)


def test_nothing_says_which_item_is_a_check(script: Client, campaign: Campaign) -> None:
    build(campaign, 1)
    items = _preview(script, campaign).json()["items"]
    assert {tuple(item) for item in items} == {("position", "texts")}
    keys = {tuple(text) for item in items for text in item["texts"]}
    assert keys == {("label", "text", "highlights", "is_output", "speaker", "dialogue", "images")}
    images = [image for item in items for text in item["texts"] if text["is_output"] for image in text["images"]]
    assert len(set(images)) == len(items)  # those of a repeat and its twin differ, too


def test_images_are_those_of_the_page(script: Client, campaign: Campaign) -> None:
    build(campaign, 1)
    address = _preview(script, campaign).json()["items"][0]["texts"][-1]["images"][0]
    wide = script.get(address)
    assert wide["Content-Type"] == "image/png"
    narrow = Image.open(io.BytesIO(script.get(f"{address}?width=328&theme=dark&scale=2").content))
    assert (Image.open(io.BytesIO(wide.content)).width, narrow.width) == (720, 656)
    refused = script.get(f"{address}?width=99")
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["width"])
    assert script.get(address.replace("/preview/1/", "/preview/2/")).status_code == 404


def test_outputs_are_shown_before_there_are_hits(script: Client, campaign: Campaign) -> None:
    assert _preview(script, campaign, 0).status_code == 404
    add_outputs(campaign, 1)
    assert len(_preview(script, campaign, 0).json()["items"]) == 15
    assert _preview(script, campaign, 1).status_code == 404


def test_where_workers_read_text_there_are_no_images(script: Client, campaign: Campaign) -> None:
    build(campaign, 1)
    Campaign.objects.update(is_accessible=True)
    assert not any(text["images"] for text in _preview(script, campaign).json()["items"][0]["texts"])


def test_a_chat_has_no_texts(script: Client, owner: User) -> None:
    live = make_live(owner)
    build_live(live, 1)
    assert [item["texts"] for item in _preview(script, live).json()["items"]] == [[]] * live.hit_size


def test_who_may(
    api: Api, stranger: User, script: Client, campaign: Campaign, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    build(campaign, 1)
    assert _preview(api(stranger), campaign).status_code == 404
    _preview(script, campaign)
    with django_assert_num_queries(4):  # the token, the campaign, the items, the criteria
        _preview(script, campaign)
