"""Recommended comparison: which systems differ, where ratings share workers, sources and outputs (METHOD §5)."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.procedures import (
    BETTER,
    PAIRS_SHOWN,
    UNDEFINED,
    RanksOfSystem,
    Recommended,
    RecommendedPair,
    other_conclusions,
    procedure_tables,
    recommended_of,
)
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Output, Section, Table
from analysis.results.words import PROCEDURES, looks_in_words
from analysis.stats.inference import Comparison, TooLargeError, rank_intervals
from analysis.stats.procedures import ALPHA, Procedure, compare_beside
from analysis.stats.ratings import Floats, or_none
from campaigns.contracts.result_pages import PAIRS
from evalsite.lib.typed_json import to_json

_OPEN, _SO_FAR = "not shown to differ", "undecided so far"
_DRAWN = " HITs of undecided pairs were given out more often; "
_WEIGHTED = {
    Procedure.CLUSTERED: _DRAWN + "here ratings are weighted by the inverse of the probabilities of their HITs, in "
    "scores of systems and in the tests of the studies they are not.",
    Procedure.CROSSED: _DRAWN + "the model needs no weights for it, scores of systems and the tests of the "
    "studies have none.",
    Procedure.PERMUTED: _DRAWN + "nothing here is weighted for it.",
}
_HOW = {
    Procedure.CLUSTERED: "Difference in z with its 95 % interval. Ratings that share a worker or a source are not "
    "taken as independent.",
    Procedure.CROSSED: "Difference in z with its 95 % interval by a mixed model (REML) with random effects of workers, "
    "workers × systems, sources and outputs.",
    Procedure.PERMUTED: "Difference in z within sources with its 95 % interval. p: how often the difference, over its "
    "standard error, is as great when the labels of the two systems are exchanged at random within sources (within "
    "workers where sources are not known). Only sources with outputs of both systems count.",
}


class RecommendedComparison(Method):
    """Every two systems by least squares, with errors clustered by worker and source, and the ranks that follow."""

    slug = "recommended"

    def first_detail(self, study: Study) -> dict[str, Any]:
        """Return `recommended`: the pairs of systems as they are ranked, and the ranks that each may have.

        Of each pair: difference in z with its 95 % interval, p corrected by Holm's method, the number of sources that
        both are rated on, and p of the rank-sum test that either beats the other. With the setting `workers_planned`
        the recommended procedure is used, and intervals and p hold at every look; an interval that has no end yet is
        None. So is everything of a chosen procedure that is not made for so many ratings; `refused` says so.
        """
        return {self.slug: to_json(_compared(study))}

    def detail(self, study: Study) -> dict[str, Any]:
        """Return the same, with `others` of each pair: difference and p of the procedures that were not chosen."""
        known = _compared(study)
        if study.settings.workers_planned:
            return {self.slug: to_json(known)}
        others: list[Procedure] = [each for each in Procedure if each not in (known.procedure, Procedure.STUDIES)]
        ways = {each: partial(study.compare_by, each) for each in others}
        beside = compare_beside(ways, study.ratings.n_items, study.ratings.n_systems)
        place = {name: code for code, name in enumerate(study.loaded.systems)}
        pairs = [
            replace(pair, others=other_conclusions(beside, *(place[name] for name in pair.systems)))
            for pair in known.pairs
        ]
        return {self.slug: to_json(replace(known, pairs=pairs, refused={**known.refused, **beside.refused}))}

    def sections(self, result: Result) -> list[Section]:
        """Return a conclusion for each pair of systems, and the ranks that each may have."""
        found = recommended_of(result)
        if not found or not found.pairs:
            return []
        tables = [_pairs_in_files(found), _pairs_shown(found), *procedure_tables(found), _ranks(found)]
        return [Section("recommended", _title(found), _finding(found), tables, page=PAIRS)]


def _compared(study: Study) -> Recommended:
    order, compared = study.order, study.compared
    is_refused = isinstance(compared, TooLargeError)
    found = _nothing(study.ratings.n_systems) if isinstance(compared, TooLargeError) else compared
    found = replace(found, low=_finite(found.low), high=_finite(found.high))
    ranks = rank_intervals(found, ALPHA)
    names = study.loaded.systems
    in_studies = study.analysis.tests.p_value
    pairs = [
        RecommendedPair(
            systems=(names[i], names[j]),
            difference=or_none(found.difference[i, j]),
            low=or_none(found.low[i, j]),
            high=or_none(found.high[i, j]),
            p_holm=or_none(found.holm[i, j]),
            n_shared_sources=int(found.n_shared[i, j]),
            p_studies=(or_none(in_studies[i, j]), or_none(in_studies[j, i])),
        )
        for place, i in enumerate(order)
        for j in order[place + 1 :]
    ]
    return Recommended(
        has_sources=bool((study.ratings.source >= 0).any()),
        pairs=pairs,
        ranks=[
            RanksOfSystem(names[code], int(ranks.best[code]), int(ranks.worst[code]))
            for code in order
            if not np.isnan(study.analysis.systems.z[code])
        ],
        is_weighted=study.weights is not None,
        workers_planned=study.settings.workers_planned,
        procedure=_beside_studies(study.procedure),
        refused={study.procedure: str(compared)} if is_refused else {},
        n_decided=sum(pair.winner is not None for pair in pairs),
    )


def _beside_studies(procedure: Procedure) -> Procedure:
    """Return the procedure whose numbers are shown: beside the studies' test, the recommended one."""
    return Procedure.CLUSTERED if procedure is Procedure.STUDIES else procedure


