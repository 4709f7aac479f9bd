"""The label of each item from the answers of several workers: majority, Dawid & Skene, and MACE."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Codes, Floats

_TINY = 1e-300
_MOST_ROUNDS = 100
_CHANGE = 1e-7
_PRIOR_KNOWS, _PRIOR_GUESSES, _PRIOR_LABEL = 0.5, 0.5, 10.0


@dataclass(frozen=True)
class Labels:
    """Labels of items.

    Attributes
    ----------
    label : int64, (n_items,)
        The most probable label; the lowest one of several.
    posterior : float64, (n_items, n_labels)
        Probability of each label.
    ability : float64, (n_workers,)
        Of `dawid_skene` the probability of a right answer, of `mace` that of knowing the answer; NaN without answers.
    marginal : float64, (n_labels,)
        Probability of each label over all items.
    confusion : float64, (n_workers, n_labels, n_labels)
        Of `dawid_skene`: probability of an answer (last) where the label is the second; of others empty. Rows are 0
        where a worker saw no item of the label.
    """

    label: NDArray[np.int64]
    posterior: Floats
    ability: Floats
    marginal: Floats
    confusion: Floats


def count_answers(item: Codes, answer: Codes, n_items: int, n_labels: int) -> NDArray[np.int64]:
    """Return how often each item got each answer, (n_items, n_labels)."""
    cell = item.astype(np.int64) * n_labels + answer
    found: NDArray[np.int64] = np.bincount(cell, minlength=n_items * n_labels).reshape(n_items, n_labels)
    return found


def majority(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most frequent answer of each item, (n_items,); −1 where two or more are equally frequent.

    Examples
    --------
    >>> majority(np.array([[2, 1], [1, 1]])).tolist()
    [0, -1]
    """
    most = counts.max(axis=1, keepdims=True)
    is_tied = (counts == most).sum(axis=1) > 1
    return np.where(is_tied, -1, counts.argmax(axis=1))


def dawid_skene(item: Codes, worker: Codes, answer: Codes, n_items: int, n_workers: int, n_labels: int) -> Labels:
    """Estimate labels and what each worker answers where a label is true, by maximum likelihood.

    Parameters
    ----------
    item, worker, answer : int, (n,)
        Codes from 0. A worker may answer an item several times.

    Notes
    -----
    EM from the shares of answers (equation 3.1), until no probability of a label changes by 10⁻⁷, or 100 rounds. An
    item without answers gets the marginal probabilities.

    References
    ----------
    Dawid & Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm (Applied
    Statistics 28), equations 2.3–2.5.
    """
    given = _answers_of_items(item, worker, answer, (n_items, n_workers, n_labels))
    counts = count_answers(item, answer, n_items, n_labels)
    posterior = (counts + _TINY) / (counts + _TINY).sum(axis=1, keepdims=True)
    for _ in range(_MOST_ROUNDS):
        marginal = posterior.sum(axis=0) / max(n_items, 1)
        sums = (given.T @ posterior).reshape(n_workers, n_labels, n_labels)  # worker, answer, label
        confusion = sums / np.maximum(sums.sum(axis=1, keepdims=True), _TINY)
        log_chance = np.log(np.maximum(confusion, _TINY)).reshape(n_workers * n_labels, n_labels)
        before, posterior = posterior, _normalised(given @ log_chance + np.log(np.maximum(marginal, _TINY)))
        if np.abs(posterior - before).max(initial=0) < _CHANGE:
            break
    right = np.einsum("wll,l->w", confusion, marginal)
    seen = np.bincount(worker, minlength=n_workers) > 0
    ability = np.where(seen, right, np.nan)
    return Labels(posterior.argmax(axis=1), posterior, ability, marginal, confusion.transpose(0, 2, 1))


def mace(item: Codes, worker: Codes, answer: Codes, n_items: int, n_workers: int, n_labels: int) -> Labels:
    """Estimate labels and how often each worker knows them, rather than guesses: MACE by variational Bayes.

    Parameters
    ----------
    item, worker, answer, n_items, n_workers, n_labels
        As of `dawid_skene`.

    Notes
    -----
    A worker knows the label of an item with a probability of their own, or draws an answer from a distribution of
    their own. Priors are those of the authors' program: Beta(½, ½) of knowing, 10 of each answer of a guess; labels
    are equally probable. It begins, without chance, where everybody knows half of the labels and guesses evenly (the
    program: at random, ten times), and ends where no probability of knowing changes by 10⁻⁷, or after 500 rounds.

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013, Learning whom to trust with MACE (NAACL).
    """
    knows, guesses = np.full(n_workers, 0.5), np.full(n_workers, 0.5)
    habit = np.full((n_workers, n_labels), 1 / max(n_labels, 1))
    cell = item.astype(np.int64) * n_labels + answer
    own = worker.astype(np.int64) * n_labels + answer
    given = _sums(own, None, habit.shape)
    n_given = given.sum(axis=1)
    posterior = np.full((n_items, n_labels), 1 / max(n_labels, 1))
    for _ in range(_MOST_ROUNDS):
        by_guess = guesses[:, None] * habit
        more = np.log1p(knows[:, None] / np.maximum(by_guess, _TINY))
        posterior = _normalised(_sums(cell, more.ravel()[own], (n_items, n_labels)))
        is_right = _sums(own, posterior.ravel()[cell], habit.shape)
        n_known = is_right * knows[:, None] / (knows[:, None] + by_guess)
        n_of_worker = n_known.sum(axis=1)
        knowing = np.stack([n_of_worker + _PRIOR_KNOWS, n_given - n_of_worker + _PRIOR_GUESSES], axis=1)
        chances = _expected_log(knowing)
        before, (knows, guesses) = knows, np.exp(chances).T
        habit = np.exp(_expected_log(given - n_known + _PRIOR_LABEL))
        if np.abs(knows - before).max(initial=0) < _CHANGE:
            break
    ability = np.where(n_given > 0, knows, np.nan)
    marginal = posterior.sum(axis=0) / max(n_items, 1)
    return Labels(posterior.argmax(axis=1), posterior, ability, marginal, np.empty((0, n_labels, n_labels)))


def _answers_of_items(item: Codes, worker: Codes, answer: Codes, shape: tuple[int, int, int]) -> Any:
    """Return how often each item got each answer of each worker, sparse, (n_items, n_workers · n_labels)."""
    from scipy.sparse import csr_array

    n_items, n_workers, n_labels = shape
    own = worker.astype(np.int64) * n_labels + answer
    return csr_array((np.ones(item.size), (item, own)), shape=(n_items, n_workers * n_labels))


def _sums(cell: NDArray[np.int64], values: Floats | None, shape: tuple[int, ...]) -> Floats:
    """Return the sums of values in the cells of a table; without values, how many there are."""
    return np.bincount(cell, values, int(np.prod(shape))).astype(np.float64).reshape(shape)


def _normalised(log_chance: Floats) -> Floats:
    """Return probabilities, (n, n_labels), from their logs plus anything that is the same for a row."""
    most = reduce(np.maximum, log_chance.T)  # column by column: rows are too short for NumPy's own loops
    found: Floats = np.exp(log_chance - most[:, None])
    found /= (found @ np.ones(found.shape[1]))[:, None]
    return found


def _expected_log(counts: Floats) -> Floats:
    """Return E log p of Dirichlet distributions, a row each."""
    from scipy.special import digamma

    found: Floats = digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))
    return found
