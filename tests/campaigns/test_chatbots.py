"""The chatbots of a live campaign: listing, adding, changing, copying and removing them."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from campaigns.models import Campaign, Chatbot, Output
from campaigns.services.chatbots import add_chatbot, change_chatbot
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import make_campaign
from tests.campaigns.live import NAMES, PERSONA, build, chatbot_of, launch, make_live, url_of
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

REMOTE = {"name": "Remote", "family": "", "option_base_url": "https://api.openai.com/v1", "option_model": "small"}
REMOTE |= {"option_system_prompt": "", "option_temperature": "0.7", "option_max_tokens": "", "option_more_fields": ""}
REMOTE |= {"option_is_streaming": "yes", "secret_api_key": ""}


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


def autosave(client: Client, campaign: Campaign, name: str = "Amber", /, **sent: Any) -> Any:
    chatbot = chatbot_of(campaign, name)
    return client.post(url_of(campaign, "chatbot", chatbot.pk), sent, headers={"X-Autosave": "1"})


def status(campaign: Campaign) -> str:
    return Campaign.objects.get(pk=campaign.pk).status


# --- The list


def test_a_new_campaign_lacks_its_chatbots_only(owner_client: Client, owner: User) -> None:
    campaign = make_campaign(owner, "dialogue-free")
    page = owner_client.get(url_of(campaign))
    assert [chatbot.system.is_degraded for chatbot in page.context["chatbots"]] == [True]
    assert page.context["n_ordinary"] == 0
    assert url_of(campaign, "chatbot_choose") in page.text


def test_the_list_shows_each_with_its_test_family_persona_and_cost(owner_client: Client, live: Campaign) -> None:
    amber = chatbot_of(live)
    amber.persona, amber.spent, amber.spending_cap = PERSONA, Decimal("1.5"), Decimal(2)
    amber.tested = {"at": "2026-03-01T10:00:00+00:00", "ok": True, "took_ms": 1234, "turns": []}
    amber.save()
    amber.system.family = "gems"
    amber.system.save()
    page = owner_client.get(url_of(live))
    assert list(map(str, page.context["chatbots"])) == [*NAMES, "degraded"]
    assert page.context["n_families"] == 5
    for text in (
        "1,234 ms",
        "gems",
        "Retrieval",
        'data-label="Statements" class="num">2</td>',
        "1.50 of 2.00",
        "answers",
        "not tested",
    ):
        assert text in page.text


def test_queries_of_the_list_do_not_grow_with_it(
    owner_client: Client, live: Campaign, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4):
        owner_client.get(url_of(live))
    for number in range(8):
        add_chatbot(campaign=live, name=f"more {number}", connector="retrieval", persona=PERSONA)
    with django_assert_num_queries(4):
        owner_client.get(url_of(live))


def test_a_chatbot_whose_connector_is_gone_is_still_shown(owner_client: Client, live: Campaign) -> None:
    Chatbot.objects.filter(system__name="Amber").update(connector="former")
    assert "not installed" in owner_client.get(url_of(live)).text
    page = owner_client.get(url_of(live, "chatbot", chatbot_of(live).pk))
    assert "former" in page.text


# --- Adding


def test_connectors_are_offered_and_the_degraded_one_where_it_is_lacking(owner_client: Client, live: Campaign) -> None:
    def offered() -> list[str]:
        return [each.slug for each in owner_client.get(url_of(live, "chatbot_choose")).context["connectors"]]

    assert {"openai-chat", "retrieval"} <= set(offered())
    assert "degraded" not in offered()
    chatbot_of(live, "degraded").system.delete()
    assert "degraded" in offered()
    assert url_of(live, "chatbot_add", "degraded") in owner_client.get(url_of(live)).text


def test_adding_a_chatbot_through_its_connectors_form(owner_client: Client, ready: Campaign) -> None:
    url = url_of(ready, "chatbot_add", "openai-chat")
    assert owner_client.get(url).status_code == 200
    answer = owner_client.post(url, REMOTE | {"family": "remote ones", "secret_api_key": "sk-abc"})
    made = chatbot_of(ready, "Remote")
    assert answer["Location"] == url_of(ready, "chatbot", made.pk)
    assert (made.connector, made.system.family, made.system.is_degraded) == ("openai-chat", "remote ones", False)
    assert (made.settings["model"], made.settings["temperature"], made.settings["max_tokens"]) == ("small", "0.7", None)
    assert "api_key" not in made.settings
    assert made.secrets
    assert Output.objects.filter(system=made.system).count() == 1
    assert status(ready) == "draft", "its HITs lack the new chatbot"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "Amber"}, "name"),
        ({"option_model": ""}, "option_model"),
        ({"option_max_tokens": "many"}, "option_max_tokens"),
        ({"option_base_url": "no address"}, "option_base_url"),
    ],
)
def test_a_chatbot_that_cannot_be(owner_client: Client, live: Campaign, wrong: dict[str, str], field: str) -> None:
    answer = owner_client.post(url_of(live, "chatbot_add", "openai-chat"), REMOTE | wrong)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert live.systems.count() == 6


def test_an_unknown_connector_is_not_found(owner_client: Client, live: Campaign) -> None:
    for slug in ("nonsense", "degraded"):  # there is one already
        assert owner_client.get(url_of(live, "chatbot_add", slug)).status_code == 404
        assert owner_client.post(url_of(live, "chatbot_add", slug), {"name": "x"}).status_code == 404


def test_the_degraded_chatbot_can_be_added_again_once(owner_client: Client, live: Campaign) -> None:
    chatbot_of(live, "degraded").system.delete()
    owner_client.post(url_of(live, "chatbot_add", "degraded"), {"name": "noise", "family": "kept out"})
    made = chatbot_of(live, "noise")
    assert (made.system.is_degraded, made.system.family, made.connector) == (True, "", "degraded")
    with pytest.raises(DomainError) as refused:
        add_chatbot(campaign=live, name="more noise", connector="degraded", is_degraded=True)
    assert refused.value.code == "has_degraded"


def test_other_campaigns_have_no_chatbots(owner_client: Client, owner: User) -> None:
    campaign = make_campaign(owner, "qg")
    with pytest.raises(DomainError) as refused:
        add_chatbot(campaign=campaign, name="Amber", connector="retrieval")
    assert refused.value.code == "not_live"
    assert owner_client.post(url_of(campaign, "chatbot_add", "retrieval"), {"name": "Amber"}).status_code == 422
    assert not campaign.systems.exists()


# --- Changing


def test_a_field_alone_changes_nothing_else(owner_client: Client, live: Campaign) -> None:
    before = Chatbot.objects.filter(system__name="Amber").values().get()
    assert autosave(owner_client, live, timeout_s="45").json()["saved"]
    assert Chatbot.objects.filter(system__name="Amber").values().get() == before | {"timeout_s": 45}


def test_the_whole_form_without_script(owner_client: Client, live: Campaign) -> None:
    sent = {"name": "Amber II", "family": "gems", "persona": "I  bake.\r\n\r\nI bake.\nI sail.", "n_statements": "1"}
    sent |= {"timeout_s": "300", "n_retries": "0", "max_chars": "500", "max_parallel": "4", "price_per_reply": "0.001"}
    sent |= {"price_in": "0.15", "price_out": "0.6", "spending_cap": "5", "option_n_candidates": "3"}
    chatbot = chatbot_of(live)
    for _ in range(2):
        assert owner_client.post(url_of(live, "chatbot", chatbot.pk), sent).status_code == 302
    saved = chatbot_of(live, "Amber II")
    assert saved.pk == chatbot.pk
    assert (saved.system.family, saved.persona, saved.n_statements) == ("gems", ["I bake.", "I sail."], 1)
    assert (saved.timeout_s, saved.n_retries, saved.max_chars, saved.max_parallel) == (300, 0, 500, 4)
    assert (saved.price_per_reply, saved.price_in, saved.price_out) == (
        Decimal("0.001"),
        Decimal("0.15"),
        Decimal("0.6"),
    )
    assert saved.spending_cap == 5
    assert saved.settings == chatbot.settings | {"n_candidates": 3}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "Birch"),
        ("timeout_s", "0"),
        ("timeout_s", "301"),
        ("n_retries", "-1"),
        ("max_chars", "0"),
        ("price_in", "-1"),
        ("spending_cap", "-1"),
        ("persona", "x" * 501),
        ("option_n_candidates", "0"),
        ("option_n_candidates", "many"),
    ],
)
def test_values_that_cannot_be(owner_client: Client, live: Campaign, field: str, value: str) -> None:
    before = list(Chatbot.objects.values())
    answer = autosave(owner_client, live, **{field: value})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert list(Chatbot.objects.values()) == before


def test_a_name_and_a_timeout_leave_built_hits_and_a_family_does_not(owner_client: Client, ready: Campaign) -> None:
    for sent in ({"name": "Amber II"}, {"name": "Amber"}, {"timeout_s": "9"}, {"persona": "I sail."}, {"family": ""}):
        name = "Amber II" if sent == {"name": "Amber"} else "Amber"
        assert autosave(owner_client, ready, name, **sent).json()["saved"]
        assert status(ready) == "ready"
    autosave(owner_client, ready, family="gems")
    assert status(ready) == "draft"


def test_what_a_test_said_is_out_of_date_when_settings_change(owner_client: Client, live: Campaign) -> None:
    Chatbot.objects.update(tested={"at": "2026-03-01T10:00:00+00:00", "ok": True, "took_ms": 5})
    autosave(owner_client, live, timeout_s="9")
    assert not chatbot_of(live).tested.get("is_outdated")
    autosave(owner_client, live, option_n_candidates="7")
    assert chatbot_of(live).tested["is_outdated"]
    assert "changed since" in owner_client.get(url_of(live)).text


def test_the_degraded_chatbot_has_neither_family_nor_persona(owner_client: Client, live: Campaign) -> None:
    page = owner_client.get(url_of(live, "chatbot", chatbot_of(live, "degraded").pk))
    assert not {"family", "persona", "price_in"} & page.context["form"].fields.keys()
    autosave(owner_client, live, "degraded", family="gems", name="noise")
    assert chatbot_of(live, "noise").system.family == ""


# --- After the launch


@pytest.mark.parametrize("field", ["name", "family", "persona", "n_statements", "max_chars", "option_model"])
def test_what_workers_meet_is_frozen(owner_client: Client, live: Campaign, field: str) -> None:
    add_chatbot(campaign=live, name="Remote", connector="openai-chat", settings={"base_url": "http://x", "model": "a"})
    launch(live)
    before = list(Chatbot.objects.values())
    answer = autosave(owner_client, live, "Remote", **{field: "7"})
    assert answer.status_code == 422
    assert answer.json()["errors"].keys() == {"__all__"}
    assert list(Chatbot.objects.values()) == before
    page = owner_client.get(url_of(live, "chatbot", chatbot_of(live, "Remote").pk))
    assert page.context["form"].fields[field].widget.attrs["disabled"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timeout_s", "9"),
        ("n_retries", "5"),
        ("max_parallel", "3"),
        ("price_per_reply", "1"),
        ("price_in", "1"),
        ("price_out", "1"),
        ("spending_cap", "7"),
        ("option_base_url", "https://other.example/v1"),
    ],
)
def test_where_and_how_it_is_asked_may_change(owner_client: Client, live: Campaign, field: str, value: str) -> None:
    add_chatbot(campaign=live, name="Remote", connector="openai-chat", settings={"base_url": "http://x", "model": "a"})
    launch(live)
    page = owner_client.get(url_of(live, "chatbot", chatbot_of(live, "Remote").pk))
    assert "disabled" not in page.context["form"].fields[field].widget.attrs
    assert autosave(owner_client, live, "Remote", **{field: value}).json()["saved"]
    saved = chatbot_of(live, "Remote")
    assert str(saved.settings["base_url"] if field.startswith("option") else getattr(saved, field)).startswith(value)


def test_after_the_launch_no_chatbot_comes_or_goes(owner_client: Client, live: Campaign) -> None:
    launch(live)
    amber = chatbot_of(live)
    for name in ("chatbot_duplicate", "chatbot_remove"):
        answer = owner_client.post(url_of(live, name, amber.pk))
        assert answer.status_code == 422
        assert answer.context["refused"].code == "frozen"
    answer = owner_client.post(url_of(live, "chatbot_add", "retrieval"), {"name": "Late"})
    assert answer.status_code == 422
    assert live.systems.count() == 6


# --- Copying and removing


def test_a_copy_is_of_the_same_family(owner_client: Client, ready: Campaign) -> None:
    change_chatbot(campaign=ready, chatbot=chatbot_of(ready), changes={"persona": PERSONA, "timeout_s": 12})
    Chatbot.objects.update(spent=3, tested={"at": "2026-03-01T10:00:00+00:00", "ok": True, "took_ms": 5})
    owner_client.post(url_of(ready, "chatbot_duplicate", chatbot_of(ready).pk))
    original, copy = chatbot_of(ready), chatbot_of(ready, "Amber (2)")
    assert original.system.family == copy.system.family == "Amber"
    assert (copy.persona, copy.timeout_s, copy.settings) == (PERSONA, 12, original.settings)
    assert (copy.spent, copy.tested) == (0, {})
    assert status(ready) == "draft"
    owner_client.post(url_of(ready, "chatbot_duplicate", original.pk))
    assert chatbot_of(ready, "Amber (3)").system.family == "Amber"


def test_members_of_a_family_never_meet_in_a_hit(ready: Campaign, owner_client: Client) -> None:
    owner_client.post(url_of(ready, "chatbot_duplicate", chatbot_of(ready).pk))
    build(ready, 12)
    seen = set()
    for hit in ready.hits.all():
        names = set(hit.items.values_list("output__system__name", flat=True))
        seen |= names
        assert len(names & {"Amber", "Amber (2)"}) == 1
    assert {"Amber", "Amber (2)"} <= seen


def test_there_is_one_degraded_chatbot(owner_client: Client, live: Campaign) -> None:
    answer = owner_client.post(url_of(live, "chatbot_duplicate", chatbot_of(live, "degraded").pk))
    assert answer.context["refused"].code == "has_degraded"


def test_removing_a_chatbot_takes_the_hits_with_it(owner_client: Client, ready: Campaign) -> None:
    other = make_live(User.objects.get(), names=("Amber",))
    answer = owner_client.post(url_of(ready, "chatbot_remove", chatbot_of(ready).pk))
    assert answer["Location"] == url_of(ready)
    assert not ready.systems.filter(name="Amber").exists()
    assert not ready.hits.exists()
    assert status(ready) == "draft"
    assert chatbot_of(other)


def test_removing_twice_finds_nothing(owner_client: Client, live: Campaign) -> None:
    url = url_of(live, "chatbot_remove", chatbot_of(live).pk)
    assert owner_client.post(url).status_code == 302
    assert owner_client.post(url).status_code == 404


def test_chatbots_of_another_campaign_are_not_found(owner_client: Client, owner: User, live: Campaign) -> None:
    other = make_live(owner)
    for name in ("chatbot", "chatbot_secrets", "chatbot_dialogues", "chatbot_test", "chatbot_remove"):
        assert owner_client.post(url_of(live, name, chatbot_of(other).pk)).status_code == 404
