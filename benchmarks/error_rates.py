"""How often comparisons of systems are wrong, and how often they find a difference, in simulated campaigns.

    python benchmarks/error_rates.py [--quick] [--worlds NAME ...]

Six systems are rated on HITs of 70 ordinary, 10 degraded and 10 repeat items (in chats: five systems and the degraded
one), by careful and careless workers, and analysed with the worker test as any ratings are. *Level*: share of all
directed tests with p < 0.05 where the systems are equal. *Power*: share of the differences of 1.5 points of 100
between neighbours in rank that are found at p < 0.05. The floor is the rank-sum test on outputs (WMT). *Ranks*: share
of campaigns in which the joint 95 % rank intervals hold the true rank of every system. *Looks*: how often a pair of
equal systems is ever found to differ by the confidence sequence, with a look after every HIT. *Ever wrong*: share of
campaigns in which any pair is ever decided wrongly (Holm's correction over all pairs), with a look after every HIT.
*HITs used*: share of 100 HITs after which the stopping rule *every pair is decided* closes a campaign whose neighbours
differ by 3 or 6 points, all of them if it never does.

The last line is JSON: `worst_level` and `least_level` of the recommended procedure over the worlds, `power_ratio` to
the floor in the first world, `worst_look`, `worst_stop` (ever wrong), `least_rank_coverage`, and level and power by
world and procedure.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.stats.inference import SourceEffects, compare_clustered, rank_intervals
from analysis.stats.pipeline import Design, analyse, compare_recommended
from analysis.stats.ratings import Ratings
from analysis.stats.scores import Unit, counted_items
from analysis.stats.sequences import at_every_look
from campaigns.design.composition import Kind

N_EQUAL, N_DIFFERENT, N_LOOKS, N_STOPPED = 400, 150, 100, 50
STOPPED_STEPS, STOPPED_WORKERS = (3, 6), 100
QUICK = 20
N_SYSTEMS, N_ORDINARY, N_COPIES = 6, 70, 10
STEP = 1.5
ALPHA = 0.05
N_PERMUTATIONS = 199
KINDS = np.repeat([Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT], [N_ORDINARY, N_COPIES, N_COPIES]).astype(np.int8)
STUDIES, OUTPUTS, PAIRED = "rank-sum on ratings", "rank-sum on outputs", "paired t over workers"
PERMUTED, FIXED, RECOMMENDED = "labels permuted in sources", "clustered, fixed sources", "clustered, random sources"
PROCEDURES = (STUDIES, OUTPUTS, PAIRED, PERMUTED, FIXED, RECOMMENDED)
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """A kind of campaign. Standard deviations are in points of 100.

    `hits` are the numbers of HITs of one worker after another; `tick` is what scores are rounded to. `n_outputs` limits
    the outputs that are rated; `is_own`: each source has an output of one system only.
    """

    title: str
    n_workers: int = 30
    hits: tuple[int, ...] = (1,)
    n_sources: int = 100
    n_outputs: int | None = None
    is_own: bool = False
    has_chats: bool = False
    source_sd: float = 15
    output_sd: float = 8
    liking_sd: float = 0
    noise_sd: float = 14
    tick: float = 1
    careless_pass: bool = False


WORLDS = {
    "equal": World("30 workers"),
    "alike": World("… outputs alike", output_sd=0),
    "liking": World("… workers like some systems more (SD 8)", liking_sd=8),
    "eight": World("… and only 8 workers", liking_sd=8, n_workers=8),
    "often": World("150 outputs rated ten times each", n_outputs=150),
    "unequal": World("1 to 8 HITs a worker", hits=(1, 1, 1, 1, 1, 2, 3, 8)),
    "own": World("each system on sources of its own", is_own=True, n_sources=600),
    "sparse": World("2,000 sources, mostly rated once", n_sources=2000),
    "passing": World("careless workers who pass", careless_pass=True),
    "ties": World("scores of five steps", tick=25),
    "sources": World("12 sources", n_sources=12),
    "chats": World("chats: 120 workers, six each", has_chats=True, n_workers=120, liking_sd=6, noise_sd=12),
}


@dataclass(frozen=True)
class Task:
    """One campaign to simulate; `step`: points between systems; `has_looks`: it is watched instead of compared.

    `n_workers`, if given, is in place of the world's.
    """

    world: str
    seed: int
    step: float = 0
    has_looks: bool = False
    n_workers: int | None = None


def simulate(world: World, step: float, rng: np.random.Generator) -> Ratings:
    """Return the ratings of one campaign; systems are in the order of their quality."""
    quality: Matrix = 50 + step * ((N_SYSTEMS - 1) / 2 - np.arange(N_SYSTEMS, dtype=np.float64))
    return simulate_chats(world, quality, rng) if world.has_chats else simulate_hits(world, quality, rng)


def simulate_hits(world: World, quality: Matrix, rng: np.random.Generator) -> Ratings:
    """Return ratings of single outputs, in HITs drawn from the pool of all outputs."""
    shape = (world.n_sources, N_SYSTEMS)
    output = quality + rng.normal(0, world.source_sd, (world.n_sources, 1)) + rng.normal(0, world.output_sd, shape)
    pool = np.arange(output.size)
    if world.is_own:
        pool = pool[pool % N_SYSTEMS == pool // N_SYSTEMS % N_SYSTEMS]
    if world.n_outputs:
        pool = rng.choice(pool, world.n_outputs, replace=False)
    worker = np.repeat(np.arange(world.n_workers), np.resize(world.hits, world.n_workers))
    items = np.stack([rng.choice(pool, N_ORDINARY, replace=False) for _ in worker])
    items = np.concatenate([items, items[:, : 2 * N_COPIES]], axis=1)
    system = items % N_SYSTEMS
    liking = rng.normal(0, world.liking_sd, (world.n_workers, N_SYSTEMS))
    score = output.ravel()[items] + liking[worker[:, None], system] + rng.normal(0, world.noise_sd, items.shape)
    score -= 25 * (KINDS == Kind.DEGRADED)
    score = as_rated(score, worker, KINDS == Kind.DEGRADED, world, rng)
    n = KINDS.size
    return Ratings(
        scores=score.reshape(-1, 1),
        worker=np.repeat(worker, n),
        system=system.ravel(),
        assignment=np.repeat(np.arange(worker.size), n),
        source=(items // N_SYSTEMS).ravel(),
        kind=np.tile(KINDS, worker.size),
        n_workers=world.n_workers,
        n_systems=N_SYSTEMS,
    )


def simulate_chats(world: World, quality: Matrix, rng: np.random.Generator) -> Ratings:
    """Return ratings of chats on seven criteria, five systems and the degraded chatbot for each worker."""
    n = world.n_workers
    system = np.stack([np.append(rng.permutation(N_SYSTEMS)[:5], N_SYSTEMS) for _ in range(n)])
    liking = rng.normal(0, world.liking_sd, (n, N_SYSTEMS + 1))
    chat = np.append(quality, 25)[system] + liking[np.arange(n)[:, None], system]
    chat += rng.normal(0, world.output_sd, system.shape)
    score = chat[:, :, None] + rng.normal(0, world.noise_sd, (*system.shape, 7))
    is_degraded = np.arange(6)[:, None] == 5
    score = as_rated(score, np.arange(n), is_degraded, world, rng)
    worker = np.repeat(np.arange(n), 6)
    return Ratings(
        scores=score.reshape(-1, 7),
        worker=worker,
        system=system.ravel(),
        assignment=worker,
        source=np.full(worker.size, -1),
        kind=np.where(system.ravel() == N_SYSTEMS, Kind.DEGRADED, Kind.ORDINARY).astype(np.int8),
        n_workers=n,
        n_systems=N_SYSTEMS + 1,
    )


def as_rated(
    score: Matrix, worker: NDArray[np.integer], is_degraded: NDArray[np.bool_], world: World, rng: np.random.Generator
) -> Matrix:
    """Return the scores (n_hits, …) as workers use the scale; a quarter of them rate at random."""
    shape = (-1,) + (1,) * (score.ndim - 1)
    shift, scale = rng.normal(0, 8, world.n_workers), rng.uniform(0.7, 1.3, world.n_workers)
    is_careless = rng.random(world.n_workers) < 0.25
    used = 50 + shift[worker].reshape(shape) + (score - 50) * scale[worker].reshape(shape)
    random = rng.uniform(0, 100, score.shape)
    if world.careless_pass:
        random = np.where(is_degraded, random * 0.2, random)
    used = np.where(is_careless[worker].reshape(shape), random, used)
    return np.round(np.clip(used, 0, 100) / world.tick) * world.tick


def paired_t(z: Matrix, system: NDArray[np.integer], worker: NDArray[np.integer], n_systems: int) -> Matrix:
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


def permuted(
    z: Matrix, system: NDArray[np.integer], source: NDArray[np.integer], n_systems: int, rng: np.random.Generator
) -> Matrix:
    """Return one-sided p of the difference of means, where the systems of every source are exchanged at random."""
    n_sources = int(source.max()) + 1
    cell = source * n_systems + system
    counts = np.bincount(cell, minlength=n_sources * n_systems).reshape(n_sources, n_systems)
    total = np.bincount(cell, weights=z, minlength=counts.size).reshape(counts.shape)
    order = np.argsort(rng.random((N_PERMUTATIONS + 1, *counts.shape)), axis=2)
    order[0] = np.arange(n_systems)
    rows = np.arange(n_sources)[None, :, None]
    with np.errstate(invalid="ignore"):
        mean = total[rows, order].sum(axis=1) / counts[rows, order].sum(axis=1)
    difference = mean[:, :, None] - mean[:, None, :]
    return np.asarray((difference >= difference[0] - 1e-12).mean(axis=0))


def watch(
    z: Matrix,
    system: NDArray[np.integer],
    worker: NDArray[np.integer],
    source: NDArray[np.integer],
    assignment: NDArray[np.integer],
    ratings: Ratings,
    step: float,
) -> dict[str, float]:
    """Look after every HIT; return the pairs that are ever wrong, whether any decision is, and the HITs until all are.

    Systems are in the order of their quality, so a decision for the later one of two is wrong; of equal ones each is.
    """
    n_hits = int(ratings.assignment.max()) + 1
    upper = np.triu_indices(N_SYSTEMS, 1)
    ever, is_wrong, n_used = np.zeros(upper[0].size, dtype=bool), False, n_hits
    for last in np.unique(assignment):
        seen = assignment <= last
        so_far = compare_clustered(z[seen], system[seen], worker[seen], source[seen], ratings.n_systems)
        watched = at_every_look(so_far, alpha=ALPHA, n_planned=ratings.n_workers)
        low, high, holm = watched.low[upper], watched.high[upper], watched.holm[upper]
        ever |= (low > 0) | (high < 0)
        is_wrong |= bool(((holm < ALPHA) & ((watched.difference[upper] < 0) | (step == 0))).any())
        if (holm < ALPHA).all():
            n_used = int(last) + 1
            break
    shares = {"stop": float(is_wrong), "used": n_used / n_hits}
    return shares if step else {**shares, "looks": float(ever.mean())}


def run(task: Task) -> dict[str, float]:
    """Return the share of a campaign's tests with p < 0.05 by procedure, or of its pairs that a watcher errs on."""
    world = WORLDS[task.world]
    world = replace(world, n_workers=task.n_workers or world.n_workers)
    rng = np.random.default_rng([list(WORLDS).index(task.world), task.seed])
    ratings = simulate(world, task.step, rng)
    criteria = np.zeros(ratings.n_criteria, dtype=bool)
    preset = "unpaired-ranksum" if world.has_chats else "paired-wilcoxon"
    design = Design(criteria, ~criteria, preset)
    found = analyse(ratings, design)
    observations = found.observations
    kept = counted_items(ratings, found.is_kept)
    if not kept.size:
        return {}
    z, system = observations.overall_z, observations.system
    worker, source = ratings.worker[kept], ratings.source[kept]
    if task.has_looks:
        return watch(z, system, worker, source, ratings.assignment[kept], ratings, task.step)
    recommended = compare_recommended(ratings, design, found)
    p_values = {
        STUDIES: found.tests.p_value,
        PAIRED: paired_t(z, system, worker, ratings.n_systems),
        RECOMMENDED: recommended.p_value,
    }
    if not world.has_chats:
        p_values[OUTPUTS] = analyse(ratings, replace(design, unit=Unit.OUTPUT)).tests.p_value
        if not world.is_own:
            p_values[PERMUTED] = permuted(z, system, source, N_SYSTEMS, rng)
            p_values[FIXED] = compare_clustered(z, system, worker, source, N_SYSTEMS, SourceEffects.FIXED).p_value
    ranks = rank_intervals(recommended)
    truth = np.arange(1, N_SYSTEMS + 1)
    low, high = (truth, truth) if task.step else (truth * 0 + 1, truth * 0 + N_SYSTEMS)
    covered = (ranks.best[:N_SYSTEMS] <= low) & (ranks.worst[:N_SYSTEMS] >= high)
    shares = {"ranks": float(covered.all())}
    for name, p in p_values.items():
        own = p[:N_SYSTEMS, :N_SYSTEMS]
        tested = np.diagonal(own, 1) if task.step else own[~np.eye(N_SYSTEMS, dtype=bool)]
        shares[name] = float((tested < ALPHA).mean())
    return shares


