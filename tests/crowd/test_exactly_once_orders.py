"""Nothing is paid twice: whenever a job dies, whatever a call meets, however many jobs run at once."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaigns.contracts.account import PlatformUnsureError
from campaigns.models import Campaign
from crowd.models import Order, Posting, Submission
from crowd.services.payments import decisions, orders, sending
from crowd.services.payments.orders import place_orders
from crowd.services.payments.sending import carry_out_orders
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext
from tests.crowd.paying import REASON, THANKS, Bank, open_orders, paid_campaign, submissions_of
from tests.databases import at_once

FORM = uuid.UUID(int=5)


class PowerCutError(BaseException):
    """The process ends here."""


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch) -> Bank:
    """The account of every campaign. A claim is over at once, so that another job takes over at any moment."""
    bank = Bank()
    monkeypatch.setattr(sending, "open_account", lambda campaign: bank)
    monkeypatch.setattr("crowd.services.account.CALLS_PER_S", 1_000_000)
    monkeypatch.setattr(orders, "LEASE_S", 0)
    monkeypatch.setattr(orders, "FIRST_PAUSE_S", 0)
    return bank


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return paid_campaign(owner, n_hits=2, n_workers=1)


def order_everything(campaign: Campaign, owner: User) -> None:
    """Order something of each kind that has to happen once."""
    first, second = submissions_of(campaign)
    given = {"campaign": campaign, "user": owner}
    decisions.reject(submission=first, message=REASON, **given)
    decisions.approve(**given)
    decisions.give_bonus(submissions=[second], amount=Decimal("0.25"), message=THANKS, token=FORM, **given)
    added = Order(campaign=campaign, kind="add-places", submission=first, posting=first.posting, n_places=1, token=FORM)
    place_orders(campaign=campaign, orders=[added])
    decisions.act_on_postings(act="pause", postings=[second.posting], **given)


def expected(campaign: Campaign) -> Counter[tuple[str, ...]]:
    """Return what the records of the bank must say in the end."""
    first, second = (each.platform_id for each in submissions_of(campaign))
    return Counter(
        [
            ("rejected", first),
            ("approved", second),
            ("bonus", second, "0.25"),
            ("places", f"POSTING1+1 {FORM}"),
            ("paused", "POSTING2"),
        ]
    )


def run(campaign: Campaign) -> None:
    carry_out_orders(JobContext(), campaign.pk)


def run_to_the_end(campaign: Campaign) -> None:
    """Run job after job, as the sweeper does, until nothing is open."""
    for _ in range(20):
        if not open_orders(campaign):
            return
        run(campaign)
    pytest.fail("orders stay open")


def check_end(campaign: Campaign, bank: Bank) -> None:
    assert bank.effects == expected(campaign)
    assert set(Order.objects.values_list("state", flat=True)) == {"done"}
    assert [each.state for each in submissions_of(campaign)] == ["rejected", "approved"]
    assert [each.state for each in Posting.objects.filter(campaign=campaign)] == ["open", "paused"]


@contextmanager
def every_boundary(bank: Bank, happens: Callable[[int], None]) -> Iterator[None]:
    """Call `happens(n)` before and after each statement and each effect, numbered from 0, of a job and nothing else.

    After one and before the next is the same moment, unless a transaction has begun or ended between them.
    """
    n, is_inside, last_depth = 0, False, -1

    def cross(is_after: bool) -> None:
        nonlocal n, is_inside, last_depth
        depth = len(connection.savepoint_ids)
        if is_inside or (not is_after and depth == last_depth):
            return
        is_inside, n, last_depth = True, n + 1, depth
        try:
            happens(n - 1)
        finally:
            is_inside = False

    def statement(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        is_transaction = sql.startswith(("SAVEPOINT", "RELEASE", "ROLLBACK"))
        if not is_transaction:
            cross(is_after=False)
        result = execute(sql, params, many, context)
        if not is_transaction:
            cross(is_after=True)
        return result

    bank.at = lambda moment, operation: cross(moment == "after")
    with connection.execute_wrapper(statement):
        yield
    bank.at = lambda moment, operation: None


@contextmanager
def undone(bank: Bank) -> Iterator[None]:
    """Undo what the block does in the database and at the bank."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    bank.__init__()  # type: ignore[misc]


