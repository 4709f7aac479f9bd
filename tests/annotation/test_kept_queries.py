"""Queries whose SQL is kept give what the querysets that they are made of give, on both databases."""

import sys

import pytest
from django.db.models import Model

from annotation.models import Assignment, Response
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.kept_queries import KeptQuery
from tests.annotation.open_campaigns import open_campaign, rate_items
from tests.databases import at_once, on_both

pytestmark = [pytest.mark.django_db, on_both]


@pytest.fixture
def assignment(owner: User) -> Assignment:
    return rate_items(start_assignment(campaign=open_campaign(owner, size=3), worker_key="ann"), 2)


def values_of(found: Model) -> dict[str, object]:
    """Return what was fetched of an object, by field."""
    return {name: value for name, value in vars(found).items() if name != "_state"}


def test_an_object_has_all_columns_and_those_it_refers_to(assignment: Assignment) -> None:
    kept = KeptQuery(Assignment.objects.select_related("campaign", "hit", "worker").filter(pk=0))
    for _ in range(2):
        found = kept.get(assignment.pk)
        asked = Assignment.objects.select_related("campaign", "hit", "worker").get(pk=assignment.pk)
        assert values_of(found) == values_of(asked)
        assert values_of(found.campaign) == values_of(asked.campaign)
        assert (found.hit, found.worker) == (asked.hit, asked.worker)
        assert found._state.db == asked._state.db
        assert not found._state.adding


def test_columns_that_are_left_out_are_fetched_when_they_are_asked_for(
    assignment: Assignment, django_assert_num_queries
) -> None:
    query = Assignment.objects.filter(pk=0).select_related("campaign")
    found = KeptQuery(query.only("state", "campaign__screen")).get(assignment.pk)
    with django_assert_num_queries(0):
        assert (found.state, found.campaign.screen) == (assignment.state, assignment.campaign.screen)
    with django_assert_num_queries(1):
        assert found.n_rated == 2
    found.n_rated = 3
    found.save(update_fields=["n_rated"])
    assert Assignment.objects.get().n_rated == 3


def test_several_are_found_by_several_values(assignment: Assignment) -> None:
    items = list(assignment.hit.items.values_list("pk", flat=True))
    kept = KeptQuery(Response.objects.filter(assignment=0, item__in=[1, 2]).select_for_update())
    asked = Response.objects.filter(assignment=assignment, item__in=items[:2])
    assert [values_of(each) for each in kept.list(assignment.pk, *items[:2])] == [values_of(each) for each in asked]
    assert kept.list(assignment.pk, items[2], items[2]) == []


def test_none_is_said_as_the_model_says_it(assignment: Assignment) -> None:
    with pytest.raises(Campaign.DoesNotExist):
        KeptQuery(Campaign.objects.filter(pk=0)).get(assignment.campaign_id + 1)


@pytest.mark.django_db(transaction=True)
def test_threads_that_are_first_at_the_same_time_get_what_they_ask_for(assignment: Assignment) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            kept = KeptQuery(Assignment.objects.select_related("campaign", "hit", "worker").filter(pk=0))
            at_once(8, lambda _, kept=kept: kept.get(assignment.pk))  # type: ignore[misc]
            assert kept.get(assignment.pk).campaign == assignment.campaign
    finally:
        sys.setswitchinterval(before)
