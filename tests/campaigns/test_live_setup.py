"""Setting up a live campaign: its tabs, chat rules, check-list, overview and HITs."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from campaigns.checklist import Step, checklist, missing
from campaigns.contracts.chat import ChatRules
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Chatbot
from campaigns.protocols import get_protocol, list_protocols
from campaigns.services.chatbots import add_chatbot, change_chatbot
from campaigns.services.lifecycle import launch_campaign
from campaigns.services.screens import change_chat_rules
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.markdown import render_markdown
from tests.campaigns.cast import make_campaign
from tests.campaigns.live import PERSONA, build, chatbot_of, launch, make_live, url_of
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

LIVE = [protocol for protocol in list_protocols() if protocol.chat]


@pytest.fixture(scope="module")
def made(module_db: None) -> Campaign:
    return make_live(make_owner())


@pytest.fixture
def live(made: Campaign, db: None) -> Campaign:
    """The draft that the tests share; what a test changes is undone."""
    return Campaign.objects.get(pk=made.pk)


@pytest.fixture
def ready(live: Campaign) -> Campaign:
    build(live)
    return live


def steps_of(campaign: Campaign) -> dict[str, Step]:
    campaign.refresh_from_db()
    return {step.key: step for step in checklist(campaign)}


def states(campaign: Campaign) -> dict[str, str]:
    return {key: step.state for key, step in steps_of(campaign).items()}


# --- A new campaign


@pytest.mark.parametrize("protocol", LIVE, ids=lambda protocol: protocol.slug)
def test_a_new_campaign_has_rules_instructions_and_the_degraded_chatbot(owner_client: Client, protocol: Any) -> None:
    answer = owner_client.post("/campaigns/new/", {"protocol": protocol.slug, "public_id": uuid4()})
    campaign = Campaign.objects.get()
    assert answer["Location"] == url_of(campaign)
    assert campaign.chat_rules == protocol.chat
    assert campaign.mix == protocol.mix
    assert campaign.n_hits == 100
    assert campaign.criteria.count() == len(protocol.criteria)
    chatbot = Chatbot.objects.get()
    assert (str(chatbot), chatbot.connector, chatbot.system.is_degraded) == ("degraded", "degraded", True)
    assert states(campaign)["chatbots"] == "todo"
    assert {key for key, state in states(campaign).items() if state == "todo"} <= {"chatbots", "chat", "hits"}


@pytest.mark.parametrize("protocol", LIVE, ids=lambda protocol: protocol.slug)
def test_instructions_tell_the_rules(protocol: Any, owner: User) -> None:
    text = make_campaign(owner, protocol.slug).instructions
    html = render_markdown(text)
    assert "  " not in text
    asked = {
        "ssa": ("Topic", "each reply of the chatbot"),
        "preference": ("topic of your choice", "which chatbot is better"),
    }.get(protocol.method, ("Topic", "seven statements"))
    assert html.count("<ul>") == (2 if protocol.method == "ssa" else 1)
    inputs = f"at least {protocol.chat.min_inputs} messages"
    for word in (inputs, *asked, "some seconds", "feedback", "private"):
        assert word in html
    assert ("of your choice" in html) == (protocol.chat.opening == "free")
    assert "degraded" not in html.lower()


# --- Side bar


def test_a_live_campaign_has_pages_of_its_own(owner_client: Client, live: Campaign, owner: User) -> None:
    def pages(campaign: Campaign) -> set[str]:
        return {link.title for link in owner_client.get(url_of(campaign, "campaign")).context["side_bar"].links}

    other = make_campaign(owner, "custom")
    of_outputs = {"Data", "Systems", "Layout"}
    assert pages(live) & {"Chatbots", "Chat rules", *of_outputs} == {"Chatbots", "Chat rules"}
    assert pages(other) & {"Chatbots", "Chat rules", *of_outputs} == of_outputs


@pytest.mark.parametrize("page", ["data", "systems", "screen", "upload"])
def test_pages_of_outputs_lead_to_the_chatbots(owner_client: Client, live: Campaign, page: str) -> None:
    answer = owner_client.get(url_of(live, page))
    assert answer.status_code == 200
    assert answer.context["target"] == url_of(live)
    assert "<form" not in answer.text.partition("<main")[2].partition("</main>")[0]


def test_pages_of_outputs_change_no_chatbot(owner_client: Client, ready: Campaign) -> None:
    amber = ready.systems.get(name="Amber")
    for path, sent in (
        (url_of(ready, "systems"), {"human": amber.pk}),
        (url_of(ready, "system", amber.pk), {"name": "Other"}),
        (url_of(ready, "screen"), {"output_label": "Other"}),
        (url_of(ready, "field_add"), {"name": "other", "label": "Other"}),
    ):
        assert owner_client.post(path, sent).status_code == 422
    amber.refresh_from_db()
    assert (amber.name, amber.is_human) == ("Amber", False)


@pytest.mark.parametrize("page", ["chatbots", "chat", "chatbot_choose"])
def test_pages_of_chatbots_lead_to_the_outputs(owner_client: Client, owner: User, page: str) -> None:
    campaign = make_campaign(owner, "qg")
    assert owner_client.get(url_of(campaign, page)).context["target"] == url_of(campaign, "data")


# --- Rules of the chats


def test_a_rule_alone_changes_nothing_else(owner_client: Client, ready: Campaign) -> None:
    for field, value in (
        *(("opening", "icebreaker"), ("min_inputs", "3"), ("max_inputs", "30"), ("longest_input", "99")),
        ("sends_topic", "on"),
    ):
        answer = owner_client.post(url_of(ready, "chat"), {field: value}, headers={"X-Autosave": "1"})
        assert answer.json()["saved"]
    ready.refresh_from_db()
    assert ready.chat_rules == ChatRules("icebreaker", 3, 30, 99, sends_topic=True)
    assert ready.status == "ready", "HITs are the same"
    owner_client.post(url_of(ready, "chat"), {"sends_topic": "false"}, headers={"X-Autosave": "1"})
    ready.refresh_from_db()
    assert ready.chat_rules == ChatRules("icebreaker", 3, 30, 99)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("opening", "closed"),
        ("min_inputs", "0"),
        ("min_inputs", ""),
        ("max_inputs", "9"),
        ("max_inputs", "1001"),
        ("longest_input", "0"),
    ],
)
def test_rules_that_cannot_be(owner_client: Client, live: Campaign, field: str, value: str) -> None:
    answer = owner_client.post(url_of(live, "chat"), {field: value}, headers={"X-Autosave": "1"})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    live.refresh_from_db()
    assert live.chat_rules == ChatRules()


def test_rules_are_frozen_after_the_launch(owner_client: Client, live: Campaign) -> None:
    launch(live)
    answer = owner_client.post(url_of(live, "chat"), {"min_inputs": "3"})
    assert answer.context["form"].has_error("__all__", "frozen")
    live.refresh_from_db()
    assert live.chat_rules.min_inputs == 10
    assert "disabled" in owner_client.get(url_of(live, "chat")).text


# --- The check-list


def test_nothing_stands_in_the_way_of_a_ready_one(ready: Campaign) -> None:
    assert missing(checklist(ready)) == []
    assert states(ready)["tests"] == "optional"
    Chatbot.objects.update(tested={"ok": True})
    assert states(ready)["tests"] == "ok"
    Chatbot.objects.filter(system__name="Amber").update(tested={"ok": True, "is_outdated": True})
    Chatbot.objects.filter(system__name="Birch").update(tested={"ok": False})
    step = steps_of(ready)["tests"]
    assert step.state == "optional"
    assert re.search(r"Failed: Birch\..*: Amber\.", step.text)


def test_a_hit_needs_chatbots_of_different_families(live: Campaign) -> None:
    assert states(live)["chatbots"] == "ok"
    for name in ("Amber", "Birch"):
        change_chatbot(campaign=live, chatbot=chatbot_of(live, name), changes={"family": "gems"})
    step = steps_of(live)["chatbots"]
    assert step.state == "todo"
    assert "5" in step.text
    assert "4" in step.text
    assert "family" in step.text, "there are enough chatbots"
    Campaign.objects.update(n_ordinary=4)
    assert states(live)["chatbots"] == "ok"


def test_a_family_may_be_called_like_a_chatbot_without_one(live: Campaign) -> None:
    change_chatbot(campaign=live, chatbot=chatbot_of(live, "Amber"), changes={"family": "Birch"})
    assert states(live)["chatbots"] == "ok"
    build(live)


def test_the_degraded_chatbot_is_wanted_where_hits_hold_it(live: Campaign) -> None:
    assert "degraded" not in states(live)
    chatbot_of(live, "degraded").system.delete()
    assert states(live)["degraded"] == "todo"
    Campaign.objects.update(n_degraded=0)
    assert "degraded" not in states(live)


def test_an_icebreaker_needs_a_statement(owner: User) -> None:
    campaign = make_live(owner, "dialogue-icebreaker")
    assert states(campaign)["chat"] == "todo"
    change_chatbot(campaign=campaign, chatbot=chatbot_of(campaign), changes={"persona": PERSONA})
    assert states(campaign)["chat"] == "ok"


def add_openai(campaign: Campaign, name: str, prompt: str) -> None:
    add_chatbot(campaign=campaign, name=name, connector="openai-chat", settings={"system_prompt": prompt})


def add_json(campaign: Campaign, name: str, template: str) -> None:
    add_chatbot(campaign=campaign, name=name, connector="http-json", settings={"template": template})


def test_a_place_for_a_topic_that_is_not_sent_stands_in_the_way(ready: Campaign) -> None:
    assert "topic" not in states(ready)
    assert "is not sent" in steps_of(ready)["chat"].text
    add_openai(ready, "Kind", "Be kind.")
    add_openai(ready, "Topical", "Talk about {topic}.")
    add_json(ready, "Sent", '{"text": "{{text}}", "about": "On {{ topic }}"}')
    step = steps_of(ready)["topic"]
    assert (step.state, step.page) == ("todo", "campaigns:chat")
    assert all(words in step.text for words in ("Sent, Topical", "{topic}", "{{topic}}", "chat rules"))
    assert "Kind" not in step.text
    build(ready)
    with pytest.raises(DomainError, check=lambda error: error.code == "not_ready"):
        launch_campaign(campaign=ready)
    change_chat_rules(campaign=ready, changes={"sends_topic": True})
    assert "is sent" in steps_of(ready)["chat"].text
    step = steps_of(ready)["topic"]
    assert (step.state, "Kind" in step.text, "Topical" in step.text) == ("optional", True, False)
    change_chatbot(
        campaign=ready, chatbot=chatbot_of(ready, "Kind"), changes={"settings": {"system_prompt": "On {topic}."}}
    )
    assert "topic" not in states(ready), "the others need no place for it"


def test_a_connector_that_is_gone_says_nothing_of_the_topic(ready: Campaign) -> None:
    Chatbot.objects.filter(system__name="Amber").update(connector="former")
    assert "topic" not in states(ready)


def test_a_host_must_be_allowed(live: Campaign, settings: Settings) -> None:
    settings.CHATBOT_HOSTS = ["api.example.org"]
    assert "hosts" not in states(live)
    for name, host in (("Remote", "api.example.org"), ("Elsewhere", "localhost:8000")):
        options = {"base_url": f"http://{host}/v1", "model": "small"}
        add_chatbot(campaign=live, name=name, connector="openai-chat", settings=options)
    step = steps_of(live)["hosts"]
    assert (step.state, "Elsewhere" in step.text, "Remote" in step.text) == ("todo", True, False)
    line = "CHATBOT_HOSTS=api.example.org,localhost:8000"
    assert f"Ask an administrator to set {line} for this server" in step.text
    settings.CHATBOT_HOSTS = line.partition("=")[2].split(",")
    assert "hosts" not in states(live)


def test_a_connector_must_be_there(live: Campaign) -> None:
    Chatbot.objects.filter(system__name="Amber").update(connector="former")
    assert states(live)["hosts"] == "todo"


def test_instructions_that_name_another_number_of_messages_are_reported(owner_client: Client, live: Campaign) -> None:
    assert states(live)["instructions"] == "ok"
    owner_client.post(url_of(live, "chat"), {"min_inputs": "4"})
    assert states(live)["instructions"] == "optional"
    Campaign.objects.update(instructions="Chat, then rate.")
    assert states(live)["instructions"] == "ok"


def test_the_overview_counts_chatbots_and_links_every_step(owner_client: Client, ready: Campaign) -> None:
    page = owner_client.get(url_of(ready, "campaign"))
    facts = page.text.partition('<dl class="totals">')[2].partition("</dl>")[0]
    assert "<dt>Chatbots</dt><dd><strong>5</strong>" in facts
    assert "of 6 chats" in facts
    assert "Outputs" not in facts and "Systems" not in facts
    assert all(
        f'href="{url_of(ready, step.page.partition(":")[2])}"' in page.text
        for step in page.context["steps"]
        if "campaigns:" in step.page
    )


def test_queries_of_the_overview_do_not_grow(
    owner_client: Client, ready: Campaign, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(10):
        owner_client.get(url_of(ready, "campaign"))
    for number in range(7):
        add_chatbot(campaign=ready, name=f"more {number}", connector="retrieval")
    with django_assert_num_queries(10):
        owner_client.get(url_of(ready, "campaign"))


# --- HITs


def test_the_design_has_the_fields_of_chats(owner_client: Client, live: Campaign) -> None:
    page = owner_client.get(url_of(live, "design"))
    assert page.context["form"].fields.keys() == {
        *("n_ordinary", "n_degraded", "n_hits", "workers_per_hit", "hits_per_worker", "seed")
    }
    main = page.text.partition("<main")[2].partition("</main>")[0].partition(">Estimate<")[2]
    assert '<dt>HITs</dt><dd><strong>100</strong> <span class="total-note">600 chats</span></dd>' in main
    assert "<dt>Chatbots</dt><dd><strong>5</strong></dd>" in main
    assert "<dt>Ratings per chatbot</dt><dd><strong>100</strong>" in main
    estimate = page.context["estimate"]
    assert [name for name, _ in estimate.ratings] == ["Amber", "Birch", "Coral", "Dune", "Ember"]
    assert [cell.kind for cell in page.context["cells"]].count(Kind.DEGRADED) == 1
    assert not re.search(r"\b([Oo]utputs?|[Ss]ystems?|twins?)\b", main)


@pytest.mark.parametrize(
    ("field", "value"), [("n_hits", ""), ("n_hits", "0"), ("n_degraded", "2"), ("n_ordinary", "0")]
)
def test_designs_that_cannot_be(owner_client: Client, live: Campaign, field: str, value: str) -> None:
    answer = owner_client.post(url_of(live, "design"), {field: value}, headers={"X-Autosave": "1"})
    assert list(answer.json()["errors"]) == [field]


def test_fields_that_do_not_apply_are_not_taken(owner_client: Client, live: Campaign) -> None:
    owner_client.post(url_of(live, "design"), {"n_repeat": "3", "layout": "pooled", "n_hits": "7"})
    live.refresh_from_db()
    assert (live.n_repeat, live.layout, live.n_hits) == (0, "by-system", 7)


def test_a_campaign_without_chatbots_asks_for_some(owner_client: Client, owner: User) -> None:
    campaign = make_campaign(owner, "dialogue-free")
    page = owner_client.get(url_of(campaign, "design"))
    assert page.context["problem"].code == "no_outputs"
    assert page.context["data_url"] == url_of(campaign)
    assert url_of(campaign) in page.text.partition(">Estimate<")[2]


def test_too_few_families_are_reported_with_the_numbers(owner_client: Client, owner: User) -> None:
    campaign = make_live(owner, names=("Amber", "Birch", "Coral"))
    page = owner_client.get(url_of(campaign, "design"))
    assert page.context["problem"].code == "too_few_systems"
    assert "5" in page.context["problem"].message
    assert "3" in page.context["problem"].message


def test_a_new_number_of_hits_makes_them_stale(owner_client: Client, ready: Campaign) -> None:
    owner_client.post(url_of(ready, "design"), {"n_hits": "9"})
    ready.refresh_from_db()
    assert ready.status == "draft"
    assert "out of date" in owner_client.get(url_of(ready, "design")).text
    assert states(ready)["hits"] == "todo"


def test_a_hit_shows_its_chatbots_in_order(owner_client: Client, ready: Campaign) -> None:
    change_chatbot(campaign=ready, chatbot=chatbot_of(ready, "Amber"), changes={"family": "gems"})
    page = owner_client.get(url_of(ready, "hit", 1))
    shown = page.context["items"]
    items = list(ready.hits.get(number=1).items.select_related("output__system").order_by("position"))
    assert shown == items
    assert [item.output.system.name for item in shown if item.kind == Kind.DEGRADED] == ["degraded"]
    rows = page.text.partition("<tbody>")[2].split("</tr>")
    assert [item.output.system.name in row for item, row in zip(items, rows, strict=False)] == [True] * len(items)
    assert ["gems" in row for row in rows] == ['"Amber"' in row for row in rows]
    assert ["hit-degraded" in row for row in rows[: len(items)]] == [item.kind == Kind.DEGRADED for item in items]
    assert "Text as shown" not in page.text


def test_the_presets_design_is_a_click_away(owner_client: Client, live: Campaign) -> None:
    owner_client.post(url_of(live, "design"), {"n_ordinary": "3", "n_degraded": "0"})
    assert "5 chatbots, 1 degraded chatbot" in owner_client.get(url_of(live, "design")).text
    owner_client.post(url_of(live, "design_preset"))
    live.refresh_from_db()
    assert live.mix == get_protocol(live.protocol).mix


# --- Settings


def test_a_live_campaign_has_no_images_to_do_without(owner_client: Client, live: Campaign) -> None:
    page = owner_client.get(url_of(live, "settings"))
    assert page.status_code == 200
    assert "is_accessible" not in page.context["form"].fields