def count_boundaries(campaign: Campaign, bank: Bank) -> int:
    """Return how many boundaries a job has that meets nothing; its end is the right one."""
    crossed: list[int] = []
    with undone(bank):
        with every_boundary(bank, crossed.append):
            run(campaign)
        check_end(campaign, bank)
    return len(crossed)


def test_a_job_that_dies_anywhere_has_each_effect_exactly_once(campaign: Campaign, owner: User, bank: Bank) -> None:
    order_everything(campaign, owner)
    n_boundaries = count_boundaries(campaign, bank)
    assert n_boundaries > 50
    for fatal in range(n_boundaries):
        with undone(bank):

            def happens(n: int, fatal: int = fatal) -> None:
                if n == fatal:
                    raise PowerCutError

            with pytest.raises(PowerCutError), every_boundary(bank, happens):
                run(campaign)
            bank.at = lambda moment, operation: None
            run_to_the_end(campaign)
            check_end(campaign, bank)


def test_a_second_job_at_any_moment_leaves_each_effect_exactly_once(
    campaign: Campaign, owner: User, bank: Bank
) -> None:
    order_everything(campaign, owner)
    n_boundaries = count_boundaries(campaign, bank)
    base = len(connection.savepoint_ids) + 1
    n_met = 0
    for moment in range(n_boundaries):
        with undone(bank):

            def happens(n: int, moment: int = moment) -> None:
                nonlocal n_met
                if n == moment and len(connection.savepoint_ids) == base:  # nobody looks into a transaction
                    n_met += 1
                    run(campaign)

            with every_boundary(bank, happens):
                run(campaign)
            run_to_the_end(campaign)
            check_end(campaign, bank)
    assert n_met > n_boundaries // 3


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fates=st.lists(st.sampled_from(["fine", "unsure", "dies", "another job"]), max_size=40))
def test_whatever_calls_meet_each_effect_happens_exactly_once(
    campaign: Campaign, owner: User, bank: Bank, fates: list[str]
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
        run_to_the_end(campaign)
        check_end(campaign, bank)


def run_dying(campaign: Campaign) -> None:
    with suppress(PowerCutError):
        run(campaign)


def test_orders_are_written_down_exactly_once_wherever_the_request_dies(
    campaign: Campaign, owner: User, bank: Bank
) -> None:
    n_done = 0
    for fatal in range(1000):
        with undone(bank):

            def happens(n: int, fatal: int = fatal) -> None:
                if n == fatal:
                    raise PowerCutError

            try:
                with every_boundary(bank, happens):
                    give_bonus(campaign, owner)
                n_done += 1
            except PowerCutError:
                assert Order.objects.count() in (0, 2)
            give_bonus(campaign, owner)
            assert Counter(Order.objects.values_list("submission", flat=True)) == Counter(
                each.pk for each in submissions_of(campaign)
            )
        if n_done:
            break
    assert fatal > 10


def give_bonus(campaign: Campaign, owner: User) -> int:
    return decisions.give_bonus(
        campaign=campaign,
        submissions=submissions_of(campaign),
        amount=Decimal("0.25"),
        message=THANKS,
        token=FORM,
        user=owner,
    )


# --- On a database of its own, with real transactions


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_the_platform_is_told(campaign: Campaign, owner: User, bank: Bank) -> None:
    bank.must_be_outside_transactions = True
    order_everything(campaign, owner)
    run(campaign)
    assert bank.effects == expected(campaign)


@pytest.mark.django_db(transaction=True)
def test_jobs_in_three_threads_have_each_effect_exactly_once(campaign: Campaign, owner: User, bank: Bank) -> None:
    order_everything(campaign, owner)
    at_once(3, lambda _: run(campaign))
    run_to_the_end(campaign)
    check_end(campaign, bank)


@pytest.mark.django_db(transaction=True)
def test_a_form_sent_three_times_at_once_gives_each_bonus_exactly_once(
    campaign: Campaign, owner: User, bank: Bank
) -> None:
    given_out: list[int] = []
    at_once(3, lambda _: given_out.append(give_bonus(campaign, owner)))
    assert sorted(given_out) == [0, 0, 2]
    run_to_the_end(campaign)
    assert bank.effects == {("bonus", each.platform_id, "0.25"): 1 for each in submissions_of(campaign)}
    assert Submission.objects.filter(campaign=campaign).count() == 2
