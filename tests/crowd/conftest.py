"""Platforms in memory, whose records a test opens, and what is published on them."""

from collections.abc import Iterator

import pytest

from campaigns.models import Campaign
from crowd.models import Posting
from evalsite.accounts.models import User
from tests.crowd.accounts import PLATFORMS, Market, using_market
from tests.crowd.campaigns import posting_of, published


@pytest.fixture
def market(db: None) -> Iterator[Market]:
    """The records of the platforms in memory, which campaigns of the test may be on."""
    with using_market() as records:
        yield records


@pytest.fixture(params=PLATFORMS)
def campaign(request: pytest.FixtureRequest, owner: User, market: Market) -> Campaign:
    """A running campaign on each of them, whose two HITs, of two workers each, are published."""
    return published(owner, request.param, n_hits=2)


@pytest.fixture
def posting(campaign: Campaign) -> Posting:
    """The posting of its first HIT, or the one for all."""
    return posting_of(campaign)
