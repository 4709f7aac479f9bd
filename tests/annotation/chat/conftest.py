"""A live campaign in which somebody is at work, to be watched."""

import pytest

from annotation.models import Assignment
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.chat.talks import hold_many, take_hit


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return open_live_campaign(owner, n_hits=6)


@pytest.fixture
def ann(campaign: Campaign) -> Assignment:
    return take_hit(campaign, "ann-the-rater")


@pytest.fixture
def busy(campaign: Campaign, ann: Assignment) -> Campaign:
    """The campaign, in which many chats were held."""
    return hold_many(ann)
