"""Do pools of workers, such as crowd and experts, score systems as alike as random divisions of them do (METHOD §6)?"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.methods.by_groups import find_grouping
from analysis.questions import Asked, Question
from analysis.results.agreement_figures import draw_scatter
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Range, Section, Table
from analysis.results.stored import Report
from analysis.results.words import number, p_equals
from analysis.stats.pools import N_DIVISIONS, ScoresOf, compare_pools
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Floats, Mask, or_none
from evalsite.lib.words import counted

SEED = 20160505
PAGE, _TITLE = "reliability", "Pools of workers"
_MOST_POOLS = 4
_FEWEST_DIVISIONS = 20  # with fewer, no p is below .05
_SHOWN = Output.FILES | Output.PAGE


class Pool(NamedTuple):
    """A pool: who counts of all workers, (n_workers,), how many workers it has, and the answers that count."""

    name: str
    is_counting: Mask
    n_workers: int
    n_ratings: int


class Pools(Question):
    """Scores by each pool that an attribute of workers divides them into, if groups of it were asked for."""

    slug = "pools"
    title = _TITLE
    page = PAGE

    def is_asked(self, asked: Asked) -> bool:
        """Whether a column of groups says something of workers."""
        return bool(_pools_by(asked))

    def refuse(self, asked: Asked) -> str:
        """Return that it takes two pools."""
        alone = all(len(_counting(asked, members)) < 2 for members in _pools_by(asked).values())
        return super().refuse(asked) or ("All workers who count belong to one pool." if alone else "")

    def compute(self, asked: Asked) -> dict[str, Any]:
        """Return of each attribute of workers (`by`) what `describe_pools` says; of more pools, the largest four."""
        rng, groupings = np.random.default_rng(SEED), []

        def scores_of(workers: NDArray[np.intp], parts: Floats) -> Floats:
            return asked.scores_of([asked.workers[code] for code in workers.tolist()], parts)

        for by, members in _pools_by(asked).items():
            pools = _counting(asked, members)
            if len(pools) < 2:
                continue
            n_divisions = max(_FEWEST_DIVISIONS, asked.n_times // (len(pools) * (len(pools) - 1) // 2))
            found = describe_pools(pools, asked.order, scores_of, rng, n_divisions)
            groupings.append({"by": by, "n_divisions": n_divisions, **found})
        return {"groupings": groupings}

    def sections(self, found: Report) -> list[Section]:
        """Return how far the pools of each attribute agree."""
        return [
            pools_section(each, f"pools-{each['by']}", f"{_TITLE} by {each['by']}", score="score", answers="answers")
            for each in found["groupings"]
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
    n_ratings = {row["worker"]: row["n_ratings"] for row in asked.report.get("worker_table", [])}
    pools = []
    for name, workers in members.items():
        n_answers = sum(n_ratings[worker] for worker in set(workers) & set(asked.workers))
        pools.append(Pool(name, np.isin(asked.workers, workers), len(workers), n_answers))
    counting = [pool for pool in pools if pool.is_counting.any()]
    return sorted(counting, key=lambda pool: -pool.is_counting.sum())[:_MOST_POOLS]


def describe_pools(
    pools: Sequence[Pool], order: Sequence[str], scores_of: ScoresOf, rng: np.random.Generator, n_divisions: int
) -> dict[str, Any]:
    """Return the scores of each pool, and of every two pools r, r of random divisions, and p, as JSON.

    `order`: the systems whose scores `scores_of` returns, as `stats.pools.compare_pools` takes it.
    """
    pairs = []
    weights = np.array([pool.is_counting for pool in pools], np.float64)
    scores = scores_of(np.arange(weights.shape[1]), weights)
    for one, other in combinations(pools, 2):
        workers = np.flatnonzero(one.is_counting), np.flatnonzero(other.is_counting)
        found = compare_pools(scores_of, *workers, rng, n_divisions=n_divisions)
        known = found.divisions[~np.isnan(found.divisions)]
        ends = np.quantile(known, [0.5, 0.025, 0.975]) if known.size else np.full(3, np.nan)
        pairs.append(
            {
                "pools": [one.name, other.name],
                "r": or_none(found.r),
                "random": or_none(ends[0]),
                "low": or_none(ends[1]),
                "high": or_none(ends[2]),
                "p": or_none(found.p_value),
            }
        )
    return {
        "order": list(order),
        "pools": [
            {
                "name": pool.name,
                "n_workers": pool.n_workers,
                "n_kept": int(np.count_nonzero(pool.is_counting)),
                "n_ratings": pool.n_ratings,
                "scores": [or_none(each) for each in of_pool],
            }
            for pool, of_pool in zip(pools, scores, strict=True)
        ],
        "pairs": pairs,
    }


def pools_section(found: Report, slug: str, title: str, *, score: str, answers: str) -> Section:
    """Return what `describe_pools` found; `score` and `answers`: what these are called."""
    names = [pool["name"] for pool in found["pools"]]
    sizes: list[list[Cell]] = [
        [pool["name"], pool["n_workers"], pool["n_kept"], pool["n_ratings"]] for pool in found["pools"]
    ]
    columns = [Column("pool"), Column("workers"), Column("who count"), Column(f"{answers} that count")]
    tables = [
        Table(slug, title, "Pools that workers belong to.", columns, sizes, output=_SHOWN),
        *_pair_tables(found["pairs"], slug, found.get("n_divisions", N_DIVISIONS)),
        Table(
            f"{slug}-systems",
            "Systems by pool",
            f"Mean {score} of each system by the workers of each pool who count.",
            [Column("system"), *map(Column, names)],
            [[system, *(pool["scores"][k] for pool in found["pools"])] for k, system in enumerate(found["order"])],
            output=_SHOWN,
        ),
    ]
    one, other = found["pools"][:2]
    labels = f"{score}, {one['name']}", f"{score}, {other['name']}"
    figure = Figure(
        slug,
        "Systems in two pools of workers",
        Picture.of(draw_scatter, found["order"], one["scores"], other["scores"], labels=labels),
        f"Scatter plot of the mean {score} of each system by {one['name']} and by {other['name']}.",
        f"Mean {score} by the two largest pools: {one['name']} to the right, {other['name']} upwards.",
    )
    return Section(slug, title, _words(found), tables, [figure], page=PAGE)


def _pair_tables(pairs: Sequence[Mapping[str, Any]], slug: str, n_divisions: int) -> list[Table]:
    caption = (
        f"Pearson’s r between the system scores of two pools, beside that of {n_divisions:,} random divisions of the "
        "same workers into pools of the same sizes (A/A): median, 95 % of them, and p, the share of divisions that "
        "agree as little."
    )
    title, name = "Pools compared with random divisions", f"{slug}-pairs"
    head = [Column("pools"), Column("r"), Column("random divisions")]
    heads = [f"{each['pools'][0]} – {each['pools'][1]}" for each in pairs]
    written: list[list[Cell]] = [
        [text, each["r"], each["random"], each["low"], each["high"], each["p"]]
        for text, each in zip(heads, pairs, strict=True)
    ]
    shown: list[list[Cell]] = [
        [text, each["r"], each["random"], Range(each["low"], each["high"]), each["p"]]
        for text, each in zip(heads, pairs, strict=True)
    ]
    p = Column("p", is_p=True)
    return [
        Table(name, title, caption, [*head, Column("low"), Column("high"), p], written, output=Output.FILES),
        Table(name, title, caption, [*head, Column("95 % of them"), p], shown, output=Output.PAGE),
    ]


def _words(found: Report) -> str:
    known = [pair for pair in found["pairs"] if pair["p"] is not None]
    if not known:
        return "No two pools of workers score three systems, so their agreement is not defined."
    least = min(known, key=lambda pair: pair["p"])
    place = "less alike than" if least["p"] < ALPHA else "about as alike as"
    names = " and ".join(f"“{name}”" for name in least["pools"])
    more = (
        f" They are the least alike of {counted(len(known), 'pair')} of pools; p is of each pair by itself."
        if len(known) > 1
        else ""
    )
    return (
        f"{names} score the systems {place} random divisions of the same workers: r is {number(least['r'])} against "
        f"{number(least['random'])} (p {p_equals(least['p'])}).{more}"
    )
