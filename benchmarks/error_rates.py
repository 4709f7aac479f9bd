"""How often comparisons of systems are wrong, and how often they find a difference, in simulated campaigns.

    python benchmarks/error_rates.py [--quick | --campaigns N] [--worlds NAME ...] [--procedures NAME ...]
        [--parts PART ...]

Six systems are rated on HITs of 70 ordinary, 10 degraded and 10 repeat items (in chats: five systems and the degraded
one), by careful and careless workers, and analysed with the worker test as any ratings are.

Part `errors`. *Level*: share of all directed tests with p < 0.05 where the systems are equal. *Power*: share of the
differences of 1.5 points of 100 between neighbours in rank that are found at p < 0.05. The floor is the rank-sum test
on outputs (WMT). *Ranks*: share of campaigns in which the joint 95 % rank intervals hold the true rank of every system.

Part `looks`. *Looks*: how often a pair of equal systems is ever found to differ by the confidence sequence, with a look
after every HIT. *Ever wrong*: share of campaigns in which any pair is ever decided wrongly (Holm's correction over all
pairs), with a look after every HIT. *HITs used*: share of 100 HITs after which the stopping rule *every pair is
decided* closes a campaign whose neighbours differ by 3 or 6 points, all of them if it never does.

Part `adaptive`. The same with HITs of undecided pairs drawn first (`campaigns.design.drawing`) from a pool of 100 HITs
that hold few or many outputs of a system, and ratings weighted by their probabilities. Three systems are equal, the
others 20, 30 and 40 points below: *looks* is of the equal pairs, *ever wrong* of all.

Part `headlines`. What *Findings* concludes, of every kind of response: `benchmarks/headlines.py`.

Random exchanges of labels are 399 (the level of that procedure does not depend on their number). The last lines are the
table of `docs/method/recommended-comparison.md` and JSON: `worst_level` and `least_level` of the recommended procedure
over the worlds, `power_ratio` to the floor in the first world, `worst_look` and `worst_stop` (ever wrong), the same
under adaptive draws, `least_rank_coverage`, and level and power by world and procedure.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from scipy import stats

from analysis.stats.crossed import compare_crossed
from analysis.stats.inference import SourceEffects, compare_clustered, rank_intervals
from analysis.stats.permutation import compare_permuted
from analysis.stats.pipeline import CountedRatings, Design, analyse, compare_recommended, counted_ratings
from analysis.stats.scores import Unit
from analysis.stats.sequences import at_every_look
from benchmarks.headlines import KINDS
from benchmarks.headlines import measure as measure_headlines
from benchmarks.worlds import N_SYSTEMS, WORLDS, Codes, Matrix, simulate, simulate_hits
from campaigns.design.drawing import draw_probabilities, draw_weights, even_probabilities, weigh_hits

N_EQUAL, N_DIFFERENT, N_LOOKS, N_STOPPED = 400, 150, 100, 50
STOPPED_STEPS, STOPPED_WORKERS = (3, 6), 100
QUICK = 20
STEP = 1.5
ALPHA = 0.05
N_FLIPS = 399
POOL, N_TOP = 100, 3
STUDIES, OUTPUTS, PAIRED = "rank-sum on ratings", "rank-sum on outputs", "paired t over workers"
PERMUTED, CROSSED = "labels exchanged in sources", "crossed random effects"
FIXED, RECOMMENDED = "clustered, fixed sources", "clustered, random sources"
PROCEDURES = {
    "studies": STUDIES,
    "outputs": OUTPUTS,
    "paired": PAIRED,
    "permuted": PERMUTED,
    "crossed": CROSSED,
    "fixed": FIXED,
    "recommended": RECOMMENDED,
}
PARTS = ("errors", "looks", "adaptive", "headlines")
Measured = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Task:
    """One campaign to simulate, for one of `PARTS`; `step`: points between systems.

    `n_workers`, if given, is in place of the world's. Without `procedures` there are all.
    """

    world: str
    seed: int
    part: str = "errors"
    step: float = 0
    n_workers: int | None = None
    procedures: tuple[str, ...] = tuple(PROCEDURES)


def paired_t(z: Matrix, system: Codes, worker: Codes, n_systems: int) -> Matrix:
    """Return one-sided p of paired t tests over workers' mean z of each system."""
    cell, n_workers = worker * n_systems + system, int(worker.max()) + 1
    counts = np.bincount(cell, minlength=n_workers * n_systems)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(cell, weights=z, minlength=counts.size) / counts
        difference = mean.reshape(-1, n_systems, 1) - mean.reshape(-1, 1, n_systems)
        n = (~np.isnan(difference)).sum(axis=0)
        centre = np.nansum(difference, axis=0) / n
        squares = np.nansum((difference - centre) ** 2, axis=0)
        return np.asarray(stats.t.sf(centre / np.sqrt(squares / (n - 1) / n), n - 1))


