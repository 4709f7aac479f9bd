"""Keeping what a worker rates: once, in order, whole."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.access.tokens import read_token, token_of
from annotation.models import Assignment, Event
from annotation.queries import get_assignment, get_current_page
from annotation.services.assignments import expire_leases, return_assignment, start_assignment
from annotation.services.ratings import save_page
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.annotation.open_campaigns import open_campaign, rate_items, scores_for
from tests.conftest import make_owner
from tests.databases import on_both

pytestmark = [pytest.mark.django_db, on_both]


@pytest.fixture(scope="module")
def started(module_db: None) -> Assignment:
    return start_assignment(campaign=open_campaign(make_owner()), worker_key="ann")


@pytest.fixture
def assignment(started: Assignment, db: None) -> Assignment:
    """The assignment that the tests share; what a test changes is undone."""
    return Assignment.objects.get(pk=started.pk)


def refused(code: str):
    return pytest.raises(DomainError, check=lambda error: error.code == code)


def test_scores_are_kept_as_given(assignment: Assignment) -> None:
    scores = scores_for(assignment.campaign, 73)
    after = save_page(assignment_id=assignment.pk, position=1, answers=scores, telemetry={"n_moves": 2})
    assert after.position == 2
    assert [(rating.item.position, rating.score) for rating in assignment.responses.all()] == [(1, 73)]
    rated = assignment.events.get(kind=Event.Kind.RATED)
    assert rated.item is not None
    assert (rated.item.position, rated.data) == (1, {"n_moves": 2})


def test_an_item_that_is_sent_twice_is_kept_once_as_first_given(assignment: Assignment) -> None:
    for score in (10, 90):
        after = save_page(assignment_id=assignment.pk, position=1, answers=scores_for(assignment.campaign, score))
        assert after.position == 2
    assert list(assignment.responses.values_list("score", flat=True)) == [10]


@pytest.mark.parametrize("position", [2, 3, 4])
def test_no_item_can_be_skipped(assignment: Assignment, position: int) -> None:
    with refused("not_next"):
        save_page(assignment_id=assignment.pk, position=position, answers=scores_for(assignment.campaign))


@pytest.mark.parametrize("score", [-1, 101])
def test_a_score_lies_between_0_and_100(assignment: Assignment, score: int) -> None:
    with refused("bad_answer"):
        save_page(assignment_id=assignment.pk, position=1, answers=scores_for(assignment.campaign, score))
    assert assignment.responses.count() == 0


@pytest.mark.parametrize("scores", [{}, {0: ["50"]}])
def test_every_criterion_is_rated_and_no_other(assignment: Assignment, scores: dict[int, list[str]]) -> None:
    with refused("bad_answer"):
        save_page(assignment_id=assignment.pk, position=1, answers=scores)


def test_nothing_follows_the_last_item(assignment: Assignment) -> None:
    rate_items(assignment)
    with refused("not_next"):
        save_page(assignment_id=assignment.pk, position=4, answers=scores_for(assignment.campaign))


def test_a_returned_hit_takes_no_more(assignment: Assignment) -> None:
    return_assignment(assignment_id=assignment.pk)
    with refused("returned"):
        save_page(assignment_id=assignment.pk, position=1, answers=scores_for(assignment.campaign))


def test_what_comes_after_the_lease_is_kept_and_goes_on_if_the_place_is_free(assignment: Assignment) -> None:
    expire_leases(now=timezone.now() + timedelta(hours=2))
    after = rate_items(assignment, 1)
    assert (after.state, after.position) == (Assignment.State.ACTIVE, 2)
    assert after.hit.n_places_left == 0


def test_what_comes_after_the_place_has_gone_is_kept_but_does_not_count(assignment: Assignment) -> None:
    expire_leases(now=timezone.now() + timedelta(hours=2))
    rate_items(start_assignment(campaign=assignment.campaign, worker_key="ben"), 1)
    after = rate_items(assignment, 1)
    assert (after.state, after.responses.count()) == (Assignment.State.EXPIRED, 1)


def test_tokens_cannot_be_forged(assignment: Assignment) -> None:
    token = token_of(assignment)
    assert read_token(token) == (assignment.pk, "")
    assert get_assignment(token) == assignment
    for forged in ("", "1", token[:-1], token.replace(str(assignment.pk), str(assignment.pk + 1), 1)):
        with refused("bad_token"):
            read_token(forged)


def test_the_page_shows_the_item_to_be_rated_and_knows_the_next(assignment: Assignment) -> None:
    page = get_current_page(rate_items(assignment, 1))
    assert page.page is not None
    assert page.next_page is not None
    assert (page.page.position, page.next_page.position, page.page.n_pages) == (2, 3, 3)
    assert get_current_page(rate_items(assignment)).page is None


@pytest.mark.parametrize("size", [3, 30])
def test_queries_do_not_grow_with_the_hit(
    owner: User, size: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assignment = start_assignment(campaign=open_campaign(owner, size=size), worker_key="ann")
    scores = scores_for(assignment.campaign)
    get_current_page(assignment)  # the HIT and the criteria, once a process
    with django_assert_num_queries(6):  # four, and the savepoint that the test's own transaction makes of this one
        get_current_page(save_page(assignment_id=assignment.pk, position=1, answers=scores))
