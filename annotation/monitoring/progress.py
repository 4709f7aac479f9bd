"""How far a campaign is: a fixed number of aggregate queries, none of which reads ratings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from numpy.typing import NDArray

from annotation.models import Assignment, Conversation, Event
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Hit, HitItem
from evalsite.lib.histograms import Histogram, count_in_steps

State = Assignment.State
# What an assignment of these states has rated counts; the places of the others are offered again.
COUNTED = (State.FINISHED, State.ACTIVE)
LATELY = timedelta(hours=24)
# Of a large campaign the newest assignments show how long work takes now.
_ASSIGNMENTS_TIMED, _ASSIGNMENTS_WITH_ITEMS_TIMED, _CHATS_TIMED = 10_000, 100, 600
_MS_PER_S, _S_PER_MIN = 1000, 60
_N_STEPS = 16


@dataclass(frozen=True)
class AssignmentTotals:
    """What a campaign's assignments add up to. `n_wanted` assignments are asked for: HITs × workers of each."""

    n_hits: int
    n_wanted: int
    n_finished: int
    n_active: int
    n_returned: int
    n_expired: int
    n_rejected: int
    n_items_wanted: int
    n_items_rated: int
    n_items_finished: int
    n_workers: int
    n_finished_lately: int
    first_started_at: datetime | None
    last_seen_at: datetime | None
    at: datetime

    @property
    def n_assignments(self) -> int:
        """Number of assignments in any state."""
        return self.n_finished + self.n_active + self.n_returned + self.n_expired + self.n_rejected

    @property
    def n_left(self) -> int:
        """How many places nobody has finished or is working on."""
        return max(self.n_wanted - self.n_finished - self.n_active, 0)

    @property
    def was_quiet(self) -> bool:
        """Whether nobody rated anything in the last 24 h."""
        return self.last_seen_at is None or self.at - self.last_seen_at > LATELY

    @property
    def time_left(self) -> timedelta | None:
        """How long the rest takes at the rate of the last 24 h; None where no HIT was finished in them."""
        if not self.n_finished_lately or self.first_started_at is None:
            return None
        window = min(LATELY, self.at - self.first_started_at)
        return window / self.n_finished_lately * max(self.n_wanted - self.n_finished, 0)

    @property
    def n_a_day(self) -> float | None:
        """How many HITs are finished in a day, at the rate of the last 24 h; None where none was finished in them."""
        left = self.time_left
        return max(self.n_wanted - self.n_finished, 0) / (left / timedelta(days=1)) if left else None

    @property
    def done_at(self) -> datetime | None:
        """When the last HIT is finished at that rate."""
        return self.at + self.time_left if self.time_left else None


def get_totals(campaign: Campaign, now: datetime) -> AssignmentTotals:
    """Return the sums of the campaign's assignments. Three queries, four if it is live: dead chats are not rated."""
    n_hits = campaign.hits.count()
    n_items = HitItem.objects.filter(hit__campaign=campaign).count()
    found = Assignment.objects.filter(campaign=campaign).aggregate(
        **{f"n_{state.value}": Count("pk", filter=Q(state=state)) for state in State},
        n_items_rated=Sum("n_rated", filter=Q(state__in=COUNTED), default=0),
        n_items_finished=Sum("n_rated", filter=Q(state=State.FINISHED), default=0),
        n_workers=Count("worker", distinct=True),
        n_finished_lately=Count("pk", filter=Q(state=State.FINISHED, ended_at__gt=now - LATELY)),
        first_started_at=Min("started_at"),
        last_seen_at=Max("seen_at"),
    )
    if campaign.is_live:
        dead = _dead_chats(campaign).aggregate(
            n=Count("pk"), n_finished=Count("pk", filter=Q(assignment__state=State.FINISHED))
        )
        found["n_items_rated"] -= dead["n"]
        found["n_items_finished"] -= dead["n_finished"]
    n_workers = campaign.workers_per_hit
    return AssignmentTotals(
        n_hits=n_hits, n_wanted=n_hits * n_workers, n_items_wanted=n_items * n_workers, at=now, **found
    )


def _dead_chats(campaign: Campaign) -> QuerySet[Conversation]:
    """Return the chats that were passed over without a rating, of assignments that count."""
    dead = Conversation.objects.filter(assignment__campaign=campaign, state=Conversation.State.DEAD)
    return dead.filter(assignment__state__in=COUNTED).order_by()


@dataclass(frozen=True)
class SystemCount:
    """How many ordinary items of a system were rated, of how many that will be."""

    name: str
    n_rated: int
    n_planned: int

    @property
    def share(self) -> float | None:
        """The share that was rated; None if none is planned."""
        return self.n_rated / self.n_planned if self.n_planned else None


