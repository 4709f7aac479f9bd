"""Approving some or all work, rejecting one, taking a rejection back."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from analysis.web.queries.workers_now import list_live_workers
from annotation.models import Assignment
from campaigns.models import Campaign
from campaigns.platforms.mturk.plugin import MTurk
from crowd.models import Order, Submission
from crowd.queries import payments as payment_queries
from evalsite.accounts.models import User
from tests.crowd.rated import decided, rated_campaign, submissions_of, url_of

State, Kind = Submission.State, Order.Kind
REASON = "Every answer is the same number, also where the text is broken."


pytestmark = pytest.mark.usefixtures("rated_once")


@pytest.fixture
def campaign(rated: Campaign) -> Campaign:
    return rated


def ordered(campaign: Campaign, kind: str = Kind.APPROVE) -> list[int]:
    """Return the HITs that orders of a kind are about."""
    found = Order.objects.filter(campaign=campaign, kind=kind).order_by("posting__hit__number")
    return list(found.values_list("posting__hit__number", flat=True))


def counts(page: Any) -> dict[str, int]:
    """Return how many of those who are chosen have each verdict."""
    return {verdict: n for verdict, _, n in page.context["counts"]}


def agree(client: Client, campaign: Campaign, query: str = "") -> int:
    """Look at what is to be approved and agree to the sum that is shown; return the status of the answer."""
    url = url_of(campaign, "approve", query=query)
    return client.post(url, {"agreed": client.get(url).context["cost"].total}).status_code


# --- Approving


def test_all_complete_work_is_approved_whatever_the_worker_test_says(campaign: Campaign, owner_client: Client) -> None:
    page = owner_client.get(url_of(campaign, "approve"))
    assert counts(page) == {"passed": 2, "failed": 2, "untested": 0}
    assert "3.20 USD and " in page.text
    assert not Order.objects.exists()

    assert agree(owner_client, campaign) == 302

    assert ordered(campaign) == [1, 2, 3, 4]


def test_without_a_worker_test_nobody_failed_and_all_complete_work_is_approved(
    campaign: Campaign, owner_client: Client
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(worker_test="none")

    listed = owner_client.get(url_of(campaign, "payments", query="?verdict=trusted"))
    page = owner_client.get(url_of(campaign, "approve"))

    assert {row.verdict for row in listed.context["rows"]} == {"trusted"}
    assert not owner_client.get(url_of(campaign, "payments", query="?verdict=failed")).context["rows"]
    assert counts(page) == {"trusted": 4} and "the campaign has no worker test" in page.text
    assert agree(owner_client, campaign) == 302
    assert ordered(campaign) == [1, 2, 3, 4]


def test_the_sum_that_is_shown_is_the_one_that_is_ordered(campaign: Campaign, owner_client: Client) -> None:
    agreed = owner_client.get(url_of(campaign, "approve")).context["cost"].total
    agree(owner_client, campaign)
    assert sum(order.amount + order.fee for order in Order.objects.all()) == agreed


def test_discrepancy_and_unfinished_work_are_not_approved_in_bulk(campaign: Campaign, owner_client: Client) -> None:
    open_discrepancies, unfinished, *_ = submissions_of(campaign)
    Submission.objects.filter(pk=open_discrepancies.pk).update(discrepancy=Submission.Discrepancy.WRONG_CODE)
    Assignment.objects.filter(pk=unfinished.assignment_id).update(state="returned")

    agree(owner_client, campaign)

    assert ordered(campaign) == [3, 4]


def test_nothing_is_approved_for_another_sum_than_was_seen(campaign: Campaign, owner_client: Client) -> None:
    url = url_of(campaign, "approve")
    agreed = owner_client.get(url).context["cost"].total
    Submission.objects.filter(pk=submissions_of(campaign)[0].pk).update(state=State.APPROVED)

    page = owner_client.post(url, {"agreed": agreed})

    assert page.status_code == 409
    assert page.context["cost"].total < agreed
    assert not Order.objects.exists()


@pytest.mark.parametrize("agreed", ["", "much", "0"])
def test_without_a_sum_nothing_is_approved(campaign: Campaign, owner_client: Client, agreed: str) -> None:
    assert owner_client.post(url_of(campaign, "approve"), {"agreed": agreed}).status_code == 409
    assert not Order.objects.exists()


def test_a_second_click_approves_nothing_more(campaign: Campaign, owner_client: Client) -> None:
    url = url_of(campaign, "approve")
    agreed = owner_client.get(url).context["cost"].total
    assert owner_client.post(url, {"agreed": agreed}).status_code == 302
    assert owner_client.post(url, {"agreed": agreed}).status_code == 409
    assert ordered(campaign) == [1, 2, 3, 4]


def test_what_is_ticked_is_approved_and_the_rest_is_not(campaign: Campaign, owner_client: Client) -> None:
    first, _, third, _ = submissions_of(campaign)
    assert agree(owner_client, campaign, f"?ticked=1&submission={first.pk}&submission={third.pk}") == 302
    assert ordered(campaign) == [1, 3]


def test_ticking_nothing_is_not_ticking_all(campaign: Campaign, owner_client: Client) -> None:
    page = owner_client.get(url_of(campaign, "approve", query="?ticked=1"))
    assert page.context["n_chosen"] == 0
    assert owner_client.post(url_of(campaign, "approve", query="?ticked=1"), {"agreed": "0.00"}).status_code == 409
    assert not Order.objects.exists()


def test_all_that_match_a_filter_are_approved(campaign: Campaign, owner_client: Client) -> None:
    assert agree(owner_client, campaign, "?matching=1&verdict=passed") == 302
    assert ordered(campaign) == [1, 3]


def test_decided_work_among_the_ticked_is_left_out_and_said(campaign: Campaign, owner_client: Client) -> None:
    first, second, *_ = submissions_of(campaign)
    decided(first, Kind.APPROVE, "queued")
    page = owner_client.get(url_of(campaign, "approve", query=f"?submission={first.pk}&submission={second.pk}"))
    assert (page.context["n_chosen"], page.context["n_left_out"]) == (1, 1)


def test_discrepancy_that_is_named_by_hand_is_approved_and_dismissed(
    campaign: Campaign, owner: User, owner_client: Client
) -> None:
    submission = submissions_of(campaign)[0]
    Submission.objects.filter(pk=submission.pk).update(discrepancy=Submission.Discrepancy.UNKNOWN)
    assert owner_client.get(url_of(campaign, "approve", query=f"?submission={submission.pk}")).context[
        "n_with_discrepancy"
    ]

    assert agree(owner_client, campaign, f"?submission={submission.pk}") == 302

    submission.refresh_from_db()
    assert ordered(campaign) == [1]
    assert submission.dismissed_by == owner
    assert submission.dismissed_at


@pytest.mark.parametrize("id", ["x", "-1", "²", "9" * 19, "9" * 5_000])
def test_what_is_no_assignment_of_the_campaign_is_not_found(campaign: Campaign, owner_client: Client, id: str) -> None:
    known = submissions_of(campaign)[0].pk
    assert owner_client.get(url_of(campaign, "approve", query=f"?submission={id}")).status_code == 404
    assert owner_client.get(url_of(campaign, "bonus", query=f"?submission={known}&again={id}")).status_code == 404
    assert owner_client.get(url_of(campaign, "reject", known, query=f"?again={id}")).status_code == 404


@pytest.mark.parametrize("name", ["approve", "bonus", "message"])
def test_the_worker_test_is_made_once_for_a_page_of_a_filter(
    campaign: Campaign, owner_client: Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made: list[Campaign] = []

    def count(campaign: Campaign, *args: Any) -> Any:
        made.append(campaign)
        return list_live_workers(campaign, *args)

    monkeypatch.setattr(payment_queries, "list_live_workers", count)
    page = owner_client.get(url_of(campaign, name, query="?matching=1&verdict=passed"))
    assert counts(page) == {"passed": 2, "failed": 0, "untested": 0}
    assert made == [campaign]


def test_assignments_of_another_campaign_cannot_be_named(campaign: Campaign, owner: User, owner_client: Client) -> None:
    [other] = submissions_of(rated_campaign(owner, n_hits=1, n_workers=1))
    assert owner_client.get(url_of(campaign, "approve", query=f"?submission={other.pk}")).status_code == 404


# --- Rejecting


def reject(client: Client, campaign: Campaign, submission: Submission, **fields: object) -> int:
    sent = {"message": REASON, "is_sure": "on"} | fields
    return client.post(url_of(campaign, "reject", submission.pk), sent).status_code


def test_the_page_says_what_a_rejection_does(campaign: Campaign, owner_client: Client) -> None:
    page = owner_client.get(url_of(campaign, "reject", submissions_of(campaign)[0].pk))
    assert MTurk.rejection_effect in page.text.replace("&#x27;", "'")
    assert 'data-confirm="' in page.text
    assert not Order.objects.exists()


def test_one_assignment_is_rejected_with_a_message(campaign: Campaign, owner: User, owner_client: Client) -> None:
    submission = submissions_of(campaign)[1]
    assert reject(owner_client, campaign, submission) == 302
    order = Order.objects.get()
    assert (order.kind, order.submission, order.message, order.ordered_by) == (Kind.REJECT, submission, REASON, owner)
    assert order.amount == Decimal("0.00")


@pytest.mark.parametrize("fields", [{"message": ""}, {"message": "Bad."}, {"is_sure": ""}, {"message": "x " * 600}])
def test_without_a_reason_or_a_second_yes_nothing_is_rejected(
    campaign: Campaign, owner_client: Client, fields: dict[str, str]
) -> None:
    assert reject(owner_client, campaign, submissions_of(campaign)[0], **fields) == 422
    assert not Order.objects.exists()


def test_the_category_is_asked_for_where_the_platform_wants_one(
    campaign: Campaign, owner_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MTurk, "rejection_categories", (("LOW_EFFORT", "Little effort"), ("OTHER", "Other")))
    submission = submissions_of(campaign)[0]
    assert reject(owner_client, campaign, submission) == 422
    assert reject(owner_client, campaign, submission, category="NONE_SUCH") == 422
    assert reject(owner_client, campaign, submission, category="LOW_EFFORT") == 302
    assert Order.objects.get().category == "LOW_EFFORT"


def test_what_is_approved_cannot_be_rejected(campaign: Campaign, owner_client: Client) -> None:
    submission = submissions_of(campaign)[0]
    decided(submission, Kind.APPROVE, "queued")
    assert reject(owner_client, campaign, submission) == 422
    assert ordered(campaign, Kind.REJECT) == []


def test_a_rejected_discrepancy_is_dismissed(campaign: Campaign, owner_client: Client) -> None:
    submission = submissions_of(campaign)[0]
    Submission.objects.filter(pk=submission.pk).update(discrepancy=Submission.Discrepancy.NOT_FINISHED)
    reject(owner_client, campaign, submission)
    submission.refresh_from_db()
    assert submission.dismissed_at


# --- Taking it back


def test_a_rejection_is_taken_back_and_the_reward_ordered(campaign: Campaign, owner_client: Client) -> None:
    submission = submissions_of(campaign)[0]
    decided(submission, Kind.REJECT)
    assert owner_client.get(url_of(campaign, "submission", submission.pk)).context["row"].is_reversible

    owner_client.post(url_of(campaign, "reverse", submission.pk), {"message": "We were wrong."})

    order = Order.objects.get(kind=Kind.APPROVE)
    assert (order.submission, order.amount, order.message) == (submission, Decimal("0.80"), "We were wrong.")
    assert not owner_client.get(url_of(campaign, "submission", submission.pk)).context["row"].is_reversible


def test_what_was_not_rejected_is_not_taken_back(campaign: Campaign, owner_client: Client) -> None:
    submission = submissions_of(campaign)[0]
    page = owner_client.post(url_of(campaign, "reverse", submission.pk), {"message": ""}, follow=True)
    assert "message-error" in page.text
    assert not Order.objects.exists()


# --- One assignment


def test_an_assignment_shows_both_sides_and_its_orders(campaign: Campaign, owner: User, owner_client: Client) -> None:
    submission = submissions_of(campaign)[0]
    decided(submission, Kind.BONUS, ordered_by=owner, message="Well done <b>")

    page = owner_client.get(url_of(campaign, "submission", submission.pk))

    assert page.status_code == 200
    for text in (submission.platform_id, submission.code, "Olu Owner", "Well done &lt;b&gt;", "10 of 10"):
        assert text in page.text
    assert page.context["row"].is_undecided


def test_a_worker_is_blocked_for_a_reason_and_let_in_again(campaign: Campaign, owner_client: Client) -> None:
    submission = submissions_of(campaign)[1]
    owner_client.post(url_of(campaign, "block", submission.pk), {"reason": ""})
    assert not Order.objects.exists()

    owner_client.post(url_of(campaign, "block", submission.pk), {"reason": "Two accounts."})
    assert owner_client.get(url_of(campaign, "submission", submission.pk)).context["is_blocked"]
    owner_client.post(url_of(campaign, "unblock", submission.pk))

    assert not owner_client.get(url_of(campaign, "submission", submission.pk)).context["is_blocked"]
    assert list(Order.objects.order_by("pk").values_list("kind", "worker", "message")) == [
        ("block", submission.worker_id, "Two accounts."),
        ("unblock", submission.worker_id, ""),
    ]


@pytest.mark.parametrize(("mode", "is_blocked"), [("production", False), ("sandbox", True)])
def test_a_block_is_told_in_the_campaigns_of_its_account_only(
    campaign: Campaign, owner_client: Client, stranger: User, mode: str, is_blocked: bool
) -> None:
    submission = submissions_of(campaign)[0]
    other = rated_campaign(stranger, n_hits=1, n_workers=1)
    Campaign.objects.filter(pk=other.pk).update(platform_settings={"mode": mode})
    Order.objects.create(campaign=other, kind=Kind.BLOCK, worker=submission.worker)
    assert owner_client.get(url_of(campaign, "submission", submission.pk)).context["is_blocked"] == is_blocked
