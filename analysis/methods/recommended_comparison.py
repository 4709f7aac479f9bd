"""Recommended comparison: which systems differ, where ratings share workers, sources and outputs (METHOD §5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.methods import Method
from analysis.sections import Cell, Column, Output, Section, Table
from analysis.stats.inference import rank_intervals
from analysis.stats.pipeline import compare_recommended
from analysis.stats.ratings import Floats, or_none
from analysis.stats.sequences import at_every_look
from analysis.study import Study

ALPHA = 0.05
"""Below this corrected p, two systems differ."""
PAIRS_SHOWN = 66  # those of twelve systems; the file has all
_BETTER, _OPEN, _SO_FAR, _UNDEFINED = "better", "not shown to differ", "undecided so far", "cannot be compared"
_WEIGHTED = (
    " HITs of undecided pairs were given out more often; here ratings are weighted by the inverse of the probabilities "
    "of their HITs, in scores of systems and in the tests of the studies they are not."
)
Report = Mapping[str, Any]


class RecommendedComparison(Method):
    """Every two systems by least squares, with errors clustered by worker and source, and the ranks that follow."""

    slug = "recommended"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `recommended`: the pairs of systems as they are ranked, and the ranks that each may have.

        Of each pair: difference in z with its 95 % interval, p corrected by Holm's method, the number of sources that
        both are rated on, and p of the rank-sum test that either beats the other. With the setting `workers_planned`
        intervals and p hold at every look; an interval that has no end yet is None.
        """
        order, n_planned = study.order, study.settings.workers_planned
        design, weights = study.settings.design(study.loaded.workers), study.weights
        found = compare_recommended(study.ratings, design, study.analysis, weights)
        if n_planned:
            found = at_every_look(found, alpha=ALPHA, n_planned=n_planned)
            found = replace(found, low=_finite(found.low), high=_finite(found.high))
        ranks = rank_intervals(found, ALPHA)
        names = study.loaded.systems
        in_studies = study.analysis.tests.p_value
        pairs = [
            {
                "systems": [names[i], names[j]],
                "difference": or_none(found.difference[i, j]),
                "low": or_none(found.low[i, j]),
                "high": or_none(found.high[i, j]),
                "p_holm": or_none(found.holm[i, j]),
                "n_shared_sources": int(found.n_shared[i, j]),
                "p_studies": [or_none(in_studies[i, j]), or_none(in_studies[j, i])],
            }
            for place, i in enumerate(order)
            for j in order[place + 1 :]
        ]
        has_sources = bool((study.ratings.source >= 0).any())
        rows = [
            {"system": names[code], "best": int(ranks.best[code]), "worst": int(ranks.worst[code])}
            for code in order
            if not np.isnan(study.analysis.systems.z[code])
        ]
        more = {
            "is_weighted": weights is not None,
            "workers_planned": n_planned,
            "n_decided": sum(winner(pair) is not None for pair in pairs),
        }
        return {self.slug: {"alpha": ALPHA, "has_sources": has_sources, "pairs": pairs, "ranks": rows, **more}}

    def sections(self, report: Report) -> list[Section]:
        """Return a conclusion for each pair of systems, and the ranks that each may have."""
        found = report.get(self.slug)
        if not found or not found["pairs"]:
            return []
        tables = [_pairs_in_files(found), _pairs_shown(found), _ranks(found)]
        return [Section("recommended", "Recommended comparison", _finding(found), tables)]


def _finite(bound: Floats) -> Floats:
    return np.where(np.isfinite(bound), bound, np.nan)


def winner(pair: Mapping[str, Any]) -> str | None:
    """Return which system of a pair is better by the recommended comparison; None if that is open."""
    p = pair["p_holm"]
    if p is None or p >= ALPHA:
        return None
    system: str = pair["systems"][0 if pair["difference"] > 0 else 1]
    return system


def winner_in_studies(pair: Mapping[str, Any]) -> str | None:
    """Return which system of a pair is better by the test of the studies; None if that is open."""
    for system, p in zip(pair["systems"], pair["p_studies"], strict=True):
        if p is not None and p < ALPHA:
            return str(system)
    return None


def _conclusion(pair: Mapping[str, Any], found: Report) -> str:
    first, second = pair["systems"]
    if pair["p_holm"] is None:
        return f"{first} and {second} {_UNDEFINED}"
    if (better := winner(pair)) is None:
        return f"{first} and {second} are {_SO_FAR if found.get('workers_planned') else _OPEN}"
    return f"{better} is {_BETTER} than {second if better == first else first}"


