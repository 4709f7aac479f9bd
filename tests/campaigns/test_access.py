"""What holds for every page of the set-up: in each status, before anything is sent, few queries."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from campaigns.models import Campaign
from tests.campaigns.cast import add_outputs, make_campaign

PAGES = ["campaign", "systems", "criteria", "screen", "instructions", "settings", "members"]
FORMS = ["systems", "criteria", "screen", "instructions", "settings", "members"]


def url_of(name: str, campaign: Campaign) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id])


@pytest.mark.parametrize("status", ["draft", "ready", "running", "paused", "closed"])
def test_members_see_each_page(viewer_client: Client, owner_client: Client, running, status: str) -> None:
    if status in ("draft", "ready"):
        running.launched_at = None
    running.status = status
    running.save()
    for name in PAGES:
        assert owner_client.get(url_of(name, running)).status_code == 200, name
        assert viewer_client.get(url_of(name, running)).status_code == 200, name


def test_a_form_that_was_not_sent_shows_no_error(owner_client: Client, ready: Campaign) -> None:
    for name in FORMS:
        text = owner_client.get(url_of(name, ready)).text
        assert "aria-invalid" not in text, name
        assert 'role="alert"' not in text, name


QUERIES = {
    "campaign": 10,
    "systems": 4,
    "criteria": 4,
    "screen": 4,
    "instructions": 3,
    "settings": 8,  # the systems that a stopping rule may name, what is asked, for which methods are offered; members
    "members": 8,  # as the settings
}


@pytest.mark.parametrize("name", PAGES)
def test_queries_do_not_grow_with_the_campaign(
    owner_client: Client,
    ready: Campaign,
    name: str,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(QUERIES[name]):
        owner_client.get(url_of(name, ready))
    add_outputs(ready, 10, [f"another-{n}" for n in range(9)])
    with django_assert_num_queries(QUERIES[name]):
        owner_client.get(url_of(name, ready))


def test_queries_of_the_list_do_not_grow_with_it(
    owner, owner_client: Client, ready: Campaign, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(4):
        make_campaign(owner)
    with django_assert_num_queries(7):
        owner_client.get(reverse("campaigns:list"))
