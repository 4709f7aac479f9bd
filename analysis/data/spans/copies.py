"""Copies among annotations: degraded items and repeats, and the ordinary items that they are copies of."""

import numpy as np
from numpy.typing import NDArray

from analysis.data.coding import combined
from analysis.data.responses import find_twins
from analysis.data.spans.rows import SpanData
from analysis.stats.codes import dense_ranks
from analysis.stats.quality import WorkerTests, run_worker_test
from analysis.stats.ratings import Floats, Ratings


def match_twins(data: SpanData) -> NDArray[np.int64]:
    """Return for each annotation of a degraded item or a repeat its twin, (n_annotations,), −1 for others.

    That is the first annotation of an ordinary item of the same assignment, segment and system.
    """
    if not data.kind.any():  # all are ordinary, as mostly
        return np.full(data.n_annotations, -1)
    n_assignments = int(data.assignment.max(initial=-1)) + 1
    own = [(data.segment, len(data.segments)), (data.system, len(data.systems)), (data.assignment, n_assignments)]
    return find_twins(*dense_ranks(*combined(own)), data.kind)


def run_test(data: SpanData, penalty: Floats, *, preset: str, alpha: float) -> WorkerTests:
    """Return the worker test of each rater: whether errors of degraded items weigh more than those of their twins.

    `penalty`: float64, (n_annotations,), what the errors of each annotation weigh.
    """
    ratings, is_tested = as_ratings(data, -penalty), np.array([True])
    return run_worker_test(ratings, ratings.scores, match_twins(data), preset=preset, alpha=alpha, criteria=is_tested)


def as_ratings(data: SpanData, score: Floats) -> Ratings:
    """Return the annotations as items on one criterion; `score`: float64, (n_annotations,)."""
    return Ratings(
        scores=score[:, None],
        worker=data.rater,
        system=data.system,
        assignment=data.assignment,
        source=data.segment,
        kind=data.kind,
        n_workers=len(data.raters),
        n_systems=len(data.systems),
    )
