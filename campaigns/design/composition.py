"""What a HIT consists of: how many items of each kind, which are twins, in which order."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np

from campaigns.design.errors import DesignError
from campaigns.design.seeds import Mask, Places, random_order


class Kind(IntEnum):
    """What an item is: an output, one of the three quality-control items (METHOD §1), or one of a tutorial.

    A tutorial item is rated like others, and is nobody's output: no analysis reads it.
    """

    ORDINARY = 0
    DEGRADED = 1
    REPEAT = 2
    REFERENCE = 3
    TUTORIAL = 4


KINDS = {kind.name.lower(): kind for kind in Kind}
"""The kinds as files name them, in the order of their numbers."""
ANALYSED_KINDS = {name: kind for name, kind in KINDS.items() if kind is not Kind.TUTORIAL}
"""Those of them that analyses read."""
ANALYSED = tuple(ANALYSED_KINDS.values())


class Layout(StrEnum):
    """Where a HIT's ordinary items come from."""

    POOLED = "pooled"  # any outputs
    BY_SOURCE = "by-source"  # outputs of one source, each of another system
    BY_SYSTEM = "by-system"  # systems themselves: the worker meets them live


@dataclass(frozen=True)
class Mix:
    """How many items of each kind make a HIT.

    Attributes
    ----------
    n_ordinary : int
    n_degraded, n_repeat, n_reference : int
        Copies. Each has a twin among the ordinary items, except that in the layout `BY_SYSTEM` a degraded item is a
        system of its own.
    layout : Layout
    has_distinct_twins : bool
        Whether each copy, of whatever kind, has a twin of its own. If not, each kind draws its twins afresh, and
        only copies of one kind have different twins.
    has_anchor : bool
        Whether one system (human) is in every HIT, with both a degraded copy and a repeat. Layout `BY_SOURCE` only.

    Raises
    ------
    DesignError
        ``negative_count``, ``no_ordinary``, ``too_many_twins``, ``twins_always_adjacent``, ``live_copies``,
        ``anchor_without_source`` or ``anchor_without_copies``.

    References
    ----------
    METHOD §2.
    """

    n_ordinary: int
    n_degraded: int = 0
    n_repeat: int = 0
    n_reference: int = 0
    layout: Layout = Layout.POOLED
    has_distinct_twins: bool = True
    has_anchor: bool = False

    def __post_init__(self) -> None:
        if min(self.n_ordinary, self.n_degraded, self.n_repeat, self.n_reference) < 0:
            raise DesignError("negative_count", f"a HIT cannot have fewer than 0 items of a kind: {self}")
        if self.n_ordinary == 0:
            raise DesignError("no_ordinary", "a HIT needs at least 1 ordinary item and the mix has 0")
        if self.layout == Layout.BY_SYSTEM:
            self._check_live()
        self._check_anchor()
        self._check_twins()

    def _check_live(self) -> None:
        if self.n_repeat or self.n_reference:
            raise DesignError(
                "live_copies",
                f"systems that are met live have no repeats or references; the mix has {self.n_repeat} repeats and "
                f"{self.n_reference} references",
            )

    def _check_anchor(self) -> None:
        if not self.has_anchor:
            return
        if self.layout != Layout.BY_SOURCE:
            raise DesignError("anchor_without_source", f"an anchor needs the layout by-source, not {self.layout}")
        if not (self.n_degraded and self.n_repeat):
            raise DesignError(
                "anchor_without_copies",
                f"the anchor has a degraded copy and a repeat; the mix has {self.n_degraded} degraded items and "
                f"{self.n_repeat} repeats",
            )

    def _check_twins(self) -> None:
        if self.n_twins > self.n_ordinary:
            raise DesignError(
                "too_many_twins",
                f"the copies of a HIT need {self.n_twins} different twins and the mix has {self.n_ordinary} ordinary "
                "items",
            )
        # Equal things can be kept apart in a row of n iff there are at most (n + 1)/2 of each.
        if self._largest_group > (self.size + 1) // 2:
            raise DesignError(
                "twins_always_adjacent",
                f"in a HIT of {self.size} items an output and its copies, {self._largest_group} items, cannot be "
                "kept apart",
            )

    @property
    def size(self) -> int:
        """Number of items of a HIT."""
        return self.n_ordinary + self.n_copies

    @property
    def n_copies(self) -> int:
        """Number of items that are not ordinary."""
        return self.n_degraded + self.n_repeat + self.n_reference

    @property
    def copies(self) -> tuple[tuple[Kind, int], ...]:
        """The kinds of copies, in the order in which their twins are chosen, and how many there are."""
        return (Kind.DEGRADED, self.n_degraded), (Kind.REPEAT, self.n_repeat), (Kind.REFERENCE, self.n_reference)

    @property
    def n_twins(self) -> int:
        """How many different ordinary items have copies: at least, if kinds may share them."""
        counts = [count for _, count in self.copies]
        if self.layout == Layout.BY_SYSTEM:
            return 0
        return sum(counts) - self.has_anchor if self.has_distinct_twins else max(counts)

    @property
    def _largest_group(self) -> int:
        """How many items of a HIT an output and its copies may be."""
        if self.n_twins == 0:
            return 1
        if self.has_distinct_twins:
            return 3 if self.has_anchor else 2
        return 1 + sum(count > 0 for _, count in self.copies)


