"""Nothing is paid twice by calls for many orders either: whenever a job dies, whatever a call meets."""

import uuid
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaigns.contracts.account import (
    BonusSpec,
    DraftLapsedError,
    PlatformRefusedError,
    PlatformUnsureError,
    PolledPosting,
    PolledSubmission,
    PostingState,
    SubmissionState,
)
from campaigns.models import Campaign
from crowd.models import Order, Submission
from crowd.services.payments import decisions, orders, sending
from evalsite.accounts.models import User
from tests.crowd.paying import THANKS, Bank, open_orders, paid_campaign, submissions_of
from tests.crowd.test_exactly_once_orders import FORM, PowerCutError, every_boundary, run, run_dying, undone

N = 4


class BulkBank(Bank):
    """A bank with calls for many. Approvals are done when it is looked; a batch is paid as often as that is asked.

    Whether a batch was paid is known once all is `settled`.
    """

    approvals_at_once, bonuses_at_once = 3, 3

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.settled = False
        self.unknown: set[str] = set()
        self.batches: set[str] = set()
        self.paid: Counter[str] = Counter()

    @property
    def approvals_take_s(self) -> float:
        return 0.0 if self.settled else 600.0

    def approve_all(self, submission_ids: Sequence[str]) -> None:
        def effect() -> None:
            if self.unknown & set(submission_ids):
                raise PlatformRefusedError("400", "There is no such submission.")
            self.asked += submission_ids

        self._do("approve_all", effect)

    def poll(self, posting_id: str) -> PolledPosting:
        def effect() -> PolledPosting:
            for id in self.asked:
                self._once("approved", id)
            self.asked = []
            ids = Submission.objects.filter(posting__platform_id=posting_id).values_list("platform_id", flat=True)
            approved = [id for id in ids if self._states.get(id) == "approved"]
            seen = [PolledSubmission(id, "", SubmissionState.APPROVED) for id in approved]
            return PolledPosting(PostingState.OPEN, tuple(seen))

        return self._do("poll", effect)

    def draft_bonuses(self, bonuses: Sequence[BonusSpec]) -> list[str]:
        def effect() -> list[str]:
            if self.unknown & {bonus.submission_id for bonus in bonuses}:
                raise PlatformRefusedError("400", "There is no such submission.")
            self.n_drafts += 1
            self.batches.add(f"BATCH{self.n_drafts}")
            return [f"BATCH{self.n_drafts}"] * len(bonuses)

        return self._do("draft_bonuses", effect)

    def pay_bonuses(self, bonuses: Sequence[BonusSpec], draft_ids: Sequence[str]) -> None:
        def effect() -> None:
            self.paid[draft_ids[0]] += 1
            for bonus in bonuses:
                self.effects["bonus", bonus.submission_id, str(bonus.amount)] += 1

        self._do("pay_bonuses", effect)

    def pay_bonus(self, bonus: BonusSpec, draft_id: str) -> None:
        if draft_id not in self.batches:
            return super().pay_bonus(bonus, draft_id)
        if self.paid[draft_id]:
            return None
        if self.settled:
            raise DraftLapsedError("Not paid.")
        raise PlatformUnsureError("It may be paid.")


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch) -> BulkBank:
    bank = BulkBank()
    monkeypatch.setattr(sending, "open_account", lambda campaign: bank)
    monkeypatch.setattr("crowd.services.account.CALLS_PER_S", 1_000_000)
    monkeypatch.setattr(sending, "ROUNDS", 2)
    monkeypatch.setattr(orders, "LEASE_S", 0)
    monkeypatch.setattr(orders, "FIRST_PAUSE_S", 0)
    return bank


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """One HIT that four workers did: one call holds three of them, and one is left."""
    return paid_campaign(owner, n_hits=1, n_workers=N)


def order_everything(campaign: Campaign, owner: User) -> None:
    decisions.approve(campaign=campaign, user=owner)
    give_bonus(campaign, owner)


def give_bonus(campaign: Campaign, owner: User, **more: Any) -> None:
    given: dict[str, Any] = {"amount": Decimal("0.25"), "message": THANKS, "token": FORM, "user": owner, **more}
    decisions.give_bonus(campaign=campaign, submissions=submissions_of(campaign), **given)


def run_to_the_end(campaign: Campaign, bank: BulkBank) -> None:
    bank.settled = True  # a quarter of an hour later
    Order.objects.filter(state__in=["queued", "sending"]).update(try_at=None)
    for _ in range(20):
        if not open_orders(campaign):
            return
        run(campaign)
    pytest.fail("orders stay open")


