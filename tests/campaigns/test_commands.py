"""What the command menu lists: what the user may open, and nothing of others."""

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.campaigns.cast import add_member, make_campaign

pytestmark = pytest.mark.django_db


def listed(client: Client, campaign: Campaign | None = None) -> dict[str, list[str]]:
    query = {"campaign": campaign.public_id} if campaign else {}
    found: dict[str, list[str]] = {}
    for each in client.get(reverse("campaigns:commands"), query).json()["commands"]:
        found.setdefault(each["group"], []).append(each["title"])
    return found


def test_pages_campaigns_and_help(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner, name="Summaries")
    found = listed(owner_client, campaign)
    assert found["Campaign"] == ["Summaries"]
    assert {"Overview", "Design: Questions", "Results: Findings", "Settings"} <= {*found["This campaign"]}
    assert "Campaigns" in found["Page"] and "Admin" not in found["Page"]
    assert {"Glossary", "Glossary: Chats"} <= {*found["Help"]}


def test_every_address_that_is_listed_answers(owner: User, owner_client: Client) -> None:
    query = {"campaign": make_campaign(owner).public_id}
    answer = owner_client.get(reverse("campaigns:commands"), query).json()
    urls = {each["url"].partition("#")[0] for each in answer["commands"]}
    assert {url: code for url in urls if (code := owner_client.get(url).status_code) not in (200, 302)} == {}


def test_a_stranger_sees_nothing_of_a_campaign(owner: User, stranger_client: Client) -> None:
    found = listed(stranger_client, make_campaign(owner))
    assert "Campaign" not in found and "This campaign" not in found


def test_administrators_have_their_pages(owner: User, owner_client: Client) -> None:
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    assert "Admin" in listed(owner_client)["Page"]


def test_the_queries_do_not_grow(owner: User, owner_client: Client, colleague: User, django_assert_num_queries) -> None:
    campaign = make_campaign(owner)
    listed(owner_client, campaign)  # reads the guides
    with django_assert_num_queries(4):
        listed(owner_client, campaign)
    for _ in range(5):
        add_member(make_campaign(owner), colleague)
    with django_assert_num_queries(4):
        listed(owner_client, campaign)
