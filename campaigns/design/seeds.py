"""Generators that a seed and a place in the design determine."""

import numpy as np
from numpy.typing import NDArray

from campaigns.design.errors import DesignError

Codes = NDArray[np.integer]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]

_LEVEL_BITS = 2


def generator(seed: int, *place: int) -> np.random.Generator:
    """Return the generator of one place in a design, the same on every machine.

    Parameters
    ----------
    seed : int
        Not negative.
    *place : int
        What the generator is for, such as a HIT and a position: other places draw independently, so that one item
        can be made again without the rest.

    Raises
    ------
    DesignError
        ``negative_seed``.

    Notes
    -----
    The place is a spawn key, since seeds [7] and [7, 0] would give the same numbers. The bit generator is named
    because `np.random.default_rng` may change it. HIT building draws by `BitGenerator.random_raw` and
    `Generator.random` alone: NEP 19 lets `permutation`, `choice` and `integers` give other numbers in another NumPy.

    Examples
    --------
    >>> generator(7, 0, 3).random() == generator(7, 0, 3).random()
    True
    """
    if seed < 0 or any(number < 0 for number in place):
        raise DesignError("negative_seed", f"the seed must not be negative and is {seed}")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=place)))


def random_order(shape: tuple[int, ...], rng: np.random.Generator, level: Codes | None = None) -> Places:
    """Return the columns of each row in random order, those of lower levels first.

    Parameters
    ----------
    shape : tuple of int
        The last axis is the one that is shuffled, each row apart.
    rng : Generator
    level : int, of this shape, optional
        0 to 3; all columns are of one level, if not given.

    Returns
    -------
    intp, of this shape

    Notes
    -----
    Random 64-bit numbers whose highest bits hold the level and whose lowest bits hold the column are sorted. No two
    are equal, so every sorting algorithm, and there is one for each kind of processor, gives the same order.
    """
    columns = np.arange(shape[-1], dtype=np.uint64)
    n_bits = max(shape[-1] - 1, 0).bit_length()
    key: NDArray[np.uint64] = np.asarray(rng.bit_generator.random_raw(shape), dtype=np.uint64)
    if level is not None:
        key >>= _LEVEL_BITS
        key |= level.astype(np.uint64) << (64 - _LEVEL_BITS)
    key >>= n_bits
    key <<= n_bits
    key |= columns
    key.sort(axis=-1)
    key &= (1 << n_bits) - 1
    return key.astype(np.intp)


def shuffled(n: int, rng: np.random.Generator) -> Places:
    """Return 0 … n − 1 in random order."""
    return random_order((n,), rng)


def draw_below(n: int, rng: np.random.Generator) -> int:
    """Return one of 0 … n − 1 at random."""
    return int(rng.random() * n)


def draw_donors(donor_source: Codes, source: int, rng: np.random.Generator, *, n_donors: int = 20) -> Places:
    """Draw texts of other sources, in random order, as donors for `degradation.degrade`.

    Parameters
    ----------
    donor_source : int, (n_texts,)
        Source of each text that may be a donor.
    source : int
        Source of the text to degrade: none of its texts is drawn.
    rng : Generator
    n_donors : int
        How many to draw; fewer come back where there are fewer.

    Returns
    -------
    intp, (≤ n_donors,)
        Indices into `donor_source`, none twice.

    References
    ----------
    METHOD §1: the donor is a text of another question, passage or dialogue.
    """
    drawn = (rng.random(2 * n_donors) * donor_source.size).astype(np.intp)
    drawn = _first_of_each(drawn[donor_source[drawn] != source]) if donor_source.size else drawn[:0]
    if drawn.size < n_donors:  # few texts, or most of them of this source: look at all
        others = np.flatnonzero(donor_source != source)
        drawn = others[shuffled(others.size, rng)]
    return drawn[:n_donors]


def _first_of_each(values: Places) -> Places:
    """Return the values without repetitions, in order of their first occurrence."""
    first = np.unique(values, return_index=True)[1]
    return values[np.sort(first)]
