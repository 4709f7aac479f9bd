"""Giving HITs out and taking them back: whose turn it is, what a lease holds, how a campaign ends."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Assignment, Event, PlaceFreed, Worker
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
pytestmark = [pytest.mark.django_db, on_sqlite]


def start(campaign: Campaign, worker: str | None = "ann", **choices: bool) -> Assignment:
    campaign.refresh_from_db()
    return start_assignment(campaign=campaign, worker_key=worker, **choices)


def later(minutes: float) -> datetime:
    return timezone.now() + timedelta(minutes=minutes)


def refused(code: str):
    return pytest.raises(DomainError, check=lambda error: error.code == code)


@on_both
def test_a_worker_gets_the_first_hit_and_its_place(owner: User) -> None:
    campaign = open_campaign(owner, workers_per_hit=2)
    assignment = start(campaign)
    assert (assignment.hit.number, assignment.state, assignment.position) == (1, State.ACTIVE, 1)
    assert places_left(campaign) == [1, 2]
    assert [event.kind for event in assignment.events.all()] == [Event.Kind.STARTED]


@on_both
def test_starting_again_resumes(owner: User) -> None:
    campaign = open_campaign(owner)
    first = rate_items(start(campaign), 2)
    again = start(campaign)
    assert (again.pk, again.position) == (first.pk, 3)
    assert places_left(campaign) == [0, 1]


@on_both
def test_two_workers_get_two_hits(owner: User) -> None:
    campaign = open_campaign(owner)
    assert {start(campaign, name).hit.number for name in ("ann", "ben")} == {1, 2}
    with refused("no_work"):
        start(campaign, "cal")


@on_both
def test_a_worker_never_gets_a_hit_twice(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1, workers_per_hit=3)
    finish_assignment(assignment_id=rate_items(start(campaign)).pk)
    with refused("no_work"):
        start(campaign)


@on_both
def test_somebody_new_is_given_a_key(owner: User) -> None:
    campaign = open_campaign(owner)
    workers = {start(campaign, None).worker.key for _ in range(2)}
    assert len(workers) == 2


@pytest.mark.parametrize("status", ["draft", "ready", "paused", "closed"])
def test_only_a_running_campaign_gives_hits_out(owner: User, status: str) -> None:
    campaign = open_campaign(owner, status=status)
    with refused("not_open"):
        start(campaign)
    assert places_left(campaign) == [1, 1]


def test_who_has_begun_may_finish_while_the_campaign_is_paused(owner: User) -> None:
    campaign = open_campaign(owner)
    begun = start(campaign)
    Campaign.objects.update(status=Campaign.Status.PAUSED)
    assert start(campaign).pk == begun.pk
    assert finish_assignment(assignment_id=rate_items(begun).pk).state == State.FINISHED


def test_consent_is_asked_for(owner: User) -> None:
    campaign = open_campaign(owner, consent="I take part of my own free will.")
    with refused("no_consent"):
        start(campaign)
    assert start(campaign, consented=True).state == State.ACTIVE


def test_a_worker_has_a_cap_of_hits(owner: User) -> None:
    campaign = open_campaign(owner, hits_per_worker=1)
    finish_assignment(assignment_id=rate_items(start(campaign)).pk)
    with refused("enough_hits"):
        start(campaign)
    assert start(campaign, "ben").hit.number == 2


@on_both
def test_a_link_has_a_cap_of_workers(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=3, platform_settings={"access": "open", "max_workers": 1})
    finish_assignment(assignment_id=rate_items(start(campaign)).pk)
    with refused("enough_workers"):
        start(campaign, "ben")
    assert start(campaign).hit.number == 2
    assert not Worker.objects.filter(key="ben").exists()


# --- Leases


def test_an_abandoned_hit_is_offered_again(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1, lease_minutes=30)
    left = rate_items(start(campaign), 1)
    assert expire_leases(now=later(29)) == 0
    assert expire_leases(now=later(31)) == 1
    left.refresh_from_db()
    assert (left.state, left.responses.count()) == (State.EXPIRED, 1)
    assert start(campaign, "ben").hit == left.hit


def test_every_rated_item_renews_the_lease(owner: User) -> None:
    campaign = open_campaign(owner, lease_minutes=30)
    assignment = start(campaign)
    Assignment.objects.update(leased_until=timezone.now())
    rate_items(assignment, 1)
    assert expire_leases(now=later(29)) == 0


def test_who_comes_back_late_goes_on_if_the_place_is_free(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    left = rate_items(start(campaign), 2)
    expire_leases(now=later(90))
    back = start(campaign)
    assert (back.pk, back.position, back.state) == (left.pk, 3, State.ACTIVE)
    assert places_left(campaign) == [0]


def test_who_comes_back_too_late_gets_another_hit(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2)
    left = rate_items(start(campaign), 2)
    expire_leases(now=later(90))
    start(campaign, "ben")
    assert start(campaign).hit != left.hit


@on_both
def test_a_lease_that_ends_on_the_last_page_loses_nothing(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    done = rate_items(start(campaign))
    expire_leases(now=later(90))
    done.refresh_from_db()
    assert done.state == State.FINISHED
    assert done.completion_code == finish_assignment(assignment_id=done.pk, feedback="late").completion_code
    assert places_left(campaign) == [0]


def test_a_researcher_frees_a_place(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    left = start(campaign)
    release_assignment(assignment=left, cause=PlaceFreed.RESEARCHER)
    assert places_left(campaign) == [1]
    with refused("not_active"):
        release_assignment(assignment=left, cause=PlaceFreed.RESEARCHER)
    assert places_left(campaign) == [1]


@on_both
def test_a_returned_hit_is_offered_to_others_only(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    assignment = rate_items(start(campaign), 1)
    for _ in range(2):  # a second click does no harm
        assert return_assignment(assignment_id=assignment.pk).state == State.RETURNED
    assert places_left(campaign) == [1]
    assert assignment.responses.count() == 1
    with refused("no_work"):
        start(campaign)
    assert start(campaign, "ben").hit == assignment.hit


# --- The end


def test_finishing_needs_every_item(owner: User) -> None:
    assignment = rate_items(start(open_campaign(owner)), 2)
    with refused("not_complete"):
        finish_assignment(assignment_id=assignment.pk)


@on_both
def test_finishing_twice_gives_the_same_code(owner: User) -> None:
    assignment = rate_items(start(open_campaign(owner)))
    codes = {finish_assignment(assignment_id=assignment.pk).completion_code for _ in range(2)}
    assert len(codes) == 1
    assert len(codes.pop()) == 10
    assert assignment.events.filter(kind=Event.Kind.FINISHED).count() == 1


@on_both
def test_the_last_assignment_closes_the_campaign_and_has_it_analysed(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2)
    finish_assignment(assignment_id=rate_items(start(campaign)).pk)
    assert not Job.objects.filter(kind="analysis.campaign").exists()
    finish_assignment(assignment_id=rate_items(start(campaign)).pk)
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED
    assert campaign.closed_at is not None
    assert Job.objects.filter(kind="analysis.campaign", args={"campaign": campaign.pk}).count() == 1


STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "rate", "finish", "return", "expire"]), st.integers(0, 3)), max_size=40
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_places_always_add_up(owner: User, steps: list[tuple[str, int]]) -> None:
    """Whatever workers do, each HIT's free places are those wanted less those held by active or finished workers."""
    campaign = open_campaign(owner, n_hits=2, size=2, workers_per_hit=2)
    for verb, worker in steps:
        act(campaign, verb, f"worker-{worker}")
    for hit in campaign.hits.all():
        held = hit.assignments.filter(state__in=[State.ACTIVE, State.FINISHED]).count()
        assert hit.n_places_left == 2 - held >= 0
    assert all(each.responses.count() == each.n_rated for each in campaign.assignments.all())


def act(campaign: Campaign, verb: str, worker: str) -> None:
    mine = campaign.assignments.filter(worker__key=worker, state=State.ACTIVE).first()
    try:
        if verb == "start":
            start(campaign, worker)
        elif verb == "expire":
            expire_leases(campaign=campaign, now=later(90))
        elif mine and verb == "rate":
            rate_items(mine, 1)
        elif mine and verb == "finish":
            finish_assignment(assignment_id=mine.pk)
        elif mine:
            return_assignment(assignment_id=mine.pk)
    except DomainError as error:
        assert error.code in {"no_work", "not_open", "not_complete", "not_next"}
