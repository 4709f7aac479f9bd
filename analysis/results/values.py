"""What stored reports say, as values that pages, files and programs share; and how two runs differ. Pure.

Undefined numbers are None, and so are those that the report of an earlier version lacks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from analysis.data.dialogues.summary import ALL, FAILED, PASSED
from analysis.data.ratings.scales import FULL
from analysis.results.stored import Report
from analysis.results.words import CORRECTED
from analysis.stats.procedures import ALPHA, Procedure
from campaigns.contracts.protocol import DEFAULT_METHOD
from campaigns.design.worker_test import NO_TEST

EXCLUDED = "excluded"
_COUNTED = ("passed", "trusted")
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


def get_totals(report: Report) -> RunTotals:
    """Return what a report adds up to."""
    summary = report["summary"]
    # A method that tests no worker says nothing of a test.
    test = summary.get("worker_test") or {**report["settings"]["worker_test"], "preset": NO_TEST}
    references = summary.get("references") or {}
    has_test = test["preset"] != NO_TEST
    n_workers = summary["workers"]["total"] if "workers" in summary else _count_raters(summary)
    n_counted = len(_counted(report)) if "worker_table" in report else n_workers
    return RunTotals(
        n_systems=len(summary["systems"]),
        n_workers=n_workers,
        n_counted=summary["workers"]["passed"] if has_test else n_counted,
        n_excluded=len(report["settings"]["excluded"]),
        n_ratings=summary.get("n_ratings") if "method" in summary else count_ratings(summary),
        worker_test=test["preset"],
        alpha=test["alpha"],
        unit=summary.get("unit", report["settings"]["unit"]),
        reference_mean=references.get("mean"),
        reference_distance=references.get("distance"),
    )


def count_ratings(summary: Mapping[str, Any]) -> int:
    """Return how many ratings a study's systems have."""
    return sum(row.get("n_ratings", row["n"]) for row in summary["systems"])


def _count_raters(summary: Mapping[str, Any]) -> int:
    return int(summary.get("n_workers", summary.get("n_raters", 0)))


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


def metrics_of(report: Report) -> Mapping[str, Any] | None:
    """Return how metrics agree with people, as `evaluate_metrics` says it; None of a report without."""
    found: Mapping[str, Any] = report.get("questions", {}).get("metrics", {})
    return found if "metrics" in found else None


def has_chats(report: Report) -> bool:
    """Return whether a report says anything of chats."""
    found = report["summary"].get("dialogues")
    return bool(found and found["groups"][ALL]["chats"])


