"""Strengths of systems from votes between two of them: Bradley and Terry's model with Davidson's ties."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from analysis.stats.davidson import LARGEST, Fit, Likelihood, Outcome, sandwich
from analysis.stats.ratings import Codes, Floats, Mask

_SAME_ORDER = 1e-9


@dataclass(frozen=True)
class BradleyTerry(Fit):
    """Maximum likelihood of the model, and the attributes of `Fit`.

    With d = θ_i − θ_j (+ γ for the one on the left), a win of i, a win of j and a tie have the probabilities
    e^{d/2} : e^{−d/2} : e^δ.

    Attributes
    ----------
    log_left : float
        γ; NaN unless it was asked for.
    residual, tie_residual : float64, (n_systems, n_systems, 3)
        What a vote of each left and right system and outcome adds to the score of θ_left − θ_right, and of δ.
    """

    log_left: float
    residual: Floats = field(repr=False)
    tie_residual: Floats = field(repr=False)


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
    x = np.ones((i.size, int(has_left)))
    likelihood = Likelihood(i, j, cells, x, n, bool(cells[:, Outcome.TIE].any()), prior)
    parameters, covariance, _ = likelihood.maximise()
    strength = parameters[:n] - parameters[:n].mean()
    i, j = np.indices((n, n)).reshape(2, -1)
    every_pair = replace(likelihood, i=i, j=j, x=np.ones((i.size, int(has_left))))
    residual, tie_residual = every_pair.shares(np.r_[strength, parameters[n:]]).residuals
    return BradleyTerry(
        strength=strength,
        log_tie=likelihood.log_tie(parameters),
        covariance=covariance,
        log_likelihood=likelihood.log_likelihood(parameters, with_prior=False),
        log_left=float(parameters[-1]) if has_left else float("nan"),
        residual=residual.reshape(n, n, len(Outcome)),
        tie_residual=tie_residual.reshape(n, n, len(Outcome)),
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
    return found if abs(found.log_left) < LARGEST else None


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
    """
    cell = _cells(left, right, outcome, fit.n_systems)
    residual = fit.residual.ravel()[cell]
    others = [fit.tie_residual.ravel()[cell]] if not np.isnan(fit.log_tie) else []
    others += [residual] if not np.isnan(fit.log_left) else []
    return sandwich(fit.covariance, (left, right), residual, others, worker, (n_workers, fit.n_systems))


def robust_variance_of_left(
    fit: BradleyTerry, left: Codes, right: Codes, outcome: Codes, worker: Codes, n_workers: int
) -> float:
    """Return the variance of the advantage of the left side alone, the last one of `robust_covariance`.

    Parameters are as of that function. With A, s_w and G of `sandwich`, and c the last column of A: Σ_w (c′s_w)² ·
    G/(G − 1). NaN with one worker.
    """
    n, of_left = fit.n_systems, fit.covariance[-1]
    says = fit.residual * ((of_left[:n, None] - of_left[:n] + of_left[-1])[:, :, None])
    if not np.isnan(fit.log_tie):
        says = says + fit.tie_residual * of_left[n]
    sums = np.bincount(worker, says.ravel()[_cells(left, right, outcome, n)], n_workers)
    return float(sums @ sums) * n_workers / (n_workers - 1) if n_workers > 1 else float("nan")


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
