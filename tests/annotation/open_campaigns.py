"""Running campaigns with small HITs, made straight through the models."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from annotation.models import Assignment
from annotation.pages.questions import AnswerKey
from annotation.services.ratings import save_page
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Criterion, Hit, HitItem
from evalsite.accounts.models import User
from tests.campaigns.cast import add_outputs, make_campaign


def open_campaign(
    owner: User, *, n_hits: int = 2, size: int = 3, protocol: str = "mrc-adequacy", **settings: Any
) -> Campaign:
    """Return a running campaign with HITs of ordinary items; `settings` are fields of Campaign."""
    campaign = make_campaign(owner, protocol)
    outputs = add_outputs(campaign, n_sources=n_hits, systems=[f"system-{k}" for k in range(size)])
    settings = {"status": Campaign.Status.RUNNING, "launched_at": timezone.now(), **settings}
    for name, value in settings.items():
        setattr(campaign, name, value)
    campaign.save()
    for number in range(n_hits):
        hit = Hit.objects.create(campaign=campaign, number=number + 1, n_places_left=campaign.workers_per_hit)
        HitItem.objects.bulk_create(
            HitItem(hit=hit, position=k + 1, kind=Kind.ORDINARY, output=output, text=output.text)
            for k, output in enumerate(outputs[number * size : (number + 1) * size])
        )
    return campaign


def campaign_asking(owner: User, criteria: Iterable[tuple[str, str, dict[str, Any], dict[str, Any]]]) -> Campaign:
    """Return a running campaign with a HIT of three items, whose criteria have these statements, responses, settings of
    the response, and further fields.
    """
    campaign = open_campaign(owner, n_hits=1, size=3)
    campaign.criteria.all().delete()
    for order, (statement, response, settings, fields) in enumerate(criteria):
        named = {"order": order, "name": statement, "statement": statement, "response": response, "settings": settings}
        Criterion.objects.create(campaign=campaign, **named, **fields)
    return campaign


def scores_for(campaign: Campaign, score: int = 50) -> dict[AnswerKey, list[str]]:
    """Return the same score for every criterion, as a form sends it."""
    return {AnswerKey(criterion): [str(score)] for criterion in campaign.criteria.values_list("pk", flat=True)}


def rate_items(assignment: Assignment, n_items: int | None = None) -> Assignment:
    """Rate the next items of an assignment, all that are left by default."""
    scores = scores_for(assignment.campaign)
    for _ in range(assignment.n_items - assignment.n_rated if n_items is None else n_items):
        assignment = save_page(assignment_id=assignment.pk, position=assignment.position, answers=scores)
    return assignment


def places_left(campaign: Campaign) -> list[int]:
    """Return the free places of each HIT, in order."""
    return list(campaign.hits.order_by("number").values_list("n_places_left", flat=True))
