"""Publishing in waves: what it costs before anything is spent, ordering it, interrupting it, all postings at once."""

import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.models import Worker
from campaigns.models import Campaign
from crowd.models import Order, Posting, Submission, Wave
from crowd.queries.publishing import HitTotals, list_ended_early
from crowd.services.account import store_account_data
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from tests.campaigns.cast import add_member, make_campaign
from tests.conftest import make_owner
from tests.crowd.campaigns import make_crowd_campaign, plan
from tests.crowd.test_platform_pages import url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def keys(settings: Settings) -> None:
    settings.MTURK_ACCESS_KEY_ID = settings.MTURK_SECRET_ACCESS_KEY = settings.PROLIFIC_TOKEN = "key-of-the-site"
    settings.SITE_URL = "https://rate.example"


@pytest.fixture(scope="module")
def made(module_db: None) -> Campaign:
    return make_crowd_campaign(make_owner(), "mturk", n_hits=12)


@pytest.fixture
def campaign(made: Campaign, colleague: User) -> Campaign:
    """Twelve HITs for two workers each, 0.80 USD in ten minutes; the colleague is a viewer."""
    campaign = Campaign.objects.get(pk=made.pk)
    add_member(campaign, colleague)
    return campaign


def check(campaign: Campaign, balance: str, *, is_sandbox: bool = True) -> None:
    at = timezone.now().isoformat()
    found = {"name": "Olu", "balance": balance, "currency": "USD", "is_sandbox": is_sandbox, "at": at, "by": ""}
    store_account_data(campaign=campaign, data={"account": found})


def preview(client: Client, campaign: Campaign, n_hits: int | None = None) -> Any:
    return client.get(url(campaign, "plan"), {} if n_hits is None else {"n_hits": n_hits})


def order(client: Client, campaign: Campaign, page: Any, **sent: object) -> Any:
    """Send the form of a preview as it is shown."""
    form = page.context["publish_form"]
    shown = {name: form[name].value() for name in form.fields}
    return client.post(url(campaign, "publish"), shown | sent)


def lines(page: Any) -> dict[str, str]:
    """Return what the page says of the cost."""
    costs = page.text.partition('id="cost-title"')[2].partition("</dl>")[0]
    return dict(re.findall(r"<dt>([^<]+)</dt><dd>(?:<strong>)?([^<]+?)(?:</strong>)?\s*<", costs))


def warned(page: Any) -> str:
    return " ".join(re.findall(r'message-warning" role="status"><p>(.*?)</p>', page.text, re.DOTALL))