def watch(seen: CountedRatings, n_workers: int, n_hits: int, n_systems: int, step: float) -> dict[str, float]:
    """Look after every HIT; return the pairs that are ever wrong, whether any decision is, and the HITs until all are.

    Systems are in the order of their quality, so a decision for the later one of two is wrong; of equal ones each is.
    """
    upper = np.triu_indices(N_SYSTEMS, 1)
    ever, is_wrong, n_used = np.zeros(upper[0].size, dtype=bool), False, n_hits
    for last in np.unique(seen.assignment):
        so_far = compare_clustered(*seen.columns(seen.assignment <= last), n_systems)
        watched = at_every_look(so_far, alpha=ALPHA, n_planned=n_workers)
        low, high, holm = watched.low[upper], watched.high[upper], watched.holm[upper]
        ever |= (low > 0) | (high < 0)
        is_wrong |= bool(((holm < ALPHA) & ((watched.difference[upper] < 0) | (step == 0))).any())
        if (holm < ALPHA).all():
            n_used = int(last) + 1
            break
    shares = {"stop": float(is_wrong), "used": n_used / n_hits}
    return shares if step else {**shares, "looks": float(ever.mean())}


def watch_adaptive(seen: CountedRatings, n_workers: int, n_systems: int, rng: np.random.Generator) -> dict[str, float]:
    """Draw HITs of undecided pairs first, look after each; return the equal pairs ever wrong, and whether any pair is.

    `seen` has the ratings of all HITs of the pool, each by a worker of its own: what is not drawn is not looked at.
    """
    upper = np.triu_indices(N_SYSTEMS, 1)
    is_equal, pairs = upper[1] < N_TOP, list(zip(*(each.tolist() for each in upper), strict=True))
    counts = np.zeros((POOL, N_SYSTEMS))
    np.add.at(counts, (seen.assignment, seen.system), 1)
    outputs = {hit: dict(enumerate(row)) for hit, row in enumerate(counts.astype(int).tolist())}
    free, drawn = np.arange(POOL), np.zeros(POOL, dtype=bool)
    is_open, ever, is_wrong = np.ones(is_equal.size, dtype=bool), np.zeros(is_equal.size, dtype=bool), False
    order: list[int] = []
    chances: list[tuple[float, float]] = []
    for _ in range(n_workers):
        weight = weigh_hits(outputs, [pair for pair, each in zip(pairs, is_open, strict=True) if each])
        probability = draw_probabilities([weight[hit] for hit in free.tolist()], np.ones(free.size))
        k = int(rng.choice(free.size, p=probability))
        chances.append((float(probability[k]), float(even_probabilities(np.ones(free.size))[k])))
        order.append(int(free[k]))
        drawn[free[k]] = True
        free = np.delete(free, k)
        of_hit = np.zeros(POOL)
        probabilities, evenly = np.array(chances).T
        of_hit[order] = draw_weights(probabilities, evenly, POOL)
        chosen = drawn[seen.assignment]
        so_far = compare_clustered(*seen.columns(chosen), n_systems, weight=of_hit[seen.assignment[chosen]])
        watched = at_every_look(so_far, alpha=ALPHA, n_planned=n_workers)
        low, high, is_open = watched.low[upper], watched.high[upper], ~(watched.holm[upper] < ALPHA)
        ever |= (low > 0) | (high < 0)
        is_wrong |= bool((~is_open & (is_equal | (watched.difference[upper] < 0))).any())
    return {"looks": float(ever[is_equal].mean()), "stop": float(is_wrong)}


