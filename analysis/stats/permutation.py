"""Which systems differ when the labels of two systems are exchanged within sources (METHOD §5)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.stats.inference import Comparison, TooLargeError, connect, count_shared
from analysis.stats.ratings import Codes, Floats
from analysis.stats.significance import adjust

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LEAST_FLIPS, FLIPS_PER_PAIR = 1999, 80
"""So many random exchanges: the least p is at most a quarter of what Holm's correction asks of the first pair."""
MOST_WORK = 2e10
"""Of exchanges times ratings of pairs: minutes."""
_MOST_EXACT = 11  # Blocks: 2,048 ways to exchange them
_BLOCK_CELLS = 1 << 22
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PairEffects:
    """The responses about two systems in the blocks within which their labels are exchanged.

    `effect` is what each worker's responses in a block add to the difference, `design` what they would if it were 1,
    (n_workers, n_blocks); columns are blocks.
    """

    effect: "csr_array"
    design: "csr_array"


def compare_permuted(
    z: Floats,
    system: Codes,
    worker: Codes,
    source: Codes,
    n_systems: int,
    rng: np.random.Generator,
    n_flips: int | None = None,
) -> Comparison:
    """Compare every two systems by exchanging their labels within sources.

    Parameters
    ----------
    z : float64, (n,)
        Standardised scores of single ratings; NaN is left out.
    system : int, (n,)
        Codes 0 … n_systems − 1.
    worker, source : int, (n,)
        Who rated, and of which source the output is; −1 for a source that is not known. If none is known, or there is
        one for all, labels are exchanged within workers.
    n_flips : int, optional
        How many random exchanges; `LEAST_FLIPS`, or `FLIPS_PER_PAIR` of each pair if that is more. Where fewer than
        twelve sources have both systems, every exchange is made once instead.

    Returns
    -------
    Comparison
        `df` is NaN: there is none. All NaN where no more than one source has both systems, or nothing varies.

    Raises
    ------
    TooLargeError
        If exchanges times ratings of pairs are more than `MOST_WORK`.

    Notes
    -----
    *Null hypothesis* of a pair: within each source (or worker), which of the two groups of ratings bears which system's
    name is as good as chance, and other systems may be whatever they are. Only sources with both systems count.

    The difference is that of least squares with an effect of each source, over the ratings of the two systems:
    d = Σ h z/Σ h², h = n_k/(n_j + n_k) for a rating of system j, −n_j/(n_j + n_k) for one of k, n being the numbers of
    ratings of the source. An exchange within a source turns the signs of h. The statistic is t = d/s, s² = V_worker +
    V_source − V_both of residuals as in the recommended comparison: p is the share of exchanges (the one that was seen
    is one of them) whose t is as great or greater. Exact under the null hypothesis. Where workers like some systems
    more, ratings of different sources depend on each other, and labels are not exchangeable; divided by a standard
    error that knows of it, t keeps its level as the numbers of workers and sources grow.

    The interval reaches as far to each side as the 95th percentile of |t| over exchanges times s, so that it leaves out
    0 where two-sided p ≤ .05.

    References
    ----------
    METHOD §5; Fisher 1935; Chung & Romano 2013, Annals of Statistics 41 (studentised permutation); Phipson & Smyth 2010
    (p never 0); Canay, Romano & Shaikh 2017, Econometrica 85 (changes of sign).

    Examples
    --------
    One worker's ratings of each of four sources; 1 of 16 exchanges has as great a difference.

    >>> system, source = np.indices((2, 4)).reshape(2, -1)
    >>> z = np.array([1.0, 2.0, 3.0, 2.5, 0.0, 0.5, 1.0, 2.0])
    >>> found = compare_permuted(z, system, source, source, 2, np.random.default_rng(0))
    >>> float(found.p_value[0, 1]), float(found.difference[0, 1])
    (0.0625, 1.25)
    """
    is_number = ~np.isnan(z)
    z, system, worker, source = z[is_number], system[is_number], worker[is_number], source[is_number]
    block = blocks_of(worker, source)
    by_system = [np.flatnonzero((system == code) & (block >= 0)) for code in range(n_systems)]
    n_shared = count_shared(system, source, n_systems)
    return exchange_labels(
        lambda i, j: _pair(z, worker, block, by_system[i], by_system[j]), z.size, n_shared, rng, n_flips
    )


def blocks_of(worker: Codes, source: Codes) -> Codes:
    """Return within what labels are exchanged, (n,): sources, or workers if none is known or there is one for all."""
    return source if source.size and (source >= 0).any() and source.min() != source.max() else worker


