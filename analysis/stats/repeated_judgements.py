"""Do those who judge the same agree: workers with each other, and a worker who judges again with what they said?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.agreement import fleiss_kappa
from analysis.stats.krippendorff import Level, alpha_of_sets, krippendorff_alpha
from analysis.stats.ratings import Codes, Floats


@dataclass(frozen=True)
class Agreement:
    """How far judgements of the same items agree.

    `n_items` have two judgements or more, and `n_judgements` altogether. `same`: of two judgements of an item, the
    share that are equal, in the mean over items, 0–1; of votes `opposite` is the share that name each another winner.
    `kappa` is Fleiss' κ, `alpha` Krippendorff's α, `alpha_of_sets` the same by the MASI distance of chosen sets. NaN
    where undefined; `opposite` also where judgements are no votes, `alpha_of_sets` where they are no sets.
    """

    n_items: int
    n_judgements: int
    same: float
    opposite: float
    kappa: float
    alpha: float
    alpha_of_sets: float = float("nan")


def judgement_agreement(
    value: Floats,
    item: Codes,
    *,
    is_vote: bool = False,
    level: Level = Level.ORDINAL,
    sets: NDArray[np.bool_] | None = None,
) -> Agreement:
    """Return how far judgements of the same items agree.

    Parameters
    ----------
    value : float64, (n,)
        One judgement each, such as a level. Of votes 1 where the first of two systems won, −1 where the second one did,
        0 for a tie; which of the two is called the first is the same in all votes of an item.
    item : int, (n,)
        Codes from 0. Items with one judgement are left out.
    is_vote : bool
        Whether values are votes.
    level : Level
        Of measurement, for α: values of the nominal level are codes of categories.
    sets : bool, (n_sets, n_options), optional
        Which options each category is, where judgements are sets of options; `value` are then rows of it.

    Notes
    -----
    Which of two systems is called the first is arbitrary, and must not change how much agreement is expected by chance.
    So each vote counts in both directions: κ and α are those of all items and of their mirror images, −`value`. For κ
    the expected agreement is then t² + (1 − t)²/2, t being the share of ties in the mean
    over items.

    References
    ----------
    Fleiss 1971; Krippendorff 2011; Passonneau 2006 (`analysis.stats.agreement`, `analysis.stats.krippendorff`).

    Examples
    --------
    Two comparisons: two workers prefer the first system and one finds a tie; two workers disagree.

    >>> found = judgement_agreement(np.array([1.0, 1, 0, 1, -1]), np.array([0, 0, 0, 1, 1]), is_vote=True)
    >>> round(found.same, 3), found.opposite, round(found.kappa, 3)
    (0.167, 0.5, -0.333)
    """
    size = np.bincount(item)
    is_used = size[item] > 1 if item.size else np.zeros(0, bool)
    if not is_used.any():
        return Agreement(0, 0, *[float("nan")] * 4)
    _, item = np.unique(item[is_used], return_inverse=True)
    value, n_items = value[is_used], int(item.max()) + 1
    values, items = (
        (np.concatenate([value, -value]), np.concatenate([item, item + n_items])) if is_vote else (value, item)
    )
    _, category = np.unique(values, return_inverse=True)
    kappa = fleiss_kappa(category, items)
    size = np.bincount(item).astype(np.float64)
    won, lost = (np.bincount(item[value == sign], minlength=n_items) for sign in (1, -1))
    opposite = float((2 * won * lost / (size * (size - 1))).mean()) if is_vote else float("nan")
    alpha = krippendorff_alpha(values, items, level)
    of_sets = float("nan") if sets is None else alpha_of_sets(value.astype(np.int64), item, sets)
    return Agreement(n_items, int(value.size), kappa.observed, opposite, kappa.kappa, alpha, of_sets)


def agreement_of_workers(
    value: Floats,
    item: Codes,
    worker: Codes,
    *,
    is_vote: bool = False,
    level: Level = Level.ORDINAL,
    sets: NDArray[np.bool_] | None = None,
) -> tuple[Agreement, Agreement]:
    """Return how far workers agree with each other, and those who judged an item again with themselves.

    Parameters
    ----------
    value, item, is_vote, level, sets : as in `judgement_agreement`.
    worker : int, (n,)
        Codes from 0.

    Notes
    -----
    With each other: of the first judgement of each worker of an item. With themselves: of all judgements of one worker
    of an item.

    Examples
    --------
    >>> value, item, worker = np.array([1.0, 1, 2, 1]), np.array([0, 0, 0, 0]), np.array([0, 1, 0, 1])
    >>> between, within = agreement_of_workers(value, item, worker)
    >>> between.same, within.n_items, within.same
    (1.0, 2, 0.5)
    """
    if not value.size:
        nothing = judgement_agreement(value, item)
        return nothing, nothing
    first, own = first_and_own(item, worker)
    between = judgement_agreement(value[first], item[first], is_vote=is_vote, level=level, sets=sets)
    return between, judgement_agreement(value, own, is_vote=is_vote, level=level, sets=sets)


def first_and_own(item: Codes, worker: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that are the first of their worker and item, and a code of each row's worker and item, (n,).

    Agreement of workers with each other is of the former; with themselves, of rows with the same code.

    Examples
    --------
    >>> first_and_own(np.array([0, 0, 0]), np.array([1, 0, 1]))
    (array([1, 0]), array([1, 0, 1]))
    """
    n_workers = int(worker.max(initial=-1)) + 1
    _, first, own = np.unique(item.astype(np.int64) * n_workers + worker, return_index=True, return_inverse=True)
    return first, own


