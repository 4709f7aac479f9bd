"""How often *Findings* names a difference of systems that there is none of, and how often it finds one that there is.

    python benchmarks/headlines.py [--quick | --campaigns N] [--kinds NAME ...]

Six systems are judged by every worker on 20 outputs of each of their sources' worth of pages: sliders, five levels, ESA
scores, marked errors, votes and rankings, without worker tests. Workers like all systems alike, or some more (a
standard deviation of 8 points of 100 by worker and system; of 0.4 in the log odds of votes). *Named*: the share of
campaigns of equal systems in which what is concluded names any difference. *Found*: the share of all pairs that it
finds where neighbours differ by 4 points (0.2 in log odds). *Covered*: the share of 95 % intervals of differences of
equal systems that hold 0. The floor is the rank-sum test of the studies on sliders.

The last line is JSON: by kind, world and number of workers.
"""

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import django
import numpy as np
from django.conf import settings as django_settings

from benchmarks.worlds import N_SYSTEMS

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


def run(task: Task) -> dict[str, float]:
    """Return which share of the pairs of a simulated campaign is said to differ, and by the studies' test; of equal
    systems also that of the intervals that hold 0."""
    from analysis.stats.designs import TEXTS, PlannedDesign
    from campaigns.design.worker_test import NO_TEST

    rng = np.random.default_rng([KINDS.index(task.kind), task.n_workers, task.seed, task.is_different])
    design = PlannedDesign(N_SYSTEMS, task.n_workers, N_SOURCES, N_ITEMS, worker_test=NO_TEST)
    model = replace(TEXTS, liking=LIKING[task.world], careless=0.0)
    step = STEP * task.is_different
    n_pairs = N_SYSTEMS * (N_SYSTEMS - 1) / 2
    if task.kind == "sliders":
        found = _sliders(design, model, step, rng)
        found |= {name: found[name] / n_pairs for name in ("headline", "studies")}
    else:
        report = _SIMULATED[task.kind](design, model, step, task.world, rng)
        differing = [pair for pair in report["pairs"] if pair["p_holm"] is not None and pair["p_holm"] < ALPHA]
        intervals = [pair["interval"] for pair in report["pairs"]]
        found = {"headline": len(differing) / n_pairs, "covered": _covered(intervals)}
    if task.is_different:
        del found["covered"]
    return found


def _covered(intervals: list[list[float | None]]) -> float:
    known = [(low, high) for low, high in intervals if low is not None and high is not None]
    return float(np.mean([low <= 0 <= high for low, high in known])) if known else float("nan")


def _sliders(design: Any, model: Any, step: float, rng: np.random.Generator) -> dict[str, float]:
    from analysis.data.ratings.loading import LoadedRatings
    from analysis.methods.settings import custom_settings
    from analysis.methods.study.report import first_report
    from analysis.methods.study.study import run_study
    from analysis.results.values import conclusions_of
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
    report = first_report(run_study(loaded, replace(custom_settings(["score"]), preset=NO_TEST)))
    systems = [row["system"] for row in report["summary"]["systems"]]
    in_studies = replace_concluded(report)
    return {
        "headline": _n_named(conclusions_of(report, systems)),
        "studies": _n_named(conclusions_of(in_studies, systems)),
        "covered": _covered([[pair["low"], pair["high"]] for pair in report["recommended"]["pairs"]]),
    }


def replace_concluded(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report as one that concludes by the test of the studies."""
    return report | {"summary": report["summary"] | {"concluded_by": "studies"}}


def _n_named(p: list[list[float | None]]) -> int:
    return sum(each is not None and each < ALPHA for row in p for each in row)


def _levels(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Any:
    from analysis.planning.methods.levels import PlannedLevels, simulate_levels

    planned = PlannedLevels(0.0, N_LEVELS)
    data = simulate_levels(design, model, step * (N_LEVELS - 1) / 100, N_LEVELS, rng)
    return planned.report(data, planned.settings(design))


def _esa(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Any:
    from analysis.planning.methods.esa import PlannedEsa

    planned = PlannedEsa(step)
    return planned.report(planned.simulate(design, model, rng), planned.settings(design))


def _errors(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Any:
    """Return the report of errors, of which there is one for each 20 points that a score is below 100."""
    from analysis.planning.methods.spans import PlannedSpans, marked_errors
    from analysis.stats.designs import simulate_ratings

    planned, ratings = PlannedSpans(0.0), simulate_ratings(design, model, step, rng)
    n_errors = np.clip(np.round((100 - ratings.scores[:, 0]) / 20), 0, 5).astype(np.int64)
    counts = np.stack([n_errors // 2, n_errors - n_errors // 2], axis=1)
    return planned.report(marked_errors(design, ratings, counts), planned.settings(design))


def _votes(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Any:
    from analysis.methods.preference import Preference
    from analysis.methods.settings import from_protocol
    from analysis.planning.methods.votes import VoteModel, simulate_votes

    votes = simulate_votes(design, VoteModel(taste=TASTE[world], careless=0.0), STRENGTH * bool(step), rng)
    return Preference().analyse(votes, from_protocol("preference"), brief=True)


def _rankings(design: Any, model: Any, step: float, world: str, rng: np.random.Generator) -> Any:
    from analysis.planning.methods.rankings import PlannedRankings, simulate_pages

    planned, pages = PlannedRankings(0.6, outputs_per_page=N_SHOWN), replace(design, n_ordinary=N_ITEMS // N_SHOWN)
    return planned.report(simulate_pages(pages, model, step, N_SHOWN, rng), planned.settings(pages))


_SIMULATED: dict[str, Callable[..., Any]] = {
    "levels": _levels,
    "esa": _esa,
    "errors": _errors,
    "votes": _votes,
    "rankings": _rankings,
}


def measure(kinds: list[str], n_campaigns: int) -> dict[str, dict[str, float]]:
    """Return *named* and *found* by kind, world and number of workers; print each."""
    found: dict[str, dict[str, float]] = {}
    with ProcessPoolExecutor(max_workers=2, initializer=start_django) as pool:
        for kind, world, n_workers in product(kinds, LIKING, WORKERS):
            row: dict[str, float] = {}
            for is_different, n in ((False, n_campaigns), (True, max(1, n_campaigns // 4))):
                tasks = [Task(kind, world, n_workers, is_different, k) for k in range(n)]
                shares = list(pool.map(run, tasks, chunksize=5))
                if not is_different:
                    row["covered"] = round(float(np.nanmean([each.pop("covered") for each in shares])), 4)
                for test in shares[0]:
                    values = np.array([each[test] for each in shares])
                    name = test if test == "studies" else ""
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
    options = parser.parse_args()
    found = measure(options.kinds, QUICK if options.quick else options.campaigns)
    of_many = [row["named"] for key, row in found.items() if int(key.split()[-1]) >= 8]
    print(json.dumps({"benchmark": "headlines", "worst_named_from_8": max(of_many), "headlines": found}))


if __name__ == "__main__":
    main()