def _nothing(n_systems: int) -> Comparison:
    """Return a comparison that says nothing."""
    unknown = np.full((n_systems, n_systems), np.nan)
    numbers = dict.fromkeys(("difference", "standard_error", "df", "p_value", "holm", "low", "high"), unknown)
    none = np.zeros((n_systems, n_systems), np.int64)
    return Comparison(**numbers, n_shared=none, is_connected=none.astype(bool))


def _title(found: Recommended) -> str:
    name = PROCEDURES[found.procedure][0]
    return "Recommended comparison" if found.procedure == Procedure.CLUSTERED else f"Comparison of systems: {name}"


def _finite(bound: Floats) -> Floats:
    return np.where(np.isfinite(bound), bound, np.nan)


def _conclusion(pair: RecommendedPair, found: Recommended) -> str:
    first, second = pair.systems
    if pair.p_holm is None:
        return f"{first} and {second} {UNDEFINED}"
    if (better := pair.winner) is None:
        return f"{first} and {second} are {_SO_FAR if found.workers_planned else _OPEN}"
    return f"{better} is {BETTER} than {second if better == first else first}"


def _studies(pair: RecommendedPair) -> str:
    """Return what the studies' test says of a pair, beside the recommended comparison."""
    theirs = pair.winner_in_studies
    if pair.p_holm is not None and theirs == pair.winner:
        return "the same"
    return f"{theirs} is {BETTER}" if theirs else "no difference"


def _finding(found: Recommended) -> str:
    pairs = found.pairs
    if why := found.refused.get(found.procedure):
        return f"Systems were not compared: {why}. Choose the recommended comparison."
    if all(pair.p_holm is None for pair in pairs):
        return (
            "No two systems can be compared: this takes ratings by two workers or more who count, of two sources or "
            "more, that are not all the same."
        )
    n_differ = sum(pair.winner is not None for pair in pairs)
    n_other = sum(pair.winner != pair.winner_in_studies for pair in pairs)
    n_pairs = f"{n_differ} of {len(pairs)} {'pair' if len(pairs) == 1 else 'pairs'} of systems"
    if found.workers_planned:
        return (
            f"Valid whenever you look: {n_pairs} {'is' if n_differ == 1 else 'are'} decided so far. The test of the "
            "studies, beside it, holds for one look at the end only."
        )
    said = f"{n_pairs} differ. "
    if not n_other:
        return said + "The test of the studies concludes the same of every pair."
    return said + f"The test of the studies concludes otherwise of {n_other}."


def _caption(found: Recommended) -> str:
    if n_planned := found.workers_planned:
        looks = looks_in_words(n_planned)
    else:
        looks = "Intervals and p hold for one look, when all ratings are there."
    across = any(pair.n_shared_sources == 0 for pair in found.pairs)
    return (
        f"{_HOW[found.procedure]} "
        f"p is two-sided, with Holm's correction over all pairs; systems differ at p < {found.alpha:g}. In the "
        f"studies: one-sided rank-sum test of single observations at p < {ALPHA:g}, not corrected. {looks}"
        + (_WEIGHTED[found.procedure] if found.is_weighted else "")
        + (" Systems without a shared source are compared across sources." if across and found.has_sources else "")
        + ("" if found.has_sources else " Sources are not known.")
    )


def _numbers(pair: RecommendedPair) -> list[Cell]:
    return [pair.difference, pair.low, pair.high, pair.p_holm]


_NUMBERS = [Column("low"), Column("high"), Column("p Holm", 4, is_p=True)]


def _pairs_in_files(found: Recommended) -> Table:
    rows = [
        [*pair.systems, _conclusion(pair, found), *_numbers(pair), pair.n_shared_sources, _studies(pair)]
        for pair in found.pairs
    ]
    columns = [Column("system"), Column("compared with"), Column("conclusion"), Column("difference"), *_NUMBERS]
    columns += [Column("shared sources"), Column("in the studies")]
    return Table("recommended", _title(found), _caption(found), columns, rows, output=Output.FILES)


def _pairs_shown(found: Recommended) -> Table:
    pairs = found.pairs
    caption = _caption(found)
    if len(pairs) > PAIRS_SHOWN:
        caption = f"The first {PAIRS_SHOWN} of {len(pairs):,} pairs, in the order of ranks. {caption}"
    columns = [Column("Conclusion"), Column("Difference", hint="in z"), *_NUMBERS]
    columns += [Column("In the studies", hint="what the rank-sum test concludes")]
    rows = [[_conclusion(pair, found), *_numbers(pair), _studies(pair)] for pair in pairs[:PAIRS_SHOWN]]
    return Table("recommended", _title(found), caption, columns, rows, output=Output.PAGE | Output.TERMINAL)


def _ranks(found: Recommended) -> Table:
    return Table(
        "rank-intervals",
        "Ranks that each system may have",
        "Best and worst rank of each system by these comparisons, for all systems jointly at 95 %.",
        [Column("system"), Column("best rank"), Column("worst rank")],
        [[row.system, row.best, row.worst] for row in found.ranks],
    )
