"""Worker quality control: one p-value a worker (METHOD §3)."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ranked_low import ranked_low
from analysis.stats.ranks import ranksum_less, sign_less, wilcoxon_less
from analysis.stats.ratings import Codes, Floats, Mask, Ratings
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST

# Of what is ranked: ratings mapped from another scale differ in the last bits where they were equal.
_DECIMALS = 9


class Verdict(IntEnum):
    """What the worker test says of a worker.

    `UNTESTED`: there is a test, the worker has nothing to compare, and does not count. `TRUSTED`: there is no test, and
    the worker counts.
    """

    FAILED = 0
    PASSED = 1
    UNTESTED = 2
    TRUSTED = 3


@dataclass(frozen=True)
class WorkerTests:
    """The worker test of every worker.

    Attributes
    ----------
    p_value : float64, (n_workers,)
        One-sided p that degraded items are not rated lower; 1 where all compared ratings are equal, NaN where the
        worker has nothing to compare, and for everybody under the preset `none`.
    n_compared : int64, (n_workers,)
        Number of twin pairs (paired presets) or of ratings of degraded items (unpaired); 0 under `none`.
    verdict : int8, (n_workers,)
        `Verdict` codes: passed iff p < α; trusted under `none`.
    """

    p_value: Floats
    n_compared: NDArray[np.int64]
    verdict: NDArray[np.int8]

    @property
    def is_passed(self) -> Mask:
        """Whether each worker passed."""
        return np.asarray(self.verdict == Verdict.PASSED)

    @property
    def counts(self) -> Mask:
        """Whether each worker's ratings count: those who passed, and everybody where there is no test."""
        return np.isin(self.verdict, (Verdict.PASSED, Verdict.TRUSTED))


class _Outcome(NamedTuple):
    p_value: Floats
    n_compared: NDArray[np.int64]


def run_worker_test(
    ratings: Ratings, scores: Floats, twin: NDArray[np.int64], *, preset: str, alpha: float, criteria: Mask
) -> WorkerTests:
    """Test whether each worker rates degraded items lower than ordinary ones.

    Parameters
    ----------
    scores : float64, (n_items, n_criteria)
        Scores after reversal of negative criteria (`scores.reverse_negative`); NaN where not rated.
    twin : int64, (n_items,)
        From `ratings.match_twins`.
    preset : {"paired-wilcoxon", "unpaired-ranksum", "paired-t", "sign", "none"}
    alpha : float
        Between 0 and 1; a worker passes iff p < alpha.
    criteria : bool, (n_criteria,)
        Which criteria enter the test; their ratings are pooled.

    Raises
    ------
    KeyError
        If there is no such preset.

    References
    ----------
    METHOD §3; Ji's thesis §3.2 (paired-wilcoxon); Ji et al. 2022 §4 (unpaired-ranksum); WMT (paired-t).
    """
    return _judge(PRESETS[preset](ratings, scores[:, criteria], twin), preset, alpha)


def run_paired_test(
    difference: Floats, worker: Codes, n_workers: int, *, preset: str, alpha: float, higher_is_better: bool = True
) -> WorkerTests:
    """Test whether each worker gives degraded outputs less than their twins, or more where more is worse.

    Parameters
    ----------
    difference : float64, (n_pairs,)
        Degraded − ordinary, of scores, levels, penalties of marked errors or counts; no NaN.
    worker : int, (n_pairs,)
        Codes 0 … n_workers − 1.
    preset : {"paired-wilcoxon", "paired-t", "sign"}
    alpha : float
        As of `run_worker_test`.
    higher_is_better : bool
        False for penalties and edits, of which a degraded output has more.

    Raises
    ------
    KeyError
        If there is no such preset of pairs.
    """
    sign = 1.0 if higher_is_better else -1.0
    return _judge(_of_pairs(preset, sign * difference, worker, n_workers), preset, alpha)


def run_ranking_test(
    judgement: Codes, rank: Floats, is_degraded: Mask, worker: Codes, n_workers: int, *, alpha: float
) -> WorkerTests:
    """Test whether each worker ranks degraded outputs below the others that are shown with them: `sign` of rankings.

    Parameters
    ----------
    judgement : int, (n_rows,)
        Codes of responses 0 … n_judgements − 1: a ranking, a choice of the best and the worst, or a vote.
    rank : float64, (n_rows,)
        Of one output in its response; the lower, the better, equal ones are ties.
    is_degraded : bool, (n_rows,)
    worker : int, (n_judgements,)
        Codes 0 … n_workers − 1.
    alpha : float
        As of `run_worker_test`.

    Returns
    -------
    WorkerTests
        `n_compared`: pairs of a degraded output and another one, ties included.

    Notes
    -----
    The pairs of one response depend on each other, so they are counted as `ranked_low` says. Of votes, where a response
    is one pair, this is the sign test.
    """
    return _judge(_Outcome(*ranked_low(judgement, rank, is_degraded, worker, n_workers)), "sign", alpha)


