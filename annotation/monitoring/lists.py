"""What the lists of the monitoring pages show. The caller has fetched the campaign for its user."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet, Value
from django.db.models.functions import Replace
from django.shortcuts import get_object_or_404

from annotation.access.places import taking_part
from annotation.models import Assignment, Conversation, Event, PlaceFreed, Response, Worker
from annotation.queries import worker_name
from campaigns.contracts.platform import CampaignRef, CrowdPlatform
from campaigns.models import Campaign
from evalsite.lib.errors import DomainError

State = Assignment.State


def list_assignments(
    campaign: Campaign, *, state: str = "", worker: str = "", hit: int | None = None, code: str = ""
) -> QuerySet[Assignment]:
    """Return the assignments that match, newest first, with HITs and workers.

    `worker` is a part of a worker's name, `code` a whole completion code; capitals do not matter.
    """
    found = Assignment.objects.filter(campaign=campaign).select_related("hit", "worker")
    if state:
        found = found.filter(state=state)
    if worker:
        # The campaign's id, which a link platform puts before each name, must not match.
        name = Replace(F("worker__key"), Value(f"{campaign.public_id}:"), Value(""))
        found = found.annotate(worker_name=name).filter(worker_name__icontains=worker)
    if hit is not None:
        found = found.filter(hit__number=hit)
    if code:
        found = found.filter(completion_code__iexact=code)
    return found.order_by("-pk")


def get_assignment_of(campaign: Campaign, assignment_id: int) -> Assignment:
    """Return an assignment of the campaign; raise Http404 for any other."""
    return get_object_or_404(Assignment, pk=assignment_id, campaign=campaign)


def get_worker_of(campaign: Campaign, worker_id: int) -> Worker:
    """Return a worker who began a HIT of the campaign, or was invited to it; raise Http404 for any other."""
    is_here = Q(assignments__campaign=campaign) | Q(invitations__campaign=campaign)
    return get_object_or_404(Worker.objects.filter(is_here).distinct(), pk=worker_id)


class WorkOf(NamedTuple):
    """How much a worker did in a campaign."""

    n_assignments: int
    n_ratings: int
    n_chats: int


def count_work_of(campaign: Campaign, worker: Worker) -> WorkOf:
    """Return how much a worker did in a campaign. Three queries."""
    mine = {"assignment__campaign": campaign, "assignment__worker": worker}
    return WorkOf(
        Assignment.objects.filter(campaign=campaign, worker=worker).count(),
        Response.objects.filter(**mine).count(),
        Conversation.objects.filter(**mine).count(),
    )


def list_feedback(campaign: Campaign, *, search: str = "") -> QuerySet[Assignment]:
    """Return the assignments with feedback that holds `search`, last ended first, with HITs and workers."""
    found = Assignment.objects.filter(campaign=campaign).exclude(feedback="").select_related("hit", "worker")
    if search:
        found = found.filter(feedback__icontains=search)
    return found.order_by("-ended_at", "-pk")


class AssignmentRow(NamedTuple):
    """An assignment in a list, with its worker's name as the user may see it, and the minutes that it took so far.

    `freed_because` is a `PlaceFreed`, "" of one that has not expired, or before causes were kept.
    """

    assignment: Assignment
    worker: str
    minutes: float
    freed_because: str

    @property
    def cause(self) -> str:
        """Why the place was freed, in words."""
        return PlaceFreed(self.freed_because).label if self.freed_because else ""


def describe_assignments(campaign: Campaign, assignments: Iterable[Assignment]) -> list[AssignmentRow]:
    """Return assignments, with their workers, as rows of a list. One query."""
    listed = list(assignments)
    expired = [each.pk for each in listed if each.state == State.EXPIRED]
    ends = Event.objects.filter(assignment__in=expired, kind=Event.Kind.EXPIRED).order_by("pk")
    causes = {assignment: data.get("cause", "") for assignment, data in ends.values_list("assignment", "data")}
    return [
        AssignmentRow(
            assignment=each,
            worker=worker_name(campaign, each.worker),
            minutes=(each.seen_at - each.started_at).total_seconds() / 60,
            freed_because=causes.get(each.pk, ""),
        )
        for each in listed
    ]


@dataclass(frozen=True)
class Access:
    """How workers come to a campaign: by its open link, by links of their own, or by neither.

    At most `max_workers` may take part (None: no limit); `n_workers` do.
    """

    is_open: bool
    has_personal_links: bool
    max_workers: int | None
    n_workers: int

    @property
    def n_left(self) -> int | None:
        """How many more workers may come; None for no limit."""
        return None if self.max_workers is None else max(self.max_workers - self.n_workers, 0)


def get_access(campaign: Campaign) -> Access:
    """Return how workers come to the campaign, as its platform says. One query."""
    platform, ref = campaign.crowd_platform, campaign.ref
    workers = taking_part(campaign).aggregate(n=Count("worker", distinct=True))
    return Access(
        is_open=_lets_in_anybody(platform, ref),
        has_personal_links=_makes_personal_links(platform, ref),
        max_workers=platform.max_workers(ref),
        n_workers=workers["n"],
    )


def _lets_in_anybody(platform: CrowdPlatform, ref: CampaignRef) -> bool:
    """Return whether somebody who comes without any parameters is a worker."""
    try:
        return not platform.identify(ref, {}).is_preview
    except DomainError:
        return False


def _makes_personal_links(platform: CrowdPlatform, ref: CampaignRef) -> bool:
    try:
        platform.personal_query(ref, "rater")
    except DomainError:
        return False
    return True
