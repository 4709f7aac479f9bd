"""Write a ratings file with a known truth: a seeded crowd that rates six systems' answers.

    python examples/make_ratings.py > examples/ratings.csv

Six systems have the QUALITY below on the 0–100 scale; two pairs lie so close that a study this small cannot part them.
The first twelve workers are careless and click without reading, at random or always high. The others see each output's
own quality through their own bias, spread and noise, and rate a degraded copy lower.
HITs are of the MRC mix: 70 ordinary, 10 degraded, 10 repeat and 10 reference items.
"""

import csv
import sys

import numpy as np

SEED = 7
COLUMNS = ["worker", "assignment", "hit", "position", "source", "system", "kind", "criterion", "score"]
QUALITY = {"human": 78.0, "cedar": 64.0, "birch": 61.0, "maple": 52.0, "aspen": 44.0, "willow": 42.0}
CARELESS = 0.25
N_WORKERS, N_SOURCES = 48, 140
N_ORDINARY, N_COPIES = 70, 10
DEGRADED_BY, OUTPUT_SD = 20.0, 14.0


def main() -> None:
    """Write the long table to standard output."""
    rng = np.random.default_rng(SEED)
    systems = list(QUALITY)
    outputs = np.array([QUALITY[name] for name in systems]) + rng.normal(0, OUTPUT_SD, (N_SOURCES, len(systems)))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for k in range(N_WORKERS):
        is_careless = k < CARELESS * N_WORKERS
        bias, spread, noise = rng.normal(0, 8), rng.uniform(0.6, 1.1), rng.uniform(5, 14)
        high = rng.random() < 0.5
        for position, (source, system, kind) in enumerate(build_hit(rng, len(systems)), start=1):
            if is_careless:
                score = rng.uniform(70, 100) if high else rng.uniform(0, 100)
            else:
                seen = 92.0 if kind == "reference" else outputs[source, system] - DEGRADED_BY * (kind == "degraded")
                score = 50 + bias + spread * (seen - 50) + rng.normal(0, noise)
            ids = f"worker-{k + 1:02}", f"assignment-{k + 1:02}", f"hit-{k + 1:02}"
            name = systems[system]
            writer.writerow([*ids, position, f"q{source:03}", name, kind, "adequacy", round(np.clip(score, 0, 100))])


def build_hit(rng: np.random.Generator, n_systems: int) -> list[tuple[int, int, str]]:
    """Return one HIT's items as (source, system, kind), shuffled; each copy has a twin of its own."""
    chosen = rng.choice(N_SOURCES * n_systems, N_ORDINARY, replace=False)
    ordinary = [(int(output) // n_systems, int(output) % n_systems, "ordinary") for output in chosen]
    kinds = [kind for kind in ("degraded", "repeat", "reference") for _ in range(N_COPIES)]
    copies = [(source, system, kind) for (source, system, _), kind in zip(ordinary, kinds, strict=False)]
    items = ordinary + copies
    return [items[k] for k in rng.permutation(len(items))]


if __name__ == "__main__":
    main()
