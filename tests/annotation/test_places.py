"""Workers who come with a place of a crowd platform: the HIT that it names, once, and no other's."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.access.tokens import token_of
from annotation.access.visitors import find_offer
from annotation.models import Assignment, Event, PlaceFreed
from annotation.queries import assignment_id_of, get_assignment
from annotation.services.assignments import (
    QUIET,
    expire_leases,
    finish_assignment,
    release_assignment,
    return_assignment,
    start_assignment,
)
from campaigns.contracts.platform import Place
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.annotation.open_campaigns import open_campaign, rate_items
from tests.conftest import make_owner
from tests.databases import on_both

pytestmark = [pytest.mark.django_db, on_both]
State = Assignment.State
FAR_OFF = timezone.now() + timedelta(days=2)


@pytest.fixture(scope="module")
def opened(module_db: None) -> Campaign:
    return open_campaign(make_owner(), n_hits=3, platform="mturk")


@pytest.fixture
def campaign(opened: Campaign, db: None) -> Campaign:
    """The campaign that the tests share; what a test changes is undone."""
    return Campaign.objects.get(pk=opened.pk)


def refused(code: str):
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def come(campaign: Campaign, worker: str, platform_id: str, hit: int | None) -> Assignment:
    place = Place(platform_id, hit, {"submit_to": "https://workersandbox.example"})
    return start_assignment(campaign=campaign, worker_key=worker, place=place)


def test_the_hit_is_the_one_that_was_accepted(campaign: Campaign) -> None:
    assignment = come(campaign, "ann", "A2", hit=2)
    assert (assignment.hit.number, assignment.platform_id) == (2, "A2")
    assert assignment.platform_data == {"submit_to": "https://workersandbox.example"}
    assert assignment.events.get(kind=Event.Kind.ARRIVED).data == {"platform_id": "A2"}


def test_without_a_hit_it_is_the_first_that_is_free(campaign: Campaign) -> None:
    assert [come(campaign, name, f"S-{name}", hit=None).hit.number for name in ("ann", "ben")] == [1, 2]


def test_hits_that_are_not_published_are_not_given_out(campaign: Campaign) -> None:
    campaign.hits.filter(number__lte=2).update(is_offered=False)
    assert come(campaign, "ann", "S1", hit=None).hit.number == 3
    with refused("no_work"):
        come(campaign, "ben", "A1", hit=1)


def test_a_reload_goes_on_and_keeps_the_token(campaign: Campaign) -> None:
    first = come(campaign, "ann", "A1", hit=1)
    again = come(campaign, "ann", "A1", hit=1)
    assert (again.pk, token_of(again)) == (first.pk, token_of(first))
    assert again.events.filter(kind=Event.Kind.ARRIVED).count() == 1


def test_a_place_that_another_worker_came_with_is_refused(campaign: Campaign) -> None:
    come(campaign, "ann", "A1", hit=1)
    with refused("other_worker"):
        come(campaign, "eve", "A1", hit=1)
    with refused("other_worker"):
        come(campaign, "eve", "A1", hit=2)
    assert Assignment.objects.filter(campaign=campaign).count() == 1


@pytest.mark.parametrize("end", [return_assignment, lambda assignment_id: expire_leases(now=FAR_OFF)])
def test_a_place_that_was_given_up_may_come_with_another_worker(campaign: Campaign, end) -> None:
    anns = come(campaign, "ann", "A1", hit=1)
    end(assignment_id=anns.pk)
    bens = come(campaign, "ben", "A1", hit=1)
    anns.refresh_from_db()
    assert (bens.hit.number, bens.platform_id, anns.platform_id) == (1, "A1", "")
    assert anns.state in (State.RETURNED, State.EXPIRED)
    with refused("other_worker"):
        come(campaign, "ann", "A1", hit=1)


def test_a_worker_who_comes_with_the_place_of_one_who_has_been_quiet_gets_the_hit(campaign: Campaign) -> None:
    anns = come(campaign, "ann", "A1", hit=1)
    Assignment.objects.filter(pk=anns.pk).update(seen_at=timezone.now() - QUIET)
    assert come(campaign, "ben", "A1", hit=1).hit.number == 1
    anns.refresh_from_db()
    assert (anns.state, anns.platform_id) == (State.EXPIRED, "")


def test_what_a_quiet_worker_has_rated_to_the_end_stays_theirs(campaign: Campaign) -> None:
    anns = rate_items(come(campaign, "ann", "A1", hit=1))
    Assignment.objects.filter(pk=anns.pk).update(seen_at=timezone.now() - QUIET)
    with refused("other_worker"):
        come(campaign, "ben", "A1", hit=1)
    anns.refresh_from_db()
    assert (anns.state, anns.platform_id) == (State.FINISHED, "A1")


def test_who_has_begun_one_hit_is_asked_to_end_it_first(campaign: Campaign) -> None:
    come(campaign, "ann", "A1", hit=1)
    with refused("other_hit"):
        come(campaign, "ann", "A2", hit=2)
    assert find_offer(campaign, "ann", Place("A2", 2)).refusal == "other_hit"


@pytest.mark.parametrize("end", [release_assignment, return_assignment])
def test_who_accepts_again_goes_on_and_the_old_page_is_worth_nothing(campaign: Campaign, end) -> None:
    first = come(campaign, "ann", "A1", hit=1)
    rate_items(first, 2)
    old = token_of(first)
    end(
        **(
            {"assignment": first, "cause": PlaceFreed.RESEARCHER}
            if end is release_assignment
            else {"assignment_id": first.pk}
        )
    )
    again = come(campaign, "ann", "A9", hit=1)
    assert (again.pk, again.state, again.n_rated, again.platform_id) == (first.pk, State.ACTIVE, 2, "A9")
    for look in (get_assignment, assignment_id_of):
        with refused("old_token"):
            look(old)
        look(token_of(again))


def test_a_token_cannot_be_given_the_mark_of_another_arrival(campaign: Campaign) -> None:
    token = token_of(come(campaign, "ann", "A1", hit=1))
    other = token_of(come(campaign, "ben", "A2", hit=2))
    mark, mine = other.split("-")[1].split(".")[0], token.split("-")[1].split(".")[0]
    with refused("bad_token"):
        assignment_id_of(token.replace(mine, mark))


def test_who_finished_and_accepts_again_finds_it_finished_and_can_submit_it(campaign: Campaign) -> None:
    first = come(campaign, "ann", "A1", hit=1)
    rate_items(first)
    code = finish_assignment(assignment_id=first.pk).completion_code
    again = come(campaign, "ann", "A9", hit=1)
    assert (again.pk, again.state, again.completion_code, again.platform_id) == (first.pk, State.FINISHED, code, "A9")


def test_who_comes_back_with_a_finished_session_finds_its_end_and_with_a_new_one_the_next_hit(
    campaign: Campaign,
) -> None:
    first = come(campaign, "ann", "S1", hit=None)
    rate_items(first)
    finish_assignment(assignment_id=first.pk)
    assert come(campaign, "ann", "S1", hit=None).pk == first.pk
    assert come(campaign, "ann", "S2", hit=None).hit.number == 2


def test_a_place_that_was_given_to_somebody_else_is_not_given_back(campaign: Campaign) -> None:
    first = come(campaign, "ann", "A1", hit=1)
    expire_leases(now=timezone.now() + timedelta(days=1))
    come(campaign, "ben", "B1", hit=1)
    with refused("no_work"):
        come(campaign, "ann", "A9", hit=1)
    assert Assignment.objects.get(pk=first.pk).platform_id == "A1"


def test_a_campaign_with_an_account_stays_open_and_is_analysed(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1, platform="mturk")
    assignment = come(campaign, "ann", "A1", hit=1)
    rate_items(assignment)
    finish_assignment(assignment_id=assignment.pk)
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.RUNNING
    assert Job.objects.get().kind == "analysis.campaign"
