"""How often intervals of strengths hold the truth, and how long a million votes take.

    python benchmarks/preference.py [--quick | --campaigns N | --size N [--systems N]]

*Coverage*: campaigns of votes between six systems, by workers who each have a taste of their own: the strengths of a
worker are the true ones plus normal deviations. The truth is what the model gives for the votes of all possible
workers together: probabilities averaged over tastes. Reported: the share of 95 % intervals of single strengths and of
differences of two that hold it, robust (clustered by worker) and naive (votes independent of each other).

*Speed*: a million votes of 200 systems by 1,000 workers. The floor counts how often each worker gave each answer to
each pair, in the same run; also reported is counting without regard to workers, which naive intervals need. With
`--size` the speed alone, of so many votes.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from scipy.special import stdtrit

from analysis.stats.bradley_terry import (
    BradleyTerry,
    count_votes,
    fit_bradley_terry,
    find_connection,
    robust_covariance,
)
from analysis.stats.pairs import variance_of_differences

N_CAMPAIGNS, QUICK = 2000, 100
TRUE = np.array([0.6, 0.35, 0.1, -0.1, -0.35, -0.6])
LOG_TIE = -1.0
N_VOTES, N_SYSTEMS, N_WORKERS, REPEATS = 10**6, 200, 1000, 5


class World(NamedTuple):
    """Workers, the votes of each (a mean, where `is_unequal`), and the standard deviation of their tastes."""

    name: str
    n_workers: int
    n_votes: int
    taste: float
    is_unequal: bool = False


WORLDS = [
    World("30 workers, 60 votes each", 30, 60, 0.8),
    World("workers of one taste", 30, 60, 0.0),
    World("100 workers, 20 votes each", 100, 20, 0.8),
    World("12 workers, 100 votes each", 12, 100, 0.8),
    World("40 workers, 10 to 200 votes", 40, 60, 0.8, is_unequal=True),
]


def shares(d: np.ndarray) -> np.ndarray:
    """Return the probabilities that the left wins, the right wins and a tie, of differences d."""
    found = np.exp(np.stack([d / 2, -d / 2, np.full_like(d, LOG_TIE)], axis=-1))
    return found / found.sum(axis=-1, keepdims=True)


def truth(taste: float) -> BradleyTerry:
    """Return the fit to the votes of all possible workers."""
    z, weight = np.polynomial.hermite_e.hermegauss(60)
    weight = weight / weight.sum()
    d = TRUE[:, None] - TRUE[None, :]
    expected = np.tensordot(shares(d[:, :, None] + np.sqrt(2) * taste * z), weight, axes=([2], [0]))
    expected[np.diag_indices(TRUE.size)] = 0
    return fit_bradley_terry(expected)


def simulate(world: World, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return left, right, outcome and worker of the votes of a campaign."""
    each = np.full(world.n_workers, world.n_votes)
    if world.is_unequal:
        each = np.exp(rng.uniform(np.log(10), np.log(200), world.n_workers)).astype(int)
    worker = np.repeat(np.arange(world.n_workers), each)
    left = rng.integers(0, TRUE.size, worker.size)
    right = (left + rng.integers(1, TRUE.size, worker.size)) % TRUE.size
    own = TRUE + rng.normal(0, world.taste, (world.n_workers, TRUE.size))
    chance = shares(own[worker, left] - own[worker, right])
    outcome = (rng.random(worker.size)[:, None] > chance.cumsum(axis=1)[:, :2]).sum(axis=1)
    return left, right, outcome, worker