# --- Numbers


@dataclass(frozen=True)
class NumberAgreement:
    """How far numbers that were given to the same items agree.

    `n_items`, `n_judgements` and `same` are those of `Agreement`. `difference`: how far two numbers of an item are
    apart, in the mean over items. `alpha`: Krippendorff's α of the interval level. NaN where undefined.
    """

    n_items: int
    n_judgements: int
    same: float
    difference: float
    alpha: float


def agreement_of_numbers(value: Floats, item: Codes, worker: Codes) -> tuple[NumberAgreement, NumberAgreement]:
    """Return how far the numbers of workers agree with each other, and of those who judged again with themselves.

    Parameters
    ----------
    value : float64, (n,)
        No NaN.
    item, worker : int, (n,)
        Codes from 0.

    Notes
    -----
    First judgements and repeats are those of `agreement_of_workers`.

    Examples
    --------
    >>> between, within = agreement_of_numbers(np.array([50.0, 70, 56]), np.array([0, 0, 0]), np.array([0, 1, 0]))
    >>> between.difference, within.difference
    (20.0, 6.0)
    """
    first, own = first_and_own(item, worker)
    return number_agreement(value[first], item[first]), number_agreement(value, own)


def number_agreement(value: Floats, item: Codes) -> NumberAgreement:
    """Return how far numbers that were given to the same items agree.

    Parameters
    ----------
    value : float64, (n,)
        No NaN.
    item : int, (n,)
        Codes from 0. Items with one number are left out.

    Notes
    -----
    Of m numbers of an item in rising order, the k-th (from 0) is the larger one in k pairs and the smaller one in
    m − 1 − k; so the sum of |c − k| over its pairs is one over its numbers. Time is O(n log n).

    References
    ----------
    David 1968, Gini's mean difference rediscovered; Krippendorff 2011 (`analysis.stats.krippendorff`).

    Examples
    --------
    Scores of 10, 20 and 50 are 10, 30 and 40 apart; two others are equal.

    >>> found = number_agreement(np.array([10.0, 50, 20, 7, 7]), np.array([0, 0, 0, 1, 1]))
    >>> round(found.difference, 3), found.same
    (13.333, 0.5)
    """
    size = np.bincount(item)
    is_used = size[item] > 1
    if not is_used.any():
        return NumberAgreement(0, 0, *[float("nan")] * 3)
    _, item = np.unique(item[is_used], return_inverse=True)
    value = value[is_used]
    order = np.lexsort((value, item))
    value, item = value[order], item[order]
    size = np.bincount(item)
    start = (np.cumsum(size) - size)[item]
    place = np.arange(item.size) - start
    above = value - value[start]  # so that equal numbers add up to 0
    difference = np.bincount(item, weights=above * (2 * place - size[item] + 1)) / (size * (size - 1) / 2)
    _, category = np.unique(value, return_inverse=True)
    same = fleiss_kappa(category, item).observed
    alpha = krippendorff_alpha(value, item, Level.INTERVAL)
    return NumberAgreement(int(size.size), int(value.size), same, float(difference.mean()), alpha)
