"""What pages, files and programs say of a result: totals, the ranking of studies, chats; how two differ. Pure.

Undefined numbers are None, and so are those that the result of an earlier version lacks.
"""

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from analysis.data.dialogues.summary import ALL, FAILED, PASSED
from analysis.data.ratings.scales import FULL
from analysis.results.result import CriterionScore, Result, SettingsUsed, SystemResult, WorkerResult
from analysis.stats.procedures import ALPHA
from campaigns.design.worker_test import NO_TEST

_SAME = 0.0005  # below what three decimals show


@dataclass(frozen=True)
class RunTotals:
    """How many systems, workers and ratings a report is of; `n_ratings` is None where its method counts otherwise.

    `n_counted` workers passed the worker test; without one, those not excluded by hand count.
    """

    n_systems: int
    n_workers: int
    n_counted: int
    n_excluded: int
    n_ratings: int | None
    worker_test: str
    alpha: float
    unit: str
    reference_mean: float | None
    reference_distance: float | None

    @property
    def has_test(self) -> bool:
        """Whether workers were tested."""
        return self.worker_test != NO_TEST


def get_totals(result: Result) -> RunTotals:
    """Return what a result adds up to."""
    summary, references = result.summary, result.summary.references
    n_workers = summary.workers.total if summary.workers else summary.n_workers or summary.n_raters
    n_counted = n_workers if result.worker_table is None else sum(row.is_counted for row in result.workers)
    return RunTotals(
        n_systems=len(summary.systems),
        n_workers=n_workers,
        n_counted=summary.workers.passed if summary.workers and result.has_test else n_counted,
        n_excluded=len(result.settings.excluded),
        n_ratings=count_ratings(result) if result.is_study else summary.n_ratings,
        worker_test=result.applied_test.preset,
        alpha=result.applied_test.alpha,
        unit=summary.unit or result.settings.unit,
        reference_mean=references.mean if references else None,
        reference_distance=references.distance if references else None,
    )


def count_ratings(result: Result) -> int:
    """Return how many ratings the systems of a study have."""
    return sum(row.n if row.n_ratings is None else row.n_ratings for row in result.summary.systems)


@dataclass(frozen=True)
class ChatGroup:
    """The chats of some workers: minutes a chat, and the median of a worker's words in one."""

    minutes: float | None
    words: float | None


@dataclass(frozen=True)
class ChatTotals:
    """What the chats of a report add up to; `passed` and `failed` are None where no worker test was applied."""

    n_chats: int
    n_degraded: int
    n_topics: int
    all: ChatGroup
    passed: ChatGroup | None
    failed: ChatGroup | None
    notices: list[str]


def get_chat_totals(result: Result) -> ChatTotals | None:
    """Return what the chats of a result add up to; None if it has none."""
    found = result.summary.dialogues
    if found is None or not found.groups[ALL].chats:
        return None
    everyone = found.groups[ALL]
    groups = {
        name: ChatGroup(group.minutes_per_chat, group.lengths.words_per_chat.median)
        for name, group in found.groups.items()
    }
    return ChatTotals(
        n_chats=everyone.chats,
        n_degraded=everyone.chats - everyone.chats_not_degraded,
        n_topics=found.n_topics,
        all=groups[ALL],
        passed=groups.get(PASSED),
        failed=groups.get(FAILED),
        notices=found.notices,
    )


# --- Systems


@dataclass(frozen=True)
class SystemChange:
    """What differs from another run: z now minus then (None: no score in one of them), and places won."""

    z: float | None
    n_places: int

    @property
    def z_sense(self) -> str:
        """Return better, worse or same."""
        if self.z is None or abs(self.z) < _SAME:
            return "same"
        return "better" if self.z > 0 else "worse"

    @property
    def rank_sense(self) -> str:
        """Return better or worse."""
        return "better" if self.n_places > 0 else "worse"


@dataclass(frozen=True)
class RankedSystem:
    """A row of the ranking, with the scores on several criteria; none of a single one, whose score is the overall one.

    `low` and `high` bound a 95 % bootstrap interval of z. `ends_cluster`: it beats every system below it.
    """

    rank: int | None
    system: str
    n: int
    n_outputs: int | None
    n_ratings: int | None
    z: float | None
    low: float | None
    high: float | None
    raw: float | None
    criteria: list[CriterionScore]
    ends_cluster: bool
    change: SystemChange | None


@dataclass(frozen=True)
class Ranking:
    """The ranked systems, best first; their criteria, none if there is but one; what n counts, outputs or ratings.

    `level`: at which p a system beats another.
    """

    criteria: list[str]
    n_counts: str
    rows: list[RankedSystem]
    level: str = ""


