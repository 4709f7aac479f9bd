"""The procedures that compare systems where ratings share workers and sources, of which an analysis may choose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.stats.crossed import compare_crossed
from analysis.stats.inference import Comparison, TooLargeError, compare_clustered
from analysis.stats.permutation import compare_permuted
from analysis.stats.ratings import Codes, Floats

ALPHA = 0.05
"""Below this p, two systems differ."""
SEED = 0
MOST_BESIDE = 20_000
"""Of more responses only the chosen procedure is computed, beside the recommended one: others may take minutes."""
_MOST_PAIRS = 1_000_000  # Responses times systems squared
_TOO_MANY = (
    f"it is not computed beside another one for more than {MOST_BESIDE:,} responses, or {_MOST_PAIRS:,} by the square "
    "of the number of systems"
)
ScoreColumns = tuple[Floats, Codes, Codes, Codes]


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


def compare_by(procedure: Procedure, scores: ScoreColumns, n_systems: int, weight: Floats | None = None) -> Comparison:
    """Return the comparison of every two systems by a procedure.

    Parameters
    ----------
    scores : (float64, int, int, int), (n,) each
        Scores that count, and codes of their systems, workers and sources, as `inference.compare_clustered` takes them.
    weight : float64, (n,), optional
        What each score weighs. Only the clustered comparison uses weights.

    Returns
    -------
    Comparison
        Exchanges of labels are drawn with a fixed seed.

    Raises
    ------
    ValueError
        For the test of the studies, which compares no means: `significance.compare_systems`.
    TooLargeError
        If the procedure is not made for so many scores, and `MOST_…` of its module says how many.

    References
    ----------
    METHOD §5.
    """
    if procedure is Procedure.CLUSTERED:
        return compare_clustered(*scores, n_systems, weight=weight)
    if procedure is Procedure.STUDIES:
        raise ValueError("the test of the studies compares no means")
    if procedure is Procedure.CROSSED:
        return compare_crossed(*scores, n_systems)
    return compare_permuted(*scores, n_systems, np.random.default_rng(SEED))


def compare_beside(ways: Mapping[Procedure, Callable[[], Comparison]], n: int, n_systems: int) -> Procedures:
    """Return what procedures say beside the one that was chosen, where that takes seconds.

    Parameters
    ----------
    ways : {Procedure: callable}
        How each comparison is made; one may raise `TooLargeError`. The clustered one is made of any number.
    n, n_systems : int
        Number of scores or comparisons, and of systems.
    """
    found: dict[Procedure, Comparison] = {}
    refused: dict[Procedure, str] = {}
    is_small = n <= MOST_BESIDE and n * n_systems**2 <= _MOST_PAIRS
    for procedure, compare in ways.items():
        if not is_small and procedure is not Procedure.CLUSTERED:
            refused[procedure] = _TOO_MANY
            continue
        try:
            found[procedure] = compare()
        except TooLargeError as error:
            refused[procedure] = str(error)
    return Procedures(found, refused)
