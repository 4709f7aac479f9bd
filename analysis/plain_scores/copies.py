"""Copies among plain scores: degraded items and repeats, and the ordinary items that they are copies of."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis.plain_scores.loading import PlainScores
from analysis.ratings.coding import combined
from analysis.stats.codes import dense_ranks
from analysis.stats.quality import WorkerTests, run_worker_test
from analysis.stats.ratings import Codes, Floats, Mask, Ratings
from campaigns.design.composition import Kind


def match_twins(data: PlainScores) -> NDArray[np.int64]:
    """Return for each score of a degraded item or a repeat the row of its twin, (n,).

    That is the first score of an ordinary item of the same assignment, source and system, on the same criterion. −1 for
    others, and where no twin was rated or sources are not known.

    References
    ----------
    METHOD §1 (quality-control items).
    """
    if not any(data.sources) and not any(data.documents):
        return np.full(data.score.size, -1, np.int64)
    key, n_keys = dense_ranks(
        *combined(
            [
                (data.assignment, int(data.assignment.max(initial=-1)) + 1),
                (data.document, len(data.documents)),
                (data.source, len(data.sources)),
                (data.system, len(data.systems)),
                (data.criterion, len(data.criteria)),
            ]
        )
    )
    return find_twins(key, n_keys, data.kind)


def find_twins(key: Codes, n_keys: int, kind: Codes) -> NDArray[np.int64]:
    """Return for each row of a degraded item or a repeat the first row of an ordinary item with the same key, else −1.

    `key`, `kind`: int, (n,), codes below `n_keys`, and of `Kind`.
    """
    ordinary = np.flatnonzero(kind == Kind.ORDINARY)
    first = np.full(n_keys, -1, np.int64)
    first[key[ordinary[::-1]]] = ordinary[::-1]
    copies = np.flatnonzero((kind == Kind.DEGRADED) | (kind == Kind.REPEAT))
    twin = np.full(kind.size, -1, np.int64)
    twin[copies] = first[key[copies]]
    return twin


def run_test(
    data: PlainScores, score: Floats, twin: NDArray[np.int64], is_tested: Mask, *, preset: str, alpha: float
) -> WorkerTests:
    """Return the worker test of each worker, by the scores on the criteria that are tested.

    `score`: float64, (n,), those of negative criteria reversed. `is_tested`: bool, (n_criteria,).
    """
    tested = np.where(is_tested[data.criterion], score, np.nan)[:, None]
    ratings = Ratings(
        scores=tested,
        worker=data.worker,
        system=data.system,
        assignment=data.assignment,
        source=data.segment,
        kind=data.kind,
        n_workers=len(data.workers),
        n_systems=len(data.systems),
    )
    return run_worker_test(ratings, tested, twin, preset=preset, alpha=alpha, criteria=np.array([True]))


def average_repeats(data: PlainScores, score: Floats, twin: NDArray[np.int64]) -> tuple[Floats, Mask]:
    """Return the scores with those of repeats averaged into their twins, and which rows are left, (n,) each.

    A repeat without a twin stands for itself; degraded items are left out.
    """
    is_repeat = (data.kind == Kind.REPEAT) & (twin >= 0)
    total, n = score.copy(), np.ones(score.size)
    np.add.at(total, twin[is_repeat], score[is_repeat])
    np.add.at(n, twin[is_repeat], 1)
    return total / n, (data.kind != Kind.DEGRADED) & ~is_repeat


def take(data: PlainScores, rows: Mask) -> PlainScores:
    """Return some of the scores; labels stay as they are."""
    names = ("worker", "system", "source", "document", "criterion", "assignment", "kind", "score")
    return replace(data, **{name: getattr(data, name)[rows] for name in names})
