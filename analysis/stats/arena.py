"""Ratings of systems that are updated vote by vote, as in a running arena: Elo and Glicko-2."""

from dataclasses import dataclass

import numpy as np

from analysis.stats.ratings import Codes, Floats

_SCALE = 173.7178
_CONVERGED = 1e-6
_MOST_STEPS = 200


@dataclass(frozen=True)
class Glicko2:
    """Ratings, their deviations and volatilities, (n_systems,) each; deviations are on the scale of ratings."""

    rating: Floats
    deviation: Floats
    volatility: Floats


def elo(
    left: Codes,
    right: Codes,
    score: Floats,
    n_systems: int,
    *,
    k: float = 4.0,
    start: float = 1000.0,
    scale: float = 400.0,
) -> Floats:
    """Return Elo ratings after all votes, in their order.

    Parameters
    ----------
    left, right : int, (n_votes,)
    score : float64, (n_votes,)
        1 if the left one won, 0 if the right one, ½ for a tie.
    k : float
        The most that a vote changes a rating.
    start, scale : float
        The first rating; a difference of `scale` are odds of 10 to 1.

    Returns
    -------
    float64, (n_systems,)

    References
    ----------
    Elo 1978, The rating of chess players; k = 4, start 1000 and scale 400 as in Chatbot Arena (Chiang et al. 2024).

    Examples
    --------
    >>> elo(np.array([0]), np.array([1]), np.array([1.0]), 2, k=32).tolist()
    [1016.0, 984.0]
    """
    ratings = [start] * n_systems
    for a, b, won in zip(left.tolist(), right.tolist(), score.tolist(), strict=True):
        change = k * (won - 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / scale)))
        ratings[a] += change
        ratings[b] -= change
    return np.array(ratings)


def glicko2(left: Codes, right: Codes, score: Floats, n_systems: int, *, period: int, tau: float = 0.5) -> Glicko2:
    """Return Glicko-2 ratings after all votes, in their order; all start with 1500, deviation 350, volatility 0.06.

    Parameters
    ----------
    left, right, score, n_systems
        As in `elo`.
    period : int
        Votes of one rating period.
    tau : float
        How fast volatility may change; the smaller, the slower.

    References
    ----------
    Glickman 2013, Example of the Glicko-2 system.
    """
    found = Glicko2(np.full(n_systems, 1500.0), np.full(n_systems, 350.0), np.full(n_systems, 0.06))
    for first in range(0, left.size, period):
        now = slice(first, first + period)
        player, opponent = np.r_[left[now], right[now]], np.r_[right[now], left[now]]
        found = glicko2_period(found, player, opponent, np.r_[score[now], 1 - score[now]], tau)
    return found


def glicko2_period(before: Glicko2, player: Codes, opponent: Codes, score: Floats, tau: float = 0.5) -> Glicko2:
    """Return Glicko-2 ratings after one rating period.

    Parameters
    ----------
    player, opponent : int, (n_games,)
        A game updates its player alone: one that is to update both is given twice.
    score : float64, (n_games,)
        Of the player: 1, ½ or 0.
    tau : float
        As in `glicko2`.

    References
    ----------
    Glickman 2013, Example of the Glicko-2 system, steps 2 to 8.

    Examples
    --------
    The example of the reference: one player, three opponents.

    >>> before = Glicko2(np.array([1500.0, 1400, 1550, 1700]), np.array([200.0, 30, 100, 300]), np.full(4, 0.06))
    >>> after = glicko2_period(before, np.zeros(3, int), np.array([1, 2, 3]), np.array([1.0, 0, 0]))
    >>> round(float(after.rating[0]), 2), round(float(after.deviation[0]), 2), round(float(after.volatility[0]), 5)
    (1464.05, 151.52, 0.06)
    """
    n = before.rating.size
    mu, phi, sigma = (before.rating - 1500) / _SCALE, before.deviation / _SCALE, before.volatility
    g = 1 / np.sqrt(1 + 3 * phi[opponent] ** 2 / np.pi**2)
    expected = 1 / (1 + np.exp(-g * (mu[player] - mu[opponent])))
    has_played = np.bincount(player, minlength=n) > 0
    information = np.bincount(player, g**2 * expected * (1 - expected), n)
    gain: Floats = np.bincount(player, g * (score - expected), n).astype(np.float64)
    v = np.where(has_played, 1 / np.where(has_played, information, 1.0), np.inf)
    volatility = sigma.copy()
    volatility[has_played] = _volatility(sigma[has_played], phi[has_played], v[has_played], gain[has_played], tau)
    spread = phi**2 + volatility**2
    variance = 1 / (1 / spread + np.where(has_played, information, 0.0))
    return Glicko2(1500 + _SCALE * (mu + variance * gain), _SCALE * np.sqrt(variance), volatility)


def _volatility(sigma: Floats, phi: Floats, v: Floats, gain: Floats, tau: float) -> Floats:
    """Return the new volatilities: step 5, the root of f by the Illinois method, for all players at once."""
    delta = v * gain
    a = np.log(sigma**2)

    def f(x: Floats) -> Floats:
        e = np.exp(x)
        total = phi**2 + v + e
        found: Floats = e * (delta**2 - total) / (2 * total**2) - (x - a) / tau**2
        return found

    low, excess = a.copy(), delta**2 - phi**2 - v
    high = np.where(excess > 0, np.log(np.where(excess > 0, excess, 1.0)), a - tau)
    for k in range(1, _MOST_STEPS):
        is_below = (excess <= 0) & (f(high) < 0)
        if not is_below.any():
            break
        high = np.where(is_below, a - (k + 1) * tau, high)
    f_low, f_high = f(low), f(high)
    for _ in range(_MOST_STEPS):
        is_open = np.abs(high - low) > _CONVERGED
        if not is_open.any():
            break
        slope = np.where(f_high == f_low, 1.0, f_high - f_low)
        middle = low + (low - high) * f_low / slope
        f_middle = f(middle)
        crosses = f_middle * f_high <= 0
        low, f_low = (
            np.where(is_open, np.where(crosses, high, low), low),
            np.where(is_open, np.where(crosses, f_high, f_low / 2), f_low),
        )
        high, f_high = np.where(is_open, middle, high), np.where(is_open, f_middle, f_high)
    found: Floats = np.exp(low / 2)
    return found