def count_by_system(campaign: Campaign) -> list[SystemCount]:
    """Return the counts of every system that is in a HIT, by name. Two queries, three if the campaign is live."""
    ordinary = HitItem.objects.filter(kind=Kind.ORDINARY)
    planned = ordinary.filter(hit__campaign=campaign)
    rated = ordinary.filter(
        hit__assignments__campaign=campaign,
        hit__assignments__state__in=COUNTED,
        position__lte=F("hit__assignments__n_rated"),
    )
    n_planned, n_rated = (
        dict(items.order_by().values_list("output__system__name").annotate(n=Count("pk"))) for items in (planned, rated)
    )
    if campaign.is_live:
        dead = _dead_chats(campaign).filter(item__kind=Kind.ORDINARY).values_list("item__output__system__name")
        for name, n_dead in dead.annotate(n=Count("pk")):  # some of which may have died since they were counted
            n_rated[name] = max(n_rated.get(name, 0) - n_dead, 0)
    return [
        SystemCount(name, n_rated.get(name, 0), n * campaign.workers_per_hit) for name, n in sorted(n_planned.items())
    ]


@dataclass(frozen=True)
class Durations:
    """How long something took: how many are known, their quartiles and their histogram, in one unit."""

    n: int
    lower: float
    median: float
    upper: float
    histogram: Histogram


def describe_durations(durations: NDArray[np.float64]) -> Durations | None:
    """Return quartiles and histogram of durations; None of none."""
    histogram = count_in_steps(durations, n_steps=_N_STEPS)
    if histogram is None:
        return None
    lower, median, upper = np.quantile(durations, [0.25, 0.5, 0.75]).tolist()
    return Durations(durations.size, lower, median, upper, histogram)


@dataclass(frozen=True)
class CampaignProgress:
    """How far a campaign is; `durations` are seconds per item or, of a live campaign, minutes per chat."""

    totals: AssignmentTotals
    systems: Sequence[SystemCount]
    minutes: Durations | None
    durations: Durations | None


def get_progress(campaign: Campaign, now: datetime) -> CampaignProgress:
    """Return how far the campaign is, and how long work takes. At most nine queries."""
    return CampaignProgress(
        totals=get_totals(campaign, now),
        systems=count_by_system(campaign),
        minutes=describe_durations(minutes_per_hit(campaign)),
        durations=describe_durations(minutes_per_chat(campaign) if campaign.is_live else seconds_per_item(campaign)),
    )


def minutes_per_hit(campaign: Campaign) -> NDArray[np.float64]:
    """Return the minutes from start to last rating of finished assignments, at most the newest 10,000. One query."""
    finished = Assignment.objects.filter(campaign=campaign, state=State.FINISHED).order_by("-pk")
    times = finished.values_list("started_at", "seen_at")[:_ASSIGNMENTS_TIMED]
    return np.array([(seen - started).total_seconds() / _S_PER_MIN for started, seen in times], np.float64)


def seconds_per_item(campaign: Campaign) -> NDArray[np.float64]:
    """Return the seconds that each item of the 100 newest assignments was shown. One query."""
    newest = Assignment.objects.filter(campaign=campaign, n_rated__gt=0).order_by("-pk")
    events = Event.objects.filter(assignment__in=newest.values("pk")[:_ASSIGNMENTS_WITH_ITEMS_TIMED])
    rated = events.filter(kind=Event.Kind.RATED).order_by()
    shown = (shown_seconds(data) for data in rated.values_list("data", flat=True))
    return np.array([seconds for seconds in shown if seconds is not None], np.float64)


def minutes_per_chat(campaign: Campaign) -> NDArray[np.float64]:
    """Return the minutes from the topic to the end of chats that were ended, of the newest 600. One query."""
    ended = Conversation.objects.filter(assignment__campaign=campaign, state=Conversation.State.ENDED)
    times = ended.order_by("-pk").values_list("started_at", "ended_at")[:_CHATS_TIMED]
    return np.array([(end - start).total_seconds() / _S_PER_MIN for start, end in times if end], np.float64)


def shown_seconds(telemetry: object) -> float | None:
    """Return how long an item was shown, as the browser reported; None where it reported no possible time."""
    shown_ms = telemetry.get("shown_ms") if isinstance(telemetry, dict) else None
    if isinstance(shown_ms, bool) or not isinstance(shown_ms, int | float) or not 0 <= shown_ms < float("inf"):
        return None
    return shown_ms / _MS_PER_S


def list_hits(campaign: Campaign) -> QuerySet[Hit]:
    """Return the HITs by number."""
    return campaign.hits.order_by("number")


@dataclass(frozen=True)
class HitCount:
    """What happened to one HIT."""

    number: int
    n_left: int
    n_finished: int = 0
    n_active: int = 0
    last_seen_at: datetime | None = None

    @property
    def n_wanted(self) -> int:
        """How many workers the HIT is for."""
        return self.n_finished + self.n_active + self.n_left


def count_by_hit(hits: Sequence[Hit]) -> list[HitCount]:
    """Return the counts of some HITs of one campaign, in their order. One query."""
    counted = Assignment.objects.filter(hit__in=hits).order_by().values("hit")
    counted = counted.annotate(
        n_finished=Count("pk", filter=Q(state=State.FINISHED)),
        n_active=Count("pk", filter=Q(state=State.ACTIVE)),
        last_seen_at=Max("seen_at"),
    )
    rows = counted.values_list("hit", "n_finished", "n_active", "last_seen_at")
    found = {hit: counts for hit, *counts in rows}
    return [HitCount(hit.number, hit.n_places_left, *found.get(hit.pk, ())) for hit in hits]
