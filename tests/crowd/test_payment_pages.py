"""The list of assignments with their pay: who sees what, sums, wages, filters."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, Worker
from annotation.worker_names import hashed_name
from campaigns.models import Campaign
from crowd.models import Order, Submission
from crowd.queries.payment_rows import Bonuses
from crowd.queries.publishing import cost_of_places
from evalsite.accounts.models import User
from tests.campaigns.cast import add_member, make_campaign
from tests.crowd.rated import decided, rated_campaign, submissions_of, url_of

PAGES = ["payments", "discrepancies", "orders"]
State = Submission.State


pytestmark = pytest.mark.usefixtures("rated_once")


@pytest.fixture
def campaign(rated: Campaign) -> Campaign:
    return rated


def listed(client: Client, campaign: Campaign, query: str = "") -> list[int]:
    """Return the HITs of the rows that are shown."""
    rows = client.get(url_of(campaign, "payments", query=query)).context["rows"]
    return sorted(row.hit_number for row in rows)


def stat(client: Client, campaign: Campaign, label: str) -> str:
    return next(
        value for name, value in stats(client.get(url_of(campaign, "payments"))).items() if name.startswith(label)
    )


def stats(page: Any) -> dict[str, str]:
    """Return the sums above the list."""
    return dict(re.findall(r'<dt class="stat-label">([^<]+)</dt><dd class="stat-value">([^<]+)</dd>', page.text))


# --- Who may


@pytest.mark.parametrize("name", PAGES)
def test_members_see_every_page_and_strangers_none(
    campaign: Campaign, colleague: User, owner_client: Client, colleague_client, stranger_client, name: str
) -> None:
    add_member(campaign, colleague, "viewer")
    assert owner_client.get(url_of(campaign, name)).status_code == 200
    assert colleague_client.get(url_of(campaign, name)).status_code == 200
    assert stranger_client.get(url_of(campaign, name)).status_code == 404
    assert Client().get(url_of(campaign, name)).status_code == 302
    assert owner_client.post(url_of(campaign, name)).status_code == 405


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("platform", ["link", "mturk", "prolific"])
def test_pages_of_an_empty_campaign_say_so(owner: User, owner_client: Client, name: str, platform: str) -> None:
    draft = make_campaign(owner)
    Campaign.objects.filter(pk=draft.pk).update(platform=platform)
    page = owner_client.get(url_of(draft, name))
    assert page.status_code == 200
    assert 'class="empty"' in page.text


@pytest.mark.parametrize("name", [*PAGES, "submission"])
def test_viewers_see_hashes_for_names_and_nothing_to_press(
    campaign: Campaign, colleague: User, colleague_client: Client, name: str
) -> None:
    add_member(campaign, colleague, "viewer")
    submission, other, *_ = submissions_of(campaign)
    payload = {"last_error": "worker-001 has left.", "message": "Dear worker-001"}
    for each in (submission, other):
        decided(each, Order.Kind.APPROVE, "refused", **payload)
        decided(each, Order.Kind.BONUS, "sending", **payload)
    Submission.objects.filter(pk=submission.pk).update(discrepancy=Submission.Discrepancy.WRONG_CODE, code="GUESSED")
    args = [submission.pk] if name == "submission" else []

    page = colleague_client.get(url_of(campaign, name, *args)).text

    content = page[page.index('<div class="page-head">') :]
    assert hashed_name(submission.worker) in content or hashed_name(other.worker) in content
    assert "worker-0" not in content
    assert submission.platform_id not in content
    assert "GUESSED" not in content
    assert 'method="post"' not in content
    assert "/approve/" not in content


def test_viewers_do_not_look_for_names(campaign: Campaign, colleague: User, colleague_client: Client) -> None:
    add_member(campaign, colleague, "viewer")
    assert len(listed(colleague_client, campaign, "?worker=nobody")) == 4


# --- What a row says


def test_a_row_tells_both_sides_and_what_the_worker_test_says(campaign: Campaign, owner_client: Client) -> None:
    rows = {row.hit_number: row for row in owner_client.get(url_of(campaign, "payments")).context["rows"]}

    assert [rows[hit].worker.name for hit in (1, 2, 3, 4)] == ["worker-000", "worker-001"] * 2
    assert [rows[hit].verdict for hit in (1, 2, 3, 4)] == ["passed", "failed"] * 2
    assert {row.submission.state for row in rows.values()} == {"submitted"}
    assert {row.assignment.state for row in rows.values()} == {"finished"}
    assert {row.reward for row in rows.values()} == {Decimal("0.80")}
    assert all(row.decision.stage == "undecided" and row.submission.decided_by_itself_at for row in rows.values())


@pytest.mark.parametrize(
    ("kind", "state", "text"),
    [
        ("approve", "queued", "Approval is being sent"),
        ("reject", "sending", "Rejection is being sent"),
        ("approve", "done", "Approved"),
        ("reject", "done", "Rejected"),
        ("approve", "refused", "To be decided"),
    ],
)
def test_a_row_tells_what_was_decided_and_by_whom(
    campaign: Campaign, owner: User, owner_client: Client, kind: str, state: str, text: str
) -> None:
    submission = submissions_of(campaign)[0]
    decided(submission, kind, state, ordered_by=owner, last_error="No funds." if state == "refused" else "")

    page = owner_client.get(url_of(campaign, "payments", query="?hit=1"))

    [row] = page.context["rows"]
    assert f">{text}</span>" in page.text
    assert ("Refused by the platform: No funds." in page.text) == (state == "refused")
    if state != "refused":
        assert row.decision.order.ordered_by == owner
        assert "Olu Owner" in page.text
    assert (row.reward == 0) == ((kind, state) == ("reject", "done"))


def test_what_the_platform_approved_by_itself_is_said(campaign: Campaign, owner_client: Client) -> None:
    Submission.objects.filter(campaign=campaign).update(state=State.APPROVED)
    page = owner_client.get(url_of(campaign, "payments"))
    assert page.text.count("on the platform, not from here") == len(page.context["rows"]) == 4


def test_bonuses_that_are_paid_and_on_their_way_are_told_apart(campaign: Campaign, owner_client: Client) -> None:
    submission = submissions_of(campaign)[0]
    decided(submission, Order.Kind.BONUS, amount=Decimal("0.30"))
    decided(submission, Order.Kind.BONUS, amount=Decimal("0.20"))
    decided(submission, Order.Kind.BONUS, "sending", amount=Decimal("1.00"))

    page = owner_client.get(url_of(campaign, "payments", query="?hit=1"))

    assert page.context["rows"][0].bonuses == Bonuses(Decimal("0.50"), Decimal("1.00"), is_refused=False)
    assert '0.50<span class="pay-note">1.00 USD is being sent</span>' in page.text


def test_an_assignment_that_only_one_side_knows_is_listed(campaign: Campaign, owner_client: Client) -> None:
    first, second, *_ = submissions_of(campaign)
    Submission.objects.filter(pk=first.pk).delete()
    Submission.objects.filter(pk=second.pk).update(assignment=None)

    assert listed(owner_client, campaign, "?there=none") == [1, 2]
    assert listed(owner_client, campaign, "?here=none") == [2]
    assert listed(owner_client, campaign) == [1, 2, 2, 3, 4]  # the second HIT once for each side


def test_a_worker_who_came_again_is_listed_with_each_assignment_of_the_platform(
    campaign: Campaign, owner_client: Client
) -> None:
    submission = submissions_of(campaign)[0]
    Submission.objects.filter(pk=submission.pk).update(platform_id="OLDER", state=State.RETURNED)

    [row] = owner_client.get(url_of(campaign, "payments", query="?hit=1")).context["rows"]

    assert row.is_older
    assert row.reward is None


# --- Wages


def took(campaign: Campaign, hit: int, minutes: int) -> None:
    seen_at = timezone.now()
    assignment = Assignment.objects.filter(campaign=campaign, hit__number=hit)
    assignment.update(seen_at=seen_at, started_at=seen_at - timedelta(minutes=minutes))


def test_wages_are_marked_below_what_is_fair_and_the_sum_is_said(campaign: Campaign, owner_client: Client) -> None:
    for hit, minutes in enumerate((4, 6, 8, 12), start=1):  # 12, 8, 6 and 4 USD per hour
        took(campaign, hit, minutes)

    page = owner_client.get(url_of(campaign, "payments", query="?wage=8"))

    rows = {row.hit_number: row.time for row in page.context["rows"]}
    assert [round(rows[hit].hourly, 2) for hit in (1, 2, 3, 4)] == [12, 8, 6, 4]
    assert [rows[hit].missing for hit in (1, 2, 3, 4)] == [None, None, Decimal("0.27"), Decimal("0.80")]
    assert page.text.count("pay-low") == 2
    assert "0.27 too little" in page.text and "0.80 too little" in page.text
    assert "2 of 4 finished assignments took so long" in page.text
    assert "1.07 USD in all" in page.text


def test_without_another_wage_it_is_the_promised_one(campaign: Campaign, owner_client: Client) -> None:
    assert owner_client.get(url_of(campaign, "payments")).context["wages"] is None
    Campaign.objects.filter(pk=campaign.pk).update(minutes_per_hit=5)
    for hit in range(1, 5):
        took(campaign, hit, 5)
    page = owner_client.get(url_of(campaign, "payments"))
    assert page.context["wage"] == Decimal("9.60")
    assert "For everybody who finished, the reward is 9.60 USD per hour or more." in page.text


# --- Filters


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("", [1, 2, 3, 4]),
        ("?verdict=passed", [1, 3]),
        ("?verdict=failed", [2, 4]),
        ("?verdict=untested", []),
        ("?worker=WORKER-001", [2, 4]),
        ("?hit=3", [3]),
        ("?here=finished&there=submitted", [1, 2, 3, 4]),
        ("?here=active", []),
        ("?there=approved", []),
        ("?verdict=failed&hit=1", []),
    ],
)
def test_assignments_are_filtered(campaign: Campaign, owner_client: Client, query: str, hits: list[int]) -> None:
    assert listed(owner_client, campaign, query) == hits


def test_who_has_finished_nothing_is_untested(campaign: Campaign, owner_client: Client) -> None:
    newcomer = Worker.objects.create(platform="mturk", key="NEWCOMER")
    posting = submissions_of(campaign)[0].posting
    Submission.objects.create(
        campaign=campaign, posting=posting, platform_id="PLACE-X", worker=newcomer, state=State.ACTIVE
    )
    rows = owner_client.get(url_of(campaign, "payments", query="?verdict=untested")).context["rows"]
    assert [row.worker.name for row in rows] == ["NEWCOMER"]


@pytest.mark.parametrize("query", ["?here=asleep", "?there=lost", "?hit=x", "?wage=0", "?wage=nan", "?verdict=good"])
def test_a_filter_that_cannot_be_is_refused(campaign: Campaign, owner_client: Client, query: str) -> None:
    page = owner_client.get(url_of(campaign, "payments", query=query))
    assert page.status_code == 422
    assert page.context["form"].errors


def test_fifty_on_a_page(campaign: Campaign, owner_client: Client) -> None:
    posting = submissions_of(campaign)[0].posting
    worker = Worker.objects.create(platform="mturk", key="NEWCOMER")
    Submission.objects.bulk_create(
        Submission(campaign=campaign, posting=posting, platform_id=f"NEW{k}", worker=worker, state=State.ACTIVE)
        for k in range(48)
    )
    assert len(listed(owner_client, campaign)) == 50
    assert listed(owner_client, campaign, "?page=2") == [1, 2]  # newest first


# --- Sums


def test_sums_tell_what_is_paid_what_waits_and_what_the_platform_paid_by_itself(
    campaign: Campaign, owner_client: Client
) -> None:
    paid, by_itself, rejected, _ = submissions_of(campaign)
    decided(paid, Order.Kind.APPROVE)
    decided(paid, Order.Kind.BONUS, amount=Decimal("0.50"), fee=Decimal("0.10"))
    decided(paid, Order.Kind.BONUS, "queued", amount=Decimal("9.00"))
    decided(rejected, Order.Kind.REJECT, fee=Decimal("0.00"))
    Submission.objects.filter(pk=by_itself.pk).update(state=State.APPROVED)

    fees = Decimal("0.26") + cost_of_places(campaign, 1, places_per_posting=1).fees
    assert stat(owner_client, campaign, "Rewards paid") == "1.60 USD"
    assert stat(owner_client, campaign, "Bonuses paid") == "0.50 USD"
    assert stat(owner_client, campaign, "Fees paid") == f"{fees} USD"
    assert stat(owner_client, campaign, "Paid in all") == f"{Decimal('2.10') + fees} USD"
    assert stat(owner_client, campaign, "Complete, to be decided") == "0.80 USD"
    assert stat(owner_client, campaign, "Rejected") == "1"
    assert owner_client.get(url_of(campaign, "payments")).context["totals"].n_sending == 1


def test_the_balance_is_that_of_the_last_check(campaign: Campaign, owner_client: Client) -> None:
    assert "Balance" not in owner_client.get(url_of(campaign, "payments")).text
    campaign.account_data = {"account": {"balance": "10000.5", "currency": "USD", "at": "2026-02-03T04:05:06Z"}}
    campaign.save()
    assert stat(owner_client, campaign, "Balance") == "10,000.50 USD"


# --- A campaign that pays nobody


def test_a_link_campaign_lists_work_and_codes_and_offers_no_orders(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner, platform="link")

    page = owner_client.get(url_of(campaign, "payments"))

    assert [row.hit_number for row in page.context["rows"]] == [4, 3, 2, 1]
    assert [row.verdict for row in page.context["rows"]] == ["failed", "passed"] * 2
    assert stats(page) == {
        "Finished assignments": "4",
        "Reward for each": "0.80 USD",
        "Rewards in all": "3.20 USD",
    }
    for code in Assignment.objects.filter(campaign=campaign).values_list("completion_code", flat=True):
        assert code in page.text
    assert "/approve/" not in page.text
    assert 'type="checkbox"' not in page.text
    assert "Nobody is paid from here" in page.text


@pytest.mark.parametrize("name", ["approve", "bonus", "message"])
def test_a_link_campaign_has_nothing_to_order(owner: User, owner_client: Client, name: str) -> None:
    campaign = rated_campaign(owner, platform="link")
    assert owner_client.get(url_of(campaign, name)).status_code == 404


def test_viewers_of_a_link_campaign_see_no_codes(owner: User, colleague: User, colleague_client: Client) -> None:
    campaign = rated_campaign(owner, platform="link")
    add_member(campaign, colleague, "viewer")
    page = colleague_client.get(url_of(campaign, "payments")).text
    for code in Assignment.objects.filter(campaign=campaign).values_list("completion_code", flat=True):
        assert code not in page


# --- Queries


def test_the_queries_of_every_page_do_not_grow(owner: User, owner_client: Client) -> None:
    few, many = rated_campaign(owner, n_hits=2), rated_campaign(owner, n_hits=12, n_workers=6)
    for campaign in (few, many):
        for submission in submissions_of(campaign):
            Submission.objects.filter(pk=submission.pk).update(discrepancy=Submission.Discrepancy.WRONG_CODE)
            decided(submission, Order.Kind.BONUS, ordered_by=owner)
            decided(submission, Order.Kind.APPROVE, "refused", ordered_by=owner)
    for name, most in {"payments": 33, "discrepancies": 7, "orders": 9}.items():
        with CaptureQueriesContext(connection) as of_few:
            owner_client.get(url_of(few, name))
        with CaptureQueriesContext(connection) as of_many:
            owner_client.get(url_of(many, name))
        assert len(of_few) == len(of_many) <= most, name
