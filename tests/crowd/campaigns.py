"""Small campaigns on a platform, planned, published and worked at."""

import uuid
from decimal import Decimal
from typing import Any

from annotation.models import Assignment
from annotation.services.assignments import finish_assignment, start_assignment
from campaigns.contracts.platform import Place
from campaigns.models import Campaign
from crowd.models import Posting, Submission, Wave
from crowd.services.account import open_account
from crowd.services.publishing import plan_wave, publish_wave
from crowd.services.syncing.polling import poll_posting
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext
from simulators.prolific import WORKSPACE
from tests.annotation.open_campaigns import open_campaign, rate_items
from tests.crowd.accounts import Market

SITE = "https://site.example"


def make_crowd_campaign(owner: User, platform: str, *, n_hits: int = 3, n_workers: int = 2, **more: Any) -> Campaign:
    """Return a running campaign on a platform, with built HITs of two items that are not published yet."""
    fields: dict[str, Any] = {"reward": Decimal("0.80"), "currency": "USD", "minutes_per_hit": 10}
    if platform == "prolific":  # where 0.80 for ten minutes is too little, and the simulated account has two workspaces
        fields["reward"] = Decimal("1.50")
        more["platform_settings"] = {"workspace": WORKSPACE, **more.get("platform_settings", {})}
    fields |= more
    campaign = open_campaign(owner, n_hits=n_hits, size=2, workers_per_hit=n_workers, platform=platform, **fields)
    campaign.hits.update(is_offered=False)
    return campaign


def plan(campaign: Campaign, user: User, n_hits: int | None = None, **more: Any) -> Wave:
    """Plan a wave at any cost; the rest by default."""
    fields = {"token": uuid.uuid4(), "site_url": SITE, "max_cost": Decimal("100000"), **more}
    return plan_wave(campaign=campaign, n_hits=n_hits, user=user, **fields)


def publish(wave: Wave) -> Wave:
    """Have the job of a wave done, once; return the wave as it is then."""
    publish_wave(JobContext(), wave.pk)
    wave.refresh_from_db()
    return wave


def published(owner: User, platform: str, **more: Any) -> Campaign:
    """Return a campaign all of whose HITs are published."""
    campaign = make_crowd_campaign(owner, platform, **more)
    assert publish(plan(campaign, owner)).state == Wave.State.PUBLISHED
    return campaign


def posting_of(campaign: Campaign, hit_number: int = 1) -> Posting:
    """Return the posting of a HIT, or the one for all."""
    posting = Posting.objects.filter(campaign=campaign).select_related("hit", "wave", "campaign")
    return posting.filter(hit__number=hit_number).first() or posting.get(hit=None)


def arrive(posting: Posting, worker_key: str, platform_id: str) -> Assignment:
    """Let a worker come here with what they have accepted on the platform."""
    place = Place(platform_id, posting.hit.number if posting.hit else None, {"posting": posting.platform_id})
    return start_assignment(campaign=posting.campaign, worker_key=worker_key, consented=True, place=place)


def finish(assignment: Assignment) -> Assignment:
    """Rate every item and finish."""
    return finish_assignment(assignment_id=rate_items(assignment).pk)


def poll(posting: Posting) -> list[Submission]:
    """Poll a posting; return its submissions."""
    poll_posting(posting, open_account(posting.campaign))
    posting.refresh_from_db()
    return list(posting.submissions.order_by("pk"))


def accepted(market: Market, posting: Posting, worker: str) -> tuple[str, Assignment]:
    """Let a worker accept a place and come here; return both sides of it."""
    id = market.accept(posting.platform_id, worker)
    return id, arrive(posting, worker, id)


def handed_in(market: Market, posting: Posting, worker: str, code: str | None = None) -> tuple[str, Assignment]:
    """Let a worker do everything; return both sides of it."""
    id, assignment = accepted(market, posting, worker)
    assignment = finish(assignment)
    sent = "C0DE" if posting.hit is None else assignment.completion_code
    market.change(posting.platform_id, id, "submitted", code=sent if code is None else code)
    return id, assignment
