"""Seconds and peak memory of building HITs, against shuffling as many numbers.

    python benchmarks/build_hits.py [--quick]

A plan must at least put as many items in random order and name their HIT and position, so the floor is
`Generator.permutation` of as many indices and building those two arrays, measured in turn with the plan in the same
run. Outputs of 20 systems become HITs of 70 ordinary, 10 degraded, 10 repeat and 10 reference items. Apart from that,
the texts of all degraded items are made, each with its own generator and donors, and the same outputs become HITs of
one source each. Every plan is checked; `errors` counts the broken rules. Each size is measured in a process of its
own, so that its peak memory is its own.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from campaigns.design.composition import POOL_OF_100, Kind, Layout, Mix
from campaigns.design.degradation import STEPS_TO_20, degrade
from campaigns.design.plan import Plan, plan_hits
from campaigns.design.seeds import draw_donors, generator

SIZES, QUICK_SIZES = (10**4, 10**5, 10**6), (10**4, 10**5)
N_SYSTEMS = 20
BY_SOURCE = Mix(N_SYSTEMS, 6, 3, layout=Layout.BY_SOURCE, has_anchor=True)
REPEATS = 5


def write_texts(n_outputs: int) -> list[str]:
    """Return seeded texts of 1 to 40 words."""
    rng = np.random.default_rng(7)
    words = [f"word{k}" for k in range(2000)]
    n_words, first = rng.integers(1, 41, n_outputs).tolist(), rng.integers(0, len(words) - 40, n_outputs).tolist()
    return [" ".join(words[k : k + n]) for n, k in zip(n_words, first, strict=True)]


def shuffle_items(n_items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a random order of the items, and the HIT and position of each: the floor."""
    order = np.random.default_rng(1).permutation(n_items)
    return order, np.repeat(np.arange(n_items // 100), 100), np.tile(np.arange(1, 101), n_items // 100)


def count_errors(plan: Plan, mix: Mix, n_outputs: int) -> int:
    """Return how many HITs and outputs break a rule."""
    shape = (plan.totals.n_hits, mix.size)
    output, kind = plan.hits.output.reshape(shape), plan.hits.kind.reshape(shape)
    twin = plan.hits.twin_position.reshape(shape)
    is_ordinary = kind == Kind.ORDINARY
    ordinary = np.sort(output[is_ordinary].reshape(-1, mix.n_ordinary), axis=1)
    uses = np.bincount(ordinary.ravel(), minlength=n_outputs)
    is_twin = np.where(is_ordinary, True, np.take_along_axis(output, np.maximum(twin - 1, 0), axis=1) == output)
    broken = (
        (output[:, 1:] == output[:, :-1]).any(axis=1)
        | (ordinary[:, 1:] == ordinary[:, :-1]).any(axis=1)
        | ~is_twin.all(axis=1)
        | (is_ordinary.sum(axis=1) != mix.n_ordinary)
    )
    return int(broken.sum()) + int((uses < 1).sum()) + int((uses > 2).sum())


def degrade_all(plan: Plan, texts: list[str], source: np.ndarray) -> int:
    """Make the text of every degraded item and return how many do not differ from their originals."""
    hits = plan.hits
    degraded = np.flatnonzero(hits.kind == Kind.DEGRADED)
    n_same = 0
    for hit, position, output in zip(
        hits.hit[degraded].tolist(), hits.position[degraded].tolist(), hits.output[degraded].tolist(), strict=True
    ):
        rng = generator(plan.seed, hit, position)
        first, *further = (texts[k] for k in draw_donors(source, int(source[output]), rng).tolist())
        n_same += degrade(texts[output], first, rng, STEPS_TO_20, further_donors=further) == texts[output]
    return n_same


def measure(n_outputs: int) -> dict[str, float]:
    """Return median seconds of the floor and of the plan, taken in turn, of texts and by-source HITs, and the peak."""
    outputs = np.arange(n_outputs)
    source, system = outputs // N_SYSTEMS, outputs % N_SYSTEMS
    floor, ours, by_source = [], [], []
    errors = 0
    for repeat in range(REPEATS + 1):
        start = time.perf_counter()
        plan = plan_hits(POOL_OF_100, source=source, system=system, seed=repeat)
        middle = time.perf_counter()
        shuffle_items(plan.totals.n_items)
        after_floor = time.perf_counter()
        grouped = plan_hits(BY_SOURCE, source=source, system=system, seed=repeat, anchor=0)
        by_source.append(time.perf_counter() - after_floor)
        ours.append(middle - start)
        floor.append(after_floor - middle)
        errors += count_errors(plan, POOL_OF_100, n_outputs) + count_errors(grouped, BY_SOURCE, n_outputs)
    plan_mb = peak_mb()
    texts = write_texts(n_outputs)
    start = time.perf_counter()
    errors += degrade_all(plan, texts, source)
    return {
        "n_hits": plan.totals.n_hits,
        "seconds": statistics.median(ours[1:]),  # the first warms up
        "floor_seconds": statistics.median(floor[1:]),
        "ratio": statistics.median(a / b for a, b in zip(ours[1:], floor[1:], strict=True)),
        "by_source_seconds": statistics.median(by_source[1:]),
        "degrade_seconds": time.perf_counter() - start,
        "plan_peak_mb": plan_mb,
        "peak_mb": peak_mb(),
        "errors": errors,
    }


def peak_mb() -> float:
    """Return the peak resident memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Measure every size and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--measure", type=int, metavar="N_OUTPUTS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return

    measured: dict[int, dict[str, float]] = {}
    for n in QUICK_SIZES if options.quick else SIZES:
        command = [sys.executable, __file__, "--measure", str(n)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        measured[n] = row = json.loads(done.stdout)
        print(
            f"{n:>9,} outputs, {row['n_hits']:6,} HITs: {row['seconds']:6.3f} s, floor {row['floor_seconds']:6.3f} s, "
            f"ratio {row['ratio']:5.1f}; texts {row['degrade_seconds']:6.2f} s; by source "
            f"{row['by_source_seconds']:6.3f} s; peak {row['plan_peak_mb']:4.0f} MB, with texts {row['peak_mb']:4.0f}",
            flush=True,
        )
    largest = max(measured)
    print(
        json.dumps(
            {
                "benchmark": "build_hits",
                "n_outputs": largest,
                **{key: round(value, 4) for key, value in measured[largest].items()},
                "errors": sum(int(row["errors"]) for row in measured.values()),
                "sizes": sorted(measured),
                "ratios": [round(measured[n]["ratio"], 2) for n in sorted(measured)],
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "numpy": np.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