def test_a_design_that_no_worker_can_pass_is_published_on_confirmation_only(
    owner_client: Client, campaign: Campaign
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(status="ready", launched_at=None)
    assert 'name="is_confirmed"' not in preview(owner_client, campaign).text
    Campaign.objects.filter(pk=campaign.pk).update(alpha=1e-300)
    page = preview(owner_client, campaign)
    assert 'name="is_confirmed"' in page.text and "no worker can pass" in page.text

    refused = order(owner_client, campaign, page)
    assert refused.status_code == 422 and refused.context["refused"].code == "no_worker_can_pass"
    assert not Wave.objects.exists() and not Campaign.objects.get().is_launched

    assert order(owner_client, campaign, page, is_confirmed="on").status_code == 302
    assert Wave.objects.count() == 1 and Campaign.objects.get().is_open


# --- The dry run


def test_a_first_wave_is_of_ten_and_a_preview_spends_nothing(owner_client: Client, campaign: Campaign) -> None:
    check(campaign, "100.00")
    page = preview(owner_client, campaign)
    assert lines(page) == {
        "HITs": "10",
        "Places": "20",
        "Rewards": "16.00 USD",
        "Fees": "3.20 USD",
        "In all, at most": "19.20 USD",
        "Balance": "100.00 USD",
        "Left after that": "80.80 USD",
        "Workers earn": "4.80 USD",
    }
    assert page.context["address"].startswith(f"https://rate.example/rate/c/{campaign.public_id}/?hit=1&")
    assert not Wave.objects.exists()
    assert not Job.objects.exists()


def test_a_preview_takes_no_more_hits_than_there_are(owner_client: Client, campaign: Campaign) -> None:
    assert lines(preview(owner_client, campaign, 500))["HITs"] == "12"


@pytest.mark.parametrize("n_hits", ["0", "-1", "many", "", str(10**30)])
def test_a_number_that_is_none_shows_no_cost(owner_client: Client, campaign: Campaign, n_hits: str) -> None:
    page = owner_client.get(url(campaign, "plan"), {"n_hits": n_hits})
    assert page.status_code == 422
    assert page.context["preview"] is None


def test_it_warns_of_what_would_go_wrong(owner_client: Client, campaign: Campaign, settings: Settings) -> None:
    settings.SITE_URL = ""
    text = warned(preview(owner_client, campaign))
    assert "http://testserver" in text
    assert "not been checked" in text
    assert "2.00 USD per HIT" in text, "a fair reward for ten minutes"
    check(campaign, "10.00")
    assert "is too low for this" in warned(preview(owner_client, campaign))


def test_it_warns_of_nothing_where_all_is_well(owner: User, owner_client: Client) -> None:
    campaign = make_crowd_campaign(owner, "mturk", reward=Decimal("2.00"))
    check(campaign, "100.00")
    assert warned(preview(owner_client, campaign)) == ""


def test_unpaid_work_is_warned_of(owner: User, owner_client: Client) -> None:
    campaign = make_crowd_campaign(owner, "mturk", reward=Decimal(0))
    assert "would not be paid" in warned(preview(owner_client, campaign))


def test_real_money_is_asked_about_once_more(owner_client: Client, campaign: Campaign) -> None:
    check(campaign, "100.00", is_sandbox=True)
    assert "data-confirm" not in preview(owner_client, campaign).text
    check(campaign, "100.00", is_sandbox=False)
    assert "with real money" in preview(owner_client, campaign).text


def test_without_keys_nothing_is_offered_for_publishing(
    owner_client: Client, campaign: Campaign, settings: Settings
) -> None:
    settings.MTURK_ACCESS_KEY_ID = ""
    page = preview(owner_client, campaign)
    assert [blocker.code for blocker in page.context["blockers"]] == ["no_keys"] and '#account"' in page.text
    assert url(campaign, "publish") not in page.text
    assert order(owner_client, campaign, page).status_code == 422
    assert not Wave.objects.exists()


def test_a_campaign_that_is_not_ready_leads_to_the_check_list(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner, "qg")
    Campaign.objects.update(platform="mturk")
    for name in ("platform", "plan"):
        page = owner_client.get(url(campaign, name))
        assert reverse("campaigns:campaign", args=[campaign.public_id]) in page.text
        assert url(campaign, "publish") not in page.text


def test_a_platform_without_account_publishes_nothing(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner, "qg")
    page = preview(owner_client, campaign)
    assert [blocker.code for blocker in page.context["blockers"]] == ["no_account"]
    assert reverse("monitoring:raters", args=[campaign.public_id]) in page.text
    sent = {"token": uuid.uuid4(), "n_hits": 1, "max_cost": "1.00"}
    assert owner_client.post(url(campaign, "publish"), sent).status_code == 422
    assert not Wave.objects.exists()


# --- Publishing


def test_a_form_sent_twice_publishes_one_wave(owner_client: Client, campaign: Campaign) -> None:
    page = preview(owner_client, campaign, 5)
    for _ in range(2):
        assert order(owner_client, campaign, page)["Location"].endswith("#waves")
    wave = Wave.objects.get()
    assert (wave.n_hits, wave.n_places, wave.max_cost) == (5, 10, Decimal("9.60"))
    assert wave.site_url == "https://rate.example"
    assert Job.objects.filter(kind="crowd.publish").count() == 1
    assert owner_client.get(url(campaign)).context["totals"] == HitTotals(n_hits=12, n_left=7)


def test_what_has_become_dearer_is_shown_again(owner_client: Client, campaign: Campaign) -> None:
    page = preview(owner_client, campaign, 5)
    Campaign.objects.update(reward=Decimal("1.00"))
    answer = order(owner_client, campaign, page)
    assert answer.status_code == 422
    assert answer.context["refused"].code == "cost_changed"
    assert lines(answer)["In all, at most"] == "12.00 USD"
    assert not Wave.objects.exists()
    assert order(owner_client, campaign, answer).status_code == 302


@pytest.mark.parametrize("sent", [{"token": "x"}, {"n_hits": "0"}, {"n_hits": str(10**30)}, {"max_cost": "cheap"}])
def test_a_form_that_was_tampered_with(owner_client: Client, campaign: Campaign, sent: dict[str, str]) -> None:
    assert order(owner_client, campaign, preview(owner_client, campaign), **sent).status_code == 422
    assert not Wave.objects.exists()


def test_more_hits_than_there_can_be_are_refused_at_their_field(owner_client: Client, campaign: Campaign) -> None:
    answer = order(owner_client, campaign, preview(owner_client, campaign), n_hits=10**30)
    assert "1000000" in answer.context["wave_form"].errors["n_hits"][0]
    assert answer.context["wave_form"].errors["n_hits"][0] in answer.text


def test_all_published(owner: User, owner_client: Client, campaign: Campaign) -> None:
    plan(campaign, owner)
    assert owner_client.get(url(campaign)).context["totals"].n_left == 0
    page = preview(owner_client, campaign)
    assert page.status_code == 200
    assert page.context["preview"] is None
    assert page.context["blockers"]


# --- Waves


def test_a_wave_is_interrupted_and_gone_on_with(owner: User, owner_client: Client, campaign: Campaign) -> None:
    wave = plan(campaign, owner, 3)
    assert owner_client.get(url(campaign)).context["waves"][0].can_stop
    for _ in range(2):
        assert owner_client.post(url(campaign, "stop", wave.pk)).status_code == 302
    wave.refresh_from_db()
    assert wave.state == Wave.State.STOPPED
    page = owner_client.get(url(campaign))
    assert (page.context["waves"][0].can_stop, page.context["waves"][0].can_resume) == (False, True)
    assert "0 of 3 postings" in page.text
    owner_client.post(url(campaign, "resume", wave.pk))
    wave.refresh_from_db()
    assert wave.state == Wave.State.PUBLISHING


def test_a_paused_campaign_is_resumed_before_its_waves(owner: User, owner_client: Client, campaign: Campaign) -> None:
    wave = plan(campaign, owner, 3)
    owner_client.post(url(campaign, "stop", wave.pk))
    Campaign.objects.update(status=Campaign.Status.PAUSED)
    answer = owner_client.post(url(campaign, "resume", wave.pk))
    assert answer.status_code == 422
    assert answer.context["refused"].code == "not_ready"


def test_every_member_follows_the_progress(
    owner: User, colleague_client: Client, stranger_client: Client, campaign: Campaign
) -> None:
    wave = plan(campaign, owner, 3)
    Job.objects.update(status="queued", stage="Publishing", done=1, total=3)
    state = colleague_client.get(url(campaign, "wave_progress", wave.pk)).json()
    assert (state["done"], state["total"], state["finished"]) == (1, 3, False)
    assert colleague_client.get(url(campaign)).context["progress"]["url"] == url(campaign, "wave_progress", wave.pk)
    assert stranger_client.get(url(campaign, "wave_progress", wave.pk)).status_code == 404


def test_a_wave_that_failed_says_why_and_can_go_on(owner: User, owner_client: Client, campaign: Campaign) -> None:
    wave = plan(campaign, owner, 3)
    Wave.objects.update(state=Wave.State.STOPPED, last_error="There is not enough money in the account.")
    page = owner_client.get(url(campaign))
    assert "There is not enough money in the account." in page.text
    assert url(campaign, "resume", wave.pk) in page.text
    assert page.context["progress"] is None


# --- Postings


@pytest.fixture
def postings(owner: User, campaign: Campaign) -> list[Posting]:
    """Two open ones, one that is paused, and one to be published."""
    wave = plan(campaign, owner, 4)
    found = list(Posting.objects.order_by("pk"))
    for number, (posting, state) in enumerate(zip(found, ("open", "open", "paused", "planned"), strict=True)):
        Posting.objects.filter(pk=posting.pk).update(state=state, platform_id=f"ID{number}")
    Wave.objects.filter(pk=wave.pk).update(state=Wave.State.STOPPED)
    return list(Posting.objects.order_by("pk"))


def test_all_open_postings_are_paused_at_once(
    owner_client: Client, campaign: Campaign, postings: list[Posting]
) -> None:
    for _ in range(2):
        assert owner_client.post(url(campaign, "act"), {"act": "pause"}).status_code == 302
    assert [(each.kind, each.posting) for each in Order.objects.all()] == [
        (Order.Kind.PAUSE, postings[0]),
        (Order.Kind.PAUSE, postings[1]),
    ]


def test_one_posting_is_stopped(owner_client: Client, campaign: Campaign, postings: list[Posting]) -> None:
    answer = owner_client.post(url(campaign, "act"), {"act": "stop", "posting": postings[2].pk})
    assert answer["Location"] == url(campaign, "postings")
    assert Order.objects.get().posting == postings[2]
    refused = owner_client.post(url(campaign, "act"), {"act": "resume", "posting": postings[0].pk})
    assert refused.status_code == 422
    assert refused.context["refused"].code == "wrong_state"


@pytest.mark.parametrize("sent", [{}, {"act": "approve"}, {"act": "stop", "posting": "x"}])
def test_nothing_else_is_done_to_postings(
    owner_client: Client, campaign: Campaign, postings: list[Posting], sent: dict[str, str]
) -> None:
    assert owner_client.post(url(campaign, "act"), sent).status_code == 422
    assert not Order.objects.exists()


def test_a_posting_of_another_campaign_is_not_found(
    owner: User, owner_client: Client, campaign: Campaign, postings: list[Posting]
) -> None:
    other = make_crowd_campaign(owner, "mturk")
    sent = {"act": "stop", "posting": postings[0].pk}
    assert owner_client.post(url(other, "act"), sent).status_code == 404
    assert not Order.objects.exists()


def test_postings_are_listed_by_state(colleague_client: Client, campaign: Campaign, postings: list[Posting]) -> None:
    page = colleague_client.get(url(campaign, "postings"), {"state": "open"})
    assert list(page.context["postings"]) == postings[:2]
    assert url(campaign, "act") not in page.text
    assert len(colleague_client.get(url(campaign, "postings"), {"state": "nonsense"}).context["postings"]) == 4


def test_the_page_tells_how_things_stand(owner_client: Client, campaign: Campaign, postings: list[Posting]) -> None:
    worker = Worker.objects.create(platform="mturk", key="A0WORKER")
    Submission.objects.create(
        campaign=campaign,
        posting=postings[0],
        platform_id="S1",
        worker=worker,
        state=Submission.State.SUBMITTED,
        discrepancy=Submission.Discrepancy.WRONG_CODE,
    )
    page = owner_client.get(url(campaign))
    status = page.context["status"]
    assert {label: dict(states) for label, states in status.counts.items()} == {
        "Postings": {"To be published": 1, "Open": 2, "Paused": 1},
        "Submissions": {"Submitted": 1},
    }
    assert status.n_discrepancies == 1
    assert re.findall(r'name="act" value="(\w+)"', page.text) == ["pause", "resume", "stop"]


def test_what_has_ended_too_early_is_in_the_list_that_the_warning_leads_to(
    owner_client: Client, campaign: Campaign, postings: list[Posting]
) -> None:
    campaign.hits.update(is_offered=True)
    (address,) = re.findall(rf'href="({url(campaign, "postings")}\?[^"]*)"', owner_client.get(url(campaign)).text)
    listed = owner_client.get(address).context["postings"]
    assert set(list_ended_early(campaign)) == {postings[2]} == set(listed)


# --- Prolific: one posting for all HITs of a wave


def test_a_wave_of_a_platform_with_studies(owner: User, owner_client: Client) -> None:
    campaign = make_crowd_campaign(owner, "prolific", currency="GBP")
    page = preview(owner_client, campaign)
    assert lines(page)["Places"] == "6"
    assert "hit=" not in page.context["address"]
    assert order(owner_client, campaign, page).status_code == 302
    assert Posting.objects.get().hit is None
    assert owner_client.get(url(campaign, "postings")).status_code == 200


def test_below_the_least_wage_of_the_platform_there_is_no_button_but_the_number(
    owner: User, owner_client: Client
) -> None:
    campaign = make_crowd_campaign(owner, "prolific", currency="GBP", reward=Decimal("0.80"))
    page = preview(owner_client, campaign)
    assert "Pay at least 1.00 GBP for a HIT of 10 minutes" in page.text
    assert f'action="{url(campaign, "publish")}"' not in page.text
    assert order(owner_client, campaign, page).status_code == 422
    assert not Wave.objects.exists()
