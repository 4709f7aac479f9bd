"""Which systems differ by comparisons of outputs, when the labels of two systems are exchanged (METHOD §5)."""

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bradley_terry import count_votes, find_connection, fit_bradley_terry
from analysis.stats.davidson import Outcome
from analysis.stats.inference import Comparison
from analysis.stats.permutation import PairEffects, blocks_of, exchange_labels
from analysis.stats.ratings import Codes, Floats

_VALUE = np.array([0.5, -0.5, 0.0])  # of the first system, by `Outcome`


def compare_preferences(
    first: Codes,
    second: Codes,
    outcome: Codes,
    worker: Codes,
    source: Codes,
    n_systems: int,
    rng: np.random.Generator,
    n_flips: int | None = None,
) -> Comparison:
    """Compare every two systems by exchanging their labels in all comparisons of a source.

    Parameters
    ----------
    first, second : int, (n,)
        The systems of each comparison, codes 0 … n_systems − 1.
    outcome : int, (n,)
        An `Outcome`; left: the first won.
    worker, source : int, (n,)
        Who compared, and outputs of which source; −1 for a source that is not known. If none is known, or there is one
        for all, labels are exchanged within workers.
    n_flips : int, optional
        How many random exchanges, as in `compare_permuted`.

    Returns
    -------
    Comparison
        `difference` is one step from equal strengths towards the likeliest difference of log strengths: its sign says
        which system is better. `df` is NaN. `n_shared` counts comparisons of the two with each other.

    Raises
    ------
    TooLargeError
        As `compare_permuted`.

    Notes
    -----
    *Null hypothesis* of a pair j, k: within each source, which of the two bears which system's name is as good as
    chance; other systems may be whatever they are.

    The strengths of the others, and one for both of j and k, are fitted to all comparisons but those of j with k
    (Bradley–Terry with Davidson's ties), which an exchange leaves as they are. A comparison with one of the two adds
    half of what is left of its outcome to the score of the difference of strengths, positive for j; a comparison of
    both with each other adds ½ for the winner. An exchange within a source turns the signs of all that the source adds,
    so all pairs of a ranking, and all that a worker said of a source, turn together. Standard error, p and exact
    enumeration are those of `compare_permuted`, with what the comparisons would add if the difference were 1: their
    information. Where no finite strengths fit, one win and one loss against an imagined system are added for each.

    References
    ----------
    METHOD §5; Davidson 1970, JASA 65; Rao 1948 (score tests); Chung & Romano 2013, Annals of Statistics 41.

    Examples
    --------
    The first of two systems wins on four of five sources; 6 of 32 exchanges are as great, and 6 as small.

    >>> code = np.arange(5)
    >>> outcome = np.array([0, 0, 0, 0, 1])
    >>> found = compare_preferences(0 * code, 0 * code + 1, outcome, code, code, 2, np.random.default_rng(0))
    >>> float(found.p_value[0, 1]), float(found.holm[0, 1]), float(found.difference[0, 1])
    (0.1875, 0.375, 1.2)
    """
    counts = count_votes(first, second, outcome, n_systems)
    block = blocks_of(worker, source)
    met = counts.sum(axis=2)

    def effects_of(i: int, j: int) -> PairEffects | None:
        residual, information = _if_equal(counts, i, j)
        # Half of the derivative by the strength of either: with each other, both halves
        share = [(codes == i) * 0.5 - (codes == j) * 0.5 for codes in (first, second)]
        lever = share[0] - share[1]
        rows = np.flatnonzero((lever != 0) & (block >= 0))
        at = first[rows], second[rows]
        effect = lever[rows] * residual[(*at, outcome[rows])]
        return _by_block(effect, lever[rows] ** 2 * information[at], worker[rows], block[rows])

    return exchange_labels(effects_of, first.size, (met + met.T).astype(np.int64), rng, n_flips)


def _by_block(effect: Floats, design: Floats, worker: Codes, block: Codes) -> PairEffects | None:
    from scipy.sparse import csr_array

    _, who = np.unique(worker, return_inverse=True)
    blocks, where = np.unique(block, return_inverse=True)
    if blocks.size < 2:
        return None
    shape = (int(who.max()) + 1, blocks.size)
    return PairEffects(csr_array((effect, (who, where)), shape=shape), csr_array((design, (who, where)), shape=shape))


def _if_equal(counts: NDArray[np.int64], i: int, j: int) -> tuple[Floats, Floats]:
    """Return what is left of each outcome, (n_systems, n_systems, 3), and its variance, if i and j are equally strong.

    Of systems that are not compared with either, directly or through others, it is as if all were equal.
    """
    n = counts.shape[0]
    merged = counts.copy()
    merged[i] += merged[j]
    merged[:, i] += merged[:, j]
    merged[j] = merged[:, j] = merged[i, i] = 0
    group = find_connection(merged).group
    members = np.flatnonzero(group == group[i])
    among = np.ix_(members, members)
    residual, information = np.broadcast_to(_VALUE, (n, n, 3)).copy(), np.full((n, n), 0.25)
    if merged[among][:, :, : Outcome.TIE].any():
        prior = float(find_connection(merged[among]).is_separated)
        fit = fit_bradley_terry(merged[among], prior=prior)
        residual[among] = fit.residual
        # The chance of a win or a loss, each ½ from none, less the square of what is expected
        decided = fit.tie_residual[:, :, Outcome.TIE]
        information[among] = decided / 4 - (0.5 - fit.residual[:, :, Outcome.LEFT]) ** 2
        residual[j], residual[:, j] = residual[i], residual[:, i]
        information[j], information[:, j] = information[i], information[:, i]
    return residual, information