def coverage(world: World, n_campaigns: int, seed: int = 1) -> dict[str, float]:
    """Return the share of intervals that hold the truth, of strengths and of differences, robust and naive."""
    rng, n = np.random.default_rng(seed), TRUE.size
    goal = truth(world.taste).strength
    upper = np.triu_indices(n, 1)
    between = (goal[:, None] - goal[None, :])[upper]
    held = dict.fromkeys(("robust", "naive", "robust_pairs", "naive_pairs"), 0.0)
    n_used = 0
    for _ in range(n_campaigns):
        left, right, outcome, worker = simulate(world, rng)
        counts = count_votes(left, right, outcome, n)
        if find_connection(counts).is_separated:
            continue
        n_used += 1
        fit = fit_bradley_terry(counts)
        robust = robust_covariance(fit, left, right, outcome, worker, world.n_workers)
        error = fit.strength - goal
        error_between = (fit.strength[:, None] - fit.strength[None, :])[upper] - between
        for name, covariance, df in (("robust", robust, world.n_workers - 1), ("naive", fit.covariance, np.inf)):
            t = stdtrit(df, 0.975)
            held[name] += (np.abs(error) <= t * np.sqrt(np.diag(covariance)[:n])).mean()
            variance = variance_of_differences(covariance[:n, :n])[upper]
            held[f"{name}_pairs"] += (np.abs(error_between) <= t * np.sqrt(variance)).mean()
    return {name: total / n_used for name, total in held.items()} | {"n_campaigns": n_used}


def measure_speed(n_votes: int, n_systems: int) -> dict[str, float]:
    """Return the seconds of counting votes and of their strengths with robust intervals."""
    rng = np.random.default_rng(7)
    strength = rng.normal(0, 1, n_systems)
    left = rng.integers(0, n_systems, n_votes, dtype=np.int32)
    right = ((left + rng.integers(1, n_systems, n_votes)) % n_systems).astype(np.int32)
    worker = rng.integers(0, N_WORKERS, n_votes, dtype=np.int32)
    chance = shares(strength[left] - strength[right])
    outcome = (rng.random(n_votes)[:, None] > chance.cumsum(axis=1)[:, :2]).sum(axis=1).astype(np.int8)
    times: dict[str, list[float]] = {"count": [], "count_by_worker": [], "strengths": []}
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        counts = count_votes(left, right, outcome, n_systems)
        counted = time.perf_counter()
        cell = ((worker.astype(np.int64) * n_systems + left) * n_systems + right) * 3 + outcome
        np.unique(cell, return_counts=True)
        by_worker = time.perf_counter()
        counts = count_votes(left, right, outcome, n_systems)
        fit = fit_bradley_terry(counts)
        robust_covariance(fit, left, right, outcome, worker, N_WORKERS)
        end = time.perf_counter()
        times["count"].append(counted - start)
        times["count_by_worker"].append(by_worker - counted)
        times["strengths"].append(end - by_worker)
    found = {name: statistics.median(values[1:]) for name, values in times.items()}  # the first warms up
    ratios = {
        "ratio": found["strengths"] / found["count_by_worker"],
        "ratio_without_workers": found["strengths"] / found["count"],
    }
    return {f"{name}_seconds": value for name, value in found.items()} | ratios


def main() -> None:
    """Print coverage in each world, the times, and both as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=N_CAMPAIGNS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--size", type=int, metavar="N", help="votes: measure the speed alone")
    parser.add_argument("--systems", type=int, metavar="N", default=N_SYSTEMS)
    options = parser.parse_args()
    n_campaigns = QUICK if options.quick else options.campaigns
    worlds = {}
    for world in () if options.size else WORLDS:
        worlds[world.name] = found = coverage(world, n_campaigns)
        print(
            f"{world.name:<30} strengths: robust {100 * found['robust']:5.1f} %, naive {100 * found['naive']:5.1f} %; "
            f"differences: robust {100 * found['robust_pairs']:5.1f} %, naive {100 * found['naive_pairs']:5.1f} %",
            flush=True,
        )
    n_votes = options.size or N_VOTES
    speed = measure_speed(n_votes, options.systems)
    print(
        f"{n_votes:,} votes of {options.systems} systems: counted in {speed['count_seconds']:.3f} s, by worker in "
        f"{speed['count_by_worker_seconds']:.3f} s; strengths with robust intervals "
        f"{speed['strengths_seconds']:.3f} s, {speed['ratio']:.2f} times counting by worker"
    )
    print(json.dumps({"benchmark": "preference", "worlds": worlds, "speed": speed}))


if __name__ == "__main__":
    main()
