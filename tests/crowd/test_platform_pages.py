"""The page of the crowd platform: choosing one, its options, its keys, its account."""

import logging
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core import serializers
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from campaigns.checklist import Step, checklist
from campaigns.models import Campaign
from campaigns.services.lifecycle import launch_campaign
from crowd.queries.account import keys_set
from crowd.services.account import store_account_data
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.encryption import decrypt_secrets
from simulators.ledger import Ledger
from simulators.prolific import ProlificApi
from simulators.server import Served
from tests.annotation.cast import build
from tests.campaigns.cast import add_member, make_campaign
from tests.crowd.campaigns import make_crowd_campaign, plan

pytestmark = pytest.mark.django_db
TOKEN = "prolific-token-0123456789"
KEYS = {"key_access_key_id": "AKIA0123456789", "key_secret_access_key": "very/secret+0123456789"}


def url(campaign: Campaign, name: str = "platform", *args: object) -> str:
    return reverse(f"crowd:{name}", args=[campaign.public_id, *args])


def autosave(client: Client, campaign: Campaign, **sent: object) -> Any:
    return client.post(url(campaign), sent, headers={"X-Autosave": "1"})


@pytest.fixture
def draft(owner: User, colleague: User) -> Campaign:
    """The colleague is a viewer."""
    campaign = make_campaign(owner, "qg")
    add_member(campaign, colleague)
    return campaign


@pytest.fixture
def mturk(owner: User, colleague: User) -> Campaign:
    """Running, nothing published yet; the colleague is a viewer."""
    campaign = make_crowd_campaign(owner, "mturk")
    add_member(campaign, colleague)
    return campaign


@pytest.fixture
def prolific(owner: User) -> Campaign:
    return make_crowd_campaign(owner, "prolific", currency="GBP")


@pytest.fixture
def simulator(settings: Settings) -> Iterator[Served]:
    with Served(ProlificApi(Ledger(), token=TOKEN)) as served:
        settings.PROLIFIC_URL = served.url
        yield served


# --- Choosing


def test_a_platform_and_its_options_are_chosen_here(owner_client: Client, draft: Campaign) -> None:
    answer = autosave(owner_client, draft, platform="mturk")
    assert answer.json()["saved"]
    assert "#with-account" in answer.json()["reload"]
    autosave(owner_client, draft, option_mode="production")
    autosave(owner_client, draft, option_title="Rate questions")
    saved = Campaign.objects.get()
    assert saved.platform == "mturk"
    assert (saved.platform_settings["mode"], saved.platform_settings["title"]) == ("production", "Rate questions")
    assert saved.platform_settings["access"] == "open", "what the other platform had is kept"
    names = owner_client.get(url(draft)).context["form"].fields.keys()
    assert "option_title" in names
    assert not any("access_key" in name for name in names), "keys are not options to be shown"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("platform", "moon"),
        ("option_mode", "dream"),
        ("option_lifetime_days", "0"),
        ("option_lifetime_days", ""),
        ("option_lifetime_days", "366"),
        ("option_title", "x" * 200),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(owner_client: Client, draft: Campaign, field: str, value: str) -> None:
    autosave(owner_client, draft, platform="mturk")
    before = Campaign.objects.values().get()
    answer = autosave(owner_client, draft, **{field: value})
    assert answer.status_code == 422
    assert answer.json()["errors"].keys() == {field}
    assert owner_client.post(url(draft), {field: value}).status_code == 422
    assert Campaign.objects.values().get() == before


