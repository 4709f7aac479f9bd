"""How often *Findings* names a difference of systems that there is none of, and how often it finds one that there is.

    python benchmarks/headlines.py [--quick | --campaigns N] [--kinds NAME ...] [--looks]

Six systems are judged by every worker on 20 outputs of each of their sources' worth of pages: sliders, five levels, ESA
scores, marked errors, votes and rankings, without worker tests. Workers like all systems alike, or some more (a
standard deviation of 8 points of 100 by worker and system; of 0.4 in the log odds of votes). *Named*: the share of
campaigns of equal systems in which what is concluded names any difference. *Found*: the share of all pairs that it
finds where neighbours differ by 4 points (0.2 in log odds). *Covered*: the share of 95 % intervals of differences of
equal systems that hold 0. The floor is the rank-sum test of the studies on sliders. *Ever named* (`--looks`): the
share of campaigns of equal systems in which any difference is named at any of the looks that are taken after every
worker's HIT, by intervals and p that hold at every look. *Exchanged*: the same as *named* and *found* of votes and
rankings by exchanged labels, with Holm's correction, beside the recommended comparison.

The last line is JSON: by kind, world and number of workers.
"""

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import django
import numpy as np
from django.conf import settings as django_settings

from benchmarks.worlds import N_SYSTEMS

if TYPE_CHECKING:
    from analysis.results.result import Interval, Result

N_CAMPAIGNS, QUICK = 400, 20
WORKERS = (4, 8, 12, 30)
N_SOURCES, N_ITEMS = 100, 60
LIKING, TASTE = {"alike": 0.0, "liking": 8.0}, {"alike": 0.0, "liking": 0.4}
STEP, STRENGTH = 4.0, 0.2
ALPHA = 0.05
N_LEVELS, N_SHOWN = 5, 3
KINDS = ("sliders", "levels", "esa", "errors", "votes", "rankings")


@dataclass(frozen=True)
class Task:
    """One campaign: its kind of responses, whether workers like some systems more, and whether systems differ."""

    kind: str
    world: str
    n_workers: int
    is_different: bool
    seed: int
    is_watched: bool = False


@dataclass(frozen=True)
class Simulated:
    """A simulated campaign: what analyses it by settings, these, its workers, and the pairs that they compared."""

    analyse: "Callable[[Any], Result]"
    settings: Any
    workers: list[str]
    compared: Callable[[], Any] | None = None


def run(task: Task) -> dict[str, float]:
    """Return which share of the pairs of a simulated campaign is said to differ, and by the studies' test; of equal
    systems also that of the intervals that hold 0. If it is watched, whether any pair is ever said to differ."""
    from analysis.stats.designs import TEXTS, PlannedDesign
    from campaigns.design.worker_test import NO_TEST

    rng = np.random.default_rng([KINDS.index(task.kind), task.n_workers, task.seed, task.is_different])
    design = PlannedDesign(N_SYSTEMS, task.n_workers, N_SOURCES, N_ITEMS, worker_test=NO_TEST)
    model = replace(TEXTS, liking=LIKING[task.world], careless=0.0)
    step = STEP * task.is_different
    n_pairs = N_SYSTEMS * (N_SYSTEMS - 1) / 2
    simulated = _SIMULATED[task.kind](design, model, step, task.world, rng)
    if task.is_watched:
        return {"ever named": float(_is_ever_named(simulated, task.n_workers))}
    result = simulated.analyse(simulated.settings)
    covered = _covered([pair.interval for pair in result.pairs])
    found = {"headline": _n_differing(result) / n_pairs, "covered": covered}
    if task.kind == "sliders":
        found["studies"] = _n_named(conclusions_in_studies(result, list(result.systems))) / n_pairs
    if simulated.compared is not None:
        found["exchanged"] = _n_exchanged(simulated.compared(), rng) / n_pairs
    if task.is_different:
        del found["covered"]
    return found


