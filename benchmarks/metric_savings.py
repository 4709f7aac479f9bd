"""Ratings and a metric together in simulated campaigns: coverage, and savings true, measured and predicted.

    python benchmarks/metric_savings.py [--quick | --campaigns N]

Prints a table and, as the last line, JSON. The table is in `docs/method/metrics.md`. Systems differ by 0 to 0.5 z,
and the metric prefers some of them by up to 1.5 z.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np

from analysis.stats.prediction_powered import MetricOutputs, compare_with_metric, predict_saving

N_CAMPAIGNS, QUICK = 1000, 20
QUALITY = np.array([0.0, 0.2, 0.5, 0.5])
PREFERS = np.array([1.0, -0.5, 0.3, 0.0])


@dataclass(frozen=True)
class World:
    """How campaigns are: standard deviations are in z; `agreement` is r of the metric with outputs, sources apart."""

    n_workers: int = 20
    n_items: int = 40
    n_sources: int = 1000
    agreement: float = 0.7
    noise: float = 0.6
    liking: float = 0.2
    n_rated_sources: int | None = None


WORLDS = {
    "20 workers × 40 items, 4 × 1,000 outputs, r = .7": World(),
    "… r = .3": World(agreement=0.3),
    "… r = 0": World(agreement=0.0),
    "… r = .95, ratings with little noise": World(agreement=0.95, noise=0.3),
    "… 4 × 300 outputs: two thirds rated": World(n_sources=300),
    "… workers like some systems more (SD 0.4)": World(liking=0.4),
    "… 8 workers × 100 items": World(n_workers=8, n_items=100),
    "… only 60 sources rated, outputs several times": World(n_rated_sources=60),
}


def campaign(world: World, rng: np.random.Generator):
    """Return the arguments of `compare_with_metric` for one campaign."""
    n_systems = QUALITY.size
    source_level, output_level = rng.normal(0, 0.6, world.n_sources), rng.normal(0, 0.6, (world.n_sources, n_systems))
    of_noise = 0.6 * np.sqrt(1 - world.agreement**2) * rng.normal(0, 1, output_level.shape)
    score = PREFERS + 0.5 * source_level[:, None] + world.agreement * output_level + of_noise
    n_sources, n = world.n_rated_sources or world.n_sources, world.n_workers * world.n_items
    rounds = -(-n // (n_sources * n_systems))
    drawn = np.concatenate([rng.permutation(n_sources * n_systems) for _ in range(rounds)])[:n]
    source, system = np.divmod(drawn, n_systems)
    worker = np.repeat(np.arange(world.n_workers), world.n_items)
    liking = rng.normal(0, world.liking, (world.n_workers, n_systems))
    z = QUALITY[system] + source_level[source] + output_level[source, system] + liking[worker, system]
    z += rng.normal(0, world.noise, n)
    of_source, of_system = np.divmod(np.arange(world.n_sources * n_systems), n_systems)
    return z, system, worker, source, n_systems, MetricOutputs(score.ravel(), of_system, of_source)


def measure(world: World, n_campaigns: int, seed: int) -> dict[str, float]:
    """Return bias in standard errors, coverage by people and with the metric, and the savings."""
    rng, pair = np.random.default_rng(seed), np.triu_indices(QUALITY.size, 1)
    truth, rows, predicted = (QUALITY[:, None] - QUALITY)[pair], [], []
    for _ in range(n_campaigns):
        z, system, worker, source, n_systems, outputs = campaign(world, rng)
        found = compare_with_metric(z, system, worker, source, n_systems, outputs)
        half = worker % 2 == 0
        pilot = compare_with_metric(z[half], system[half], worker[half], source[half], n_systems, outputs)
        predicted.append(predict_saving(pilot.limit, found.share_rated))
        ends = found.low, found.high, found.assisted_low, found.assisted_high
        values = found.difference, found.assisted, *ends
        errors = found.standard_error[pair], found.assisted_error[pair]
        rows.append([*(each[pair] - truth for each in values), *errors])
    people, assisted, low, high, assisted_low, assisted_high, error, assisted_error = np.moveaxis(np.array(rows), 1, 0)
    return {
        "bias": float(np.abs(assisted.mean(axis=0) / assisted.std(axis=0) * np.sqrt(n_campaigns)).max()),
        "covered_people": float(np.mean((low < 0) & (high > 0))),
        "covered": float(np.mean((assisted_low < 0) & (assisted_high > 0))),
        "true": float(1 - assisted.var(axis=0).sum() / people.var(axis=0).sum()),
        "measured": float(1 - (assisted_error**2).sum() / (error**2).sum()),
        "predicted": float(np.mean(predicted)),
        "predicted_sd": float(np.std(predicted)),
    }


def main() -> None:
    """Measure every world and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} campaigns of each kind only")
    parser.add_argument("--campaigns", type=int, default=N_CAMPAIGNS, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    n_campaigns = QUICK if options.quick else options.campaigns
    found = {}
    print("| campaigns | covered, people | covered, with metric | saved, true | measured | predicted (SD) |")
    print("|---|---|---|---|---|---|")
    for name, world in WORLDS.items():
        found[name] = of = measure(world, n_campaigns, options.seed)
        shares = (f"{100 * of[key]:.1f}" for key in ("covered_people", "covered", "true", "measured"))
        print(
            f"| {name} | {' | '.join(shares)} | {100 * of['predicted']:.1f} ({100 * of['predicted_sd']:.1f}) |",
            flush=True,
        )
    print(json.dumps({"benchmark": "metric_savings", "campaigns": n_campaigns, "worlds": found}))


if __name__ == "__main__":
    main()
