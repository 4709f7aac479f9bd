"""Work that is rejected on the platform: kept, not counted, its place offered again where the platform does so."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.web.queries.finished_work import read_ratings
from annotation.access.tokens import token_of
from annotation.models import Assignment, Event, Response
from annotation.monitoring.progress import get_totals
from campaigns.models import Campaign
from crowd.models import Order, Posting, Submission
from crowd.services.payments import decisions
from crowd.services.payments.sending import carry_out_orders
from crowd.services.syncing.polling import list_due
from crowd.services.syncing.replacing import replace_failed
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext
from evalsite.lib.errors import DomainError
from tests.annotation.open_campaigns import places_left
from tests.crowd.accounts import PLATFORMS, Market, MemoryAccount
from tests.crowd.campaigns import accepted, arrive, finish, handed_in, poll, posting_of, published

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("market")]
EACH, FOR_ALL = PLATFORMS
State, Discrepancy = Assignment.State, Submission.Discrepancy


@pytest.fixture
def study(owner: User, market: Market) -> Posting:
    """The posting of a campaign of one HIT for one worker, where the place of rejected work is given to another."""
    return posting_of(published(owner, FOR_ALL, n_hits=1, n_workers=1))


def rejected(market: Market, posting: Posting, worker: str = "AWORKER") -> tuple[str, Assignment]:
    """Let a worker do everything and be rejected there; return both sides of it once that was seen."""
    id, assignment = handed_in(market, posting, worker)
    poll(posting)
    market.change(posting.platform_id, id, "rejected")
    poll(posting)
    assignment.refresh_from_db()
    return id, assignment


def test_rejected_work_is_kept_and_does_not_count(market: Market, campaign: Campaign, posting: Posting) -> None:
    _, assignment = rejected(market, posting)
    poll(posting)

    assert assignment.state == State.REJECTED
    assert Response.objects.filter(assignment=assignment).exists()
    assert read_ratings(campaign, [assignment.worker_id]).worker_ids == []
    totals = get_totals(campaign, timezone.now())
    assert (totals.n_finished, totals.n_rejected, totals.n_assignments) == (0, 1, 1)
    assert [event.kind for event in assignment.events.order_by("-pk")[:1]] == [Event.Kind.REJECTED]
    assert Submission.objects.get().discrepancy == Discrepancy.NONE


@pytest.mark.parametrize(("platform", "free"), [(EACH, 3), (FOR_ALL, 4)])
def test_the_place_is_free_here_where_it_is_free_there(owner: User, market: Market, platform: str, free: int) -> None:
    campaign = published(owner, platform, n_hits=2)
    rejected(market, posting_of(campaign))
    assert sum(places_left(campaign)) == free


def test_another_worker_gets_the_place(market: Market, study: Posting) -> None:
    rejected(market, study)
    _, other = accepted(market, study, "AOTHER")
    assert other.hit == study.campaign.hits.get()
    assert places_left(study.campaign) == [0]


def test_rejected_before_all_was_rated_the_place_is_free_too(market: Market, study: Posting) -> None:
    id, assignment = accepted(market, study, "AWORKER")
    market.change(study.platform_id, id, "submitted")
    poll(study)
    market.change(study.platform_id, id, "rejected")
    poll(study)
    assignment.refresh_from_db()
    assert (assignment.state, places_left(study.campaign)) == (State.EXPIRED, [1])


def test_a_rejection_that_is_taken_back_takes_its_place_again(market: Market, study: Posting) -> None:
    id, assignment = rejected(market, study)
    market.change(study.platform_id, id, "submitted")
    poll(study)
    assignment.refresh_from_db()
    assert (assignment.state, assignment.is_surplus, places_left(study.campaign)) == (State.FINISHED, False, [0])
    assert Submission.objects.get().discrepancy == Discrepancy.NONE
    with pytest.raises(DomainError) as error:
        arrive(study, "AOTHER", "S-OTHER")
    assert error.value.code == "no_work"


def surplus(market: Market, study: Posting, state: str = "submitted") -> tuple[str, Assignment]:
    """Let a rejection be taken back once another worker has the place; return the other side and assignment."""
    id, _ = rejected(market, study)
    other = accepted(market, study, "AOTHER")
    market.change(study.platform_id, id, state)
    poll(study)
    return other


@pytest.mark.parametrize("state", ["submitted", "approved"])
def test_one_that_is_taken_back_after_the_place_was_refilled_is_a_discrepancy(
    market: Market, study: Posting, owner_client: Client, state: str
) -> None:
    _, other = surplus(market, study, state)
    finish(other)

    first, second = study.submissions.order_by("pk")
    assert (first.discrepancy, second.discrepancy) == (Discrepancy.SURPLUS, Discrepancy.NONE)
    totals = get_totals(study.campaign, timezone.now())
    assert (totals.n_finished, totals.n_left, places_left(study.campaign)) == (2, 0, [0])
    page = owner_client.get(reverse("crowd:discrepancies", args=[study.campaign.public_id]))
    assert "Rejection taken back after another worker got the place" in page.text
    assert "Dismiss</button>" in page.text
    assert ("Reject with a message" in page.text) == (state == "submitted")
    assert not decisions.list_payable(study.campaign).filter(pk=first.pk)
    poll(study)
    first.refresh_from_db()
    assert first.discrepancy == Discrepancy.SURPLUS


def test_the_discrepancy_ends_when_the_other_worker_leaves(market: Market, study: Posting) -> None:
    other_id, _ = surplus(market, study)
    market.change(study.platform_id, other_id, "returned")
    poll(study)
    first = study.submissions.order_by("pk")[0]
    assert (first.discrepancy, places_left(study.campaign)) == (Discrepancy.NONE, [0])


def test_rejected_again_surplus_work_gives_back_no_place(market: Market, study: Posting) -> None:
    surplus(market, study)
    first = study.submissions.order_by("pk")[0]
    market.change(study.platform_id, first.platform_id, "rejected")
    poll(study)
    first.refresh_from_db()
    assert (first.discrepancy, places_left(study.campaign)) == (Discrepancy.NONE, [0])


def test_a_rejection_that_is_ordered_here_frees_the_place_at_once_and_the_study_is_polled(
    market: Market, study: Posting, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemoryAccount, "reject", lambda self, id, message, category="": None)
    monkeypatch.setattr(MemoryAccount, "approve", lambda self, id, message="", *, was_rejected=False: None)
    _, assignment = handed_in(market, study, "AWORKER")
    (submission,) = poll(study)
    Posting.objects.update(poll_at=None)

    decisions.reject(campaign=study.campaign, submission=submission, message="All answers are the same.", user=owner)
    carry_out_orders(JobContext(), study.campaign_id)
    assert (_state(assignment), places_left(study.campaign)) == (State.REJECTED, [1])
    assert list(list_due()) == [study]

    submission.refresh_from_db()
    decisions.reverse_rejection(campaign=study.campaign, submission=submission, user=owner)
    carry_out_orders(JobContext(), study.campaign_id)
    assert (_state(assignment), places_left(study.campaign)) == (State.FINISHED, [0])


def test_a_rejection_takes_the_posting_before_the_submission_as_a_look_does(
    market: Market, study: Posting, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another order the two would wait for each other on PostgreSQL."""
    monkeypatch.setattr(MemoryAccount, "reject", lambda self, id, message, category="": None)
    handed_in(market, study, "AWORKER")
    (submission,) = poll(study)
    decisions.reject(campaign=study.campaign, submission=submission, message="All answers are the same.", user=owner)

    with CaptureQueriesContext(connection) as done:
        carry_out_orders(JobContext(), study.campaign_id)

    changed = [query["sql"].split('"')[1] for query in done.captured_queries if query["sql"].startswith("UPDATE")]
    assert changed.index("crowd_posting") < changed.index("crowd_submission")