def _covered(intervals: "list[Interval]") -> float:
    known = [(low, high) for low, high in intervals if low is not None and high is not None]
    return float(np.mean([low <= 0 <= high for low, high in known])) if known else float("nan")


def _n_differing(result: "Result") -> int:
    return sum(pair.differs for pair in result.pairs)


def _n_exchanged(pairs: Any, rng: np.random.Generator) -> int:
    """Return how many pairs of systems differ by exchanged labels."""
    from analysis.stats.exchanged_preferences import compare_preferences

    columns = pairs.first, pairs.second, pairs.outcome, pairs.worker, pairs.source
    found = compare_preferences(*columns, len(pairs.systems), rng)
    return int(np.count_nonzero(np.triu(found.holm < ALPHA, 1)))


def _is_ever_named(simulated: Simulated, n_planned: int) -> bool:
    """Look after each worker, those who come later not counting yet; return whether a pair is ever said to differ."""
    settings = replace(simulated.settings, workers_planned=n_planned)
    looks = (
        replace(settings, excluded=dict.fromkeys(simulated.workers[n:], "later"))
        for n in range(1, len(simulated.workers) + 1)
    )
    return any(_n_differing(simulated.analyse(look)) for look in looks)


def _n_named(p: list[list[float | None]]) -> int:
    return sum(each is not None and each < ALPHA for row in p for each in row)


def conclusions_in_studies(result: "Result", systems: list[str]) -> list[list[float | None]]:
    """Return p by which the result would conclude by the test of the studies."""
    return replace(result, summary=replace(result.summary, concluded_by="studies")).p_better(systems)


