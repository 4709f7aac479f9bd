"""Core statistics: workers, HITs and ratings before and after the worker test, their time and their cost."""

from dataclasses import asdict
from typing import Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Output, Section, Table
from analysis.results.stored import Report
from analysis.stats.core_statistics import WorkCount, cost_of, count_work
from analysis.stats.quality import Verdict
from analysis.stats.ratings import Floats, or_none
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.words import counted

PASSED, FAILED, ALL = "passed", "failed", "all"
GROUPS = (PASSED, FAILED, ALL)
_COUNTS = {"n_workers": "Workers", "n_assignments": "HITs", "n_outputs": "Rated outputs", "n_ratings": "Ratings"}


class CoreStatistics(Method):
    """How much work there is, how much of it counts, how long it took and what it cost."""

    slug = "core"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `core`: `groups` (passed, failed and all workers; without a worker test all) and, if it is known what
        a HIT costs, `cost` of the HITs that passed and of all. Workers excluded by hand are among all only.
        """
        analysis, settings = study.analysis, study.settings
        excluded = np.isin(np.arange(study.ratings.n_workers), settings.design(study.loaded.workers).excluded)
        everyone = np.ones_like(excluded)
        members = {ALL: everyone}
        if settings.preset != NO_TEST:
            passed = analysis.workers.is_passed & ~excluded
            members = {PASSED: passed, FAILED: (analysis.workers.verdict == Verdict.FAILED) & ~excluded, **members}
        seconds = _seconds(study)
        groups = {name: count_work(study.ratings, group, seconds) for name, group in members.items()}
        found: dict[str, Any] = {"groups": {name: _group(group) for name, group in groups.items()}}
        if settings.cost is not None:
            n_usable = int(analysis.systems.n_ratings.sum())
            of = {
                name: cost_of(groups[name].n_assignments, settings.cost.per_assignment, len(study.order), n_usable)
                for name in (PASSED, ALL)
                if name in groups
            }
            found["cost"] = settings.cost._asdict() | {
                "groups": {
                    name: {key: or_none(value) for key, value in asdict(costs).items()} for name, costs in of.items()
                }
            }
        return {self.slug: found}

    def sections(self, result: Result) -> list[Section]:
        """Return numbers of workers, HITs and ratings, how long HITs took, and what they cost."""
        found = result.own.get(self.slug)
        if not found:
            return []
        tables = [_counts_table(found["groups"]), _effort_table(found["groups"])]
        tables += [_cost_table(found["cost"])] if "cost" in found else []
        return [Section("core", "Workers, HITs and ratings", _finding(found), tables, page="workers")]


def _seconds(study: Study) -> Floats:
    """Return how long each assignment took, NaN where not known."""
    ratings, loaded = study.ratings, study.loaded
    took = {work[:2]: work.seconds for work in study.work}
    seconds = np.full(len(loaded.assignments), np.nan)
    for code, worker in set(zip(ratings.assignment.tolist(), ratings.worker.tolist(), strict=True)):
        known = took.get((loaded.workers[worker], loaded.assignments[code]))
        seconds[code] = np.nan if known is None else known
    return seconds


def _group(found: WorkCount) -> dict[str, Any]:
    return {name: or_none(value) if isinstance(value, float) else value for name, value in asdict(found).items()}


def _finding(found: Report) -> str:
    groups = found["groups"]
    everyone = groups[ALL]
    if PASSED in groups:
        passed = groups[PASSED]
        workers, outputs = (_share(passed[key], everyone[key]) for key in ("n_workers", "n_outputs"))
        said = [f"The worker test was passed by {workers} workers, who rated {outputs} outputs."]
    else:
        said = [f"{counted(everyone['n_workers'], 'worker')} rated {counted(everyone['n_outputs'], 'output')}."]
    if (minutes := everyone["minutes_per_assignment"]) is not None:
        said.append(f"A HIT took {_time(minutes)} in the mean.")
    if cost := found.get("cost"):
        costs = cost["groups"][ALL]
        said.append(f"All HITs together cost {costs['total']:,.2f} {cost['currency']}")
        said[-1] += "" if costs["per_system"] is None else f", {costs['per_system']:,.2f} for each system"
        said[-1] += "." if costs["per_rating"] is None else f" and {costs['per_rating']:,.3f} for each usable rating."
    return " ".join(said)


def _time(minutes: float) -> str:
    """Return how long something took, in words: simulated workers need seconds, or less than one."""
    seconds = round(60 * minutes)
    if seconds < 1:
        return "less than a second"
    return counted(seconds, "second") if seconds < 60 else f"{minutes:.1f} minutes"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def _counts_table(groups: Report) -> Table:
    """Return how many workers, HITs, outputs and ratings passed, failed and are there in all (Tables 3.2a, 4.2a)."""
    names = [name for name in GROUPS if name in groups]
    has_test = PASSED in groups
    rows: list[list[Cell]] = []
    for key, title in _COUNTS.items():
        row: list[Cell] = [title, *(groups[name][key] for name in names)]
        if has_test:
            n_all = groups[ALL][key]
            row.append(100 * groups[PASSED][key] / n_all if n_all else None)
        rows.append(row)
    columns = [Column("number of"), *map(Column, names), *([Column("passed, %", 2)] if has_test else [])]
    caption = (
        "Rated outputs are ordinary items and repeats, ratings are theirs, one a criterion; degraded and reference "
        "items are not counted."
    )
    if has_test:
        caption += " All: also workers who were not tested or are excluded."
    return Table("core-statistics", "Workers, HITs and ratings", caption, columns, rows, output=Output.SHOWN)


def _effort_table(groups: Report) -> Table:
    """Return HITs per worker and minutes per HIT (Tables 3.2b, 4.2b)."""
    rows = [
        [name, group["assignments_per_worker"], group["minutes_per_assignment"], group["n_timed"]]
        for name in GROUPS
        if (group := groups.get(name))
    ]
    caption = "Minutes are means over the HITs whose working time is known."
    columns = [Column("workers"), Column("HITs per worker", 2), Column("minutes per HIT", 2), Column("HITs timed")]
    return Table("hits-and-minutes", "HITs per worker, minutes per HIT", caption, columns, rows, output=Output.SHOWN)


def _cost_table(cost: Report) -> Table:
    titles = {PASSED: "that passed", ALL: "all"}
    rows = [
        [titles[name], *(costs[key] for key in ("total", "per_system", "per_rating"))]
        for name in titles
        if (costs := cost["groups"].get(name))
    ]
    currency = cost["currency"]
    caption = (
        f"One HIT costs {cost['per_assignment']:.2f} {currency}, reward and fee. Usable ratings are those that "
        "enter the systems’ scores."
    )
    columns = [Column("HITs"), Column(currency, 2), Column("per system", 2), Column("per usable rating", 3)]
    return Table("cost", "Cost", caption, columns, rows, output=Output.SHOWN)
