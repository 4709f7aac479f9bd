"""Who holds a place of a campaign, and whose place may be given to somebody else because nothing was rated in it.

Only workers of an open link lose their place before their lease ends: raters who were invited and workers of a crowd
platform are known, and come with a place of their own.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.access.network_clients import clients_of, count_refusals
from annotation.models import Assignment, Conversation, Invitation
from campaigns.models import Campaign

State = Assignment.State
# Whether work is rejected is between the worker and the platform: here it is complete.
COMPLETED = (State.FINISHED, State.REJECTED)
PATIENCE = timedelta(minutes=2)
"""How long a worker who has not begun keeps the place in any case, unless their client has taken several like that."""
UNSTARTED = timedelta(minutes=10)
"""How long a place of somebody unknown is kept in which nothing is rated, if that is shorter than the lease."""
_RECENT = timedelta(hours=1)
_MOST = 1_000


def is_begun(assignment: Assignment, campaign: Campaign) -> bool:
    """Return whether its worker has rated or said something. One query where they may chat and have rated nothing."""
    if assignment.n_rated or not campaign.is_live or assignment.pk is None:
        return assignment.n_rated > 0
    return Conversation.objects.filter(assignment=assignment).exists()


def is_enough(campaign: Campaign, states: Iterable[str]) -> bool:
    """Return whether a worker with assignments in these states has done as many HITs as one person may."""
    most = campaign.hits_per_worker
    return most is not None and sum(state in COMPLETED for state in states) >= most


def taking_part(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the assignments by which workers take part: they hold a place, or have rated or said something."""
    holds = Q(state__in=(State.ACTIVE, State.FINISHED))
    return Assignment.objects.filter(holds | Q(n_rated__gt=0) | Exists(_said()), campaign=campaign)


def is_full(campaign: Campaign, worker_id: int | None) -> bool:
    """Return whether as many as may take part do so, and this worker does not. At most two queries.

    Workers who were displaced and then rate are let in again, so a few more may take part in the end.
    """
    most = campaign.crowd_platform.max_workers(campaign.ref)
    if most is None or (worker_id is not None and taking_part(campaign).filter(worker=worker_id).exists()):
        return False
    return taking_part(campaign).values("worker").distinct().count() >= most


def is_revoked(campaign: Campaign, worker_id: int) -> bool:
    """Return whether the personal link of a worker was revoked. One query where there may be personal links."""
    if campaign.crowd_platform.has_account:
        return False
    return Invitation.objects.filter(campaign=campaign, worker=worker_id, revoked_at__isnull=False).exists()


def unstarted_in(campaign: Campaign) -> QuerySet[Assignment]:
    """Return the assignments that hold a place, in which nothing was rated or said, and whose worker is not known."""
    return _idle_in(campaign).filter(state=State.ACTIVE)


def _idle_in(campaign: Campaign) -> QuerySet[Assignment]:
    if campaign.crowd_platform.has_account:
        return Assignment.objects.none()
    invited = Invitation.objects.filter(campaign=campaign, worker=OuterRef("worker"))
    return Assignment.objects.filter(~Exists(_said()), ~Exists(invited), campaign=campaign, n_rated=0)


def _said() -> QuerySet[Conversation]:
    return Conversation.objects.filter(assignment=OuterRef("pk"))


def list_displaceable(campaign: Campaign, mine: Iterable[Assignment], *, only_newcomers: bool = False) -> list[int]:
    """Return the ids of assignments whose place may be given to the worker of `mine` now, in this order.

    First those of clients that ask for place after place and rate nothing: of the one that asked most, the oldest.
    Then, oldest first, those whose workers have not been seen for a while (`PATIENCE`), and no others for somebody who
    has finished a HIT already. A worker who has begun a HIT takes it back at once. `only_newcomers`: those whose worker
    takes part by nothing else. At most two queries.
    """
    mine, found = list(mine), unstarted_in(campaign)
    if only_newcomers:
        others = taking_part(campaign).filter(worker=OuterRef("worker")).exclude(pk=OuterRef("pk"))
        found = found.filter(~Exists(others))
    rows = list(found.order_by("seen_at", "pk").values_list("pk", "hit", "seen_at")[:_MOST])
    if not rows:
        return []
    had = {each.hit_id for each in mine if each.state != State.EXPIRED}
    begun = {each.hit_id for each in mine if each.state == State.EXPIRED and each.n_rated}
    is_newcomer = not any(each.state == State.FINISHED for each in mine)
    n_taken, now = _count_taken(campaign, [pk for pk, *_ in rows]), timezone.now()

    def is_free(pk: int, hit_id: int, seen_at: datetime) -> bool:
        return hit_id in begun or seen_at <= now - PATIENCE or (is_newcomer and n_taken[pk] > 1)

    free = [row for row in rows if row[1] not in had and is_free(*row)]
    return [pk for pk, *_ in sorted(free, key=lambda row: -n_taken[row[0]])]


def _count_taken(campaign: Campaign, assignment_ids: list[int]) -> dict[int, int]:
    """Return of each assignment how many places its client has lately taken, or wanted, without rating.

    It is 1 where the client is not known.
    """
    recent = _idle_in(campaign).filter(state=State.EXPIRED, started_at__gte=timezone.now() - _RECENT)
    lost = recent.order_by("-started_at").values_list("pk", flat=True)[:_MOST]
    clients = clients_of([*assignment_ids, *lost])
    n_taken = Counter(clients.values())
    n_taken.update(count_refusals(set(n_taken), campaign.pk))
    return {pk: n_taken[clients[pk]] if pk in clients else 1 for pk in assignment_ids}