def get_ranking(result: Result, changes: "RunChanges | None" = None) -> Ranking:
    """Return the ranked systems of a study, with what differs from another run if `changes` says it."""
    names = [criterion.name for criterion in result.settings.criteria]
    criteria = names if len(names) > 1 else []
    ends = set(accumulate(len(group) for group in result.summary.clusters))
    rows = [
        RankedSystem(
            rank=None if row.score is None else place,
            system=row.system,
            n=row.n,
            n_outputs=row.n_outputs,
            n_ratings=row.n_ratings,
            z=row.score,
            low=result.interval(row.system)[0],
            high=result.interval(row.system)[1],
            raw=row.raw,
            criteria=[score for name in criteria if isinstance(score := row.criteria[name], CriterionScore)],
            ends_cluster=place in ends,
            change=changes.systems[row.system] if changes else None,
        )
        for place, row in enumerate(result.summary.systems, start=1)
    ]
    return Ranking(criteria, result.summary.n_counts, rows, result.level)


# --- Workers


def list_workers(result: Result, *, state: str, order: str, search: str) -> list[WorkerResult]:
    """Return the workers in this state whose name holds the text, by a number of theirs ("-" before it: the largest
    first), those without it last.
    """
    key, wanted = order.lstrip("-"), search.casefold()
    rows = [row for row in result.workers if state in ("", row.state) and wanted in row.worker.casefold()]
    known = [row for row in rows if getattr(row, key) is not None]
    known.sort(key=lambda row: getattr(row, key), reverse=order.startswith("-"))
    return known + [row for row in rows if getattr(row, key) is None]


# --- Two runs


@dataclass(frozen=True)
class SettingChange:
    """A setting that differs between two runs, by its name in their settings, or `columns` of their file."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class RunChanges:
    """How a run differs from an earlier one of the same ratings.

    Workers gained are those whose ratings count now and did not; pairs gained are conclusions, the first beats the
    second, that hold now and did not; lost is the reverse.
    """

    workers_gained: list[str]
    workers_lost: list[str]
    pairs_gained: list[tuple[str, str]]
    pairs_lost: list[tuple[str, str]]
    systems: dict[str, SystemChange]

    @property
    def n_moved(self) -> int:
        """How many systems have another rank."""
        return sum(change.n_places != 0 for change in self.systems.values())


def find_changes(now: Result, then: Result) -> RunChanges:
    """Return how a result differs from an earlier one of the same ratings."""
    workers_now, workers_then = _counted(now), _counted(then)
    pairs_now, pairs_then = _conclusions(now), _conclusions(then)
    return RunChanges(
        workers_gained=sorted(workers_now - workers_then),
        workers_lost=sorted(workers_then - workers_now),
        pairs_gained=[pair for pair in pairs_now if pair not in pairs_then],
        pairs_lost=[pair for pair in pairs_then if pair not in pairs_now],
        systems=_system_changes(now.summary.systems, then.summary.systems),
    )


def _system_changes(now: list[SystemResult], then: list[SystemResult]) -> dict[str, SystemChange]:
    ranked = {row.system: (place, row.score) for place, row in enumerate(then) if row.score is not None}
    changes = {}
    for place, row in enumerate(now):
        changes[row.system] = SystemChange(None, 0)
        if row.score is not None and row.system in ranked:
            old_place, old_score = ranked[row.system]
            changes[row.system] = SystemChange(row.score - old_score, old_place - place)
    return changes


def _counted(result: Result) -> set[str]:
    return {row.worker for row in result.workers if row.is_counted}


def _conclusions(result: Result) -> dict[tuple[str, str], None]:
    """Return each pair of which the first beats the second, in rank order."""
    systems = list(result.scored)
    return {
        (systems[i], systems[j]): None
        for i, row in enumerate(result.p_better(systems))
        for j, p in enumerate(row)
        if p is not None and p < ALPHA
    }


def compare_settings(before: SettingsUsed, after: SettingsUsed) -> list[SettingChange]:
    """Return each setting that differs between two runs."""
    old, new = _by_name(before), _by_name(after)
    return [SettingChange(name, old[name], new[name]) for name in new if old[name] != new[name]]


def _by_name(settings: SettingsUsed) -> dict[str, Any]:
    return {
        "protocol": settings.protocol,
        "method": settings.method,
        "options": settings.options,
        # Another statement alone makes no other analysis.
        "criteria": [replace(criterion, statement="") for criterion in settings.criteria],
        "worker_test": settings.worker_test.preset,
        "alpha": settings.worker_test.alpha,
        "unit": settings.unit,
        "standardised_kinds": settings.standardised_kinds,
        "excluded": sorted(settings.excluded),
        "scale": settings.scale or FULL,
        "corpus": settings.corpus.name if settings.corpus else "",
        "workers_planned": settings.workers_planned,
        "comparison": settings.comparison,
        "groups": settings.groups,
        "columns": settings.columns,
    }