def run(task: Task) -> dict[str, float]:
    """Return the share of a campaign's tests with p < 0.05 by procedure, or of its pairs that a watcher errs on."""
    world = WORLDS[task.world]
    rng = np.random.default_rng([list(WORLDS).index(task.world), task.seed])
    if task.part == "adaptive":
        quality = np.repeat([60.0, 40.0, 30.0, 20.0], [N_TOP, 1, 1, 1])
        ratings = simulate_hits(replace(world, n_workers=POOL), quality, rng, is_uneven=True)
    else:
        world = replace(world, n_workers=task.n_workers or world.n_workers)
        ratings = simulate(world, task.step, rng)
    criteria = np.zeros(ratings.n_criteria, dtype=bool)
    design = Design(criteria, ~criteria, "unpaired-ranksum" if world.has_chats else "paired-wilcoxon")
    found = analyse(ratings, design)
    seen = counted_ratings(ratings, design, found)
    if not seen.z.size:
        return {}
    if task.part == "adaptive":
        return watch_adaptive(seen, world.n_workers, ratings.n_systems, rng)
    if task.part == "looks":
        return watch(seen, world.n_workers, int(ratings.assignment.max()) + 1, ratings.n_systems, task.step)
    recommended = compare_recommended(ratings, design, found)
    of_procedure: dict[str, Callable[[], Matrix]] = {
        "studies": lambda: found.tests.p_value,
        "paired": lambda: paired_t(seen.z, seen.system, seen.worker, ratings.n_systems),
        "crossed": lambda: compare_crossed(*seen.columns(), ratings.n_systems).p_value,
        "recommended": lambda: recommended.p_value,
    }
    if not world.has_chats:
        of_procedure["outputs"] = lambda: analyse(ratings, replace(design, unit=Unit.OUTPUT)).tests.p_value
    if not world.has_chats and not world.is_own:
        of_procedure["fixed"] = lambda: compare_clustered(*seen.columns(), N_SYSTEMS, SourceEffects.FIXED).p_value
    if not world.is_own:
        of_procedure["permuted"] = lambda: (
            compare_permuted(*seen.columns(), ratings.n_systems, rng=rng, n_flips=N_FLIPS).p_value
        )
    ranks = rank_intervals(recommended)
    truth = np.arange(1, N_SYSTEMS + 1)
    low, high = (truth, truth) if task.step else (truth * 0 + 1, truth * 0 + N_SYSTEMS)
    covered = (ranks.best[:N_SYSTEMS] <= low) & (ranks.worst[:N_SYSTEMS] >= high)
    shares = {"ranks": float(covered.all())}
    for name in task.procedures:
        if name in of_procedure:
            own = of_procedure[name]()[:N_SYSTEMS, :N_SYSTEMS]
            tested = np.diagonal(own, 1) if task.step else own[~np.eye(N_SYSTEMS, dtype=bool)]
            shares[name] = float((tested < ALPHA).mean())
    return shares


def tasks_of(
    name: str, parts: list[str], procedures: tuple[str, ...], numbers: dict[str, int]
) -> dict[str, list[Task]]:
    """Return the campaigns of one world by what is measured of them."""
    groups: dict[str, list[Task]] = {}
    if "errors" in parts:
        groups["level"] = [Task(name, k, procedures=procedures) for k in range(numbers["equal"])]
        groups["power"] = [Task(name, k, step=STEP, procedures=procedures) for k in range(numbers["different"])]
    if len(WORLDS[name].hits) == 1 and "looks" in parts:
        groups["looks"] = [Task(name, k, "looks") for k in range(numbers["watched"])]
        for step in STOPPED_STEPS:
            groups[f"step {step}"] = [Task(name, k, "looks", step, STOPPED_WORKERS) for k in range(numbers["stopped"])]
    if len(WORLDS[name].hits) == 1 and not WORLDS[name].has_chats and "adaptive" in parts:
        groups["adaptive"] = [Task(name, k, "adaptive") for k in range(numbers["watched"])]
    return groups


def measure(worlds: list[str], parts: list[str], procedures: tuple[str, ...], numbers: dict[str, int]) -> Measured:
    """Return level, power, coverage of ranks and errors of looks by world and procedure; print each world."""
    measured = {}
    with ProcessPoolExecutor(max_workers=2) as pool:
        for name in worlds:
            rows: dict[str, dict[str, float]] = defaultdict(dict)
            for group, tasks in tasks_of(name, parts, procedures, numbers).items():
                shares = defaultdict(list)
                for each in pool.map(run, tasks, chunksize=5):
                    for key, share in each.items():
                        shares[key].append(share)
                for key, values in shares.items():
                    rows[key][group] = float(np.mean(values))
            measured[name] = dict(rows)
            print_world(WORLDS[name].title, measured[name])
    return measured