def get_chat_totals(report: Report) -> ChatTotals | None:
    """Return what the chats of a report add up to; None if it has none."""
    if not has_chats(report):
        return None
    found = report["summary"]["dialogues"]
    everyone = found["groups"][ALL]
    groups = {
        name: ChatGroup(group["minutes_per_chat"], group["lengths"]["words_per_chat"]["median"])
        for name, group in found["groups"].items()
    }
    return ChatTotals(
        n_chats=everyone["chats"],
        n_degraded=everyone["chats"] - everyone["chats_not_degraded"],
        n_topics=found["n_topics"],
        all=groups[ALL],
        passed=groups.get(PASSED),
        failed=groups.get(FAILED),
        notices=found["notices"],
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
class CriterionScore:
    """The score of a system on a criterion: z, and the raw mean, negative criteria reversed."""

    z: float | None
    raw: float | None


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


def get_ranking(report: Report, changes: "RunChanges | None" = None) -> Ranking:
    """Return the ranked systems, with what differs from another run if `changes` says it."""
    summary = report["summary"]
    names = [criterion["name"] for criterion in report["settings"]["criteria"]]
    criteria = names if len(names) > 1 else []
    ends = set(accumulate(len(group) for group in summary["clusters"]))
    rows = []
    for rank, row in enumerate(summary["systems"], start=1):
        is_scored = row["z"] is not None
        low, high = report["intervals"][row["system"]]
        rows.append(
            RankedSystem(
                rank=rank if is_scored else None,
                low=low,
                high=high,
                criteria=[CriterionScore(**row["criteria"][name]) for name in criteria],
                ends_cluster=rank in ends,
                change=changes.systems[row["system"]] if changes else None,
                **{name: row.get(name) for name in ("system", "n", "n_outputs", "n_ratings", "z", "raw")},
            )
        )
    level = CORRECTED if is_corrected(report) else f"p < {ALPHA:g}"
    return Ranking(criteria, summary.get("n_counts", "ratings"), rows, level)


Matrix = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Comparison:
    """The tests between all systems on one criterion, or overall: rows beat columns, in rank order; None: not tested.

    `p` is one-sided, `holm` and `bh` are corrected for all pairs; `superiority` is P(row > column), ties counted half.
    """

    name: str
    order: list[str]
    p: Matrix
    holm: Matrix
    bh: Matrix
    superiority: Matrix

    @property
    def n_pairs(self) -> int:
        """How many pairs of systems were tested."""
        return len(_pairs(self.p))

    def n_differing(self, value: str) -> int:
        """Return how many pairs differ by p, `holm` or `bh`, in one direction or the other."""
        return sum(min(pair) < ALPHA for pair in _pairs(getattr(self, value)))


def _pairs(values: Matrix) -> list[tuple[float, float]]:
    """Return both values of each pair of systems that was tested."""
    pairs = ((row[j], values[j][i]) for i, row in enumerate(values) for j in range(i))
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def get_comparisons(report: Report) -> dict[str, Comparison]:
    """Return the tests between systems, overall first, then on each of several criteria, by name."""
    return {found["name"]: Comparison(**found) for found in report["comparisons"]}


# --- Workers


@dataclass(frozen=True)
class WorkerResult:
    """What a worker's ratings say of them; `excluded` is why they were taken out by hand, None if they were not.

    `histogram` counts the scores in equal steps of the scale; `mean` and `sd` are behind the worker's z.
    """

    worker: str
    p: float | None
    verdict: str
    excluded: str | None
    n_ratings: int
    n_assignments: int
    n_compared: int
    mean: float | None
    sd: float | None
    histogram: list[int]
    reference_mean: float | None = None
    reference_distance: float | None = None

    @property
    def state(self) -> str:
        """The verdict, or `EXCLUDED`."""
        return self.verdict if self.excluded is None else EXCLUDED

    @property
    def is_counted(self) -> bool:
        """Whether the worker's ratings count."""
        return self.state in _COUNTED


def get_workers(report: Report) -> list[WorkerResult]:
    """Return every worker, by name."""
    return [WorkerResult(**row) for row in report["worker_table"]]


def list_workers(report: Report, *, state: str, order: str, search: str) -> list[WorkerResult]:
    """Return the workers in this state whose name holds the text, by a number of theirs ("-" before it: the largest
    first), those without it last.
    """
    key, wanted = order.lstrip("-"), search.casefold()
    rows = [row for row in get_workers(report) if state in ("", row.state) and wanted in row.worker.casefold()]
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


def compare_reports(now: Report, then: Report) -> RunChanges:
    """Return how a report differs from an earlier one of the same ratings."""
    workers_now, workers_then = _counted(now), _counted(then)
    pairs_now, pairs_then = _conclusions(now), _conclusions(then)
    return RunChanges(
        workers_gained=sorted(workers_now - workers_then),
        workers_lost=sorted(workers_then - workers_now),
        pairs_gained=[pair for pair in pairs_now if pair not in pairs_then],
        pairs_lost=[pair for pair in pairs_then if pair not in pairs_now],
        systems=_system_changes(now["summary"]["systems"], then["summary"]["systems"]),
    )


def _system_changes(now: list[dict[str, Any]], then: list[dict[str, Any]]) -> dict[str, SystemChange]:
    ranked = {row["system"]: (place, row["z"]) for place, row in enumerate(then) if row["z"] is not None}
    changes = {}
    for place, row in enumerate(now):
        changes[row["system"]] = SystemChange(None, 0)
        if row["z"] is not None and row["system"] in ranked:
            old_place, old_z = ranked[row["system"]]
            changes[row["system"]] = SystemChange(row["z"] - old_z, old_place - place)
    return changes


def _counted(report: Report) -> set[str]:
    return {row.worker for row in get_workers(report) if row.is_counted}


def is_corrected(report: Report) -> bool:
    """Return whether a report concludes by a comparison with Holm's correction, and not by the test of the studies.

    Reports of earlier versions conclude by the latter, unless their ratings were looked at while they came.
    """
    if "significance" not in report["summary"]:  # of another method than direct assessment
        return True
    was_looked_at = bool(report.get("settings", {}).get("workers_planned"))
    before = Procedure.CLUSTERED if was_looked_at else Procedure.STUDIES
    return "recommended" in report and report["summary"].get("concluded_by", before) != Procedure.STUDIES


def conclusions_of(report: Report, systems: Sequence[str]) -> list[list[float | None]]:
    """Return p that the row's system is better than the column's, by what the report concludes by; None: not tested.

    Of studies' tests p is one-sided, of others Holm's, 1 against the better system.
    """
    is_study = "significance" in report["summary"]
    if not is_corrected(report):
        return tests_between(systems, report["summary"]["significance"])
    place = {name: k for k, name in enumerate(systems)}
    p: list[list[float | None]] = [[None] * len(place) for _ in place]
    for pair in report["recommended"]["pairs"] if is_study else report.get("pairs", ()):
        one, other = (place.get(system) for system in pair["systems"])
        if one is not None and other is not None and pair["p_holm"] is not None:
            better, worse = (other, one) if is_study and pair["difference"] <= 0 else (one, other)
            p[better][worse], p[worse][better] = pair["p_holm"], 1.0
    return p


def tests_between(systems: Sequence[str], tests: Mapping[str, Any]) -> list[list[float | None]]:
    """Return p of stored tests of these systems, in their order, row beats column; None: not tested."""
    places = [tests["order"].index(name) for name in systems]
    return [[tests["p"][i][j] for j in places] for i in places]


def _conclusions(report: Report) -> dict[tuple[str, str], None]:
    """Return each pair of which the first beats the second, in rank order."""
    systems = [row["system"] for row in report["summary"]["systems"] if row["z"] is not None]
    return {
        (systems[i], systems[j]): None
        for i, row in enumerate(conclusions_of(report, systems))
        for j, p in enumerate(row)
        if p is not None and p < ALPHA
    }


def compare_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[SettingChange]:
    """Return each setting that differs between two runs, of their settings as stored, with `columns`."""
    old, new = _by_name(before), _by_name(after)
    return [SettingChange(name, old[name], new[name]) for name in new if old[name] != new[name]]


def _by_name(settings: Mapping[str, Any]) -> dict[str, Any]:
    test = settings["worker_test"]
    return {
        "protocol": settings["protocol"],
        "method": settings.get("method", DEFAULT_METHOD),
        "options": settings.get("options", {}),
        # Another statement alone makes no other analysis.
        "criteria": [{**criterion, "statement": ""} for criterion in settings["criteria"]],
        "worker_test": test["preset"],
        "alpha": test["alpha"],
        "unit": settings["unit"],
        "standardised_kinds": settings["standardised_kinds"],
        "excluded": sorted(settings["excluded"]),
        "scale": list(settings.get("scale") or FULL),
        "corpus": (settings.get("corpus") or {}).get("name", ""),
        "workers_planned": settings.get("workers_planned"),
        "comparison": settings.get("comparison", Procedure.STUDIES.value),
        "groups": settings.get("groups", []),
        "columns": settings["columns"],
    }