def exchange_labels(
    effects_of: Callable[[int, int], PairEffects | None],
    n: int,
    n_shared: NDArray[np.int64],
    rng: np.random.Generator,
    n_flips: int | None = None,
) -> Comparison:
    """Compare every two systems by exchanging their labels, as `compare_permuted` says.

    Parameters
    ----------
    effects_of : callable
        What the responses say of two systems, by their codes; None with fewer than two blocks.
    n : int
        Number of responses.
    n_shared : int64, (n_systems, n_systems)
        As in `Comparison`.
    n_flips : int, optional
        As in `compare_permuted`.

    Raises
    ------
    TooLargeError
        As `compare_permuted`.
    """
    shape, n_systems = n_shared.shape, n_shared.shape[0]
    difference, error, p_value, two_sided, reach = (np.full(shape, np.nan) for _ in range(5))
    first, second = np.triu_indices(n_systems, 1)
    n_flips = n_flips or max(LEAST_FLIPS, FLIPS_PER_PAIR * first.size - 1)
    if (work := float(n_flips) * n * max(n_systems - 1, 1)) > MOST_WORK:
        raise TooLargeError(
            f"exchanges of labels are for up to {MOST_WORK:,.0f} exchanged ratings; here they would be {work:,.0f}"
        )
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        pair = effects_of(i, j)
        if pair is None:
            continue
        found = _flip(pair, n_flips, rng)
        difference[i, j], error[i, j], p_value[i, j], p_value[j, i], two_sided[i, j], reach[i, j] = found
    lower = np.tril_indices(n_systems, -1)
    difference[lower] = -difference.T[lower]
    for each in (error, reach):
        each[lower] = each.T[lower]
    holm = adjust(two_sided, "holm")
    holm[lower] = holm.T[lower]
    low, high = difference - reach, difference + reach
    return Comparison(difference, error, np.full(shape, np.nan), p_value, holm, low, high, n_shared, connect(n_shared))


def _pair(z: Floats, worker: Codes, block: Codes, of_first: Codes, of_second: Codes) -> PairEffects | None:
    """Return what the ratings of two systems say of their difference; None with fewer than two blocks of both."""
    from scipy.sparse import csr_array

    shared = np.intersect1d(block[of_first], block[of_second])
    rows = np.concatenate([of_first, of_second])
    is_first = np.arange(rows.size) < of_first.size
    place = np.searchsorted(shared, block[rows])
    is_in = shared[np.minimum(place, shared.size - 1)] == block[rows] if shared.size > 1 else np.zeros(rows.size, bool)
    if not is_in.any():
        return None
    rows, is_first, place = rows[is_in], is_first[is_in], place[is_in]
    n = np.bincount(place)
    n_first = np.bincount(place, weights=is_first)
    lever = np.where(is_first, (n - n_first)[place], -n_first[place]) / n[place]
    deviation = z[rows] - (np.bincount(place, weights=z[rows]) / n)[place]
    code = np.unique(worker[rows], return_inverse=True)[1]
    shape = (int(code.max()) + 1, shared.size)
    return PairEffects(
        csr_array((lever * deviation, (code, place)), shape=shape),
        csr_array((lever**2, (code, place)), shape=shape),
    )


def _flip(pair: PairEffects, n_flips: int, rng: np.random.Generator) -> tuple[float, float, float, float, float, float]:
    """Return difference, standard error, p of either direction, two-sided p, and the reach of the 95 % interval."""
    n_blocks = pair.effect.shape[1]
    if n_blocks <= _MOST_EXACT:
        bits = (np.arange(2**n_blocks)[:, None] >> np.arange(n_blocks)) & 1
        difference, error = _statistics(pair, 1 - 2 * bits.astype(np.float64))
    else:
        step = max(1, _BLOCK_CELLS // max(pair.effect.shape))
        parts = [_statistics(pair, np.ones((1, n_blocks)))]
        for begin in range(0, n_flips, step):
            parts.append(_statistics(pair, rng.choice([-1.0, 1.0], (min(step, n_flips - begin), n_blocks))))
        difference, error = (np.concatenate(each) for each in zip(*parts, strict=True))
    if not error[0] > 0:
        return float(difference[0]), np.nan, np.nan, np.nan, np.nan, np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, difference / error, np.sign(difference) * np.inf)
    t[np.isnan(t)] = 0
    seen = t[0]
    slack = _ROUNDING * max(abs(seen), 1)
    above, below = float((t >= seen - slack).mean()), float((t <= seen + slack).mean())
    outside = float((np.abs(t) >= abs(seen) - slack).mean())
    # The least value that no more than 5 % exceed or equal: 0 is left out just where p is at most .05
    ordered = np.sort(np.abs(t))[::-1]
    reach = float(ordered[int(0.05 * t.size)]) * float(error[0])
    return float(difference[0]), float(error[0]), above, below, outside, reach if np.isfinite(reach) else np.nan


def _statistics(pair: PairEffects, signs: Floats) -> tuple[Floats, Floats]:
    """Return the difference and its standard error after each exchange, (n_flips,); signs (n_flips, n_blocks)."""
    effect, design = pair.effect, pair.design
    of_block, design_of_block = np.asarray(effect.sum(axis=0)), np.asarray(design.sum(axis=0))
    n_workers, n_blocks = effect.shape
    difference = signs @ of_block / design_of_block.sum()
    cross = np.asarray((effect * design).sum(axis=0))
    both = float((effect.data**2).sum()) - 2 * difference * (signs @ cross)
    both += difference**2 * float((design.data**2).sum())
    by_block = (of_block**2).sum() - 2 * difference * (signs @ (of_block * design_of_block))
    by_block += difference**2 * (design_of_block**2).sum()
    residual = (effect @ signs.T).T - difference[:, None] * np.asarray(design.sum(axis=1))
    by_worker = (residual**2).sum(axis=1)
    variance = by_worker * _inflated(n_workers) + by_block * _inflated(n_blocks) - both * _inflated(effect.nnz)
    variance = np.where(variance > 0, variance, np.maximum(by_worker, by_block))
    least = (_ROUNDING * np.abs(effect.data).max()) ** 2
    error: Floats = np.where(variance > least, np.sqrt(np.maximum(variance, 0)), 0) / design_of_block.sum()
    return difference, error


def _inflated(n: int) -> float:
    return n / (n - 1) if n > 1 else 1.0
