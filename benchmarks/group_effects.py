"""How often differences of systems are said to depend on a group where they do not, and how often where they do.

    python benchmarks/group_effects.py [--campaigns N]

Twelve workers give five levels to the outputs of each system on 18 sources. Workers like some systems more, and systems
are better on some sources (a standard deviation of 0.5 levels each). Groups are halves of the sources, or of the
workers. *Level*: the share of campaigns with p < 0.05 where differences do not depend on the group. *Power*: where the
last system is better by one level in one group. The last line is JSON.
"""

import argparse
import json
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np

from analysis.stats.group_effects import compare_groups

N_CAMPAIGNS, N_WORKERS, N_SOURCES = 400, 12, 18
SPREAD, NOISE, ALPHA = 0.5, 0.8, 0.05
SYSTEMS, KINDS = (2, 3, 6), ("source", "worker")


def simulate(rng: np.random.Generator, n_systems: int, kind: str, effect: float) -> float:
    """Return p of the interaction in one campaign."""
    shape = N_WORKERS, N_SOURCES, n_systems
    worker, source, system = (each.ravel() for each in np.indices(shape))
    clusters = {"worker": worker, "source": source}
    group = clusters[kind] % 2
    values = 3 + rng.normal(0, NOISE, worker.size) + effect * group * (system == n_systems - 1)
    for code, n in ((worker, N_WORKERS), (source, N_SOURCES)):
        values += rng.normal(0, SPREAD, n)[code] + rng.normal(0, SPREAD, (n, n_systems))[code, system]
    levels = np.clip(np.rint(values), 1, 5)
    return compare_groups(levels, system, group, (n_systems, 2), clusters).interaction.p_value


def main() -> None:
    """Print level and power by number of systems and kind of group."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=N_CAMPAIGNS)
    n_campaigns = parser.parse_args().campaigns
    found = {}
    for n_systems, kind in product(SYSTEMS, KINDS):
        shares = []
        for effect in (0.0, 1.0):
            rng = np.random.default_rng([n_systems, KINDS.index(kind), int(effect)])
            p = [simulate(rng, n_systems, kind, effect) for _ in range(n_campaigns)]
            shares.append(sum(each < ALPHA for each in p) / n_campaigns)
        found[f"{n_systems} systems, groups of {kind}s"] = {"level": shares[0], "power": shares[1]}
        print(f"{n_systems} systems, groups of {kind}s: level {shares[0]:.3f}, power {shares[1]:.2f}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
