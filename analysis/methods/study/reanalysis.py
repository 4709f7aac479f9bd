"""A study scored otherwise: by other μ and σ, by the other unit, without standardisation (METHOD §6)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.methods.study.study import Study
from analysis.results.result import Result, Summary, SystemResult
from analysis.stats.pipeline import observe_by
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.scores import Standardisation, Unit, reverse_negative, score_systems, standardise
from campaigns.design.composition import ANALYSED, Kind


def rank_otherwise(study: Study) -> Iterator[tuple[str, Result]]:
    """Yield what other ways to score systems are called, and the ranking by each."""
    systems, ratings, analysis = study.loaded.systems, study.ratings, study.analysis
    design = study.settings.design(study.loaded.workers)

    def ranked(unit: Unit, standardisation: Standardisation) -> Result:
        otherwise = replace(analysis, standardisation=standardisation)
        observed = observe_by(ratings, replace(design, unit=unit), otherwise)
        return ranking_of(systems, score_systems(observed, ratings.n_systems).z)

    for name, standardisation in _standardisations(study):
        yield name, ranked(design.unit, standardisation)
    if (ratings.source >= 0).any():  # else each item is an output of its own
        other = Unit.OUTPUT if design.unit is Unit.RATING else Unit.RATING
        yield f"unit: {other.value}", ranked(other, analysis.standardisation)
    yield "raw scores, not standardised", ranking_of(systems, analysis.systems.raw, is_standardised=False)


def _standardisations(study: Study) -> Iterator[tuple[str, Standardisation]]:
    ratings, own = study.ratings, study.analysis.standardisation
    design = study.settings.design(study.loaded.workers)
    standardised = set(design.standardised_kinds)
    if standardised == set(ANALYSED):  # else n is of other ratings
        n_rated = np.count_nonzero(~np.isnan(ratings.scores), axis=1)
        n = np.bincount(ratings.worker, weights=n_rated, minlength=ratings.n_workers)
        with np.errstate(divide="ignore", invalid="ignore"):
            yield "σ with ddof = 0", replace(own, sd=own.sd * np.sqrt((n - 1) / n))
    there = {Kind(kind) for kind in np.unique(ratings.kind)}
    for name, kinds in (
        ("μ, σ of all kinds", ANALYSED),
        ("μ, σ of ordinary items and repeats", (Kind.ORDINARY, Kind.REPEAT)),
        ("μ, σ of ordinary items", (Kind.ORDINARY,)),
    ):
        if there & set(kinds) not in (there & standardised, set()):
            yield name, standardise(ratings, reverse_negative(ratings.scores, design.is_negative), kinds)


def ranking_of(
    systems: Sequence[str], scores: Floats, n: Codes | None = None, *, is_standardised: bool = True
) -> Result:
    """Return the ranking of scores, (n_systems,), and of how many observations, (n_systems,), each is of."""
    counts = [0] * len(systems) if n is None else n.tolist()
    rows = [SystemResult(name, or_none(z), n=of) for name, z, of in zip(systems, scores, counts, strict=True)]
    return Result(Summary(rows, is_standardised=is_standardised))
