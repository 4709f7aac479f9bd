"""How often careless workers pass each worker test, and careful ones.

    python benchmarks/worker_tests.py [--workers N]

Workers answer 5, 10 or 20 quality-control items: degraded outputs beside their twins, or among other outputs. Careless
workers do not read: they answer by chance, or with a habit (always the left one, the same score with a little noise,
the same marks everywhere). Careful workers see that a degraded output is worse, in each item with errors of their own.
Reported: the share of workers with p < 0.05, in per cent. `pairs as if independent` counts every pair of a ranking as a
coin of its own, to show why the sign test of rankings does not.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from numpy.typing import NDArray

from analysis.stats.quality import run_paired_test, run_ranking_test
from analysis.stats.ranks import ranks_in_groups, ranksum_less, sign_less

N_WORKERS, ALPHA, N_ITEMS = 20_000, 0.05, (5, 10, 20)
Rng = np.random.Generator
Values = NDArray[np.floating]
Answer = Callable[[Rng, tuple[int, int]], tuple[Values, Values]]
"""Returns what a worker gives degraded and other outputs, each (n_workers, n_items)."""
Test = Callable[[Values, Values], Values]


class World(NamedTuple):
    """A worker test on one kind of response, answered by careless workers in some ways, and by careful ones."""

    test: str
    response: str
    p_value: Test
    careless: dict[str, Answer]
    careful: Answer


# --- Ways to answer. Careful: standard normal impressions, degraded outputs by so many standard deviations worse.


def impressions(gap: float) -> Answer:
    """Return careful answers without a scale of their own."""
    return lambda rng, shape: (rng.normal(-gap, 1, shape), rng.normal(0, 1, shape))


def sliders(answer: Answer, middle: float = 60, spread: float = 18) -> Answer:
    """Return answers of sliders from 0 to 100."""

    def give(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
        low, high = (np.clip(np.rint(middle + spread * each), 0, 100) for each in answer(rng, shape))
        return low, high

    return give


def levels(answer: Answer) -> Answer:
    """Return answers on five levels."""

    def give(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
        low, high = (np.clip(np.rint(3.5 + each), 1, 5) for each in answer(rng, shape))
        return low, high

    return give


def magnitudes(answer: Answer) -> Answer:
    """Return logs of whole numbers beside a reference of 100, one that is twice as large for each unit."""

    def give(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
        low, high = (np.log(np.maximum(np.rint(100 * 2**each), 1)) for each in answer(rng, shape))
        return low, high

    return give


def penalties(rate: float, more: float) -> Answer:
    """Return weights of marked errors: minor ones of weight 1 and major ones of weight 5, `more` where degraded."""

    def give(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
        of = (rng.poisson(rate + extra, shape) + 5 * rng.poisson((rate + extra) / 4, shape) for extra in (more, 0))
        low, high = (each.astype(float) for each in of)
        return low, high

    return give


def by_chance(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
    """Return answers that are drawn evenly."""
    return rng.uniform(-2, 2, shape), rng.uniform(-2, 2, shape)


def much_alike(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
    """Return answers that are nearly the same, whatever is shown."""
    return rng.normal(0, 0.15, shape), rng.normal(0, 0.15, shape)


def always_one_side(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
    """Return votes for the side that is always chosen; which side the degraded output is on is drawn."""
    side = rng.choice([-1.0, 1.0], shape)
    return side, -side


def same_marks(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
    """Return the same two minor errors in nearly every output."""
    low, high = (2.0 + (rng.random(shape) < 0.1) for _ in range(2))
    return low, high


# --- Tests


def paired(preset: str, higher_is_better: bool = True) -> Test:
    """Return the p-values of a test of twins."""

    def p_value(low: Values, high: Values) -> Values:
        n, m = low.shape
        worker = np.repeat(np.arange(n), m)
        difference = (low - high).ravel()
        options = {"preset": preset, "alpha": ALPHA, "higher_is_better": higher_is_better}
        return run_paired_test(difference, worker, n, **options).p_value  # type: ignore[arg-type]

    return p_value


def rank_sum(low: Values, high: Values) -> Values:
    """Return the p-values of the unpaired rank-sum test."""
    n, m = low.shape
    is_low = np.repeat([True, False], n * m)
    worker = np.tile(np.repeat(np.arange(n), m), 2)
    return ranksum_less(np.concatenate([low.ravel(), high.ravel()]), is_low, worker, n)


def votes(low: Values, high: Values) -> Values:
    """Return the p-values of the sign test of votes; two impressions that differ by less than 0.5 are a tie."""
    n, m = low.shape
    margin = low - high
    return sign_less(np.where(np.abs(margin) < 0.5, 0, margin).ravel(), np.repeat(np.arange(n), m), n)


def among(others: int, *, only_ends: bool, as_if_independent: bool = False) -> Test:
    """Return the p-values of rankings, or choices of best and worst, of a degraded output and `others` more.

    The other outputs are answered as `high` is, item by item in another order.
    """

    def p_value(low: Values, high: Values) -> Values:
        n, m = low.shape
        rng = np.random.default_rng(1)
        rest = [high, *(rng.permuted(high, axis=0) for _ in range(others - 1))]
        merit = np.stack([low, *rest], axis=2).reshape(n * m, others + 1)
        judgement = np.repeat(np.arange(n * m), others + 1)
        rank = ranks_in_groups(-merit.ravel(), judgement, n * m)
        if only_ends:
            rank = np.where(rank == 1, 1.0, np.where(rank == others + 1, 3.0, 2.0))
        worker = np.repeat(np.arange(n), m)
        if as_if_independent:
            of_item = rank.reshape(n * m, -1)
            margin = of_item[:, 1:] - of_item[:, :1]
            return sign_less(margin.ravel(), np.repeat(worker, others), n)
        is_degraded = np.tile(np.arange(others + 1) == 0, n * m)
        return run_ranking_test(judgement, rank, is_degraded, worker, n, alpha=ALPHA).p_value

    return p_value


GAP = 1.0
SLIDERS = {"by chance": sliders(by_chance, 50, 25), "one score": sliders(much_alike)}
LEVELS = {"by chance": levels(by_chance), "one level": levels(much_alike)}
MAGNITUDES = {"by chance": magnitudes(by_chance), "one number": magnitudes(much_alike)}
MARKS = {"by chance": penalties(1, 0), "same marks": same_marks}
VOTES: dict[str, Answer] = {"by chance": by_chance, "one side": always_one_side}
RANKS: dict[str, Answer] = {"by chance": by_chance}
WORLDS = [
    World("paired-wilcoxon", "sliders", paired("paired-wilcoxon"), SLIDERS, sliders(impressions(GAP))),
    World("paired-wilcoxon", "five levels", paired("paired-wilcoxon"), LEVELS, levels(impressions(GAP))),
    World("paired-wilcoxon", "magnitudes", paired("paired-wilcoxon"), MAGNITUDES, magnitudes(impressions(GAP))),
    World("paired-wilcoxon", "marked errors", paired("paired-wilcoxon", False), MARKS, penalties(1, 1)),
    World("unpaired-ranksum", "sliders", rank_sum, SLIDERS, sliders(impressions(GAP))),
    World("paired-t", "sliders", paired("paired-t"), SLIDERS, sliders(impressions(GAP))),
    World("sign", "sliders", paired("sign"), SLIDERS, sliders(impressions(GAP))),
    World("sign", "votes", votes, VOTES, impressions(GAP)),
    World("sign", "rankings of 4", among(3, only_ends=False), RANKS, impressions(GAP)),
    World("sign", "best–worst of 4", among(3, only_ends=True), RANKS, impressions(GAP)),
    World(
        "pairs as if independent",
        "rankings of 4",
        among(3, only_ends=False, as_if_independent=True),
        RANKS,
        impressions(GAP),
    ),
]


def measure(world: World, n_workers: int) -> dict[str, list[float]]:
    """Return the share of workers who pass, of each habit, with 5, 10 and 20 items."""
    found = {}
    for name, answer in {**world.careless, "careful": world.careful}.items():
        shares = []
        for n_items in N_ITEMS:
            rng = np.random.default_rng(n_items)
            low, high = answer(rng, (n_workers, n_items))
            shares.append(float((world.p_value(low, high) < ALPHA).mean()))
        found[name] = shares
    return found


def main() -> None:
    """Print the shares of each test, and all of them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=N_WORKERS)
    n_workers = parser.parse_args().workers
    results = []
    for world in WORLDS:
        found = measure(world, n_workers)
        results.append({"test": world.test, "response": world.response, "passed": found})
        for name, shares in found.items():
            numbers = "  ".join(f"{100 * share:5.1f}" for share in shares)
            print(f"{world.test:<24} {world.response:<16} {name:<12} {numbers}", flush=True)
    print(json.dumps({"benchmark": "worker_tests", "n_workers": n_workers, "n_items": N_ITEMS, "results": results}))


if __name__ == "__main__":
    main()