def test_an_option_that_was_not_sent_does_not_prevent_it(owner_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(platform="mturk", platform_settings={"lifetime_days": None})
    assert autosave(owner_client, draft, option_title="Rate questions").json()["saved"]


def test_a_platform_without_account_leads_to_the_raters(owner_client: Client, draft: Campaign) -> None:
    page = owner_client.get(url(draft))
    assert reverse("monitoring:raters", args=[draft.public_id]) in page.text
    assert "rows" not in page.context
    assert autosave(owner_client, draft, option_max_workers="20").json()["saved"]


# --- A cap of workers for an open link


@pytest.fixture
def built(owner: User) -> Campaign:
    """Ready: 4 HITs for 3 workers each, 2 for each worker at most."""
    campaign = make_campaign(owner, "mrc-adequacy")
    Campaign.objects.update(workers_per_hit=3, hits_per_worker=2, status=Campaign.Status.READY)
    campaign.refresh_from_db()
    build(campaign, n_hits=4)
    return campaign


def cap_shown(client: Client, campaign: Campaign) -> str:
    return client.get(url(campaign)).context["form"]["option_max_workers"].value()


def platform_step(campaign: Campaign) -> Step:
    campaign.refresh_from_db()
    return next(step for step in checklist(campaign) if step.key == "platform")


def launched(campaign: Campaign) -> Campaign:
    launch_campaign(campaign=campaign, is_confirmed=True)
    campaign.refresh_from_db()
    return campaign


def test_a_cap_is_proposed_from_the_design_and_applies_from_the_launch(owner_client: Client, built: Campaign) -> None:
    assert cap_shown(owner_client, built) == 12  # 4 × 3 / 2 workers, and as many again
    assert "Proposed from the design" in owner_client.get(url(built)).text
    assert platform_step(built).state == "ok"
    words = "Anybody with the link may take part, at most 12 workers. The limit is proposed: change it as you like."
    assert platform_step(built).text == words
    assert "max_workers" not in built.platform_settings
    assert launched(built).platform_settings == {"access": "open", "max_workers": 12}
    assert cap_shown(owner_client, built) == 12


def test_a_proposed_cap_can_be_removed_and_the_checklist_says_so(owner_client: Client, built: Campaign) -> None:
    autosave(owner_client, built, option_max_workers="")
    assert cap_shown(owner_client, built) is None
    step = platform_step(built)
    assert (step.state, "without a limit" in step.text, "set how many may take part" in step.text) == (
        "optional",
        True,
        True,
    )
    assert launched(built).platform_settings["max_workers"] is None


def test_another_cap_stays(owner_client: Client, built: Campaign) -> None:
    autosave(owner_client, built, option_max_workers="7")
    assert cap_shown(owner_client, built) == 7
    assert launched(built).platform_settings["max_workers"] == 7


def test_where_raters_have_links_of_their_own_no_cap_is_proposed(owner_client: Client, built: Campaign) -> None:
    autosave(owner_client, built, option_access="personal")
    assert cap_shown(owner_client, built) is None
    assert platform_step(built).state == "ok"


def test_before_there_are_hits_no_cap_is_proposed(owner_client: Client, draft: Campaign) -> None:
    assert cap_shown(owner_client, draft) is None
    assert platform_step(draft).state == "ok"


def test_a_campaign_that_was_launched_without_a_cap_has_none(owner_client: Client, built: Campaign) -> None:
    Campaign.objects.update(status=Campaign.Status.RUNNING, launched_at=timezone.now())
    assert cap_shown(owner_client, built) is None


def test_what_workers_have_seen_is_frozen(owner_client: Client, mturk: Campaign) -> None:
    for field, value in (("platform", "prolific"), ("option_mode", "production"), ("option_title", "Other")):
        before = Campaign.objects.values().get()
        assert autosave(owner_client, mturk, **{field: value}).status_code == 422
        assert Campaign.objects.values().get() == before
    fields = owner_client.get(url(mturk)).context["form"].fields
    assert fields["platform"].widget.attrs["disabled"]
    assert fields["option_mode"].widget.attrs["disabled"]
    assert "disabled" not in fields["option_budget_cap"].widget.attrs


def test_what_is_operational_may_change_after_the_launch(owner_client: Client, mturk: Campaign) -> None:
    assert autosave(owner_client, mturk, option_budget_cap="40").json()["saved"]
    Campaign.objects.update(platform="link", platform_settings={"access": "open", "max_workers": None})
    assert autosave(owner_client, mturk, option_max_workers="3").json()["saved"]
    assert autosave(owner_client, mturk, option_access="personal").status_code == 422
    assert Campaign.objects.get().platform_settings == {"access": "open", "max_workers": 3}


def test_who_changes_the_workspace_after_the_launch_can_name_its_project(owner_client: Client, mturk: Campaign) -> None:
    """A project of the former workspace is refused, so no further wave could be published."""
    first = {"workspace": "a" * 24, "project": "b" * 24}
    Campaign.objects.update(platform="prolific", platform_settings=first)
    assert autosave(owner_client, mturk, option_workspace="c" * 24).json()["saved"]
    assert autosave(owner_client, mturk, option_project="d" * 24).json()["saved"]
    assert Campaign.objects.get().platform_settings == {"workspace": "c" * 24, "project": "d" * 24}


def test_two_people_do_not_overwrite_each_others_options(owner_client: Client, draft: Campaign) -> None:
    autosave(owner_client, draft, option_max_workers="5")
    autosave(owner_client, draft, option_access="personal")
    assert Campaign.objects.get().platform_settings == {"access": "personal", "max_workers": 5}
    autosave(owner_client, draft, option_max_workers="")
    assert Campaign.objects.get().platform_settings["max_workers"] is None


def test_another_marketplace_is_another_account(owner_client: Client, draft: Campaign) -> None:
    autosave(owner_client, draft, platform="mturk")
    checked = {"name": "Olu", "balance": "10.00", "currency": "USD", "is_sandbox": True, "at": "", "by": ""}
    store_account_data(campaign=draft, data={"account": checked, "hit_type": "3ABC"})
    autosave(owner_client, draft, option_title="Rate questions")
    assert owner_client.get(url(draft)).context["account"].last_check.is_sandbox is True
    autosave(owner_client, draft, option_mode="production")
    assert owner_client.get(url(draft)).context["account"].last_check.is_sandbox is None
    assert Campaign.objects.get().account_data == {"hit_type": "3ABC"}


# --- Keys


def test_keys_are_set_kept_and_cleared(owner_client: Client, mturk: Campaign) -> None:
    assert owner_client.post(url(mturk, "keys"), KEYS).status_code == 302
    owner_client.post(url(mturk, "keys"), {"key_access_key_id": "", "key_secret_access_key": "other"})
    secrets = decrypt_secrets(Campaign.objects.get().platform_secrets)
    assert secrets == {"access_key_id": "AKIA0123456789", "secret_access_key": "other"}
    owner_client.post(url(mturk, "keys"), {"key_secret_access_key": "typed", "clear": "secret_access_key"})
    assert decrypt_secrets(Campaign.objects.get().platform_secrets) == {"access_key_id": "AKIA0123456789"}


def test_another_key_forgets_what_was_remembered_of_the_account(owner_client: Client, prolific: Campaign) -> None:
    owner_client.post(url(prolific, "keys"), {"key_token": "another"})
    remembered = {"account": {"error": "no"}, "jwks": {}, "prepared_at": timezone.now().isoformat()}
    store_account_data(campaign=prolific, data=remembered, secrets={"hook_secret": "of the workspace"})
    owner_client.post(url(prolific, "keys"), {"key_token": TOKEN})
    kept = Campaign.objects.get()
    assert (kept.account_data, decrypt_secrets(kept.platform_secrets)) == ({}, {"token": TOKEN})
    assert not Job.objects.exists(), "nothing is published, so nothing is to be prepared yet"


@pytest.mark.parametrize("sent", [{}, {"key_token": TOKEN}])
def test_keys_that_are_the_same_forget_nothing(owner_client: Client, prolific: Campaign, sent: dict[str, str]) -> None:
    owner_client.post(url(prolific, "keys"), {"key_token": TOKEN})
    store_account_data(campaign=prolific, data={"jwks": {}}, secrets={"hook_secret": "of the workspace"})
    before = Campaign.objects.values().get()
    owner_client.post(url(prolific, "keys"), sent)
    assert Campaign.objects.values().get() == before


def test_the_account_of_other_keys_is_prepared_once_something_is_published(
    owner: User, owner_client: Client, mturk: Campaign, settings: Settings
) -> None:
    settings.MTURK_ACCESS_KEY_ID = settings.MTURK_SECRET_ACCESS_KEY = "x"
    plan(mturk, owner, 1)
    owner_client.post(url(mturk, "keys"), KEYS)
    assert Job.objects.filter(kind="crowd.sync", args={"campaign": mturk.pk}).count() == 1


def test_there_is_no_other_key(owner_client: Client, mturk: Campaign) -> None:
    owner_client.post(url(mturk, "keys"), KEYS)
    before = Campaign.objects.get().platform_secrets
    assert owner_client.post(url(mturk, "keys"), {"clear": "nonsense"}).status_code == 422
    assert Campaign.objects.get().platform_secrets == before


def test_the_page_says_which_keys_are_set(owner_client: Client, mturk: Campaign, settings: Settings) -> None:
    def shown() -> list[tuple[bool, bool]]:
        return [(key.is_set, key.is_of_site) for key in owner_client.get(url(mturk)).context["account"].keys]

    assert shown() == [(False, False), (False, False)]
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY = "AKIA-of-the-site", "secret-of-the-site"
    assert shown() == [(False, True), (False, True)]
    owner_client.post(url(mturk, "keys"), KEYS)
    page = owner_client.get(url(mturk))
    assert shown() == [(True, True), (True, True)]
    for text in (*KEYS.values(), "AKIA-of-the-site", "secret-of-the-site"):
        assert text not in page.text


def test_keys_that_cannot_be_read_any_more_are_entered_again(
    owner: User, owner_client: Client, mturk: Campaign, settings: Settings
) -> None:
    owner_client.post(url(mturk, "keys"), KEYS)
    settings.SECRET_KEY = "another one"
    owner_client.force_login(owner)
    assert keys_set(Campaign.objects.get()) is None
    assert owner_client.get(url(mturk)).context["account"].is_unreadable
    owner_client.post(url(mturk, "keys"), KEYS)
    assert keys_set(Campaign.objects.get()) == {"access_key_id", "secret_access_key"}


def test_no_page_row_or_log_shows_a_key(
    owner_client: Client, prolific: Campaign, simulator: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answers = [
        owner_client.post(url(prolific, "keys"), {"key_token": TOKEN}, follow=True),
        owner_client.post(url(prolific, "check"), follow=True),
        owner_client.post(url(prolific, "keys"), {"key_token": TOKEN, "clear": "nonsense"}),
        owner_client.get(url(prolific, "plan")),
        owner_client.get(url(prolific, "postings")),
    ]
    assert answers[1].context["account"].last_check.name, "the key was not even used"
    encrypted = Campaign.objects.get().platform_secrets
    for answer in answers:
        assert TOKEN not in answer.text
        assert encrypted not in answer.text
    assert TOKEN not in caplog.text
    assert TOKEN not in serializers.serialize("json", Campaign.objects.all())


# --- The account


def test_a_check_shows_whose_account_it_is(owner_client: Client, prolific: Campaign, simulator: Served) -> None:
    owner_client.post(url(prolific, "keys"), {"key_token": TOKEN})
    context = owner_client.post(url(prolific, "check"), follow=True).context
    assert (context["account"].last_check.balance, context["account"].last_check.currency) == (Decimal(10_000), "GBP")
    assert context["account"].last_check.is_sandbox is True


def test_a_check_that_fails_says_why_until_the_next(
    owner_client: Client, prolific: Campaign, simulator: Served
) -> None:
    owner_client.post(url(prolific, "keys"), {"key_token": "wrong"})
    page = owner_client.post(url(prolific, "check"), follow=True)
    assert page.status_code == 200
    assert page.context["account"].last_check.error
    assert page.context["account"].last_check.is_sandbox is None
    owner_client.post(url(prolific, "keys"), {"key_token": TOKEN})
    assert not owner_client.get(url(prolific)).context["account"].last_check.error, "it is of the other key"


def test_real_money_is_said_loudly(owner_client: Client, mturk: Campaign) -> None:
    checked = {"name": "Olu", "balance": "10.00", "currency": "USD", "is_sandbox": False, "at": "", "by": ""}
    store_account_data(campaign=mturk, data={"account": checked})
    assert "badge-money" in owner_client.get(url(mturk)).text


def test_sync_now_is_asked_for_once(owner_client: Client, mturk: Campaign) -> None:
    for _ in range(2):
        assert owner_client.post(url(mturk, "sync")).status_code == 302
    assert Job.objects.filter(kind="crowd.sync", args={"campaign": mturk.pk}).count() == 1


# --- Who may


def test_a_viewer_sees_states_and_no_forms(owner_client: Client, colleague_client: Client, mturk: Campaign) -> None:
    owner_client.post(url(mturk, "keys"), KEYS)
    page = colleague_client.get(url(mturk))
    assert page.status_code == 200
    assert 'name="key_' not in page.text
    assert 'id="keys"' not in page.text
    assert url(mturk, "check") not in page.text
    assert all(field.widget.attrs.get("disabled") for field in page.context["form"].fields.values())


def test_the_page_asks_the_database_as_often_for_many_waves(
    owner: User, owner_client: Client, settings: Settings
) -> None:
    settings.MTURK_ACCESS_KEY_ID = settings.MTURK_SECRET_ACCESS_KEY = "x"
    campaign = make_crowd_campaign(owner, "mturk", n_hits=6)

    def n_queries(name: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert owner_client.get(url(campaign, name)).status_code == 200
        return len(queries)

    plan(campaign, owner, 1)
    before = {name: n_queries(name) for name in ("platform", "plan", "postings")}
    for _ in range(3):
        plan(campaign, owner, 1)
    assert {name: n_queries(name) for name in before} == before
    assert before["platform"] < 25
