"""The list of campaigns, a new one, its check-list."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.checklist import checklist, missing
from campaigns.contracts.protocol import Screen, find_blanks
from campaigns.models import Campaign, Membership, Upload
from campaigns.navigation import url_of
from campaigns.protocols import list_protocols
from campaigns.services.lifecycle import launch_campaign
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import add_member, add_outputs, make_campaign
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

LIST, NEW = "/campaigns/", "/campaigns/new/"


def test_the_site_begins_with_the_campaigns(owner_client: Client) -> None:
    assert owner_client.get("/")["Location"] == reverse("campaigns:list") == LIST


def test_an_empty_list_says_what_to_do(owner_client: Client) -> None:
    text = owner_client.get(LIST).text
    assert f'href="{NEW}"' in text
    assert "<table" not in text


@on_both
def test_the_list_has_ones_own_newest_first_with_role_and_places(
    owner_client: Client, viewer_client: Client, stranger, running: Campaign, owner
) -> None:
    running.hits.filter(number=1).update(n_places_left=0)
    newer = make_campaign(owner, "custom")
    make_campaign(stranger, "qg")
    rows = owner_client.get(LIST, {"sort": "created"}).context["rows"]
    assert [row.campaign for row in rows] == [newer, running]
    assert (rows[1].n_hits, rows[1].n_taken, rows[1].n_places) == (3, 1, 3)
    [seen] = viewer_client.get(LIST).context["rows"]
    assert seen.membership.role == "viewer"


@on_both
def test_places_taken_with_more_workers_per_hit(owner_client: Client, running: Campaign) -> None:
    running.workers_per_hit = 4
    running.save()
    running.hits.update(n_places_left=3)
    [row] = owner_client.get(LIST).context["rows"]
    assert (row.n_taken, row.n_places) == (3, 12)


@on_both
def test_the_list_is_searched_filtered_and_sorted(
    owner_client: Client, owner, running: Campaign, django_assert_num_queries
) -> None:
    for name, protocol in (("beta", "qg"), ("Alpha", "custom"), ("gamma", "qg")):
        make_campaign(owner, protocol, name)
    Upload.objects.create(campaign=Campaign.objects.get(name="beta"), name="a.csv", size=1, uploaded_by=owner)

    def names(**query: str) -> list[str]:
        return [row.campaign.name for row in owner_client.get(LIST, query).context["rows"]]

    assert names() == ["beta", "gamma", "Alpha", "Autumn questions"]
    assert names(sort="created") == ["gamma", "Alpha", "beta", "Autumn questions"]
    assert names(sort="name") == ["Alpha", "Autumn questions", "beta", "gamma"]
    assert names(search="ALPH") == names(protocol="custom") == ["Alpha"]
    assert names(stage="running") == ["Autumn questions"]
    assert names(stage="running", protocol="custom") == []
    assert "Nothing matches" in owner_client.get(LIST, {"search": "delta"}).text
    assert owner_client.get(LIST, {"stage": "nonsense"}).status_code == 422
    with django_assert_num_queries(7):  # session, user, invitations, count, page, places, finished
        owner_client.get(LIST)


@pytest.mark.parametrize("protocol", [protocol for protocol in list_protocols() if not protocol.chat])
def test_a_new_campaign_has_what_its_protocol_presets(owner, owner_client: Client, protocol: Any) -> None:
    response = owner_client.post(NEW, {"protocol": protocol.slug, "name": "Mine", "public_id": uuid4()})
    campaign = Campaign.objects.get()
    assert response["Location"] == reverse("campaigns:upload", args=[campaign.public_id])
    assert (campaign.name, campaign.status) == ("Mine", "draft")
    assert campaign.memberships.get().role == Membership.Role.OWNER
    assert [criterion.statement for criterion in campaign.criteria.all()] == [c.statement for c in protocol.criteria]
    assert campaign.mix == protocol.mix
    assert Screen.from_json(campaign.screen) == protocol.screen


def test_default_instructions_have_no_broken_lines(owner) -> None:
    for protocol in list_protocols():
        text = make_campaign(owner, protocol.slug).instructions
        assert text.split() == protocol.instructions.split()
        for line, following in zip(text.splitlines(), text.splitlines()[1:], strict=False):
            assert not line or not following or following.startswith("- ")


@on_both
def test_sent_twice_makes_one(owner_client: Client) -> None:
    sent = {"protocol": "qg", "public_id": uuid4()}
    first, second = owner_client.post(NEW, sent), owner_client.post(NEW, sent)
    assert first["Location"] == second["Location"]
    assert Campaign.objects.count() == 1


@on_both
@pytest.mark.parametrize("protocol", ["", "nonsense"])
def test_a_protocol_that_cannot_be_chosen(owner_client: Client, protocol: str) -> None:
    response = owner_client.post(NEW, {"protocol": protocol, "name": "Mine"})
    assert response.status_code == 422
    assert response.context["form"].errors.keys() == {"protocol"}
    assert not Campaign.objects.exists()


def test_every_protocol_is_offered_once(owner_client: Client) -> None:
    page = owner_client.get(NEW).text
    for protocol in list_protocols():
        assert page.count(f'name="protocol" value="{protocol.slug}"') == 1
    assert page.count('name="protocol"') == len(list_protocols())
    assert "live chat with a chatbot about a topic of the worker&#x27;s choice, at least 10 messages" in page
    assert "6 chats: 5 different chatbots and the degraded one" in page


# --- The check-list


def states(campaign: Campaign) -> dict[str, str]:
    return {step.key: step.state for step in checklist(campaign)}


@on_both
def test_a_draft_lacks_outputs_the_human_system_and_hits(campaign: Campaign) -> None:
    assert states(campaign) == {
        "name": "ok",
        "outputs": "todo",
        "human": "todo",
        "criteria": "ok",
        "instructions": "ok",
        "study": "optional",
        "hits": "todo",
        "payment": "optional",
        "platform": "ok",
    }


def test_nothing_stands_in_the_way_of_a_ready_one(ready: Campaign) -> None:
    assert missing(checklist(ready)) == []


def test_a_mix_without_an_anchor_needs_no_human_system(owner) -> None:
    campaign = make_campaign(owner, "mrc-adequacy")
    add_outputs(campaign, 2, ["a", "b"])
    assert "human" not in states(campaign)


@on_both
def test_what_a_ready_campaign_may_lose(ready: Campaign) -> None:
    ready.systems.update(is_human=False)
    assert states(ready)["human"] == "todo"
    ready.criteria.update(is_in_worker_test=False)
    assert states(ready)["criteria"] == "todo"
    ready.criteria.all().delete()
    assert states(ready)["criteria"] == "todo"
    ready.instructions = "  \n"
    assert states(ready)["instructions"] == "todo"
    ready.status = "draft"
    assert states(ready)["hits"] == "todo"


@pytest.mark.parametrize("protocol", ["da-translation", "custom"])
def test_a_blank_in_the_instructions_stops_the_launch(owner, owner_client: Client, protocol: str) -> None:
    campaign = make_campaign(owner, protocol)
    blanks = find_blanks(campaign.instructions)
    [step] = [step for step in checklist(campaign) if step.key == "instructions"]
    assert blanks
    assert step.state == "todo"
    assert step.text == f"Fill in {', '.join(blanks)}."
    page = owner_client.get(reverse("campaigns:instructions", args=[campaign.public_id])).text
    assert f"To fill in before the launch: {', '.join(blanks)}" in page
    with pytest.raises(DomainError) as refusal:
        launch_campaign(campaign=campaign)
    assert all(blank in refusal.value.message for blank in blanks)
    for blank in blanks:
        campaign.instructions = campaign.instructions.replace(blank, "Icelandic")
    assert states(campaign)["instructions"] == "ok"
    campaign.consent = "Questions? Ask [[whom]]."
    assert states(campaign)["instructions"] == "todo"


def test_no_study_name_or_contact_is_noted(ready: Campaign) -> None:
    def said() -> str:
        return next(step.text for step in checklist(ready) if step.key == "study")

    assert said() == "Workers see no study name and no contact."
    ready.study_name = "Reading questions"
    assert said() == "Workers see no contact."
    assert states(ready)["study"] == "optional"
    ready.contact = "help@example.org"
    assert said() == "Reading questions, help@example.org"
    assert states(ready)["study"] == "ok"


def test_blanks_are_found_once_and_links_are_none() -> None:
    text = "[[a]] and **[[b c]]**, [[a]]; [a link](https://example.org), [x], [[over\ntwo lines]], [], [[1]](https://example.org)"
    assert find_blanks(text) == ["[[a]]", "[[b c]]"]


def test_payment_with_minutes_is_stated(ready: Campaign) -> None:
    ready.reward = 2
    assert states(ready)["payment"] == "optional"
    ready.minutes_per_hit = 10
    assert states(ready)["payment"] == "ok"


def test_the_overview_links_every_step_and_holds_the_launch_back(owner_client: Client, campaign: Campaign) -> None:
    response = owner_client.get(reverse("campaigns:campaign", args=[campaign.public_id]))
    assert all(f'href="{url_of(campaign, step.page)}"' in response.text for step in response.context["steps"])
    assert sum(step.state == "todo" for step in response.context["steps"]) == 3
    assert response.context["step"].url == url_of(campaign, "campaigns:data")
    assert reverse("campaigns:launch", args=[campaign.public_id]) not in response.text


def test_the_overview_shows_a_launched_one_its_link(owner_client: Client, running: Campaign) -> None:
    response = owner_client.get(reverse("campaigns:campaign", args=[running.public_id]))
    assert "steps" not in response.context
    assert response.context["link"].url.startswith("http://testserver/rate/")
    assert not response.context["link"].refused


def test_where_every_rater_has_a_link_of_their_own_no_open_one_is_shown(owner_client: Client, running) -> None:
    running.platform_settings = {"access": "personal"}
    running.save()
    response = owner_client.get(reverse("campaigns:campaign", args=[running.public_id]))
    assert response.context["link"].refused
    assert response.context["link"].url not in response.text


@on_both
def test_a_campaign_of_somebody_else_keeps_its_name_from_the_pages_of_its_replications(
    owner, stranger, stranger_client: Client, campaign: Campaign
) -> None:
    copy = make_campaign(stranger)
    copy.replicates = campaign
    copy.save()
    url = reverse("campaigns:campaign", args=[copy.public_id])
    assert campaign.name not in stranger_client.get(url).text
    add_member(campaign, stranger)
    assert campaign.name in stranger_client.get(url).text


def test_hits_in_which_nobody_can_pass_the_worker_test_are_reported(ready: Campaign) -> None:
    assert states(ready)["hits"] == "ok"
    ready.n_degraded = 0
    assert states(ready)["hits"] == "error"
    assert missing(checklist(ready)) == []  # who wants the raw ratings alone may have them
    ready.n_degraded = 1  # with four criteria: four pairs, of which p is 1/16 at best
    assert states(ready)["hits"] == "optional"
    ready.alpha = 0.1
    assert states(ready)["hits"] == "ok"
