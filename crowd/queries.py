"""Reading what stands on a crowd platform. Every function wants a campaign that the user may see."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404

from campaigns.models import Campaign, Hit
from crowd.models import Posting, Submission, Wave

UNPUBLISHED = (Posting.State.PLANNED, Posting.State.DRAFTED)
"""States of postings that are still to be published."""


@dataclass(frozen=True)
class Standing:
    """How many postings and submissions of a campaign are in each state, all states named.

    `n_ended_early`: postings that the platform offers to nobody, any more or for now, though workers are wanted.
    `troubles` are those that nobody has settled.
    """

    postings: Mapping[str, int]
    submissions: Mapping[str, int]
    troubles: Mapping[str, int]
    n_ended_early: int


def list_waves(campaign: Campaign) -> QuerySet[Wave]:
    """Return the waves in order, each with its job, `n_postings` and `n_published` of them. One query."""
    published = Count("postings", filter=~Q(postings__state__in=UNPUBLISHED))
    waves = Wave.objects.filter(campaign=campaign).select_related("job", "ordered_by")
    return waves.annotate(n_postings=Count("postings"), n_published=published)


def get_wave_of(campaign: Campaign, wave_id: int) -> Wave:
    """Return a wave as `list_waves` does; raise Http404 for one of another campaign."""
    return get_object_or_404(list_waves(campaign), pk=wave_id)


def hits_of(wave: Wave) -> list[Hit]:
    """Return the HITs of a wave: waves take them in the order of their numbers. Two queries."""
    before = Wave.objects.filter(campaign=wave.campaign_id, number__lt=wave.number).aggregate(n=Sum("n_hits"))["n"] or 0
    return list(Hit.objects.filter(campaign=wave.campaign_id).order_by("number")[before : before + wave.n_hits])


def unpublished_hits(campaign: Campaign) -> QuerySet[Hit]:
    """Return the HITs that are in no wave yet, in order. One query here, and the caller's."""
    n_planned = Wave.objects.filter(campaign=campaign).aggregate(n=Sum("n_hits"))["n"] or 0
    return campaign.hits.order_by("number")[n_planned:]


def list_postings(campaign: Campaign) -> QuerySet[Posting]:
    """Return the postings in order, with their waves and HITs."""
    return Posting.objects.filter(campaign=campaign).select_related("wave", "hit")


def get_posting_of(campaign: Campaign, posting_id: int) -> Posting:
    """Return a posting of the campaign; raise Http404 for any other."""
    return get_object_or_404(list_postings(campaign), pk=posting_id)


def list_ended_early(campaign: Campaign) -> QuerySet[Posting]:
    """Return the postings that the platform offers to nobody any more, or for now, while workers are still wanted."""
    wanted = Hit.objects.filter(campaign=campaign, is_offered=True, n_places_left__gt=0)
    return list_postings(campaign).filter(
        Exists(wanted.filter(pk=OuterRef("hit_id"))) | Q(hit=None) & Exists(wanted),
        state__in=(Posting.State.PAUSED, Posting.State.ENDED),
    )


def platform_standing(campaign: Campaign) -> Standing:
    """Return how far the campaign is on its platform. Four queries."""
    submissions = Submission.objects.filter(campaign=campaign)
    troubled = submissions.filter(dismissed_at=None)
    return Standing(
        postings=_count(Posting.objects.filter(campaign=campaign), "state", Posting.State.values),
        submissions=_count(submissions, "state", Submission.State.values),
        troubles=_count(troubled, "trouble", [value for value in Submission.Trouble.values if value]),
        n_ended_early=list_ended_early(campaign).count(),
    )


def _count(rows: QuerySet, field: str, values: list[str]) -> dict[str, int]:
    found = dict(rows.order_by().values_list(field).annotate(n=Count("pk")))
    return {value: found.get(value, 0) for value in values}


def list_submissions(
    campaign: Campaign, *, state: str = "", trouble: str = "", worker: str = ""
) -> QuerySet[Submission]:
    """Return the submissions in order, all or those of a state, of an unsettled trouble (or “any”), of a worker's key.

    They come with their workers, postings, assignments and HITs. One query.
    """
    found = Submission.objects.filter(campaign=campaign)
    if state:
        found = found.filter(state=state)
    if trouble:
        found = found.filter(dismissed_at=None)
        found = found.exclude(trouble="") if trouble == "any" else found.filter(trouble=trouble)
    if worker:
        found = found.filter(worker__key=worker)
    return found.select_related("worker", "posting__wave", "assignment__hit", "assignment__worker")
