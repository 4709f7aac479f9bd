"""Strengths of systems from votes between two of them: Bradley and Terry's model with Davidson's ties."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats, Mask

_MOST_STEPS = 100
_CONVERGED = 1e-11
_SAME_ORDER = 1e-9
# An advantage beyond this grows with every step: odds of millions to one.
_LARGEST = 15.0
# More cells of workers × systems than this are kept sparse.
_DENSE_CELLS = 20_000_000


class Outcome(IntEnum):
    """Who won a vote."""

    LEFT = 0
    RIGHT = 1
    TIE = 2


@dataclass(frozen=True)
class BradleyTerry:
    """Maximum likelihood of the model.

    With d = θ_i − θ_j (+ γ for the one on the left), a win of i, a win of j and a tie have the probabilities
    e^{d/2} : e^{−d/2} : e^δ.

    Attributes
    ----------
    strength : float64, (n_systems,)
        θ, natural log, centred at 0.
    log_tie : float
        δ; NaN if there is no tie.
    log_left : float
        γ; NaN unless it was asked for.
    covariance : float64, (n_parameters, n_parameters)
        Inverse of the information: of θ, centred, then of δ and γ if they are there.
    residual, tie_residual : float64, (n_systems, n_systems, 3)
        What a vote of each left and right system and outcome adds to the score of θ_left − θ_right, and of δ.
    log_likelihood : float
        Without the prior.
    """

    strength: Floats
    log_tie: float
    log_left: float
    covariance: Floats
    residual: Floats = field(repr=False)
    tie_residual: Floats = field(repr=False)
    log_likelihood: float

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return self.strength.size


@dataclass(frozen=True)
class Connection:
    """Which systems can be compared.

    Attributes
    ----------
    group : int, (n_systems,)
        Systems of one group are connected by votes; group 0 has the most votes.
    is_separated : bool
        Whether no finite strengths fit best: some systems of group 0 never lost (or never won) against the others of
        it, or its ties and wins fit steps of strengths without exception (`is_stepped`).
    is_stepped : bool
        Whether the systems of group 0 have levels such that every win is over one at least a step below, and every tie
        between two at most a step apart: then steps, and with them the odds of a tie, can grow for ever.
    block : int, (n_systems,)
        Within a block of group 0 everyone lost to, or tied with, everyone by some chain.
    """

    group: Codes
    is_separated: bool
    is_stepped: bool
    block: Codes


def count_votes(left: Codes, right: Codes, outcome: Codes, n_systems: int) -> NDArray[np.int64]:
    """Return the number of votes of each left and right system and outcome, (n_systems, n_systems, 3).

    `left`, `right` (systems from 0) and `outcome` (`Outcome`) are int, (n_votes,).
    """
    cell = _cells(left, right, outcome, n_systems)
    counts = np.bincount(cell, minlength=n_systems * n_systems * len(Outcome))
    return counts.reshape(n_systems, n_systems, len(Outcome))


def win_matrix(counts: NDArray[np.integer] | Floats) -> tuple[Floats, Floats]:
    """Return how often each row won against, and tied with, each column, (n_systems, n_systems) each."""
    wins = counts[:, :, Outcome.LEFT] + counts[:, :, Outcome.RIGHT].T
    ties = counts[:, :, Outcome.TIE] + counts[:, :, Outcome.TIE].T
    return wins.astype(np.float64), ties.astype(np.float64)


def find_connection(counts: NDArray[np.integer]) -> Connection:
    """Return which systems are connected by votes, and whether finite strengths fit best.

    `counts` are (n_systems, n_systems, 3), as from `count_votes`.

    References
    ----------
    Ford 1957, Solution of a ranking problem from binary comparisons: finite strengths exist if and only if in every
    partition of the systems some system of the second set won against one of the first. A tie counts both ways. With
    Davidson's ties there is one more direction without an end, that of `is_stepped`.
    """
    wins, ties = win_matrix(counts)
    total = wins + wins.T + ties
    group = _connected_parts(total > 0)
    n_votes = np.bincount(group, weights=total.sum(axis=1))
    rank = np.empty(n_votes.size, np.int64)
    rank[np.argsort(-n_votes, kind="stable")] = np.arange(n_votes.size)
    group = rank[group]
    block = _connected_parts(wins + ties > 0)
    members = group == 0
    is_stepped = _is_stepped(wins[np.ix_(members, members)], ties[np.ix_(members, members)])
    return Connection(group, is_stepped or bool(np.unique(block[members]).size > 1), is_stepped, block)


def _connected_parts(leads: Mask) -> Codes:
    """Return the strongly connected part of each system, (n,), numbered by their first systems.

    By squares of the matrix of what leads where, which for the number of systems of a study takes a tenth of the time
    that the graph of a sparse matrix does.
    """
    if not leads.size:  # of no systems there is no first one
        return np.zeros(0, np.int64)
    reached, n_reached = leads | np.eye(leads.shape[0], dtype=bool), -1
    while np.count_nonzero(reached) > n_reached:
        n_reached = int(np.count_nonzero(reached))
        reached = reached.astype(np.float32) @ reached.astype(np.float32) > 0
    return np.unique(np.argmax(reached & reached.T, axis=1), return_inverse=True)[1]


def _is_stepped(wins: Floats, ties: Floats) -> bool:
    """Return whether levels u exist with u_i ≥ u_j + 1 for every win of i, and |u_i − u_j| ≤ 1 for every tie.

    They exist unless some cycle of these bounds on differences is negative, as every cycle of wins is.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import NegativeCycleError, bellman_ford

    n = wins.shape[0]
    if not ties.any() or np.unique(_connected_parts(wins > 0)).size < n:
        return False
    bounds = np.zeros((n + 1, n + 1))
    bounds[:n, :n] = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, 0.0))
    bounds[n, :n] = 1.0  # from where all are reached
    try:
        bellman_ford(csr_array(bounds), indices=n)
    except NegativeCycleError:
        return False
    return True


