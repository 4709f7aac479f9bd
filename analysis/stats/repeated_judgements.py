"""Do those who judge the same agree: workers with each other, and a worker who judges again with what they said?"""

from dataclasses import dataclass

import numpy as np

from analysis.stats.agreement import Level, fleiss_kappa, krippendorff_alpha
from analysis.stats.ratings import Codes, Floats


@dataclass(frozen=True)
class Agreement:
    """How far judgements of the same items agree.

    `n_items` have two judgements or more, and `n_judgements` altogether. `same`: of two judgements of an item, the
    share that are equal, in the mean over items, 0–1; of votes `opposite` is the share that name each another winner.
    `kappa` is Fleiss' κ, `alpha` Krippendorff's α. NaN where undefined; `opposite` also where
    judgements are no votes.
    """

    n_items: int
    n_judgements: int
    same: float
    opposite: float
    kappa: float
    alpha: float


def judgement_agreement(
    value: Floats, item: Codes, *, is_vote: bool = False, level: Level = Level.ORDINAL
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

    Notes
    -----
    Which of two systems is called the first is arbitrary, and must not change how much agreement is expected by chance.
    So each vote counts in both directions: κ and α are those of all items and of their mirror images, −`value`. For κ
    the expected agreement is then t² + (1 − t)²/2, t being the share of ties in the mean
    over items.

    References
    ----------
    Fleiss 1971; Krippendorff 2011 (`analysis.stats.agreement`).

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
    return Agreement(n_items, int(value.size), kappa.observed, opposite, kappa.kappa, alpha)


def agreement_of_workers(
    value: Floats, item: Codes, worker: Codes, *, is_vote: bool = False, level: Level = Level.ORDINAL
) -> tuple[Agreement, Agreement]:
    """Return how far workers agree with each other, and those who judged an item again with themselves.

    Parameters
    ----------
    value, item, is_vote, level : as in `judgement_agreement`.
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
    _, first, own = np.unique(
        item.astype(np.int64) * (int(worker.max()) + 1) + worker, return_index=True, return_inverse=True
    )
    between = judgement_agreement(value[first], item[first], is_vote=is_vote, level=level)
    return between, judgement_agreement(value, own, is_vote=is_vote, level=level)
