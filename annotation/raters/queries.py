"""Invited raters: their links, how far each is, and what each can still do. The campaign was fetched for its user."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, CharField, Count, F, IntegerField, Max, Q, QuerySet, Sum, TextChoices, Value, When
from django.db.models.functions import Greatest, Least, Replace
from django.shortcuts import get_object_or_404

from annotation.access.places import COMPLETED, taking_part
from annotation.models import Assignment, Invitation, Reminder
from campaigns.models import Campaign, Hit

State = Assignment.State


class RaterState(TextChoices):
    """How far an invited rater is."""

    NOT_BEGUN = "not_begun", "Not begun"
    STARTED = "started", "In progress"
    FINISHED = "finished", "Finished"  # has done a HIT, and there is none left for them
    REVOKED = "revoked", "Revoked"


UNFINISHED = (RaterState.NOT_BEGUN, RaterState.STARTED)
REMINDER_PAUSE = timedelta(hours=24)
"""How long a rater gets no other reminder."""


def list_raters(campaign: Campaign, *, state: str = "", search: str = "") -> QuerySet[Any]:
    """Return the invitations that match, oldest first, with their workers and how far they are. Two or three queries.

    `state` is a `RaterState`, or "unfinished": not begun or in progress. `search` is a part of a name or an address.
    Each has `state`, `n_begun`, `n_finished` (completed HITs), `n_active`, `n_left` (HITs that the rater can still do)
    and `seen_at`.
    """
    # The campaign's id, which a link platform puts before each name, must not match.
    name = Replace(F("worker__key"), Value(f"{campaign.public_id}:"), Value(""))
    invitations = Invitation.objects.filter(campaign=campaign).select_related("worker").annotate(name=name)
    if search:
        invitations = invitations.filter(Q(name__icontains=search) | Q(email__icontains=search))
    found: QuerySet[Any] = _with_progress(invitations, campaign)
    if state:
        found = found.filter(state__in=UNFINISHED if state == "unfinished" else [state])
    return found.order_by("pk")


def _with_progress(invitations: QuerySet[Any], campaign: Campaign) -> QuerySet[Any]:
    offered = Hit.objects.filter(campaign=campaign, n_places_left__gt=0, is_offered=True)
    n_offered = 0 if campaign.status == Campaign.Status.CLOSED else offered.count()
    of_campaign = Q(worker__assignments__campaign=campaign)
    has_place = Q(worker__assignments__hit__n_places_left__gt=0, worker__assignments__hit__is_offered=True)
    # An expired assignment is taken up again if its HIT is still free; other HITs are had once (`arrivals.find_offer`).
    had = of_campaign & has_place & ~Q(worker__assignments__state=State.EXPIRED) if n_offered else Q(pk=None)

    def n_of(*states: str) -> Count:
        return Count("worker__assignments", filter=of_campaign & Q(worker__assignments__state__in=states))

    found = invitations.annotate(
        n_begun=Count("worker__assignments", filter=of_campaign),
        n_finished=n_of(*COMPLETED),
        n_active=n_of(State.ACTIVE),
        seen_at=Max("worker__assignments__seen_at", filter=of_campaign),
        n_open=n_offered - Count("worker__assignments", filter=had) + n_of(State.ACTIVE),
    )
    most = campaign.hits_per_worker
    allowed = F("n_open") if most is None else Least(F("n_open"), most - F("n_finished"))
    nothing = [When(revoked_at__isnull=False, then=Value(0))]
    if _is_full(campaign):
        nothing.append(When(n_begun=0, then=Value(0)))
    return found.annotate(
        n_left=Case(*nothing, default=Greatest(allowed, Value(0)), output_field=IntegerField()),
        state=Case(
            When(revoked_at__isnull=False, then=Value(RaterState.REVOKED)),
            When(n_begun=0, then=Value(RaterState.NOT_BEGUN)),
            When(n_finished__gt=0, n_active=0, n_left=0, then=Value(RaterState.FINISHED)),
            default=Value(RaterState.STARTED),
            output_field=CharField(),
        ),
    )


def _is_full(campaign: Campaign) -> bool:
    """Return whether as many workers as may take part do so."""
    most = campaign.crowd_platform.max_workers(campaign.ref)
    return most is not None and taking_part(campaign).values("worker").distinct().count() >= most


@dataclass(frozen=True)
class RaterCounts:
    """How many raters are how far; `n_left` is the sum of the HITs that each can still do, `n_places` those to do.

    A place that somebody holds counts as one to do.
    """

    n_invited: int
    n_not_begun: int
    n_started: int
    n_finished: int
    n_revoked: int
    n_hits_finished: int
    n_left: int
    n_places: int

    @property
    def n_unfinished(self) -> int:
        """Return how many can still do something and have a link that works."""
        return self.n_not_begun + self.n_started

    @property
    def has_too_few(self) -> bool:
        """Return whether the raters cannot take all the places that are left."""
        return self.n_invited > self.n_revoked and self.n_left < self.n_places


def count_raters(campaign: Campaign) -> RaterCounts:
    """Return how many invited raters are how far. Four or five queries."""

    def n_in(state: str) -> Count:
        return Count("pk", filter=Q(state=state))

    found = (
        list_raters(campaign)
        .order_by()
        .aggregate(
            invited=Count("pk"),
            not_begun=n_in(RaterState.NOT_BEGUN),
            started=n_in(RaterState.STARTED),
            finished=n_in(RaterState.FINISHED),
            revoked=n_in(RaterState.REVOKED),
            hits_finished=Sum("n_finished", default=0),
            hits_left=Sum("n_left", default=0),
            hits_active=Sum("n_active", default=0),
        )
    )
    offered = Hit.objects.filter(campaign=campaign, is_offered=True).aggregate(n=Sum("n_places_left", default=0))
    n_free = 0 if campaign.status == Campaign.Status.CLOSED else offered["n"]
    return RaterCounts(
        n_invited=found["invited"],
        n_not_begun=found["not_begun"],
        n_started=found["started"],
        n_finished=found["finished"],
        n_revoked=found["revoked"],
        n_hits_finished=found["hits_finished"],
        n_left=found["hits_left"],
        n_places=n_free + found["hits_active"],
    )


@dataclass(frozen=True)
class InvitedRater:
    """An invited rater, the query of their link, and how far they are. `n_left`: HITs that they can still do."""

    id: int
    name: str
    email: str
    attributes: dict[str, str]
    query: str
    state: str
    n_finished: int
    n_left: int
    is_active: bool
    seen_at: datetime | None
    revoked_at: datetime | None
    reminded_at: datetime | None
    is_reminder_sent: bool
    worker_id: int

    @property
    def attributes_text(self) -> str:
        """The attributes in words."""
        return ", ".join(f"{name}: {value}" for name, value in self.attributes.items())

    @property
    def state_label(self) -> str:
        """The state in words."""
        return RaterState(self.state).label


def describe_raters(campaign: Campaign, invitations: Iterable[Any]) -> list[InvitedRater]:
    """Return the raters of invitations that `list_raters` found, with their links. No query."""
    platform, ref = campaign.crowd_platform, campaign.ref
    return [
        InvitedRater(
            id=each.pk,
            name=each.worker.name,
            email=each.email,
            attributes=dict(sorted(each.attribute_values.items())),
            query=platform.personal_query(ref, each.key),
            state=each.state,
            n_finished=each.n_finished,
            n_left=each.n_left,
            is_active=each.n_active > 0,
            seen_at=each.seen_at,
            revoked_at=each.revoked_at,
            reminded_at=each.reminded_at,
            is_reminder_sent=each.is_reminder_sent,
            worker_id=each.worker_id,
        )
        for each in invitations
    ]


@dataclass(frozen=True)
class ReminderPlan:
    """Whom a reminder would reach, and who of the unfinished raters gets none, each with why."""

    reached: list[InvitedRater]
    without_email: list[InvitedRater]
    reminded: list[InvitedRater]  # less than `REMINDER_PAUSE` ago
    without_work: list[InvitedRater]  # every HIT is taken: the link would lead to none

    @property
    def n_unfinished(self) -> int:
        """How many match that have not finished and have a link that works."""
        return len(self.reached) + len(self.without_email) + len(self.reminded) + len(self.without_work)


def plan_reminder(campaign: Campaign, *, now: datetime, state: str = "", search: str = "") -> ReminderPlan:
    """Return who of the raters that match, as `list_raters` finds them, gets a reminder. Two or three queries."""
    found = describe_raters(campaign, list_raters(campaign, state=state, search=search))
    plan = ReminderPlan([], [], [], [])
    for rater in found:
        if rater.state not in UNFINISHED:
            continue
        if not rater.n_left:
            plan.without_work.append(rater)
        elif not rater.email:
            plan.without_email.append(rater)
        elif rater.reminded_at and rater.reminded_at > now - REMINDER_PAUSE:
            plan.reminded.append(rater)
        else:
            plan.reached.append(rater)
    return plan


def get_latest_reminder(campaign: Campaign) -> Reminder | None:
    """Return the newest reminder of a campaign with its job. One query."""
    return Reminder.objects.filter(campaign=campaign).select_related("job").order_by("-pk").first()


def get_invitation_of(campaign: Campaign, invitation_id: int) -> Any:
    """Return an invitation of the campaign, with how far its rater is; raise Http404 for any other."""
    return get_object_or_404(list_raters(campaign), pk=invitation_id)
