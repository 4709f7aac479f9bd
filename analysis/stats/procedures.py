"""The procedures that compare systems where ratings share workers and sources, of which an analysis may choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.stats.crossed import compare_crossed
from analysis.stats.inference import Comparison, TooLargeError
from analysis.stats.permutation import compare_permuted
from analysis.stats.pipeline import Analysis, Design, compare_recommended, counted_ratings
from analysis.stats.ratings import Floats, Ratings

ALPHA = 0.05
"""Below this p, two systems differ."""
MOST_BESIDE = 20_000
"""Of more ratings only the chosen procedure is computed, beside the recommended one: others may take minutes."""
_MOST_PAIRS = 1_000_000  # Ratings times systems squared
_SEED = 0


class Procedure(StrEnum):
    """By what systems are said to differ; the test of the studies, which corrects nothing, is always beside it."""

    CLUSTERED = "clustered"
    CROSSED = "crossed"
    PERMUTED = "permuted"
    STUDIES = "studies"


@dataclass(frozen=True)
class Procedures:
    """What each procedure that could be computed says, and why the others could not."""

    found: dict[Procedure, Comparison]
    refused: dict[Procedure, str]


def compare_by(
    procedure: Procedure, ratings: Ratings, design: Design, analysis: Analysis, weight: Floats | None = None
) -> Comparison:
    """Return the comparison of every two systems by a procedure, on overall z.

    Parameters
    ----------
    procedure : Procedure
    ratings, design, analysis, weight
        As in `pipeline.compare_recommended`. Only the clustered comparison uses weights.

    Returns
    -------
    Comparison
        Of single ratings, whatever the unit of the design is. Exchanges of labels are drawn with a fixed seed.

    Raises
    ------
    ValueError
        For the test of the studies, which compares no means: it is `Analysis.tests`.
    TooLargeError
        If the procedure is not made for so many ratings, and `MOST_…` of its module says how many.

    References
    ----------
    METHOD §5.
    """
    if procedure is Procedure.CLUSTERED:
        return compare_recommended(ratings, design, analysis, weight)
    if procedure is Procedure.STUDIES:
        raise ValueError("the test of the studies is part of every analysis")
    columns = counted_ratings(ratings, design, analysis).columns()
    if procedure is Procedure.CROSSED:
        return compare_crossed(*columns, ratings.n_systems)
    return compare_permuted(*columns, ratings.n_systems, np.random.default_rng(_SEED))


def compare_beside(
    known: Mapping[Procedure, Comparison],
    ratings: Ratings,
    design: Design,
    analysis: Analysis,
    weight: Floats | None = None,
) -> Procedures:
    """Return what procedures say beside those that are known: the recommended one, others where that takes seconds.

    Parameters
    ----------
    known : {Procedure: Comparison}
    ratings, design, analysis, weight
        As in `compare_by`.

    Returns
    -------
    Procedures
    """
    found = dict(known)
    refused: dict[Procedure, str] = {}
    n = ratings.n_items
    is_small = n <= MOST_BESIDE and n * ratings.n_systems**2 <= _MOST_PAIRS
    for procedure in Procedure:
        if procedure in known or procedure is Procedure.STUDIES:
            continue
        if procedure is Procedure.CLUSTERED or is_small:
            try:
                found[procedure] = compare_by(procedure, ratings, design, analysis, weight)
            except TooLargeError as error:
                refused[procedure] = str(error)
    return Procedures(found, refused)
