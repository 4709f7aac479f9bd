"""What researchers read of a campaign on its platform, and of no other campaign."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import Http404
from django.utils import timezone

from campaigns.models import Campaign
from crowd.models import Submission
from crowd.queries.publishing import get_platform_status, get_posting_of, list_postings
from evalsite.accounts.models import User
from tests.crowd.accounts import Market
from tests.crowd.campaigns import arrive, finish, make_crowd_campaign, plan, poll, publish, published

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("market")]


@pytest.fixture
def campaign(owner: User, market: Market) -> Campaign:
    """One worker has handed in, a second submitted without finishing; a third HIT is planned."""
    campaign = make_crowd_campaign(owner, "for-all")
    published(owner, "for-all")  # another one
    publish(plan(campaign, owner, 2))
    plan(campaign, owner)
    posting = campaign.postings.get(state="open")
    for worker in ("AFIRST", "ASECOND"):
        id = market.accept(posting.platform_id, worker)
        assignment = arrive(posting, worker, id)
        if worker == "AFIRST":
            finish(assignment)
        market.change(posting.platform_id, id, "submitted")
    poll(posting)
    return campaign


def test_the_status_counts_every_state(campaign: Campaign) -> None:
    status = get_platform_status(campaign)

    assert {state: n for state, n in status.postings.items() if n} == {"open": 1, "planned": 1}
    assert set(status.postings) == {"planned", "draft", "open", "paused", "ended", "gone"}
    assert {state: n for state, n in status.submissions.items() if n} == {"submitted": 2}
    assert {discrepancy: n for discrepancy, n in status.discrepancies.items() if n} == {"not-finished": 1}
    assert status.n_ended_early == 0


def test_a_dismissed_discrepancy_is_not_counted(campaign: Campaign) -> None:
    Submission.objects.update(dismissed_at=timezone.now())

    assert not any(get_platform_status(campaign).discrepancies.values())


def test_the_status_takes_five_queries(campaign: Campaign, django_assert_num_queries: Callable[[int], Any]) -> None:
    with django_assert_num_queries(5):
        get_platform_status(campaign)


def test_nothing_of_another_campaign_is_found(campaign: Campaign, stranger: User) -> None:
    other = make_crowd_campaign(stranger, "for-all")

    assert not list_postings(other)
    assert not any(get_platform_status(other).postings.values())
    with pytest.raises(Http404):
        get_posting_of(other, campaign.postings.first().pk)
