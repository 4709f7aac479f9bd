"""What places cost, what was spent, and what may still be. Fees are those of Mechanical Turk's price list."""

import uuid
from decimal import Decimal

import pytest

from campaigns.models import Campaign
from crowd.costs import committed_on, cost_of_places, fee_of_bonus, fee_of_reward, spent_on
from crowd.models import Order, Posting, Submission, Wave
from crowd.services import payments
from crowd.services.orders import place_orders
from evalsite.accounts.models import User
from tests.crowd.paying import REASON, THANKS, paid_campaign, submissions_of


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """Two HITs for two workers each, all submitted, at 80 cents."""
    return paid_campaign(owner)


def carry_out(campaign: Campaign) -> None:
    """Set all orders done, as the job does."""
    for order in Order.objects.filter(campaign=campaign):
        if order.kind in ("approve", "reject"):
            state = "approved" if order.kind == "approve" else "rejected"
            Submission.objects.filter(pk=order.submission_id).update(state=state)
    Order.objects.filter(campaign=campaign).update(state=Order.State.DONE)


def test_places_cost_their_rewards_and_a_fifth(campaign: Campaign) -> None:
    cost = cost_of_places(campaign, 24, places_per_posting=2)
    assert (cost.n_places, cost.rewards, cost.fees, cost.currency) == (24, Decimal("19.20"), Decimal("3.84"), "USD")
    assert cost.total == Decimal("23.04")


def test_hits_of_ten_places_or_more_cost_two_fifths(campaign: Campaign) -> None:
    assert cost_of_places(campaign, 20, places_per_posting=9).fees == Decimal("3.20")
    assert cost_of_places(campaign, 20, places_per_posting=10).fees == Decimal("6.40")
    assert fee_of_reward(campaign, places_per_posting=10) == Decimal("0.32")


def test_no_places_cost_nothing(campaign: Campaign) -> None:
    assert cost_of_places(campaign, 0, places_per_posting=2).total == 0


def test_a_platform_without_an_account_asks_for_no_fee(owner: User) -> None:
    assert cost_of_places(paid_campaign(owner, platform="link"), 10, places_per_posting=1).total == Decimal("8.00")


def test_a_bonus_costs_a_fifth_more(campaign: Campaign) -> None:
    assert fee_of_bonus(campaign, Decimal("2.50")) == Decimal("0.50")


def test_nothing_is_spent_before_something_is_approved(campaign: Campaign, owner: User) -> None:
    payments.approve(campaign=campaign, user=owner)
    spent = spent_on(campaign)
    assert (spent.n_paid, spent.n_bonuses, spent.total, spent.currency) == (0, 0, 0, "USD")


def test_what_was_approved_by_us_or_by_the_platform_is_spent_once(campaign: Campaign, owner: User) -> None:
    first, second, third, fourth = submissions_of(campaign)
    payments.approve(campaign=campaign, submissions=[first, second], user=owner)
    payments.reject(campaign=campaign, submission=third, message=REASON, user=owner)
    carry_out(campaign)
    Submission.objects.filter(pk=fourth.pk).update(state=Submission.State.APPROVED)  # by the platform
    spent = spent_on(campaign)
    assert (spent.n_paid, spent.rewards, spent.fees) == (3, Decimal("2.40"), Decimal("0.48"))


def test_bonuses_that_are_paid_are_spent(campaign: Campaign, owner: User) -> None:
    given = {"campaign": campaign, "amount": Decimal("1.00"), "message": THANKS, "user": owner}
    payments.give_bonus(submissions=submissions_of(campaign)[:3], token=uuid.uuid4(), **given)
    Order.objects.filter(submission=submissions_of(campaign)[2]).update(state=Order.State.REFUSED)
    Order.objects.exclude(state=Order.State.REFUSED).update(state=Order.State.DONE)
    spent = spent_on(campaign)
    assert (spent.n_bonuses, spent.bonuses, spent.fees, spent.total) == (2, 2, Decimal("0.40"), Decimal("2.40"))


def test_the_spending_of_other_campaigns_is_theirs(campaign: Campaign, owner: User) -> None:
    other = paid_campaign(owner)
    payments.approve(campaign=other, user=owner)
    carry_out(other)
    assert (spent_on(campaign).total, spent_on(other).n_paid) == (0, 4)


def test_places_are_committed_until_they_are_decided(campaign: Campaign, owner: User) -> None:
    assert committed_on(campaign).n_places == 4
    first, second, *_ = submissions_of(campaign)
    payments.approve(campaign=campaign, submissions=[first], user=owner)
    assert committed_on(campaign).total == Decimal("3.84")
    payments.reject(campaign=campaign, submission=second, message=REASON, user=owner)
    carry_out(campaign)
    committed = committed_on(campaign)
    assert (committed.n_places, committed.rewards, committed.fees) == (2, Decimal("1.60"), Decimal("0.32"))


def test_of_an_ended_posting_only_who_holds_a_place_is_committed(campaign: Campaign) -> None:
    Posting.objects.update(state=Posting.State.ENDED)
    first, second, *_ = submissions_of(campaign)
    Submission.objects.filter(pk=first.pk).update(state=Submission.State.RETURNED)
    Submission.objects.filter(pk=second.pk).update(state=Submission.State.ACTIVE)
    assert committed_on(campaign).n_places == 3
    Posting.objects.update(state=Posting.State.GONE)
    assert committed_on(campaign).n_places == 0


def test_what_was_not_published_of_an_interrupted_wave_is_not_committed(campaign: Campaign) -> None:
    Submission.objects.all().delete()
    Posting.objects.update(state=Posting.State.PLANNED)
    assert committed_on(campaign).n_places == 4
    Wave.objects.update(state=Wave.State.STOPPED)
    assert committed_on(campaign).n_places == 0


def test_added_places_and_bonuses_on_their_way_are_committed(campaign: Campaign, owner: User) -> None:
    submission = submissions_of(campaign)[0]
    added = Order(campaign=campaign, kind="add-places", submission=submission, posting=submission.posting, n_places=1)
    place_orders(campaign=campaign, orders=[added])
    bonus = {"amount": Decimal("1.00"), "message": THANKS, "token": uuid.uuid4(), "user": owner}
    payments.give_bonus(campaign=campaign, submissions=[submission], **bonus)
    committed = committed_on(campaign)
    assert (committed.n_places, committed.rewards, committed.fees) == (5, Decimal("5.00"), Decimal("1.00"))
