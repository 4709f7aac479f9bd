"""The likelihood of votes by Bradley and Terry's model with Davidson's ties, and with what else decides a vote.

`bradley_terry` fits strengths with it, `style_control` strengths and the style of outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats

MOST_STEPS = 100
_CONVERGED = 1e-11
LARGEST = 15.0
"""A parameter beyond this grows with every step: odds of millions to one."""
# Sums of workers and systems are kept sparse where they are more than this, and than so many a vote.
_FEW_CELLS, _MOSTLY_EMPTY = 100_000, 4
_VOTES_AT_ONCE = 500_000


class Outcome(IntEnum):
    """Who won a vote."""

    LEFT = 0
    RIGHT = 1
    TIE = 2


class Shares(NamedTuple):
    """The probabilities of a win of the first, a win of the second and a tie, and their normaliser, (n_cells,) each."""

    first: Floats
    second: Floats
    tie: Floats
    log_sum: Floats
    d: Floats

    @property
    def residuals(self) -> tuple[Floats, Floats]:
        """What a vote of each outcome adds to the score of θ_first − θ_second, and of δ, (n_cells, 3) each."""
        difference = np.array([0.5, -0.5, 0.0]) - (self.first - self.second)[:, None] / 2
        return difference, np.array([0.0, 0.0, 1.0]) - self.tie[:, None]


@dataclass(frozen=True)
class Fit:
    """Strengths at the maximum of a `Likelihood`.

    Attributes
    ----------
    strength : float64, (n_systems,)
        θ, natural log, centred at 0.
    log_tie : float
        δ; NaN if there is no tie.
    covariance : float64, (n_parameters, n_parameters)
        Inverse of the information: of θ, centred, then of δ, if there is one, and of β.
    log_likelihood : float
        Without the prior.
    """

    strength: Floats
    log_tie: float
    covariance: Floats
    log_likelihood: float

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return self.strength.size


@dataclass(frozen=True)
class Likelihood:
    """The likelihood of votes in cells, and its derivatives.

    With d = θ_i − θ_j + x′β, a win of i, a win of j and a tie have the probabilities e^{d/2} : e^{−d/2} : e^δ.

    Attributes
    ----------
    i, j : int, (n_cells,)
        The systems of each cell.
    votes : float64, (n_cells, 3)
        How many votes it has, by `Outcome` for i.
    x : float64, (n_cells, n_more)
        What else is on the side of i: 1 for its place on the left, differences of style.
    n : int
        Number of systems.
    has_ties : bool
        Whether there is a δ.
    prior : float
        So many wins, and as many losses, of each system against an imagined one of strength 0 are added.

    Notes
    -----
    Parameters are θ, (n,), then δ, if there is one, then β.
    """

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    votes: Floats
    x: Floats
    n: int
    has_ties: bool
    prior: float

    @property
    def _place(self) -> int:
        """Where β begins."""
        return self.n + self.has_ties

    def maximise(self) -> tuple[Floats, Floats, bool]:
        """Return the parameters where it is largest, by Newton's method, the inverse information there, of strengths
        less their mean, and whether the last step was nothing.

        Raises numpy.linalg.LinAlgError if the votes do not determine all parameters.
        """
        parameters, is_found = self._start(), False
        value = self.log_likelihood(parameters)
        for _ in range(MOST_STEPS):
            gradient, information = self._derivatives(parameters)
            step: Floats = np.linalg.solve(information, gradient).astype(np.float64)
            parameters, value = self._climb(parameters, value, step)
            if is_found := bool(np.abs(step).max() < _CONVERGED * max(1.0, float(np.abs(parameters).max()))):
                break
        _, information = self._derivatives(parameters)
        centre = np.eye(parameters.size)
        centre[: self.n, : self.n] -= 1 / self.n
        covariance: Floats = centre @ np.linalg.inv(information).astype(np.float64) @ centre
        return parameters, covariance, is_found

    def _start(self) -> Floats:
        """Return no differences, and ties as frequent as they are."""
        parameters = np.zeros(self._place + self.x.shape[1])
        if self.has_ties:
            won, tied = self.votes[:, :2].sum(), self.votes[:, 2].sum()
            parameters[self.n] = np.log(2 * tied / max(won, 1.0))
        return parameters

    def log_tie(self, parameters: Floats) -> float:
        """Return δ; NaN if there is none."""
        return float(parameters[self.n]) if self.has_ties else float("nan")

    def shares(self, parameters: Floats) -> Shares:
        """Return the probabilities of each cell's outcomes, the log of their sum before scaling, and d."""
        d = parameters[self.i] - parameters[self.j] + self.x @ parameters[self._place :]
        half = np.abs(d) / 2
        top = np.maximum(half, parameters[self.n]) if self.has_ties else half
        first, second = np.exp(d / 2 - top), np.exp(-d / 2 - top)
        tie = np.exp(parameters[self.n] - top) if self.has_ties else np.zeros_like(d)
        total = first + second + tie
        return Shares(first / total, second / total, tie / total, np.log(total) + top, d)

    def log_likelihood(self, parameters: Floats, *, with_prior: bool = True) -> float:
        """Return the log-likelihood, with what the prior adds."""
        shares = self.shares(parameters)
        first, second, tie = self.votes.T
        found = ((first - second) * shares.d / 2 - (first + second + tie) * shares.log_sum).sum()
        found += parameters[self.n] * tie.sum() if self.has_ties else 0.0
        if with_prior and self.prior:
            theta = parameters[: self.n]
            found -= self.prior * (np.logaddexp(0, theta) + np.logaddexp(0, -theta)).sum()
        return float(found)

    def _of_systems(self, values: Floats) -> Floats:
        """Return the sum over cells of each system as the first, less that as the second, (n,)."""
        first, second = (np.bincount(side, values, self.n) for side in (self.i, self.j))
        found: Floats = np.subtract(first, second, dtype=np.float64)
        return found

    def _derivatives(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and the information, made invertible by a term along (1, …, 1, 0, 0)."""
        n, i, j, x, at = self.n, self.i, self.j, self.x, self._place
        p, q, t, _, _ = self.shares(parameters)
        first, second, tie = self.votes.T
        total = first + second + tie
        r = (first - second) / 2 - total * (p - q) / 2
        v = total * (p + q - (p - q) ** 2) / 4
        c = -total * t * (p - q) / 2
        size = parameters.size
        gradient, information = np.zeros(size), np.zeros((size, size))
        gradient[:n] = self._of_systems(r)
        block = np.bincount(i * n + j, v, n * n).reshape(n, n)
        block = -block - block.T
        block[np.diag_indices(n)] = np.bincount(i, v, n) + np.bincount(j, v, n)
        information[:n, :n] = block
        if self.has_ties:
            gradient[n] = tie.sum() - (total * t).sum()
            information[n, n] = (total * t * (1 - t)).sum()
            information[n, :n] = information[:n, n] = self._of_systems(c)
            information[n, at:] = information[at:, n] = c @ x
        gradient[at:] = r @ x
        information[at:, at:] = x.T @ (v[:, None] * x)
        for k, column in enumerate(x.T, start=at):
            information[k, :n] = information[:n, k] = self._of_systems(v * column)
        if self.prior:
            share = 1 / (1 + np.exp(-parameters[:n]))
            gradient[:n] += self.prior * (1 - 2 * share)
            information[np.arange(n), np.arange(n)] += 2 * self.prior * share * (1 - share)
        else:
            information[:n, :n] += np.diag(block).mean() / n
        return gradient, information

    def _climb(self, parameters: Floats, value: float, step: Floats) -> tuple[Floats, float]:
        """Return the parameters after the step, or as small a part of it as makes the likelihood no smaller."""
        share = 1.0
        while True:
            moved = parameters + share * step
            found = self.log_likelihood(moved)
            if found >= value - 1e-9 * max(1.0, abs(value)) or share < 1e-9:
                return moved, found
            share /= 2


def sandwich(
    covariance: Floats,
    sides: tuple[Codes, Codes],
    residual: Floats,
    others: Sequence[Floats],
    worker: Codes,
    shape: tuple[int, int],
) -> Floats:
    """Return the covariance of the parameters where votes of one worker depend on each other.

    Parameters
    ----------
    covariance : float64, (n_parameters, n_parameters)
        The inverse information, of strengths centred.
    sides : two of int, (n_votes,)
        The systems on the left and on the right.
    residual : float64, (n_votes,)
        What a vote adds to the score of θ_left − θ_right.
    others : of float64, (n_votes,)
        What it adds to the score of each further parameter.
    worker : int, (n_votes,)
    shape : (int, int)
        The number of workers, all of whom have a vote, and of systems.

    Returns
    -------
    float64, (n_parameters, n_parameters)
        NaN with one worker.

    Notes
    -----
    The sandwich A (Σ_w s_w s_w′) A · G/(G − 1), A the inverse information, s_w the score of all votes of worker w and G
    the number of workers (Liang & Zeger 1986; Cameron & Miller 2015).
    """
    (left, right), (n_workers, n) = sides, shape
    sums_of_others = [np.bincount(worker, weights=values, minlength=n_workers).astype(np.float64) for values in others]
    if n_workers * n <= max(_FEW_CELLS, _MOSTLY_EMPTY * worker.size):
        place = worker.astype(np.int64) * n
        sums = np.bincount(place + left, weights=residual, minlength=n_workers * n)
        sums -= np.bincount(place + right, weights=residual, minlength=n_workers * n)
        scores = np.column_stack([sums.reshape(n_workers, n), *sums_of_others])
        meat = scores.T @ scores
    else:
        meat = _sparse_meat(left, right, residual, worker, shape, sums_of_others)
    correction = n_workers / (n_workers - 1) if n_workers > 1 else np.nan
    found: Floats = correction * (covariance @ meat @ covariance)
    return found


def _sparse_meat(
    left: Codes, right: Codes, residual: Floats, worker: Codes, shape: tuple[int, int], others: list[Floats]
) -> Floats:
    """Return the sums over workers of products of their scores, of some workers at a time."""
    from scipy.sparse import csr_array, hstack

    n_workers, n = shape
    meat = np.zeros((n + len(others),) * 2)
    n_at_once = -(-n_workers // (worker.size // _VOTES_AT_ONCE + 1))
    for first in range(0, n_workers, n_at_once):
        end = min(first + n_at_once, n_workers)
        rows = np.flatnonzero((worker >= first) & (worker < end))
        signed, own = residual[rows], worker[rows] - first
        places = np.tile(own, 2), np.r_[left[rows], right[rows]]
        scores = csr_array((np.r_[signed, -signed], places), shape=(end - first, n))
        scores = hstack([scores, *(csr_array(values[first:end, None]) for values in others)], format="csr")
        meat += (scores.T @ scores).toarray()
    return meat