def measure(
    worlds: list[str], n_equal: int, n_different: int, n_looks: int, n_stopped: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Return level, power, coverage of ranks and errors of looks by world and procedure; print each world."""
    measured = {}
    with ProcessPoolExecutor(max_workers=2) as pool:
        for name in worlds:
            has_looks = len(WORLDS[name].hits) == 1
            groups = {
                "level": [Task(name, k) for k in range(n_equal)],
                "power": [Task(name, k, STEP) for k in range(n_different)],
                "looks": [Task(name, k, has_looks=True) for k in range(n_looks if has_looks else 0)],
            }
            for step in STOPPED_STEPS:
                n = n_stopped if has_looks else 0
                groups[f"step {step}"] = [Task(name, k, step, True, STOPPED_WORKERS) for k in range(n)]
            rows: dict[str, dict[str, float]] = defaultdict(dict)
            for group, tasks in groups.items():
                shares = defaultdict(list)
                for each in pool.map(run, tasks, chunksize=5):
                    for key, share in each.items():
                        shares[key].append(share)
                for key, values in shares.items():
                    rows[key][group] = float(np.mean(values))
            measured[name] = dict(rows)
            print_world(WORLDS[name].title, rows)
    return measured


def print_world(title: str, rows: dict[str, dict[str, float]]) -> None:
    """Print level and power of each procedure in one world."""
    print(f"{title}; ranks {min(rows['ranks'].values()):.3f}, looks {rows['looks'].get('looks', np.nan):.3f}")
    if "stop" in rows:
        wrong = ", ".join(f"{group} {share:.3f}" for group, share in rows["stop"].items())
        used = ", ".join(f"{group} {rows['used'][group]:.2f}" for group in rows["used"] if group != "looks")
        print(f"    stopping rule: ever wrong {wrong}; HITs used {used}")
    for name in PROCEDURES:
        if name in rows:
            print(f"    {name:<28} level {rows[name]['level']:.3f}   power {rows[name]['power']:.3f}", flush=True)


def main() -> None:
    """Simulate every world and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} campaigns of each kind only")
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS), metavar="NAME")
    options = parser.parse_args()
    start = time.perf_counter()
    numbers = (QUICK, QUICK, QUICK // 4, QUICK // 4)
    if not options.quick:
        numbers = N_EQUAL, N_DIFFERENT, N_LOOKS, N_STOPPED
    measured = measure(options.worlds, *numbers)
    first = measured[options.worlds[0]]
    levels = [rows[RECOMMENDED]["level"] for rows in measured.values()]
    print(
        json.dumps(
            {
                "benchmark": "error_rates",
                "worst_level": round(max(levels), 4),
                "least_level": round(min(levels), 4),
                "power_ratio": round(first[RECOMMENDED]["power"] / max(first[OUTPUTS]["power"], 1e-9), 2),
                "worst_look": round(max(rows["looks"]["looks"] for rows in measured.values() if "looks" in rows), 4),
                "worst_stop": round(max(max(rows["stop"].values()) for rows in measured.values() if "stop" in rows), 4),
                "least_rank_coverage": round(min(min(rows["ranks"].values()) for rows in measured.values()), 4),
                "worlds": {
                    name: {key: {k: round(v, 4) for k, v in row.items()} for key, row in rows.items()}
                    for name, rows in measured.items()
                },
                "campaigns": dict(zip(("equal", "different", "watched", "stopped"), numbers, strict=True)),
                "seconds": round(time.perf_counter() - start, 1),
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "numpy": np.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
