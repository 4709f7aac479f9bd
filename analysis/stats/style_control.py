"""Strengths of systems with the style of outputs taken out: Bradley–Terry with Davidson's ties, and covariates."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from analysis.stats.davidson import LARGEST, Fit, Likelihood, Outcome, sandwich
from analysis.stats.ratings import Codes, Floats

_NOTHING_LEFT = 1e-9


class Use(StrEnum):
    """Whether a feature is in the model, or why not."""

    USED = "used"
    CONSTANT = "constant"
    CONFOUNDED = "confounded"


@dataclass(frozen=True)
class StyledStrengths(Fit):
    """Maximum likelihood of the model with style, and the attributes of `Fit`; strengths are of outputs of equal style.

    With d = θ_i − θ_j + z′β, a win of i, a win of j and a tie have the probabilities e^{d/2} : e^{−d/2} : e^δ.

    Attributes
    ----------
    coefficient : float64, (n_used,)
        β, natural log of the odds, for a difference of one `spread`.
    z : float64, (n_votes, n_used)
        Differences of style, left less right, by their spread.
    residual, tie_residual : float64, (n_votes,)
        What each vote adds to the score of θ_left − θ_right, and of δ.
    """

    coefficient: Floats
    z: Floats = field(repr=False)
    residual: Floats = field(repr=False)
    tie_residual: Floats = field(repr=False)


def relative_difference(style: Floats) -> Floats:
    """Return how much more the left output has than the right one, by what both have, (n_votes,), from −1 to 1.

    Parameters
    ----------
    style : float64, (n_votes, 2)
        A feature of the left and of the right output, such as their words: 0 or more; NaN where it is not known.

    Notes
    -----
    (a − b)/(a + b), and 0 where both have none, so that 20 words against 40 differ as 200 against 400 do. NaN where one
    of the two is not known.

    References
    ----------
    Li, Angelopoulos & Chiang 2024, Does style matter? Disentangling style and substance in Chatbot Arena.

    Examples
    --------
    >>> relative_difference(np.array([[40.0, 20.0], [0.0, 0.0], [0.0, 3.0]])).tolist()
    [0.3333333333333333, 0.0, -1.0]
    """
    a, b = style.T
    total = a + b
    found: Floats = np.divide(a - b, total, out=np.zeros(total.shape), where=total != 0)
    return found


def spread_of(difference: Floats) -> Floats:
    """Return the spread of each difference, (n_features,), by which they are divided; 0 of those that are all 0.

    `difference`: float64, (n_votes, n_features), without NaN. It is the root of the mean square: about 0, so that it
    does not matter which output stood on the left.
    """
    found: Floats = np.sqrt(np.mean(difference**2, axis=0)) if difference.size else np.zeros(difference.shape[1])
    return found


def find_use(left: Codes, right: Codes, difference: Floats, n_systems: int) -> list[Use]:
    """Return whether each feature can be separated from the systems and from the features before it.

    Parameters
    ----------
    left, right : int, (n_votes,)
    difference : float64, (n_votes, n_features)
        As of `relative_difference`, without NaN.

    Notes
    -----
    A feature is confounded where nothing of it is left within pairs of systems, beside the earlier features: outputs of
    one system that are all of one length say nothing of length. Constant: both outputs of every vote have as much.
    """
    sign = np.where(left < right, 1.0, -1.0)
    pair = np.minimum(left, right).astype(np.int64) * n_systems + np.maximum(left, right)
    _, pair = np.unique(pair, return_inverse=True)
    n_votes = np.maximum(np.bincount(pair), 1)
    found, basis = [], np.zeros((left.size, 0))
    for column in (difference * sign[:, None]).T:
        within = column - (np.bincount(pair, column) / n_votes)[pair]
        within = within - basis @ (basis.T @ within)
        rest, whole = float(within @ within), float(column @ column)
        if rest > _NOTHING_LEFT * whole:
            basis = np.column_stack([basis, within / np.sqrt(rest)])
        found.append(Use.CONSTANT if not whole else Use.USED if rest > _NOTHING_LEFT * whole else Use.CONFOUNDED)
    return found


def fit_with_style(
    left: Codes, right: Codes, outcome: Codes, difference: Floats, n_systems: int, *, prior: float = 0.0
) -> StyledStrengths | None:
    """Fit strengths and what style does to votes, by Newton's method.

    Parameters
    ----------
    left, right : int, (n_votes,)
        Systems from 0. All are connected and, without a prior, not separated (`find_connection`).
    outcome : int, (n_votes,)
        An `Outcome` each; not all are ties.
    difference : float64, (n_votes, n_used)
        Of features that `find_use` says are used; no NaN.
    prior : float
        So many wins, and as many losses, of each system against an imagined one of strength 0 are added.

    Returns
    -------
    StyledStrengths or None
        None where no finite one fits best: where votes follow style without exception, or there are too few.

    Notes
    -----
    Each difference is divided by its spread, and nothing is subtracted from it, as the authors of style control do:
    a mean would be an advantage of the left side. Swapping the sides of votes changes nothing, nor does the unit of a
    feature. β is not regularised. Dubois et al. predict preferences at a difference of 0, as strengths do here.

    References
    ----------
    Li, Angelopoulos & Chiang 2024, Does style matter? Disentangling style and substance in Chatbot Arena.
    Dubois, Galambosi, Liang & Hashimoto 2024, Length-controlled AlpacaEval (arXiv 2404.04475).
    Davidson 1970, On extending the Bradley–Terry model to accommodate ties (JASA 65).

    Examples
    --------
    Of 40 votes on two systems the longer output wins 30, whoever wrote it.

    >>> left, right = np.zeros(40, int), np.ones(40, int)
    >>> is_longer, wins = np.arange(40) % 2 == 0, np.arange(40) // 2 % 4 < 3
    >>> difference = np.where(is_longer, 0.5, -0.5)[:, None]
    >>> fit = fit_with_style(left, right, np.where(is_longer == wins, 0, 1), difference, 2)
    >>> [round(abs(float(each)), 6) for each in (fit.strength[0], fit.coefficient[0] - np.log(3))]
    [0.0, 0.0]
    """
    z = difference / spread_of(difference)
    votes = np.eye(len(Outcome))[outcome]
    has_ties = bool((outcome == Outcome.TIE).any())
    likelihood = Likelihood(left.astype(np.intp), right.astype(np.intp), votes, z, n_systems, has_ties, prior)
    try:
        parameters, covariance, is_found = likelihood.maximise()
    except np.linalg.LinAlgError:
        return None
    coefficient = parameters[n_systems + has_ties :]
    if not is_found or np.abs(parameters).max() > LARGEST:
        return None
    residual, tie_residual = (each[votes > 0] for each in likelihood.shares(parameters).residuals)
    return StyledStrengths(
        strength=parameters[:n_systems] - parameters[:n_systems].mean(),
        log_tie=likelihood.log_tie(parameters),
        covariance=covariance,
        log_likelihood=likelihood.log_likelihood(parameters, with_prior=False),
        coefficient=coefficient,
        z=z,
        residual=residual,
        tie_residual=tie_residual,
    )


def robust_covariance(fit: StyledStrengths, left: Codes, right: Codes, worker: Codes, n_workers: int) -> Floats:
    """Return the covariance of the parameters where votes of one worker depend on each other, as `fit.covariance`.

    `left`, `right`, `worker`: int, (n_votes,); all of `n_workers` have a vote. NaN with one worker. It is the sandwich
    of `davidson.sandwich`.
    """
    others = [fit.tie_residual] if not np.isnan(fit.log_tie) else []
    others += list((fit.residual[:, None] * fit.z).T)
    return sandwich(fit.covariance, (left, right), fit.residual, others, worker, (n_workers, fit.n_systems))
