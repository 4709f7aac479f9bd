"""Do pools of workers, such as crowd and experts, score systems as alike as random divisions of them do (METHOD §6)?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.methods.by_groups import find_grouping
from analysis.questions import Asked, Question
from analysis.results.agreement_figures import draw_scatter
from analysis.results.answers import Numbers
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Range, Section, Table
from analysis.results.words import number, p_equals
from analysis.stats.pools import N_DIVISIONS, ScoresOf, compare_pools
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Floats, Mask, or_none
from evalsite.lib.words import counted

SEED = 20160505
PAGE, _TITLE = "reliability", "Pools of workers"
_MOST_POOLS = 4
_FEWEST_DIVISIONS = 20  # with fewer, no p is below .05


class Pool(NamedTuple):
    """A pool: who counts of all workers, (n_workers,), how many workers it has, and the answers that count."""

    name: str
    is_counting: Mask
    n_workers: int
    n_ratings: int


@dataclass(frozen=True)
class PoolScores:
    """A pool: how many workers and answers of how many who count, and the scores of systems by these."""

    name: str
    n_workers: int
    n_kept: int
    n_ratings: int
    scores: Numbers


@dataclass(frozen=True)
class PairOfPools:
    """r of two pools, and of random divisions of the same workers: median, ends of 95 %, and p."""

    pools: tuple[str, str]
    r: float | None
    random: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True)
class ComparedPools:
    """The scores of the systems in `order` by each pool, and how far every two pools agree.

    `by`: the attribute that divides workers.
    """

    order: Sequence[str]
    pools: Sequence[PoolScores]
    pairs: Sequence[PairOfPools]
    n_divisions: int = N_DIVISIONS
    by: str = ""


@dataclass(frozen=True)
class PoolsByAttribute:
    """The pools of each attribute."""

    groupings: Sequence[ComparedPools]


class Pools(Question[PoolsByAttribute]):
    """Scores by each pool that an attribute of workers divides them into, if groups of it were asked for."""

    slug = "pools"
    title = _TITLE
    page = PAGE
    answer = PoolsByAttribute

    def is_asked(self, asked: Asked) -> bool:
        """Whether a column of groups says something of workers."""
        return bool(_pools_by(asked))

    def refuse(self, asked: Asked) -> str:
        """Return that it takes two pools."""
        alone = all(len(_counting(asked, members)) < 2 for members in _pools_by(asked).values())
        return super().refuse(asked) or ("All workers who count belong to one pool." if alone else "")

    def compute(self, asked: Asked) -> PoolsByAttribute:
        """Return the pools of each attribute of workers; of more pools, the largest four."""
        rng, groupings = np.random.default_rng(SEED), list[ComparedPools]()

        def scores_of(workers: NDArray[np.intp], parts: Floats) -> Floats:
            return asked.scores_of([asked.workers[code] for code in workers.tolist()], parts)

        for by, members in _pools_by(asked).items():
            pools = _counting(asked, members)
            if len(pools) < 2:
                continue
            n_divisions = max(_FEWEST_DIVISIONS, asked.n_times // (len(pools) * (len(pools) - 1) // 2))
            groupings.append(replace(score_pools(pools, asked.order, scores_of, rng, n_divisions), by=by))
        return PoolsByAttribute(groupings)

    def sections(self, answer: PoolsByAttribute) -> list[Section]:
        """Return how far the pools of each attribute agree."""
        return [
            pools_section(found, f"pools-{found.by}", f"{_TITLE} by {found.by}", score="score", answers="answers")
            for found in answer.groupings
        ]


def _pools_by(asked: Asked) -> dict[str, dict[str, list[str]]]:
    """Return the workers of each pool by the columns of which no worker has two values, nor each worker an own one."""
    answered, found = asked.answered_by(), dict[str, dict[str, list[str]]]()
    if answered is None:
        return found
    for by, column in answered.attributes.items():
        grouping = find_grouping(column)
        is_known = grouping.code >= 0
        pairs = np.unique(np.stack([answered.worker[is_known], grouping.code[is_known]]), axis=1)
        n_pools = np.unique(pairs[1]).size
        if pairs.shape[1] > np.unique(pairs[0]).size or not 2 <= n_pools < pairs.shape[1]:
            continue
        members: dict[str, list[str]] = {}
        for worker, code in pairs.T.tolist():
            members.setdefault(grouping.labels[code], []).append(answered.workers[worker])
        found[by] = members
    return found


def _counting(asked: Asked, members: Mapping[str, Sequence[str]]) -> list[Pool]:
    """Return the largest pools with workers who count."""
    n_ratings = {row.worker: row.n_ratings for row in asked.result.workers}
    pools = []
    for name, workers in members.items():
        n_answers = sum(n_ratings[worker] for worker in set(workers) & set(asked.workers))
        pools.append(Pool(name, np.isin(asked.workers, workers), len(workers), n_answers))
    counting = [pool for pool in pools if pool.is_counting.any()]
    return sorted(counting, key=lambda pool: -pool.is_counting.sum())[:_MOST_POOLS]


def score_pools(
    pools: Sequence[Pool], order: Sequence[str], scores_of: ScoresOf, rng: np.random.Generator, n_divisions: int
) -> ComparedPools:
    """Return the scores of each pool, and of every two pools r, r of random divisions, and p.

    `order`: the systems whose scores `scores_of` returns, as `stats.pools.compare_pools` takes it.
    """
    pairs = []
    weights = np.array([pool.is_counting for pool in pools], np.float64)
    scores = scores_of(np.arange(weights.shape[1]), weights)
    for first, second in combinations(pools, 2):
        workers = np.flatnonzero(first.is_counting), np.flatnonzero(second.is_counting)
        compared = compare_pools(scores_of, *workers, rng, n_divisions=n_divisions)
        known = compared.divisions[~np.isnan(compared.divisions)]
        middle, low, high = np.quantile(known, [0.5, 0.025, 0.975]) if known.size else [np.nan] * 3
        numbers = map(or_none, (compared.r, middle, low, high, compared.p_value))
        pairs.append(PairOfPools((first.name, second.name), *numbers))
    of_pools = [
        PoolScores(
            pool.name,
            pool.n_workers,
            int(np.count_nonzero(pool.is_counting)),
            pool.n_ratings,
            [or_none(score) for score in of_pool],
        )
        for pool, of_pool in zip(pools, scores, strict=True)
    ]
    return ComparedPools(order, of_pools, pairs, n_divisions)


def pools_section(found: ComparedPools, slug: str, title: str, *, score: str, answers: str) -> Section:
    """Return what `score_pools` found; `score` and `answers`: what these are called."""
    pools = found.pools
    sizes: list[list[Cell]] = [[pool.name, pool.n_workers, pool.n_kept, pool.n_ratings] for pool in pools]
    columns = [Column("pool"), Column("workers"), Column("who count"), Column(f"{answers} that count")]
    tables = [
        Table(slug, title, "Pools that workers belong to.", columns, sizes, output=Output.SHOWN),
        *_pair_tables(found, slug),
        Table(
            f"{slug}-systems",
            "Systems by pool",
            f"Mean {score} of each system by the workers of each pool who count.",
            [Column("system"), *(Column(pool.name) for pool in pools)],
            [[system, *(pool.scores[k] for pool in pools)] for k, system in enumerate(found.order)],
            output=Output.SHOWN,
        ),
    ]
    first, second = pools[:2]
    labels = f"{score}, {first.name}", f"{score}, {second.name}"
    figure = Figure(
        slug,
        "Systems in two pools of workers",
        Picture.of(draw_scatter, found.order, first.scores, second.scores, labels=labels),
        f"Scatter plot of the mean {score} of each system by {first.name} and by {second.name}.",
        f"Mean {score} by the two largest pools: {first.name} to the right, {second.name} upwards.",
    )
    return Section(slug, title, _words(found.pairs), tables, [figure], page=PAGE)


def _pair_tables(found: ComparedPools, slug: str) -> list[Table]:
    caption = (
        f"Pearson’s r between the system scores of two pools, beside that of {found.n_divisions:,} random divisions of "
        "the same workers into pools of the same sizes (A/A): median, 95 % of them, and p, the share of divisions that "
        "agree as little."
    )
    title, name = "Pools compared with random divisions", f"{slug}-pairs"
    head = [Column("pools"), Column("r"), Column("random divisions")]
    rows: list[list[Cell]] = [[" – ".join(pair.pools), pair.r, pair.random] for pair in found.pairs]
    p = Column("p", is_p=True)
    written = [[*row, pair.low, pair.high, pair.p] for row, pair in zip(rows, found.pairs, strict=True)]
    shown = [[*row, Range(pair.low, pair.high), pair.p] for row, pair in zip(rows, found.pairs, strict=True)]
    return [
        Table(name, title, caption, [*head, Column("low"), Column("high"), p], written, output=Output.FILES),
        Table(name, title, caption, [*head, Column("95 % of them"), p], shown, output=Output.PAGE),
    ]


def _words(pairs: Sequence[PairOfPools]) -> str:
    known = [(pair.p, pair) for pair in pairs if pair.p is not None]
    if not known:
        return "No two pools of workers score three systems, so their agreement is not defined."
    p, least = min(known, key=lambda entry: entry[0])
    place = "less alike than" if p < ALPHA else "about as alike as"
    names = " and ".join(f"“{name}”" for name in least.pools)
    more = (
        f" They are the least alike of {counted(len(known), 'pair')} of pools; p is of each pair by itself."
        if len(known) > 1
        else ""
    )
    return (
        f"{names} score the systems {place} random divisions of the same workers: r is {number(least.r)} against "
        f"{number(least.random)} (p {p_equals(p)}).{more}"
    )