def fit_bradley_terry(
    counts: NDArray[np.integer] | Floats, *, has_left: bool = False, prior: float = 0.0
) -> BradleyTerry:
    """Fit strengths to counts of votes, by Newton's method.

    Parameters
    ----------
    counts : (n_systems, n_systems, 3)
        Votes of each left and right system and outcome, as from `count_votes`; fractions are allowed. All systems are
        connected and, without a prior, not separated (`find_connection`), and not all votes are ties.
    has_left : bool
        Whether the one on the left may have an advantage γ (Davidson & Beaver 1977).
    prior : float
        So many wins, and as many losses, of each system against an imagined one of strength 0 are added.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the votes do not determine all parameters.

    References
    ----------
    Davidson 1970, On extending the Bradley–Terry model to accommodate ties (JASA 65); with π = e^θ, ν = e^δ.

    Examples
    --------
    >>> counts = np.zeros((2, 2, 3))
    >>> counts[0, 1] = 30, 10, 0
    >>> fit = fit_bradley_terry(counts)
    >>> bool(np.isclose(fit.strength[0] - fit.strength[1], np.log(3)))
    True
    """
    n = counts.shape[0]
    votes = counts.astype(np.float64)
    if not has_left:
        wins, ties = win_matrix(votes)
        votes = np.triu(np.ones((n, n)), 1)[:, :, None] * np.stack([wins, wins.T, ties], axis=2)
    i, j = np.nonzero(votes.sum(axis=2))
    cells = votes[i, j]
    has_ties = bool(cells[:, Outcome.TIE].any())
    fitting = _Fitting(i, j, cells, n, has_ties, has_left, prior)
    parameters = fitting.start()
    value = fitting.log_likelihood(parameters)
    for _ in range(_MOST_STEPS):
        gradient, information = fitting.derivatives(parameters)
        step: Floats = np.linalg.solve(information, gradient).astype(np.float64)
        parameters, value = fitting.climb(parameters, value, step)
        if np.abs(step).max() < _CONVERGED * max(1.0, float(np.abs(parameters).max())):
            break
    _, information = fitting.derivatives(parameters)
    strength = parameters[:n] - parameters[:n].mean()
    log_tie, log_left = fitting.named(parameters)
    residual, tie_residual = _residuals(strength, log_tie, log_left)
    return BradleyTerry(
        strength=strength,
        log_tie=log_tie,
        log_left=log_left,
        covariance=_centred(np.linalg.inv(information).astype(np.float64), n),
        residual=residual,
        tie_residual=tie_residual,
        log_likelihood=fitting.log_likelihood(parameters, with_prior=False),
    )


def fit_with_left(counts: NDArray[np.integer] | Floats, prior: float = 0.0) -> BradleyTerry | None:
    """Return the fit with an advantage of the left side, as `fit_bradley_terry`.

    None where no finite one fits best: where every pair of systems is always shown in one order, the side cannot be
    separated from the system, nor can it where the left one won every vote.
    """
    shown = counts.sum(axis=2).astype(np.float64)
    laplacian = np.diag(shown.sum(axis=0) + shown.sum(axis=1)) - shown - shown.T
    balance = shown.sum(axis=1) - shown.sum(axis=0)
    explained = balance @ np.linalg.lstsq(laplacian, balance)[0]
    if shown.sum() - explained < _SAME_ORDER * shown.sum():
        return None
    try:
        found = fit_bradley_terry(counts, has_left=True, prior=prior)
    except np.linalg.LinAlgError:
        return None
    return found if abs(found.log_left) < _LARGEST else None


