"""Workers who come back late, twice, in old tabs or at a bad moment: no work and no wage is lost, no cap exceeded."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Assignment, PlaceFreed
from annotation.services import ratings
from annotation.services.assignments import (
    expire_leases,
    finish_assignment,
    release_assignment,
    return_assignment,
    start_assignment,
)
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.annotation.open_campaigns import open_campaign, places_left, rate_items
from tests.databases import on_both, on_sqlite

State = Assignment.State
pytestmark = [pytest.mark.django_db, on_both]


def start(campaign: Campaign, worker: str = "ann") -> Assignment:
    campaign.refresh_from_db()
    return start_assignment(campaign=campaign, worker_key=worker)


def finish(assignment: Assignment) -> Assignment:
    return finish_assignment(assignment_id=rate_items(assignment).pk)


def later(minutes: float = 90) -> datetime:
    return timezone.now() + timedelta(minutes=minutes)


def refused(code: str):
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def expired_while_another_is_active(campaign: Campaign, *, n_rated: int = 1) -> tuple[Assignment, Assignment]:
    """Return two assignments of Ann: her first, which was given to Ben and is free again, and the one she has now."""
    first = rate_items(start(campaign), n_rated)
    expire_leases(now=later())
    ben = start(campaign, "ben")
    second = start(campaign)
    return_assignment(assignment_id=ben.pk)
    first.refresh_from_db()
    assert (first.state, second.state, first.hit.n_places_left) == (State.EXPIRED, State.ACTIVE, 1)
    return first, second


def test_an_old_tab_does_not_give_a_worker_two_hits_at_once(owner: User) -> None:
    first, second = expired_while_another_is_active(open_campaign(owner))
    after = rate_items(first, 1)
    assert (after.state, after.n_rated, after.responses.count()) == (State.EXPIRED, 2, 2), "kept all the same"
    assert places_left(first.campaign) == [1, 0]
    finish(second)
    back = start(first.campaign)
    assert (back.pk, back.position) == (first.pk, 3)


def test_the_last_page_of_an_old_tab_waits_for_the_other_hit(owner: User) -> None:
    first, second = expired_while_another_is_active(open_campaign(owner))
    rate_items(first)
    with refused("lease_lost"):
        finish_assignment(assignment_id=first.pk)
    finish(second)
    assert finish_assignment(assignment_id=first.pk).completion_code


def test_no_old_hit_is_gone_on_with_beyond_the_cap(owner: User) -> None:
    first, second = expired_while_another_is_active(open_campaign(owner, hits_per_worker=1))
    finish(second)
    with refused("enough_hits"):
        start(first.campaign)
    assert rate_items(first).state == State.EXPIRED
    with refused("lease_lost"):
        finish_assignment(assignment_id=first.pk)
    assert places_left(first.campaign) == [1, 0]


def test_whoever_takes_part_goes_on_when_the_cap_of_workers_is_lowered(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=4, platform_settings={"max_workers": 3})
    for name in ("ann", "ben", "cal"):
        finish(start(campaign, name))
    Campaign.objects.update(platform_settings={"max_workers": 1})
    with refused("enough_workers"):
        start(campaign, "dee")
    assert start(campaign, "ben").hit.number == 4


def test_who_comes_back_late_but_first_keeps_the_place(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    left = rate_items(start(campaign), 1)
    Assignment.objects.update(leased_until=later(-1))
    assert start(campaign).pk == left.pk
    assert expire_leases(now=later(campaign.lease_minutes - 1)) == 0
    assert left.events.filter(kind="expired").count() == 0


def test_a_refusal_leaves_the_leases_of_others_ended(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    done = rate_items(start(campaign))
    Assignment.objects.update(leased_until=later(-1))
    with refused("not_open"):
        start_assignment(campaign=campaign_paused(campaign), worker_key="ben")
    done.refresh_from_db()
    assert done.completion_code


def campaign_paused(campaign: Campaign) -> Campaign:
    campaign.status = Campaign.Status.PAUSED
    campaign.save()
    return campaign


@pytest.mark.parametrize(
    ("n_rated_by_other", "state"),
    [(None, State.ACTIVE), (0, State.ACTIVE), (1, State.EXPIRED)],
    ids=["place free", "given to one who has not begun", "place taken"],
)
def test_a_lease_that_ends_at_the_moment_of_saving(
    owner: User, monkeypatch: pytest.MonkeyPatch, n_rated_by_other: int | None, state: str
) -> None:
    """Between reading the assignment and claiming the item, it expires."""
    campaign = open_campaign(owner, n_hits=1)
    assignment = start(campaign)
    honest, moments = ratings.pages_of, []

    def pages_a_moment_later(read: Assignment):
        if not moments:
            moments.append(expire_leases(now=later()))
            if n_rated_by_other is not None:
                monkeypatch.setattr(ratings, "pages_of", honest)
                rate_items(start(campaign, "ben"), n_rated_by_other)
        return honest(read)

    monkeypatch.setattr(ratings, "pages_of", pages_a_moment_later)
    after = rate_items(assignment, 1)
    stored = Assignment.objects.get(pk=assignment.pk)
    assert after.state == stored.state == state
    assert after.n_rated == stored.n_rated == stored.responses.count() == 1
    assert places_left(campaign) == [0]


def test_feedback_counts_when_the_lease_ended_on_the_last_page(owner: User) -> None:
    done = rate_items(start(open_campaign(owner)))
    expire_leases(now=later())
    after = finish_assignment(assignment_id=done.pk, feedback="Item 2 was blank.")
    assert (after.state, after.feedback) == (State.FINISHED, "Item 2 was blank.")
    assert finish_assignment(assignment_id=done.pk, feedback="Again").feedback == "Item 2 was blank."


def test_a_researcher_who_frees_a_place_takes_no_complete_work(owner: User) -> None:
    done = rate_items(start(open_campaign(owner, n_hits=1)))
    released = release_assignment(assignment=done, cause=PlaceFreed.RESEARCHER)
    assert (released.state, places_left(released.campaign)) == (State.FINISHED, [0])
    assert released.completion_code
    assert Job.objects.filter(kind="analysis.campaign").count() == 1


def test_whoever_finishes_after_the_campaign_was_closed_is_analysed(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=3)
    begun = [start(campaign, name) for name in ("ann", "ben")]
    Campaign.objects.update(status=Campaign.Status.CLOSED, closed_at=later(0))
    assert finish(begun[0]).completion_code
    assert Job.objects.filter(kind="analysis.campaign").count() == 1
    return_assignment(assignment_id=begun[1].pk)
    assert Job.objects.filter(kind="analysis.campaign").count() == 1


# --- Whatever workers do


VERBS = ["start", "rate", "rate all", "finish", "return", "expire", "release"]
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 2), st.integers(0, 2)), max_size=40)
REFUSALS = {"no_work", "not_open", "not_complete", "not_next", "not_active", "returned", "lease_lost", "enough_hits"}


@on_sqlite  # the rules; test_concurrency has the databases
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, cap=st.sampled_from([None, 1, 2]))
def test_places_and_caps_hold_in_old_tabs_too(owner: User, steps: list[tuple[str, int, int]], cap: int | None) -> None:
    """Any request may come at any time for any HIT that a worker ever had."""
    campaign = open_campaign(owner, n_hits=3, size=2, hits_per_worker=cap)
    for verb, worker, tab in steps:
        act(campaign, verb, f"worker-{worker}", tab)
    for hit in campaign.hits.all():
        held = hit.assignments.filter(state__in=[State.ACTIVE, State.FINISHED]).count()
        assert hit.n_places_left == 1 - held >= 0
    assert all(each.responses.count() == each.n_rated for each in campaign.assignments.all())
    for worker in range(3):
        mine = campaign.assignments.filter(worker__key=f"worker-{worker}")
        assert mine.filter(state=State.ACTIVE).count() <= 1
        assert cap is None or mine.filter(state=State.FINISHED).count() <= cap
    assert all(bool(each.completion_code) == (each.state == State.FINISHED) for each in campaign.assignments.all())


def act(campaign: Campaign, verb: str, worker: str, tab: int) -> None:
    tabs = list(campaign.assignments.filter(worker__key=worker))
    mine = tabs[tab % len(tabs)] if tabs else None
    try:
        if verb == "start":
            start(campaign, worker)
        elif verb == "expire":
            expire_leases(campaign=campaign, now=later())
        elif mine is None:
            return
        elif verb.startswith("rate"):
            rate_items(mine, None if verb == "rate all" else 1)
        elif verb == "finish":
            finish_assignment(assignment_id=mine.pk)
        elif verb == "return":
            return_assignment(assignment_id=mine.pk)
        else:
            release_assignment(assignment=mine, cause=PlaceFreed.RESEARCHER)
    except DomainError as error:
        assert error.code in REFUSALS
