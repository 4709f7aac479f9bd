"""Work that was rated here and submitted on a platform, for the pages on which it is paid."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from campaigns.models import Campaign
from crowd.models import Order, Posting, Submission, Wave
from evalsite.accounts.models import User
from tests.annotation.cast import build, launch, rate
from tests.campaigns.cast import make_campaign


def rated_campaign(
    owner: User, *, n_hits: int = 4, n_workers: int = 2, n_careless: int = 1, platform: str = "mturk"
) -> Campaign:
    """Return a campaign of which each HIT was done by one worker in turn; the last `n_careless` fail the worker test.

    On a platform with an account, everything is submitted and waits to be decided. Each HIT pays 0.80 USD.
    """
    campaign = make_campaign(owner, name="Questions <of> all kinds")
    campaign.platform, campaign.reward, campaign.currency = platform, Decimal("0.80"), "USD"
    campaign.save()
    launch(campaign)
    build(campaign, n_hits=n_hits)
    began = timezone.now() - timedelta(hours=1)
    assignments = rate(campaign, n_workers, np.random.default_rng(7), n_careless=n_careless, started_at=began)
    if platform != "link":
        wave = Wave.objects.create(
            campaign=campaign,
            number=1,
            state=Wave.State.PUBLISHED,
            n_hits=n_hits,
            n_places=n_hits,
            max_cost=Decimal("100.00"),
            site_url="https://site.example",
            ordered_by=owner,
        )
        for assignment in assignments:
            submit(wave, assignment)
    return campaign


def submit(wave: Wave, assignment: Assignment, **fields: Any) -> Submission:
    """Have the worker of an assignment submit it on the platform; `fields` say what is otherwise."""
    posting, _ = Posting.objects.get_or_create(
        campaign=wave.campaign,
        wave=wave,
        hit=assignment.hit,
        defaults={
            "n_places": 1,
            "platform_id": f"POSTING{assignment.hit.number}",
            "state": Posting.State.OPEN,
        },
    )
    assignment.platform_id = f"PLACE{assignment.pk}"
    assignment.save(update_fields=["platform_id"])
    submitted_at = assignment.ended_at or assignment.seen_at
    defaults: dict[str, Any] = {
        "worker": assignment.worker,
        "assignment": assignment,
        "state": Submission.State.SUBMITTED,
        "code": assignment.completion_code,
        "accepted_at": assignment.started_at,
        "submitted_at": submitted_at,
        "decided_by_itself_at": submitted_at + timedelta(days=3),
    }
    return Submission.objects.create(
        campaign=wave.campaign, posting=posting, platform_id=assignment.platform_id, **defaults | fields
    )


def submissions_of(campaign: Campaign) -> list[Submission]:
    """Return the submissions of a campaign by HIT."""
    found = Submission.objects.filter(campaign=campaign).select_related("worker", "posting", "assignment__hit")
    return list(found.order_by("posting__hit__number", "pk"))


def decided(submission: Submission, kind: str, state: str = "done", **fields: Any) -> Order:
    """Return an order about a submission, which follows one that is carried out."""
    end = {Order.Kind.APPROVE: Submission.State.APPROVED, Order.Kind.REJECT: Submission.State.REJECTED}
    if state == Order.State.DONE and kind in end:
        Submission.objects.filter(pk=submission.pk).update(state=end[Order.Kind(kind)])
    amount = Decimal("0.00") if kind == Order.Kind.REJECT else Decimal("0.80")
    defaults: dict[str, Any] = {"amount": amount, "fee": Decimal("0.16"), "currency": "USD"}
    return Order.objects.create(
        campaign=submission.campaign,
        kind=kind,
        state=state,
        submission=submission,
        posting=submission.posting,
        worker=submission.worker,
        **defaults | fields,
    )


def url_of(campaign: Campaign, name: str, *args: Any, query: str = "") -> str:
    """Return the address of a page of the campaign's payments."""
    return reverse(f"crowd:{name}", args=[campaign.public_id, *args]) + query
