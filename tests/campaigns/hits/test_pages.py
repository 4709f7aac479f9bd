"""HITs of comparisons and of documents, from the page of the design to what is stored."""

from collections import Counter
from html import unescape

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from campaigns.contracts.format import ContentFormat
from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Kind
from campaigns.formats import list_formats
from campaigns.hit_queries import get_estimate
from campaigns.models import Campaign, HitItem, Source
from campaigns.services.copies import duplicate_campaign
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import add_outputs, make_campaign

pytestmark = pytest.mark.django_db
SYSTEMS = ["a", "b", "c", "d"]


@pytest.fixture
def campaign(owner: User) -> Campaign:
    campaign = make_campaign(owner, "custom")
    add_outputs(campaign, n_sources=12, systems=SYSTEMS)
    return campaign


def design(client: Client, campaign: Campaign, **fields: object) -> Campaign:
    answer = client.post(reverse("campaigns:design", args=[campaign.public_id]), fields, headers={"X-Autosave": "1"})
    assert (answer.json()["saved"], answer.json()["errors"]) == (True, {})
    campaign.refresh_from_db()
    return campaign


def build(campaign: Campaign) -> list[HitItem]:
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    campaign.refresh_from_db()
    return list(
        HitItem.objects.filter(hit__campaign=campaign).order_by("hit__number", "position").select_related("output")
    )


def test_comparisons_are_built_as_the_page_of_the_design_says(owner_client: Client, campaign: Campaign) -> None:
    design(owner_client, campaign, page_kind="comparison", outputs_per_page=2, n_ordinary=12, n_degraded=3, n_repeat=2)
    estimate = get_estimate(campaign)
    assert (estimate.n_hits, estimate.n_items) == (6, 6 * 17 * 2)
    items = build(campaign)
    assert len(items) == estimate.n_items
    pages: dict[tuple[int, int | None], list[HitItem]] = {}
    for item in items:
        pages.setdefault((item.hit_id, item.page), []).append(item)
    assert len(pages) == 6 * 17
    for page in pages.values():
        assert len({item.output.source_id for item in page}) == 1
        assert len({item.output.system_id for item in page}) == 2
        assert [item.position for item in page] == [page[0].position, page[0].position + 1]
    kinds = Counter(tuple(sorted(item.kind for item in page)) for page in pages.values())
    assert kinds == {(0, 0): 6 * 12, (Kind.DEGRADED, Kind.REPEAT): 6 * 3, (Kind.REPEAT, Kind.REPEAT): 6 * 2}
    degraded = [item for item in items if item.kind == Kind.DEGRADED]
    assert all(item.text != item.output.text for item in degraded)


def test_documents_are_built_in_the_order_of_their_sources(owner_client: Client, campaign: Campaign) -> None:
    for place, source in enumerate(campaign.sources.order_by("-pk")):
        Source.objects.filter(pk=source.pk).update(document=f"d{place // 3}", place=place)
    design(owner_client, campaign, page_kind="document", n_ordinary=4, n_degraded=1, n_repeat=1)
    items = build(campaign)
    assert Counter((item.hit_id, item.page) for item in items) == {
        (hit, page): 3 for hit in {item.hit_id for item in items} for page in range(1, 7)
    }
    for first in items[::3]:
        page = [item for item in items if (item.hit_id, item.page) == (first.hit_id, first.page)]
        sources = [item.output.source for item in page]
        assert len({source.document for source in sources}) == len({item.output.system_id for item in page}) == 1
        assert [source.place for source in sources] == sorted(source.place for source in sources)
    assert Counter(item.kind for item in items if item.kind == Kind.DEGRADED) == {Kind.DEGRADED: 4 * 3}


def test_a_copy_keeps_documents_and_the_design(owner: User, owner_client: Client, campaign: Campaign) -> None:
    campaign.sources.update(document="d", place=7)
    design(owner_client, campaign, page_kind="document", outputs_per_page=3)
    copy = duplicate_campaign(campaign=campaign, owner=owner, as_replication=False)
    assert (copy.page_kind, copy.outputs_per_page) == ("document", 3)
    assert set(copy.sources.values_list("document", "place")) == {("d", 7)}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"page_kind": "comparison", "n_reference": 1}, "bad_pages"),
        ({"page_kind": "comparison", "layout": "by-source"}, "bad_pages"),
        ({"page_kind": "comparison", "outputs_per_page": 5}, "too_few_systems"),
    ],
)
def test_designs_that_cannot_be_say_why(
    owner_client: Client, campaign: Campaign, fields: dict[str, object], code: str
) -> None:
    with pytest.raises(DomainError) as refused:
        get_estimate(design(owner_client, campaign, **fields))
    assert refused.value.code == code
    assert owner_client.get(reverse("campaigns:design", args=[campaign.public_id])).status_code == 200


def test_the_preset_takes_back_what_a_page_shows(owner_client: Client, campaign: Campaign) -> None:
    design(owner_client, campaign, page_kind="comparison")
    owner_client.post(reverse("campaigns:design_preset", args=[campaign.public_id]))
    campaign.refresh_from_db()
    assert campaign.page_kind == "output"


def test_items_before_the_build_are_shown_on_pages_of_the_design(owner_client: Client, campaign: Campaign) -> None:
    design(owner_client, campaign, page_kind="comparison", outputs_per_page=3)
    page = owner_client.get(reverse("monitoring:preview_item", args=[campaign.public_id, 0, 1])).text
    assert [f'id="output-{label}"' in page for label in "ABCD"] == [True, True, True, False]
    assert "Item 1 of 12" in page


@pytest.mark.parametrize("format", [each for each in list_formats() if each.is_for_outputs], ids=lambda each: each.slug)
def test_the_legend_says_what_the_format_does_to_degraded_outputs(
    owner_client: Client, campaign: Campaign, format: type[ContentFormat]
) -> None:
    campaign.screen = Screen(fields=(), output_label="Output", output_format=format.slug).to_json()
    campaign.save()
    page = unescape(owner_client.get(reverse("campaigns:design", args=[campaign.public_id])).text)
    assert f"{format.degraded}: careful workers rate them lower" in page