def print_world(title: str, rows: dict[str, dict[str, float]]) -> None:
    """Print level and power of each procedure in one world."""
    print(title)
    for key, words in (
        ("ranks", "true ranks in the intervals"),
        ("looks", "pairs of equal systems ever different"),
        ("stop", "any decision ever wrong"),
        ("used", "HITs used"),
    ):
        if key in rows:
            print(f"    {words}: " + ", ".join(f"{group} {share:.3f}" for group, share in rows[key].items()))
    for name, title in PROCEDURES.items():
        if name in rows:
            print(f"    {title:<28} level {rows[name]['level']:.3f}   power {rows[name]['power']:.3f}")
    sys.stdout.flush()


def print_table(measured: Measured, procedures: tuple[str, ...]) -> None:
    """Print the table of docs/method/recommended-comparison.md, per cent wrong / per cent found."""
    print("| campaigns | " + " | ".join(PROCEDURES[name] for name in procedures) + " |")
    print("|---" * (len(procedures) + 1) + "|")
    for world, rows in measured.items():
        cells = [
            f"{100 * rows[name]['level']:.1f} / {100 * rows[name]['power']:.0f}" if name in rows else "–"
            for name in procedures
        ]
        print(f"| {WORLDS[world].title} | " + " | ".join(cells) + " |")


def summary(measured: Measured) -> dict[str, float]:
    """Return the extremes over the worlds, of what was measured."""
    found: dict[str, float] = {}
    rows = list(measured.values())
    if levels := [row["recommended"]["level"] for row in rows if "recommended" in row]:
        found |= {"worst_level": max(levels), "least_level": min(levels)}
    first = rows[0]
    if "recommended" in first and "outputs" in first:
        found["power_ratio"] = first["recommended"]["power"] / max(first["outputs"]["power"], 1e-9)
    for key, name in (("looks", "look"), ("stop", "stop")):
        of_key = [(group, share) for row in rows for group, share in row.get(key, {}).items()]
        if plain := [share for group, share in of_key if group != "adaptive"]:
            found[f"worst_{name}"] = max(plain)
        if adaptive := [share for group, share in of_key if group == "adaptive"]:
            found[f"worst_adaptive_{name}"] = max(adaptive)
    if covered := [share for row in rows for share in row.get("ranks", {}).values()]:
        found["least_rank_coverage"] = min(covered)
    return {name: round(value, 4) for name, value in found.items()}


def main() -> None:
    """Simulate every world and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} campaigns of each kind only")
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS), metavar="NAME")
    parser.add_argument("--procedures", nargs="+", choices=list(PROCEDURES), default=list(PROCEDURES), metavar="NAME")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument(
        "--campaigns",
        type=int,
        metavar="N",
        help=f"with equal systems, {N_EQUAL} by default; of the other kinds in proportion",
    )
    options = parser.parse_args()
    start = time.perf_counter()
    share = (options.campaigns or N_EQUAL) / N_EQUAL
    full = {"equal": N_EQUAL, "different": N_DIFFERENT, "watched": N_LOOKS, "stopped": N_STOPPED}
    numbers = {kind: max(1, round(share * n)) for kind, n in full.items()}
    if options.quick:
        numbers = {"equal": QUICK, "different": QUICK, "watched": QUICK // 4, "stopped": QUICK // 4}
    procedures = tuple(name for name in PROCEDURES if name in options.procedures)
    measured = measure(options.worlds, options.parts, procedures, numbers)
    headlines = measure_headlines(list(KINDS), numbers["equal"]) if "headlines" in options.parts else {}
    if "errors" in options.parts:
        print_table(measured, procedures)
    result = {
        "benchmark": "error_rates",
        **summary(measured),
        "worlds": {
            name: {key: {k: round(v, 4) for k, v in row.items()} for key, row in rows.items()}
            for name, rows in measured.items()
        },
        **({"headlines": headlines} if headlines else {}),
        "campaigns": numbers,
        "seconds": round(time.perf_counter() - start, 1),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