def robust_covariance(
    fit: BradleyTerry, left: Codes, right: Codes, outcome: Codes, worker: Codes, n_workers: int
) -> Floats:
    """Return the covariance of the parameters where votes of one worker depend on each other.

    Parameters
    ----------
    left, right, outcome, worker : int, (n_votes,)
    n_workers : int
        All of whom have a vote.

    Returns
    -------
    float64, (n_parameters, n_parameters)
        Ordered as `fit.covariance`; NaN with one worker.

    Notes
    -----
    The sandwich A (Σ_w s_w s_w′) A · G/(G − 1), A the inverse information, s_w the score of all votes of worker w and G
    the number of workers (Liang & Zeger 1986; Cameron & Miller 2015).
    """
    n = fit.n_systems
    cell = _cells(left, right, outcome, n)
    residual = fit.residual.ravel()[cell]
    more = [fit.tie_residual.ravel()[cell]] if not np.isnan(fit.log_tie) else []
    more += [residual] if not np.isnan(fit.log_left) else []
    others = [np.bincount(worker, weights=values, minlength=n_workers).astype(np.float64) for values in more]
    if n_workers * n <= _DENSE_CELLS:
        place = worker.astype(np.int64) * n
        sums = np.bincount(place + left, weights=residual, minlength=n_workers * n)
        sums -= np.bincount(place + right, weights=residual, minlength=n_workers * n)
        scores = np.column_stack([sums.reshape(n_workers, n), *others])
        meat = scores.T @ scores
    else:
        meat = _sparse_meat(left, right, residual, worker, (n_workers, n), others)
    correction = n_workers / (n_workers - 1) if n_workers > 1 else np.nan
    found: Floats = correction * (fit.covariance @ meat @ fit.covariance)
    return found


def _cells(left: Codes, right: Codes, outcome: Codes, n_systems: int) -> NDArray[np.int64]:
    """Return the place of each vote in the flattened array (n_systems, n_systems, 3)."""
    return (left.astype(np.int64) * n_systems + right) * len(Outcome) + outcome


def sign_test(wins: Floats) -> Floats:
    """Return the two-sided exact sign test of every two systems, ties left out; NaN where nobody won.

    `wins` (n_systems, n_systems) is how often each row won against each column, as from `win_matrix`.

    Examples
    --------
    >>> round(float(sign_test(np.array([[0.0, 8.0], [2.0, 0.0]]))[0, 1]), 6)
    0.109375
    """
    from scipy.special import bdtr

    total = wins + wins.T
    p = np.minimum(1.0, 2 * bdtr(np.minimum(wins, wins.T), total.astype(np.int64), 0.5))
    found: Floats = np.where(total > 0, p, np.nan)
    return found


