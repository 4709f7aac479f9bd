"""What members of a campaign see of the worker pages before it starts: as workers will, and nothing is saved."""

import re

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment, Worker
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.campaigns.cast import add_member, add_outputs, make_campaign

pytestmark = pytest.mark.django_db


def item_url(campaign: Campaign, hit: int, position: int) -> str:
    return reverse("monitoring:preview_item", args=[campaign.public_id, hit, position])


def pages_of(campaign: Campaign, hit: int = 1) -> list[str]:
    names = [reverse(f"monitoring:{name}", args=[campaign.public_id]) for name in ("preview", "preview_end")]
    return [*names, f"{names[1]}?feedback=", item_url(campaign, hit, 1)]


def image_url(page: HttpResponse, at: str) -> str:
    return at + re.findall(r'<img src="([^"]+)"', page.text)[0]


def test_a_member_looks_through_all_pages_and_nothing_is_written(
    owner: User, colleague: User, colleague_client: Client
) -> None:
    campaign = open_campaign(owner, instructions="Read **slowly**.", status="ready", launched_at=None)
    add_member(campaign, colleague, "viewer")
    with CaptureQueriesContext(connection) as queries:
        for url in pages_of(campaign):
            page = colleague_client.get(url)
            assert page.status_code == 200, url
            assert "nothing is saved" in page.text, url
            assert page["X-Frame-Options"] == "DENY"
    assert not [query for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    assert not Assignment.objects.exists()
    assert not Worker.objects.exists()


def test_an_item_as_a_worker_sees_it(owner: User, owner_client: Client) -> None:
    campaign = open_campaign(owner, n_hits=2, size=3)
    url = item_url(campaign, 1, 3)
    page = owner_client.get(url)
    assert "Item 3 of 3" in page.text
    assert "HIT 1 of 2" in page.text
    assert item_url(campaign, 1, 2) in page.text
    assert item_url(campaign, 2, 1) in page.text
    assert page.text.count("data-name=") == 1
    assert '<form method="get"' in page.text
    image = owner_client.get(image_url(page, url))
    assert (image.status_code, image["Content-Type"]) == (200, "image/png")


def test_before_there_are_hits_the_first_outputs_show(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner, "qg")
    welcome = owner_client.get(reverse("monitoring:preview", args=[campaign.public_id]))
    assert item_url(campaign, 0, 1) not in welcome.text
    assert owner_client.get(item_url(campaign, 0, 1)).status_code == 404
    add_outputs(campaign, n_sources=2)
    welcome = owner_client.get(reverse("monitoring:preview", args=[campaign.public_id]))
    assert item_url(campaign, 0, 1) in welcome.text
    page = owner_client.get(item_url(campaign, 0, 1))
    assert "not built yet" in page.text
    assert owner_client.get(image_url(page, item_url(campaign, 0, 1))).status_code == 200


@pytest.mark.parametrize(("hit", "position"), [(1, 0), (1, 4), (9, 1), (0, 10)])
def test_there_is_no_such_item(owner: User, owner_client: Client, hit: int, position: int) -> None:
    assert owner_client.get(item_url(open_campaign(owner), hit, position)).status_code == 404


@pytest.mark.parametrize(("n_hits", "size"), [(1, 3), (6, 20)])
def test_queries_of_a_preview(owner: User, owner_client: Client, n_hits: int, size: int) -> None:
    url = item_url(open_campaign(owner, n_hits=n_hits, size=size), 1, 1)
    with CaptureQueriesContext(connection) as queries:
        owner_client.get(url)
    assert len(queries) == 6  # session, user, campaign, items, HITs, criteria
