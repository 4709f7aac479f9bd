"""Krippendorff's α: do any number of raters agree, whatever is a difference between two ratings (METHOD §6)?"""

from collections.abc import Callable
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import count_codes, number_values
from analysis.stats.ratings import Codes, Floats, Mask

# Scores mapped from another scale differ in the last bits where they were equal.
_DECIMALS = 9
_BLOCK_CELLS = 1 << 22
# δ² of two arrays of codes of categories, which may be broadcast.
_Difference = Callable[[Codes, Codes], Floats]


class Level(StrEnum):
    """Level of measurement: which differences between two ratings count, and how much."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


def krippendorff_alpha(values: Floats, item: Codes, level: Level) -> float:
    """Return Krippendorff's α of ratings of the same items by any number of workers.

    Parameters
    ----------
    values : float64, (n,)
        One rating each; NaN is left out. For the ratio level 0 or more.
    item : int, (n,)
        Codes from 0. Items with one rating are left out; the ratings of an item are by different workers.

    Returns
    -------
    float
        1 for full agreement, 0 for chance, down to −1. NaN where expected disagreement is zero: fewer than two
        ratings that can be paired, or all of these equal; for the ratio level also where a rating is negative.

    Notes
    -----
    α = 1 − D_o/D_e. With δ² the squared difference of two ratings, D_o is its mean over pairs of one item, each item
    weighted by its number of ratings m (the pairs by 1/(m − 1)), and D_e its mean over all pairs. δ² is 0 or 1
    (nominal), (c − k)² (interval), ((c − k)/(c + k))² (ratio), and for the ordinal level the interval's of mid-ranks
    among all paired ratings. Time is O(n log n), for the ratio level plus the square of the number of different values.

    References
    ----------
    METHOD §6; Krippendorff 2011, Computing Krippendorff's alpha-reliability.

    Examples
    --------
    Section B of the reference: two observers, twelve articles.

    >>> values = np.array([0, 0, 1, 1, 3, 2, 2, 2, 4, 3, 3, 0, 1, 0, 1, 1, 1, 2, 2, 2, 4, 3, 3, 3], float)
    >>> round(krippendorff_alpha(values, np.tile(np.arange(12), 2), Level.NOMINAL), 3)
    0.692
    """
    values, item = _some(values, item, ~np.isnan(values))
    size = np.bincount(item)
    values, item = _some(values, item, size[item] > 1)
    values = np.round(values, _DECIMALS)
    if not values.size or np.ptp(values) == 0:
        return float("nan")
    if level == Level.INTERVAL:
        return _alpha_of_squares(values, item, size)
    categories, code, n_of = number_values(values)
    if level == Level.ORDINAL:
        return _alpha_of_squares((np.cumsum(n_of) - n_of / 2)[code], item, size)
    if level == Level.RATIO:
        if categories[0] < 0:
            return float("nan")
        return _alpha_of(code, item, lambda first, second: _ratio(categories[first], categories[second]))
    cell, n_in_cell = count_codes(item * np.int64(categories.size) + code, size.size * categories.size)
    item_of = cell // categories.size
    counts = n_in_cell.astype(np.float64)
    n = values.size
    observed = (counts * (size[item_of] - counts) / (size[item_of] - 1)).sum()
    expected = float(n) ** 2 - (n_of.astype(np.float64) ** 2).sum()
    return float(1 - (n - 1) * observed / expected)


def alpha_of_sets(code: Codes, item: Codes, sets: NDArray[np.bool_]) -> float:
    """Return Krippendorff's α of sets that workers chose for the same items, by the MASI distance.

    Parameters
    ----------
    code : int, (n,)
        The row of `sets` that each choice is.
    item : int, (n,)
        Codes from 0. Items with one choice are left out.
    sets : bool, (n_sets, n_options)
        Which options each different set has.

    Returns
    -------
    float
        As `krippendorff_alpha`: NaN where fewer than two choices can be paired, or all of these are the same.

    Notes
    -----
    In place of δ² of the notes there is the distance 1 − J·M. J is the size of the intersection over that of the
    union; M is 1 for equal sets, 2/3 if one is within the other, 1/3 if they share some options, 0 if none. Two empty
    sets are equal; an empty set and another one are at distance 1. With one option in each set this is the nominal
    level. Time grows with the square of the number of different sets.

    References
    ----------
    Krippendorff 2011; Passonneau 2006, Measuring agreement on set-valued items (MASI) for semantic and pragmatic
    annotation.

    Examples
    --------
    Two items: {a, b} twice, then {a} and {a, b}, at distance 1 − 1/2 · 2/3 = 2/3. D_o is 1/2 · 2/3 = 1/3; of the six
    pairs of all four choices three are at 2/3, so D_e is 1/3, too.

    >>> sets = np.array([[True, True], [True, False]])
    >>> round(alpha_of_sets(np.array([0, 0, 1, 0]), np.array([0, 0, 1, 1]), sets), 9)
    0.0
    """
    is_paired = np.bincount(item)[item] > 1
    found, code = np.unique(code[is_paired], return_inverse=True)
    packed = np.packbits(sets[found], axis=1)
    size = sets[found].sum(axis=1)
    return _alpha_of(code, item[is_paired].astype(np.int64), lambda first, second: _masi(packed, size, first, second))


def _masi(packed: NDArray[np.uint8], size: NDArray[np.int64], first: Codes, second: Codes) -> Floats:
    """Return the MASI distance of sets of bits, `packed` (n_sets, n_bytes), whose numbers of options are `size`."""
    shared = np.zeros(np.broadcast(first, second).shape, np.int64)
    for byte in packed.T:
        shared += np.bitwise_count(byte[first] & byte[second])
    union = size[first] + size[second] - shared
    less = np.minimum(size[first], size[second])
    weight = np.select([shared == union, shared == less, shared > 0], [1.0, 2 / 3, 1 / 3], 0.0)
    return np.asarray(1 - weight * np.where(union > 0, shared / np.maximum(union, 1), 1.0))


def _some(values: Floats, item: Codes, rows: Mask) -> tuple[Floats, Codes]:
    """Return values and items, (n,), of some `rows`, bool, (n,); without a copy if these are all."""
    return (values, item) if rows.all() else (values[rows], item[rows])


def _alpha_of_squares(values: Floats, item: Codes, size: NDArray[np.int64]) -> float:
    """Return α for δ² = (c − k)²: the sum of δ² over all pairs of m values is 2m times their squared deviations."""
    values = values - values.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(item, weights=values, minlength=size.size) / size
    within = ((values - mean[item]) ** 2 * (size / np.maximum(size - 1, 1))[item]).sum()
    n = values.size
    return float(1 - (n - 1) / n * within / (values**2).sum())


def _ratio(first: Floats, second: Floats) -> Floats:
    total = first + second
    return np.divide(first - second, total, out=np.zeros_like(total), where=total > 0) ** 2


def _alpha_of(code: Codes, item: Codes, difference: _Difference) -> float:
    """Return α of categories, codes without gaps from 0, of items that have two or more each; NaN if all are one."""
    if not code.size or code.max() == 0:
        return float("nan")
    n_of = np.bincount(code).astype(np.float64)
    size = np.bincount(item)
    cell, counts = count_codes(item * np.int64(n_of.size) + code, size.size * n_of.size)
    item_of, code_of = np.divmod(cell, n_of.size)
    weight = 1 / (size[item_of] - 1)
    observed = _within(code_of, counts.astype(np.float64), item_of, weight, difference)
    return float(1 - (code.size - 1) * observed / _between(n_of, difference))


def _within(code: Codes, counts: Floats, item: Codes, weight: Floats, difference: _Difference) -> float:
    """Return the sum of δ² over ordered pairs of different categories of an item, which are sorted by item."""
    total = 0.0
    first = np.arange(item.size)
    lag = 0
    while first.size:
        lag += 1
        first = first[first + lag < item.size]
        first = first[item[first] == item[first + lag]]
        second = first + lag
        distance = difference(code[first], code[second])
        total += float((distance * counts[first] * counts[second] * weight[first]).sum())
    return 2 * total


def _between(counts: Floats, difference: _Difference) -> float:
    """Return the sum of δ² over ordered pairs of all ratings, `counts` of each category."""
    code = np.arange(counts.size)
    rows = max(1, _BLOCK_CELLS // counts.size)
    return float(
        sum(
            counts[k : k + rows] @ (difference(code[k : k + rows, None], code[None, :]) @ counts)
            for k in range(0, counts.size, rows)
        )
    )