@dataclass(frozen=True)
class _Fitting:
    """The likelihood of votes by pair, (n_cells,), and its derivatives; parameters are θ, then δ, then γ."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    votes: Floats
    n: int
    has_ties: bool
    has_left: bool
    prior: float

    def start(self) -> Floats:
        """Return no differences, and ties as frequent as they are."""
        parameters = np.zeros(self.n + self.has_ties + self.has_left)
        if self.has_ties:
            won, tied = self.votes[:, :2].sum(), self.votes[:, 2].sum()
            parameters[self.n] = np.log(2 * tied / max(won, 1.0))
        return parameters

    def named(self, parameters: Floats) -> tuple[float, float]:
        """Return δ and γ, NaN for the one that is not there."""
        log_tie = float(parameters[self.n]) if self.has_ties else float("nan")
        return log_tie, float(parameters[-1]) if self.has_left else float("nan")

    def _shares(self, parameters: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return P(i wins), P(j wins), P(tie), the log of their sum before scaling, and d."""
        log_tie, log_left = self.named(parameters)
        d = parameters[self.i] - parameters[self.j] + (log_left if self.has_left else 0.0)
        half = np.abs(d) / 2
        top = np.maximum(half, log_tie) if self.has_ties else half
        first, second = np.exp(d / 2 - top), np.exp(-d / 2 - top)
        tie = np.exp(log_tie - top) if self.has_ties else np.zeros_like(d)
        total = first + second + tie
        return first / total, second / total, tie / total, np.log(total) + top, d

    def log_likelihood(self, parameters: Floats, *, with_prior: bool = True) -> float:
        """Return the log-likelihood, with what the prior adds."""
        _, _, _, log_sum, d = self._shares(parameters)
        first, second, tie = self.votes.T
        found = ((first - second) * d / 2 - (first + second + tie) * log_sum).sum()
        found += parameters[self.n] * tie.sum() if self.has_ties else 0.0
        if with_prior and self.prior:
            theta = parameters[: self.n]
            found -= self.prior * (np.logaddexp(0, theta) + np.logaddexp(0, -theta)).sum()
        return float(found)

    def derivatives(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and the information, made invertible by a term along (1, …, 1, 0, 0)."""
        n, i, j = self.n, self.i, self.j
        p, q, t, _, _ = self._shares(parameters)
        first, second, tie = self.votes.T
        total = first + second + tie
        r = (first - second) / 2 - total * (p - q) / 2
        v = total * (p + q - (p - q) ** 2) / 4
        c = -total * t * (p - q) / 2
        size = parameters.size
        gradient, information = np.zeros(size), np.zeros((size, size))
        gradient[:n] = np.bincount(i, r, n) - np.bincount(j, r, n)
        block = np.bincount(i * n + j, v, n * n).reshape(n, n)
        block = -block - block.T
        block[np.diag_indices(n)] = np.bincount(i, v, n) + np.bincount(j, v, n)
        information[:n, :n] = block
        if self.has_ties:
            gradient[n] = tie.sum() - (total * t).sum()
            information[n, n] = (total * t * (1 - t)).sum()
            information[n, :n] = information[:n, n] = np.bincount(i, c, n) - np.bincount(j, c, n)
        if self.has_left:
            gradient[-1] = r.sum()
            information[-1, -1] = v.sum()
            information[-1, :n] = information[:n, -1] = np.bincount(i, v, n) - np.bincount(j, v, n)
        if self.has_ties and self.has_left:
            information[-1, n] = information[n, -1] = c.sum()
        if self.prior:
            share = 1 / (1 + np.exp(-parameters[:n]))
            gradient[:n] += self.prior * (1 - 2 * share)
            information[np.arange(n), np.arange(n)] += 2 * self.prior * share * (1 - share)
        else:
            information[:n, :n] += np.diag(block).mean() / n
        return gradient, information

    def climb(self, parameters: Floats, value: float, step: Floats) -> tuple[Floats, float]:
        """Return the parameters after the step, or as small a part of it as makes the likelihood no smaller."""
        share = 1.0
        while True:
            moved = parameters + share * step
            found = self.log_likelihood(moved)
            if found >= value - 1e-9 * max(1.0, abs(value)) or share < 1e-9:
                return moved, found
            share /= 2


def _centred(inverse: Floats, n: int) -> Floats:
    """Return the covariance of strengths less their mean, and of what stands beside them."""
    centre = np.eye(inverse.shape[0])
    centre[:n, :n] -= 1 / n
    found: Floats = centre @ inverse @ centre
    return found


def _residuals(strength: Floats, log_tie: float, log_left: float) -> tuple[Floats, Floats]:
    """Return outcome less expectation of every ordered pair, for d and for δ."""
    d = strength[:, None] - strength[None, :] + (0.0 if np.isnan(log_left) else log_left)
    delta = -np.inf if np.isnan(log_tie) else log_tie
    top = np.maximum(np.abs(d) / 2, delta)
    share = np.exp(np.stack([d / 2, -d / 2, np.full_like(d, delta)], axis=2) - top[:, :, None])
    share /= share.sum(axis=2, keepdims=True)
    expected = (share[:, :, Outcome.LEFT] - share[:, :, Outcome.RIGHT]) / 2
    residual = np.array([0.5, -0.5, 0.0]) - expected[:, :, None]
    tie_residual = np.array([0.0, 0.0, 1.0]) - share[:, :, Outcome.TIE, None]
    return residual, tie_residual


def _sparse_meat(
    left: Codes, right: Codes, residual: Floats, worker: Codes, shape: tuple[int, int], others: list[Floats]
) -> Floats:
    from scipy.sparse import csr_array, hstack

    signed, column = np.r_[residual, -residual], np.r_[left, right]
    scores = csr_array((signed, (np.r_[worker, worker], column)), shape=shape)
    scores = hstack([scores, *(csr_array(values[:, None]) for values in others)], format="csr")
    found: Floats = (scores.T @ scores).toarray()
    return found