def check_end(campaign: Campaign, bank: BulkBank) -> None:
    ids = [each.platform_id for each in submissions_of(campaign)]
    assert bank.effects == Counter({("approved", id): 1 for id in ids} | {("bonus", id, "0.25"): 1 for id in ids})
    assert set(Order.objects.values_list("state", flat=True)) == {"done"}
    assert {each.state for each in submissions_of(campaign)} == {"approved"}


def test_many_orders_take_few_calls(campaign: Campaign, owner: User, bank: BulkBank) -> None:
    order_everything(campaign, owner)
    run(campaign)
    check_end(campaign, bank)
    assert Counter(bank.calls) == {
        "approve_all": 1,
        "poll": 1,
        "approve": 1,
        "draft_bonuses": 1,
        "pay_bonuses": 1,
        "draft_bonus": 1,
        "pay_bonus": 1,
    }


def test_what_is_approved_later_is_seen_later(
    campaign: Campaign, owner: User, bank: BulkBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "ROUNDS", 1)
    decisions.approve(campaign=campaign, user=owner)
    monkeypatch.setattr(bank, "poll", lambda posting_id: PolledPosting(PostingState.OPEN))
    run(campaign)
    assert Counter(Order.objects.values_list("state", flat=True)) == {"sending": 3, "done": 1}
    monkeypatch.undo()
    monkeypatch.setattr(sending, "open_account", lambda campaign: bank)
    monkeypatch.setattr(orders, "FIRST_PAUSE_S", 0)
    Order.objects.update(try_at=None)
    Order.objects.filter(state="sending").update(try_at="2020-01-01T00:00:00Z")
    run(campaign)
    assert open_orders(campaign) == 0
    assert bank.calls.count("approve_all") == 1
    assert set(bank.effects.values()) == {1}


def test_one_that_the_platform_does_not_know_keeps_the_others_from_nothing(
    campaign: Campaign, owner: User, bank: BulkBank
) -> None:
    bank.unknown = {submissions_of(campaign)[1].platform_id}
    order_everything(campaign, owner)
    run(campaign)
    check_end(campaign, bank)
    assert bank.calls.count("approve") == N
    assert bank.calls.count("pay_bonus") == N


def test_a_refused_payment_is_asked_for_one_by_one(campaign: Campaign, owner: User, bank: BulkBank) -> None:
    bank.refuses = {"pay_bonuses"}
    give_bonus(campaign, owner)
    run(campaign)
    assert set(bank.effects.values()) == {1}
    assert bank.effects.total() == N


def test_a_second_bonus_of_the_same_amount_is_paid_by_itself(campaign: Campaign, owner: User, bank: BulkBank) -> None:
    give_bonus(campaign, owner)
    run(campaign)
    give_bonus(campaign, owner, token=uuid.uuid4())
    run(campaign)
    assert set(bank.effects.values()) == {2}
    assert bank.calls.count("pay_bonuses") == 1


def test_a_job_that_dies_anywhere_has_each_effect_exactly_once(campaign: Campaign, owner: User, bank: BulkBank) -> None:
    order_everything(campaign, owner)
    crossed: list[int] = []
    with undone(bank):
        with every_boundary(bank, crossed.append):
            run(campaign)
        check_end(campaign, bank)
    assert len(crossed) > 50
    for fatal in range(0, len(crossed), 12):  # each takes a while, and neighbours are alike
        with undone(bank):

            def happens(n: int, fatal: int = fatal) -> None:
                if n == fatal:
                    raise PowerCutError

            with pytest.raises(PowerCutError), every_boundary(bank, happens):
                run(campaign)
            bank.at = lambda moment, operation: None
            run_to_the_end(campaign, bank)
            check_end(campaign, bank)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fates=st.lists(st.sampled_from(["fine", "unsure", "dies", "another job"]), max_size=20))
def test_whatever_calls_meet_each_effect_happens_exactly_once(
    campaign: Campaign, owner: User, bank: BulkBank, fates: list[str]
) -> None:
    left = list(fates)

    def at(moment: str, operation: str) -> None:
        fate = left.pop() if left else "fine"
        if fate == "unsure":
            raise PlatformUnsureError("no answer")
        if fate == "dies":
            raise PowerCutError
        if fate == "another job":
            run_dying(campaign)

    with undone(bank):
        order_everything(campaign, owner)
        bank.at = at
        while left and open_orders(campaign):
            run_dying(campaign)
        bank.at = lambda moment, operation: None
        run_to_the_end(campaign, bank)
        check_end(campaign, bank)
