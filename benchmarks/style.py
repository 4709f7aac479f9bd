"""How often strengths with and without style find the true order of generated votes, and their intervals the truth.

    python benchmarks/style.py [--quick | --campaigns N]

Five systems, the worse ones of which write more. In one world an output wins more often the longer it is, in the other
length does not matter. Workers have no tastes of their own. The last line is JSON.
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np

from analysis.methods.strengths import Votes, estimate_strengths
from analysis.methods.style_control import adjust_for_style
from analysis.stats.style_control import relative_difference

N_CAMPAIGNS, QUICK = 1000, 50
TRUE = np.array([0.6, 0.3, 0.0, -0.3, -0.6])
LOG_TIE, N_VOTES, N_WORKERS, BIAS = -1.0, 4000, 20, 3.0


def simulate(rng: np.random.Generator, bias: float) -> tuple[Votes, dict[str, np.ndarray]]:
    """Return votes, and their `words`, of both outputs, (n_votes, 2); `bias`: log odds against no words at all."""
    n = TRUE.size
    left = rng.integers(0, n, N_VOTES)
    right = (left + rng.integers(1, n, N_VOTES)) % n
    words = np.exp(5 - 0.8 * TRUE[np.stack([left, right], axis=1)] + rng.normal(0, 0.5, (N_VOTES, 2))).round()
    d = TRUE[left] - TRUE[right] + bias * relative_difference(words)
    share = np.exp(np.stack([d / 2, -d / 2, np.full(N_VOTES, LOG_TIE)], axis=1))
    share /= share.sum(axis=1, keepdims=True)
    outcome = (rng.random(N_VOTES)[:, None] > share.cumsum(axis=1)[:, :2]).sum(axis=1)
    clusters = {"worker": rng.integers(0, N_WORKERS, N_VOTES)}
    return Votes.of(list("abcde"), left, right, outcome, clusters), {"words": words}


def measure(bias: float, n_campaigns: int) -> tuple[float, float, float]:
    """Return how often the order is true, without and with style, and how often intervals with style hold the truth."""
    found = np.zeros((n_campaigns, 3))
    for k in range(n_campaigns):
        votes, style = simulate(np.random.default_rng(k), bias)
        adjusted = adjust_for_style(estimate_strengths(votes), style)
        assert adjusted.scores is not None
        by_name = {row.system: row.strength or 0.0 for row in adjusted.result.systems}
        order = sorted(by_name, key=lambda name: -by_name[name])
        holds = (adjusted.scores.low <= TRUE) & (adjusted.scores.high >= TRUE)
        found[k] = order == list("abcde"), adjusted.scores.order == list(range(TRUE.size)), holds.mean()
    without, with_style, holding = found.mean(axis=0)
    return float(without), float(with_style), float(holding)


def main() -> None:
    """Print a row for each world and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--campaigns", type=int, default=N_CAMPAIGNS)
    options = parser.parse_args()
    n = QUICK if options.quick else options.campaigns
    found = {}
    for world, bias in (("longer outputs win more often", BIAS), ("length does not matter", 0.0)):
        without, with_style, holding = measure(bias, n)
        print(f"| {world} | {100 * without:.1f} | {100 * with_style:.1f} | {100 * holding:.1f} |", flush=True)
        found[world] = {"order": without, "order_with_style": with_style, "covered": holding}
    print(json.dumps({"benchmark": "style", "campaigns": n, "worlds": found}))


if __name__ == "__main__":
    main()
