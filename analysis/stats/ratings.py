"""Ratings as arrays: one row an item, one column a criterion."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from campaigns.design.composition import Kind

Codes = NDArray[np.integer]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def or_none(value: float) -> float | None:
    """Return a number as a float, None for NaN."""
    return None if isnan(value) else float(value)


def or_nones(values: Floats) -> list[float | None]:
    """Return numbers, (n,), as floats, None for NaN."""
    numbers = values.astype(object)
    numbers[np.isnan(values)] = None
    return list(numbers)


def or_nan(values: Iterable[float | None]) -> Floats:
    """Return numbers as an array, NaN for None."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


@dataclass(frozen=True)
class Ratings:
    """Every rating of one set of ratings, as codes.

    Attributes
    ----------
    scores : float64, (n_items, n_criteria)
        0–100 as the worker gave them, negative criteria not reversed; NaN where a criterion was not rated.
    worker, system, assignment : int, (n_items,)
        Codes from 0. An assignment is one worker's go at one HIT.
    source : int, (n_items,)
        Code of the source that the output belongs to; −1 where it is not known.
    kind : int, (n_items,)
        `Kind` codes.
    n_workers, n_systems : int
        How many codes there are, those without a rating included.
    """

    scores: Floats
    worker: Codes
    system: Codes
    assignment: Codes
    source: Codes
    kind: Codes
    n_workers: int
    n_systems: int

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.scores.shape[0])

    @property
    def n_criteria(self) -> int:
        """Number of criteria."""
        return int(self.scores.shape[1])

    @property
    def has_outputs(self) -> Mask:
        """Whether each system has ordinary items, (n_systems,)."""
        return np.bincount(self.system[self.kind == Kind.ORDINARY], minlength=self.n_systems) > 0


def from_long(*, item: Codes, criterion: Codes, score: Floats, n_items: int, n_criteria: int) -> Floats:
    """Return the (n_items, n_criteria) score matrix of ratings that come one a row.

    Parameters
    ----------
    item, criterion : int, (n_ratings,)
        Codes; each (item, criterion) occurs at most once, in any order.
    score : float64, (n_ratings,)
        0–100.

    Returns
    -------
    float64, (n_items, n_criteria)
        NaN where an item has no rating for a criterion.

    Notes
    -----
    Placing scores, rather than adding them up, makes every later sum independent of the order of the rows.

    Examples
    --------
    >>> from_long(item=np.array([1, 0]), criterion=np.array([0, 0]), score=np.array([70.0, 20.0]),
    ...           n_items=2, n_criteria=1)
    array([[20.],
           [70.]])
    """
    matrix = np.full((n_items, n_criteria), np.nan)
    matrix[item, criterion] = score
    return matrix


def match_twins(ratings: Ratings) -> NDArray[np.int64]:
    """Return for each degraded and repeat item the ordinary item that it is a copy of.

    Returns
    -------
    int64, (n_items,)
        Row of the twin: the first ordinary item of the same assignment, source and system. −1 for ordinary and
        reference items, and where no twin was rated or the source is not known.

    References
    ----------
    METHOD §1 (quality-control items); thesis §3.2.3.
    """
    twin = np.full(ratings.n_items, -1, dtype=np.int64)
    is_known = ratings.source >= 0
    copies = np.flatnonzero(((ratings.kind == Kind.DEGRADED) | (ratings.kind == Kind.REPEAT)) & is_known)
    originals = np.flatnonzero((ratings.kind == Kind.ORDINARY) & is_known)
    key = _design_key(ratings)
    originals = originals[_may_occur(key[originals], key[copies])]
    if not copies.size or not originals.size:
        return twin
    original_keys = key[originals]
    order = np.argsort(original_keys, kind="stable")
    sorted_keys = original_keys[order]
    wanted = key[copies]
    place = np.minimum(np.searchsorted(sorted_keys, wanted), sorted_keys.size - 1)
    is_found = sorted_keys[place] == wanted
    twin[copies[is_found]] = originals[order[place[is_found]]]
    return twin


def _may_occur(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> Mask:
    """Return whether each key may be among the wanted ones: a Bloom filter of one hash, so that few need sorting."""
    n_slots = 1 << int(8 * wanted.size + 1).bit_length()
    is_wanted: Mask = np.zeros(n_slots, dtype=bool)
    is_wanted[wanted & (n_slots - 1)] = True
    return np.asarray(is_wanted[keys & (n_slots - 1)])


def _design_key(ratings: Ratings) -> NDArray[np.int64]:
    """Return one number for each (assignment, source, system)."""
    n_sources = int(ratings.source.max(initial=-1)) + 2
    key = ratings.assignment.astype(np.int64)
    key *= n_sources
    key += ratings.source + 1
    key *= ratings.n_systems
    key += ratings.system
    return key