def test_a_worker_who_was_rejected_sees_their_work_as_done(market: Market, study: Posting, client: Client) -> None:
    id, assignment = rejected(market, study)
    page = client.get(reverse("rate:hit", args=[token_of(assignment)]))
    assert (page.status_code, "Thank you" in page.text, "eject" in page.text) == (200, True, False)
    assert arrive(study, "AWORKER", id) == assignment
    assert places_left(study.campaign) == [1]


@pytest.mark.parametrize(("platform", "n"), [(EACH, 1), (FOR_ALL, 0)])
def test_where_the_platform_frees_no_place_rejected_work_may_be_replaced_within_the_budget(
    owner: User, market: Market, platform: str, n: int
) -> None:
    options = {"replace_failed": "yes", "budget_cap": 100}
    campaign = published(owner, platform, n_hits=1, n_workers=1, platform_settings=options)
    rejected(market, posting_of(campaign))
    assert replace_failed(campaign=campaign) == n
    assert replace_failed(campaign=campaign) == 0
    assert places_left(campaign) == [1]
    assert Order.objects.filter(kind=Order.Kind.ADD_PLACES).count() == n


@pytest.mark.parametrize(("platform", "n"), [(EACH, 1), (FOR_ALL, 0)])
def test_a_place_that_the_platform_frees_is_not_added_before_the_rejection_is_noted_here(
    owner: User, market: Market, platform: str, n: int
) -> None:
    options = {"replace_failed": "yes", "budget_cap": 100}
    campaign = published(owner, platform, n_hits=1, n_workers=1, platform_settings=options)
    _, assignment = handed_in(market, posting_of(campaign), "AWORKER")
    poll(posting_of(campaign))
    Submission.objects.update(state=Submission.State.REJECTED)
    assert _state(assignment) == State.FINISHED

    assert replace_failed(campaign=campaign) == n

    assert places_left(campaign) == [n]


def _state(assignment: Assignment) -> str:
    assignment.refresh_from_db()
    return assignment.state


# --- Installations that exist


def test_work_that_was_rejected_before_is_left_out_at_the_next_look(market: Market, owner: User) -> None:
    study = posting_of(published(owner, FOR_ALL, n_hits=1, n_workers=1))
    id, assignment = handed_in(market, study, "AWORKER")
    poll(study)
    Submission.objects.update(state="rejected")  # by a version that knew of no work that does not count
    assert (_state(assignment), places_left(study.campaign)) == (State.FINISHED, [0])
    market.change(study.platform_id, id, "rejected")
    poll(study)
    assert (_state(assignment), places_left(study.campaign)) == (State.REJECTED, [1])
