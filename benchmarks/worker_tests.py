"""How often careless workers pass each worker test, and careful ones.

    python benchmarks/worker_tests.py [--workers N] [--draws N]

Workers answer 5, 10 or 20 quality-control items: degraded outputs beside their twins, or among other outputs. Careless
workers do not read: they answer by chance, or with a habit (always the left one, the same score with a little noise,
the same marks everywhere). Careful workers see that a degraded output is worse, in each item with errors of their own.
Reported: the share of workers with p < 0.05, in per cent. `pairs as if independent` counts every pair of a ranking as a
coin of its own, to show why the sign test of rankings does not.

Then the same of careful workers and each degrader (`degraders.py`), for several gaps: of the median item, in standard
deviations of a worker's errors. From item to item the gap is as large as the share of the output that changed, by the
median share, and 0 where nothing is worse. How large it is in people's eyes is not known.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np
from numpy.typing import NDArray

from analysis.stats.quality import PRESETS, run_paired_test, run_ranking_test
from analysis.stats.ranks import ranks_in_groups, ranksum_less, sign_less
from annotation.simulation.crowd import Crowd, Item, Judged, spread_quality
from benchmarks.degraders import DEGRADERS, N_DRAWS, measure as measure_degrader
from campaigns.design.composition import Kind

N_WORKERS, ALPHA, N_ITEMS = 20_000, 0.05, (5, 10, 20)
GAPS = (0.25, 0.5, 1.0, 2.0)
ALIKE: NDArray[np.floating] = np.ones(1)
ONE_IN_FOUR_UNSEEN: NDArray[np.floating] = np.array([0.0, 1.0, 1.0, 1.0])
"""The gap of each item by that of the median one: where all have the same, and where nothing is seen in some."""
Rng = np.random.Generator
Values = NDArray[np.floating]
Answer = Callable[[Rng, tuple[int, int]], tuple[Values, Values]]
"""Returns what a worker gives degraded and other outputs, each (n_workers, n_items)."""
Careful = Callable[[float, Values], Answer]
"""Returns answers to items with a gap, and what it is multiplied by: one of these for each item, by chance."""
Test = Callable[[Values, Values], Values]


class World(NamedTuple):
    """A worker test on one kind of response, answered by careless workers in some ways, and by careful ones."""

    test: str
    response: str
    p_value: Test
    careless: dict[str, Answer]
    careful: Careful


# --- Ways to answer. Careful: standard normal impressions, degraded outputs by so many standard deviations worse.


def impressions(gap: float, of_items: Values = ALIKE) -> Answer:
    """Return careful answers without a scale of their own."""

    def give(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
        gaps = gap * drawn(of_items, rng, shape)
        return rng.normal(0, 1, shape) - gaps, rng.normal(0, 1, shape)

    return give


def drawn(of_items: Values, rng: Rng, shape: tuple[int, int]) -> Values:
    """Return one of these for each item of each worker."""
    return of_items[rng.integers(0, of_items.size, shape)] if of_items.size > 1 else np.broadcast_to(of_items, shape)


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


def penalties(gap: float, of_items: Values = ALIKE, rate: float = 1) -> Answer:
    """Return weights of marked errors: minor ones of weight 1 and, a quarter as often, major ones of weight 5.

    A gap of 1 is one minor error more in an output that has one: a standard deviation of their number.
    """

    def give(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
        gaps = gap * drawn(of_items, rng, shape)
        of = (rng.poisson(rate + more, shape) + 5 * rng.poisson((rate + more) / 4, shape) for more in (gaps, 0))
        low, high = (each.astype(float) for each in of)
        return low, high

    return give


def seen(scale: Callable[[Answer], Answer] = lambda answer: answer) -> Careful:
    """Return how careful workers answer on a scale."""
    return lambda gap, of_items: scale(impressions(gap, of_items))


def of_the_crowd(rng: Rng, shape: tuple[int, int]) -> tuple[Values, Values]:
    """Return how the careful workers of `annotation.simulation` rate degraded outputs and their twins."""
    n_workers, n_items = shape
    systems = [*"abcdef"]
    crowd = Crowd(
        seed=int(rng.integers(2**31)),
        quality=spread_quality(systems, seed=1),
        criteria=[Judged("quality")],
        n_workers=n_workers,
    )
    answers = np.empty((2, *shape))
    for k in range(n_workers):
        worker = crowd.worker(k)
        for n in range(n_items):
            for row, kind in enumerate((Kind.DEGRADED, Kind.ORDINARY)):
                item = Item(k, 2 * n + row, f"source {n}", systems[n % len(systems)], kind)
                answers[row, k, n] = worker.rate(item).scores[0]
    return answers[0], answers[1]


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
MARKS = {"by chance": penalties(0), "same marks": same_marks}
VOTES: dict[str, Answer] = {"by chance": by_chance, "one side": always_one_side}
RANKS: dict[str, Answer] = {"by chance": by_chance}
WORLDS = [
    World("paired-wilcoxon", "sliders", paired("paired-wilcoxon"), SLIDERS, seen(sliders)),
    World("paired-wilcoxon", "five levels", paired("paired-wilcoxon"), LEVELS, seen(levels)),
    World("paired-wilcoxon", "magnitudes", paired("paired-wilcoxon"), MAGNITUDES, seen(magnitudes)),
    World("paired-wilcoxon", "marked errors", paired("paired-wilcoxon", False), MARKS, penalties),
    World("unpaired-ranksum", "sliders", rank_sum, SLIDERS, seen(sliders)),
    World("paired-t", "sliders", paired("paired-t"), SLIDERS, seen(sliders)),
    World("sign", "sliders", paired("sign"), SLIDERS, seen(sliders)),
    World("sign", "votes", votes, VOTES, seen()),
    World("sign", "rankings of 4", among(3, only_ends=False), RANKS, seen()),
    World("sign", "best–worst of 4", among(3, only_ends=True), RANKS, seen()),
    World(
        "pairs as if independent",
        "rankings of 4",
        among(3, only_ends=False, as_if_independent=True),
        RANKS,
        seen(),
    ),
]


def measure(world: World, n_workers: int) -> dict[str, list[float]]:
    """Return the share of workers who pass, of each habit, with 5, 10 and 20 items."""
    answers = {**world.careless, "careful": world.careful(GAP, ALIKE)}
    return {name: passing(world, answer, n_workers) for name, answer in answers.items()}


def passing(world: World, answer: Answer, n_workers: int) -> list[float]:
    """Return the share of workers who pass with such answers, with 5, 10 and 20 items."""
    shares = []
    for n_items in N_ITEMS:
        low, high = answer(np.random.default_rng(n_items), (n_workers, n_items))
        shares.append(float((world.p_value(low, high) < ALPHA).mean()))
    return shares


def measure_gaps(world: World, of_items: Values, n_workers: int) -> dict[float, list[float]]:
    """Return the share of careful workers who pass, by the gap of the median item, with 5, 10 and 20 items."""
    return {gap: passing(world, world.careful(gap, of_items), n_workers) for gap in GAPS}


def main() -> None:
    """Print the shares of each test, and all of them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=N_WORKERS)
    parser.add_argument("--draws", type=int, default=N_DRAWS, help="how often each output is degraded")
    arguments = parser.parse_args()
    n_workers = arguments.workers
    results, gaps = [], []
    for world in WORLDS:
        found = measure(world, n_workers)
        results.append({"test": world.test, "response": world.response, "passed": found})
        for name, shares in found.items():
            print(f"{world.test:<24} {world.response:<16} {name:<12} {_per_cent(shares)}", flush=True)
    crowd = passing(WORLDS[0], of_the_crowd, max(1, n_workers // 100))
    print(f"{WORLDS[0].test:<24} {WORLDS[0].response:<16} {'simulated':<12} {_per_cent(crowd)}", flush=True)
    measured = {"every item alike": ALIKE, "one in four unseen": ONE_IN_FOUR_UNSEEN}
    measured |= {each.name: measure_degrader(each, arguments.draws).relative_gap for each in DEGRADERS}
    for name, of_items in measured.items():
        for world in WORLDS:
            if world.test in PRESETS:
                passed = measure_gaps(world, of_items, n_workers // 5)
                gaps.append({"degrader": name, "test": world.test, "response": world.response, "passed": passed})
                numbers = "   ".join(f"{gap:g}: {_per_cent(shares)}" for gap, shares in passed.items())
                print(f"{name:<24} {world.test:<18} {world.response:<16} {numbers}", flush=True)
    said = {"benchmark": "worker_tests", "n_workers": n_workers, "n_items": N_ITEMS, "results": results}
    print(json.dumps(said | {"simulated_crowd": crowd, "gaps": gaps}))


def _per_cent(shares: Sequence[float]) -> str:
    return "  ".join(f"{100 * share:5.1f}" for share in shares)


if __name__ == "__main__":
    main()