def _judge(outcome: "_Outcome", preset: str, alpha: float) -> WorkerTests:
    p, n_compared = outcome
    verdict = np.where(p < alpha, Verdict.PASSED, Verdict.FAILED).astype(np.int8)
    verdict[np.isnan(p)] = Verdict.TRUSTED if preset == NO_TEST else Verdict.UNTESTED
    return WorkerTests(p, n_compared, verdict)


def twin_differences(ratings: Ratings, scores: Floats, twin: NDArray[np.int64]) -> tuple[Floats, Codes]:
    """Return degraded − ordinary of every twin pair and criterion that has both ratings, and its worker.

    Parameters
    ----------
    scores : float64, (n_items, n_criteria)
        Scores after reversal, of the criteria that enter.
    twin : int64, (n_items,)
        From `ratings.match_twins`.

    Returns
    -------
    difference : float64, (n_pairs,)
        Points, −100 to 100; below zero where the degraded item was rated lower.
    worker : int, (n_pairs,)
    """
    degraded = np.flatnonzero((ratings.kind == Kind.DEGRADED) & (twin >= 0))
    difference = np.round(scores[degraded] - scores[twin[degraded]], _DECIMALS)
    worker = np.broadcast_to(ratings.worker[degraded, None], difference.shape)
    is_rated = ~np.isnan(difference)
    return difference[is_rated], worker[is_rated]


def _paired(preset: str, ratings: Ratings, scores: Floats, twin: NDArray[np.int64]) -> _Outcome:
    return _of_pairs(preset, *twin_differences(ratings, scores, twin), ratings.n_workers)


def _of_pairs(preset: str, difference: Floats, worker: Codes, n_workers: int) -> _Outcome:
    n = np.bincount(worker, minlength=n_workers)
    return _Outcome(_PAIRED[preset](difference, worker, n_workers), n)


def _t_less(difference: Floats, worker: Codes, n_workers: int) -> Floats:
    """Student's paired t, df = n − 1. A single pair cannot pass; equal differences below zero give p = 0."""
    from scipy.special import stdtr

    n = np.bincount(worker, minlength=n_workers)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(worker, weights=difference, minlength=n_workers) / n
        residual = difference - mean[worker]
        residual[np.abs(residual) < 1e-9] = 0.0  # equal differences have no spread, whatever their rounding
        variance = np.bincount(worker, weights=residual**2, minlength=n_workers) / (n - 1)
        p = np.asarray(stdtr(n - 1, mean / np.sqrt(variance / n)), dtype=np.float64)
    has_no_spread = (n > 1) & (variance == 0)
    p[has_no_spread] = np.where(mean[has_no_spread] < 0, 0.0, 1.0)
    p[n == 1] = 1.0
    p[n == 0] = np.nan
    return p


def _unpaired_ranksum(ratings: Ratings, scores: Floats, twin: NDArray[np.int64]) -> _Outcome:
    compared = np.flatnonzero((ratings.kind == Kind.DEGRADED) | (ratings.kind == Kind.ORDINARY))
    values = np.round(scores[compared], _DECIMALS)
    shape = values.shape
    is_degraded = np.broadcast_to((ratings.kind[compared] == Kind.DEGRADED)[:, None], shape)
    worker = np.broadcast_to(ratings.worker[compared, None], shape)
    is_rated = ~np.isnan(values)
    values, is_degraded, worker = values[is_rated], is_degraded[is_rated], worker[is_rated]
    p = ranksum_less(values, is_degraded, worker, ratings.n_workers)
    return _Outcome(p, np.bincount(worker[is_degraded], minlength=ratings.n_workers))


def _no_test(ratings: Ratings, scores: Floats, twin: NDArray[np.int64]) -> _Outcome:
    return _Outcome(np.full(ratings.n_workers, np.nan), np.zeros(ratings.n_workers, dtype=np.int64))


_PAIRED: dict[str, Callable[[Floats, Codes, int], Floats]] = {
    "paired-wilcoxon": wilcoxon_less,
    "paired-t": _t_less,
    "sign": sign_less,
}
PRESETS: dict[str, Callable[[Ratings, Floats, NDArray[np.int64]], _Outcome]] = {
    "paired-wilcoxon": partial(_paired, "paired-wilcoxon"),
    "unpaired-ranksum": _unpaired_ranksum,
    "paired-t": partial(_paired, "paired-t"),
    "sign": partial(_paired, "sign"),
    NO_TEST: _no_test,
}