# METHOD §2: answers from a pool; questions on one passage; live chats
POOL_OF_100 = Mix(70, 10, 10, 10)
SOURCE_OF_20 = Mix(11, 6, 3, layout=Layout.BY_SOURCE, has_anchor=True)
SYSTEMS_OF_6 = Mix(5, 1, layout=Layout.BY_SYSTEM)


def choose_twins(mix: Mix, n_hits: int, rng: np.random.Generator, is_degradable: Mask | None = None) -> Places:
    """Choose the ordinary items that the copies of each HIT are copies of.

    Parameters
    ----------
    mix : Mix
    n_hits : int
    rng : Generator
    is_degradable : bool, (n_hits, n_ordinary), optional
        Which ordinary items may have a degraded copy; all, if not given.

    Returns
    -------
    intp, (n_hits, n_copies)
        Column of each copy's twin among the HIT's ordinary items, the copies in the order of `Mix.copies`; −1
        throughout in the layout `BY_SYSTEM`. With an anchor, its column is 0.

    Raises
    ------
    DesignError
        ``too_few_degradable``.

    Notes
    -----
    Every choice that the mix allows is equally likely.
    """
    if mix.layout == Layout.BY_SYSTEM:
        return np.full((n_hits, mix.n_copies), -1)
    chosen = []
    is_taken = np.zeros((n_hits, mix.n_ordinary), dtype=bool)
    for kind, n_copies in mix.copies:
        level = np.ones(is_taken.shape, dtype=np.uint8)
        if mix.has_distinct_twins:
            level[is_taken] = 2
        if kind is Kind.DEGRADED and is_degradable is not None:
            level[~is_degradable] = 2
        if mix.has_anchor and kind is not Kind.REFERENCE:
            level[:, 0] = 0
        twins = random_order(level.shape, rng, level)[:, :n_copies]
        if kind is Kind.DEGRADED and is_degradable is not None:
            _check_degradable(np.take_along_axis(is_degradable, twins, axis=1), mix)
        np.put_along_axis(is_taken, twins, True, axis=1)
        chosen.append(twins)
    return np.concatenate(chosen, axis=1)


def _check_degradable(is_degradable: Mask, mix: Mix) -> None:
    """Refuse HITs with fewer outputs that can be degraded than the mix has degraded items."""
    bad = np.flatnonzero(~is_degradable.all(axis=1))
    if bad.size:
        wanted = "the anchor among them" if mix.has_anchor else "of different outputs"
        raise DesignError(
            "too_few_degradable",
            f"the mix needs {mix.n_degraded} degraded items per HIT, {wanted}, and {bad.size} of "
            f"{len(is_degradable)} HITs have too few outputs that can be degraded; the first has "
            f"{int(is_degradable[bad[0]].sum())}",
        )


def arrange(origin: Places, rng: np.random.Generator) -> Places:
    """Shuffle the items of each HIT so that no two of one output are neighbours.

    Parameters
    ----------
    origin : intp, (n_hits, size)
        Items with the same number are an output and its copies.
    rng : Generator

    Returns
    -------
    intp, (n_hits, size)
        Column of the item at each position.

    Notes
    -----
    Rejection: all HITs are shuffled, and those with twins side by side are shuffled again. So each arrangement that
    keeps twins apart is equally likely, and the distance of twins is what chance gives, from 2 up. An arrangement
    is accepted with probability of about exp(−2 · pairs/size): 0.55 for the pooled HIT of 100, 0.35 for the
    by-source HIT of 20. Two copies of one output are kept apart like a copy and its twin.
    """
    order = np.empty(origin.shape, dtype=np.intp)
    left = np.arange(len(origin))
    while left.size:
        order[left] = tried = random_order((left.size, origin.shape[1]), rng)
        in_order = np.take_along_axis(origin[left], tried, axis=1)
        left = left[(in_order[:, 1:] == in_order[:, :-1]).any(axis=1)]
    return order