def _sliders(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Simulated:
    from analysis.data.ratings.loading import LoadedRatings
    from analysis.methods.settings import custom_settings
    from analysis.methods.study.report import first_report
    from analysis.methods.study.study import run_study
    from analysis.results.stored import as_result
    from analysis.stats.designs import simulate_ratings
    from campaigns.design.worker_test import NO_TEST

    ratings = simulate_ratings(design, model, step, rng)
    ratings = replace(ratings, scores=np.clip(ratings.scores, 0, 100))
    loaded = LoadedRatings(
        ratings,
        workers=[f"w{k}" for k in range(ratings.n_workers)],
        systems=[f"s{k}" for k in range(ratings.n_systems)],
        criteria=["score"],
        sources=[f"{k}" for k in range(N_SOURCES)],
        assignments=[f"{k}" for k in range(int(ratings.assignment.max()) + 1)],
        warnings=[],
        fingerprint="",
    )
    settings = replace(custom_settings(["score"]), preset=NO_TEST)
    return Simulated(lambda changed: as_result(first_report(run_study(loaded, changed))), settings, loaded.workers)


def _planned(planned: Any, data: Any, design: Any, workers: list[str]) -> Simulated:
    return Simulated(lambda settings: planned.result(data, settings), planned.settings(design), workers)


def _levels(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Simulated:
    from analysis.planning.methods.levels import PlannedLevels, simulate_levels

    data = simulate_levels(design, model, step * (N_LEVELS - 1) / 100, N_LEVELS, rng)
    return _planned(PlannedLevels(0.0, N_LEVELS), data, design, data.workers)


def _esa(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Simulated:
    from analysis.planning.methods.esa import PlannedEsa

    planned = PlannedEsa(step)
    data = planned.simulate(design, model, rng)
    return _planned(planned, data, design, data.scores.workers)


def _errors(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Simulated:
    """Return a campaign of errors, of which there is one for each 20 points that a score is below 100."""
    from analysis.planning.methods.spans import PlannedSpans, marked_errors
    from analysis.stats.designs import simulate_ratings

    ratings = simulate_ratings(design, model, step, rng)
    n_errors = np.clip(np.round((100 - ratings.scores[:, 0]) / 20), 0, 5).astype(np.int64)
    counts = np.stack([n_errors // 2, n_errors - n_errors // 2], axis=1)
    data = marked_errors(design, ratings, counts)
    return _planned(PlannedSpans(0.0), data, design, data.raters)


def _votes(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Simulated:
    from analysis.methods.preference import Preference
    from analysis.methods.settings import from_protocol
    from analysis.planning.methods.votes import VoteModel, simulate_votes

    votes = simulate_votes(design, VoteModel(taste=TASTE[world], careless=0.0), STRENGTH * bool(step), rng)
    method, settings = Preference(), from_protocol("preference")
    analyse = partial(method.analyse, votes, brief=True)
    compared = partial(method.comparisons, votes, settings)
    return Simulated(lambda changed: analyse(changed), settings, votes.workers, compared)


def _rankings(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Simulated:
    from analysis.methods.ranking import Ranking
    from analysis.planning.methods.rankings import PlannedRankings, simulate_pages

    pages = replace(design, n_ordinary=N_ITEMS // N_SHOWN)
    data = simulate_pages(pages, model, step, N_SHOWN, rng)
    simulated = _planned(PlannedRankings(0.6, outputs_per_page=N_SHOWN), data, pages, data.workers)
    return replace(simulated, compared=partial(Ranking().comparisons, data, simulated.settings))


_SIMULATED: dict[str, Callable[..., Simulated]] = {
    "sliders": _sliders,
    "levels": _levels,
    "esa": _esa,
    "errors": _errors,
    "votes": _votes,
    "rankings": _rankings,
}


def measure(kinds: list[str], n_campaigns: int, *, is_watched: bool = False) -> dict[str, dict[str, float]]:
    """Return *named* and *found* by kind, world and number of workers, or *ever named*; print each."""
    found: dict[str, dict[str, float]] = {}
    with ProcessPoolExecutor(max_workers=2, initializer=start_django) as pool:
        for kind, world, n_workers in product(kinds, LIKING, WORKERS):
            row: dict[str, float] = {}
            if is_watched:
                watched = [Task(kind, world, n_workers, False, k, is_watched=True) for k in range(n_campaigns)]
                row = {"ever named": float(np.mean([each["ever named"] for each in pool.map(run, watched)]))}
            for is_different, n in () if is_watched else ((False, n_campaigns), (True, max(1, n_campaigns // 4))):
                tasks = [Task(kind, world, n_workers, is_different, k) for k in range(n)]
                shares = list(pool.map(run, tasks, chunksize=5))
                if not is_different:
                    row["covered"] = round(float(np.nanmean([each.pop("covered") for each in shares])), 4)
                for test in shares[0]:
                    values = np.array([each[test] for each in shares])
                    name = "" if test == "headline" else test
                    row[f"{name} found".strip() if is_different else f"{name} named".strip()] = round(
                        float(values.mean() if is_different else (values > 0).mean()), 4
                    )
            found[f"{kind} {world} {n_workers}"] = row
            print(f"{kind:<9} {world:<7} {n_workers:>3} workers  " + "  ".join(f"{k} {v:.3f}" for k, v in row.items()))
            sys.stdout.flush()
    return found


def start_django() -> None:
    """Configure Django as the command line does: methods and protocols are settings."""
    if not django_settings.configured:
        import os

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        django.setup()


def main() -> None:
    """Simulate, print, and print JSON last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} campaigns of each kind only")
    parser.add_argument(
        "--campaigns", type=int, default=N_CAMPAIGNS, metavar="N", help="of equal systems, of each kind"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="NAME")
    parser.add_argument("--looks", action="store_true", help="look after every HIT, at equal systems")
    options = parser.parse_args()
    found = measure(options.kinds, QUICK if options.quick else options.campaigns, is_watched=options.looks)
    if options.looks:
        worst = {"worst_ever_named": max(row["ever named"] for row in found.values())}
    else:
        worst = {"worst_named_from_8": max(row["named"] for key, row in found.items() if int(key.split()[-1]) >= 8)}
    print(json.dumps({"benchmark": "headlines", **worst, "headlines": found}))


if __name__ == "__main__":
    main()