def _studies(pair: Mapping[str, Any]) -> str:
    """Return what the studies' test says of a pair, beside the recommended comparison."""
    theirs = winner_in_studies(pair)
    if pair["p_holm"] is not None and theirs == winner(pair):
        return "the same"
    return f"{theirs} is {_BETTER}" if theirs else "no difference"


def _finding(found: Report) -> str:
    pairs = found["pairs"]
    n_tested = sum(pair["p_holm"] is not None for pair in pairs)
    if not n_tested:
        return (
            "No two systems can be compared: this takes ratings by two workers or more who count, of two sources or "
            "more, that are not all the same."
        )
    n_differ = sum(winner(pair) is not None for pair in pairs)
    n_other = sum(winner(pair) != winner_in_studies(pair) for pair in pairs)
    n_pairs = f"{n_differ} of {len(pairs)} {'pair' if len(pairs) == 1 else 'pairs'} of systems"
    if found.get("workers_planned"):
        return (
            f"Valid whenever you look: {n_pairs} {'is' if n_differ == 1 else 'are'} decided so far. The test of the "
            "studies, beside it, holds for one look at the end only."
        )
    said = f"{n_pairs} differ. "
    if not n_other:
        return said + "The test of the studies concludes the same of every pair."
    return said + f"The test of the studies concludes otherwise of {n_other}."


def _caption(found: Mapping[str, Any]) -> str:
    if n_planned := found.get("workers_planned"):
        looks = (
            "Intervals and p hold at every look at the campaign, and if what a look shows ends it (a confidence "
            f"sequence for {n_planned:,} workers); a dash: too little is known for an end of the interval."
        )
    else:
        looks = "Intervals and p hold for one look, when all ratings are there."
    across = any(pair["n_shared_sources"] == 0 for pair in found["pairs"])
    return (
        "Difference in z with its 95 % interval. Ratings that share a worker or a source are not taken as independent. "
        f"p is two-sided, with Holm's correction over all pairs; systems differ at p < {found['alpha']:g}. In the "
        f"studies: one-sided rank-sum test of single observations at p < {ALPHA:g}, not corrected. {looks}"
        + (_WEIGHTED if found.get("is_weighted") else "")
        + (" Systems without a shared source are compared across sources." if across and found["has_sources"] else "")
        + ("" if found["has_sources"] else " Sources are not known.")
    )


def _numbers(pair: Mapping[str, Any]) -> list[Cell]:
    return [pair["difference"], pair["low"], pair["high"], pair["p_holm"]]


_NUMBERS = [Column("low"), Column("high"), Column("p Holm", 4, is_p=True)]


def _pairs_in_files(found: Mapping[str, Any]) -> Table:
    rows = [
        [*pair["systems"], _conclusion(pair, found), *_numbers(pair), pair["n_shared_sources"], _studies(pair)]
        for pair in found["pairs"]
    ]
    columns = [Column("system"), Column("compared with"), Column("conclusion"), Column("difference"), *_NUMBERS]
    columns += [Column("shared sources"), Column("in the studies")]
    return Table("recommended", "Recommended comparison", _caption(found), columns, rows, output=Output.FILES)


def _pairs_shown(found: Mapping[str, Any]) -> Table:
    pairs = found["pairs"]
    caption = _caption(found)
    if len(pairs) > PAIRS_SHOWN:
        caption = f"The first {PAIRS_SHOWN} of {len(pairs):,} pairs, in the order of ranks. {caption}"
    columns = [Column("Conclusion"), Column("Difference", hint="in z"), *_NUMBERS]
    columns += [Column("In the studies", hint="what the rank-sum test concludes")]
    rows = [[_conclusion(pair, found), *_numbers(pair), _studies(pair)] for pair in pairs[:PAIRS_SHOWN]]
    return Table("recommended", "Recommended comparison", caption, columns, rows, output=Output.PAGE | Output.TERMINAL)


def _ranks(found: Mapping[str, Any]) -> Table:
    return Table(
        "rank-intervals",
        "Ranks that each system may have",
        "Best and worst rank of each system by these comparisons, for all systems jointly at 95 %.",
        [Column("system"), Column("best rank"), Column("worst rank")],
        [[row["system"], row["best"], row["worst"]] for row in found["ranks"]],
    )
