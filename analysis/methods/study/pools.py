"""Would other workers say the same? Pools of workers inside one result, and scores of resampled workers."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.agreement_figures import draw_scatter
from analysis.results.sections import Cell, Column, Figure, Output, Range, Section, Table
from analysis.results.words import number, p_equals
from analysis.stats.pipeline import observe_ratings
from analysis.stats.pools import WorkerSums, compare_pools, resample_workers, sum_by_worker
from analysis.stats.ratings import Floats, or_nan, or_none
from analysis.stats.scores import counted_items
from evalsite.lib.words import counted

Report = Mapping[str, Any]
MOST_POOLS = 8
_OVERALL = "overall"
_DECIMALS, _ALPHA = 4, 0.05
_SHOWN = Output.FILES | Output.PAGE


class Pools(Method):
    """System scores of pools of workers, compared with random divisions of the same workers."""

    slug = "pools"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `resampled`, z of each system by resampled workers, and `pools`, if workers belong to some.

        `resampled` has, by criterion and system, numbers with spaces between them: one a sample, the same samples
        everywhere.
        """
        if not study.order:
            return {}
        sums = _sums(study)
        pools = _pools(study, sums)
        return {"resampled": _resampled(study, sums), **({self.slug: pools} if pools else {})}

    def sections(self, report: Report) -> list[Section]:
        """Return how far pools of workers agree, if workers belong to some."""
        found = report.get(self.slug)
        return [_section(found)] if found else []


# --- What is computed


def _sums(study: Study) -> WorkerSums:
    """Return sums of z by worker and system: overall in the first column, then on each criterion."""
    ratings, settings = study.ratings, study.settings
    observations = observe_ratings(ratings, settings.design(study.loaded.workers), study.analysis)
    items = counted_items(ratings, study.analysis.is_kept)
    values = np.column_stack([observations.overall_z, observations.z])
    return sum_by_worker(
        *(values, observations.system, ratings.worker[items]),
        n_systems=ratings.n_systems,
        n_workers=ratings.n_workers,
    )


def _resampled(study: Study, sums: WorkerSums) -> dict[str, dict[str, str]]:
    draws = resample_workers(sums, np.random.default_rng(20160504))
    if not draws.shape[0]:
        return {}
    names = [_OVERALL, *(study.settings.criterion_names if len(study.settings.criteria) > 1 else ())]
    return {
        name: {study.loaded.systems[code]: _text(draws[:, code, k]) for code in study.order}
        for k, name in enumerate(names)
    }


def _text(values: Floats) -> str:
    return " ".join("-" if np.isnan(value) else f"{value:.{_DECIMALS}f}" for value in values)


def resamples_of(report: Report, names: Sequence[str], criterion: str | None) -> Floats | None:
    """Return z by resampled workers, (n_samples, n_systems), on a criterion or overall (None); None if not known."""
    found = report.get("resampled", {}).get(criterion or _OVERALL)
    if not found or any(name not in found for name in names):
        return None
    rows = [[None if text == "-" else float(text) for text in found[name].split()] for name in names]
    return np.stack([or_nan(row) for row in rows], axis=1)


def _pools(study: Study, sums: WorkerSums) -> dict[str, Any]:
    """Return the scores of each pool, and of every two pools r, r of random divisions, and p."""
    labels = study.loaded.pools
    if not labels:
        return {}
    counting = study.analysis.is_kept & (sums.counts.sum(axis=(1, 2)) > 0)
    pool_of = np.where(counting, np.array(labels), "")
    members = {str(name): np.flatnonzero(pool_of == name) for name in np.unique(pool_of) if name}
    if len(members) < 2:
        return {}
    own = sorted(members, key=lambda name: (-members[name].size, name))[:MOST_POOLS]
    order, rng = study.order, np.random.default_rng(20160505)
    ranked = WorkerSums(sums.sums[:, order, :1], sums.counts[:, order, :1])
    weights = np.array([pool_of == name for name in own], np.float64)
    scores = ranked.scores(weights)[:, :, 0]
    pairs = []
    for one, other in combinations(own, 2):
        found = compare_pools(ranked, members[one], members[other], rng)
        known = found.divisions[~np.isnan(found.divisions)]
        ends = np.quantile(known, [0.5, 0.025, 0.975]) if known.size else np.full(3, np.nan)
        pairs.append(
            {
                "pools": [one, other],
                "r": or_none(found.r),
                "random": or_none(ends[0]),
                "low": or_none(ends[1]),
                "high": or_none(ends[2]),
                "p": or_none(found.p_value),
            }
        )
    return {
        "order": [study.loaded.systems[code] for code in order],
        "pools": [
            {
                "name": name,
                "n_workers": labels.count(name),
                "n_kept": int(members[name].size),
                "n_ratings": int(sums.counts[members[name], :, 1:].sum()),
                "z": [or_none(value) for value in scores[k]],
            }
            for k, name in enumerate(own)
        ],
        "pairs": pairs,
    }


# --- Sections


def _section(found: Mapping[str, Any]) -> Section:
    names = [pool["name"] for pool in found["pools"]]
    sizes: list[list[Cell]] = [
        [pool["name"], pool["n_workers"], pool["n_kept"], pool["n_ratings"]] for pool in found["pools"]
    ]
    columns = [Column("pool"), Column("workers"), Column("who count"), Column("ratings that count")]
    tables = [
        Table("pools", "Pools of workers", "Pools that workers belong to.", columns, sizes, output=_SHOWN),
        *_pair_tables(found["pairs"]),
        Table(
            "pools-systems",
            "Systems by pool",
            "Mean z of each system by the workers of each pool who count.",
            [Column("system"), *map(Column, names)],
            [[system, *(pool["z"][k] for pool in found["pools"])] for k, system in enumerate(found["order"])],
            output=_SHOWN,
        ),
    ]
    one, other = found["pools"][:2]
    figure = Figure(
        "pools",
        "Systems in two pools of workers",
        partial(
            draw_scatter, found["order"], one["z"], other["z"], labels=(f"z, {one['name']}", f"z, {other['name']}")
        ),
        f"Scatter plot of the mean z of each system by {one['name']} and by {other['name']}.",
        f"Mean z by the two largest pools: {one['name']} to the right, {other['name']} upwards.",
    )
    return Section("pools", "Pools of workers", _words(found), tables, [figure], page="reliability")


def _pair_tables(pairs: Sequence[Mapping[str, Any]]) -> list[Table]:
    caption = (
        "Pearson’s r between the system scores of two pools, beside that of 1,000 random divisions of the same workers "
        "into pools of the same sizes (A/A): median, 95 % of them, and p, the share of divisions that agree as little."
    )
    title, name = "Pools compared with random divisions", "pools-pairs"
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


def _words(found: Mapping[str, Any]) -> str:
    known = [pair for pair in found["pairs"] if pair["p"] is not None]
    if not known:
        return "No two pools of workers score three systems, so their agreement is not defined."
    least = min(known, key=lambda pair: pair["p"])
    place = "less alike than" if least["p"] < _ALPHA else "about as alike as"
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
