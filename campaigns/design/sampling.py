"""Which outputs a HIT's ordinary items are: without replacement, balanced, seeded (METHOD §1, §2)."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from campaigns.design.errors import DesignError
from campaigns.design.seeds import Codes, Places, random_order, shuffled

Counts = NDArray[np.int64]


class Leftover(StrEnum):
    """What becomes of outputs that do not fill a HIT."""

    FILL = "fill"  # one more HIT, filled with the outputs used least: every output is rated
    DROP = "drop"  # they are left out


def spread(amount: int, levels: Counts, room: Counts, rng: np.random.Generator) -> Counts:
    """Distribute units over bins so that the levels become as even as the room allows.

    Parameters
    ----------
    amount : int
        At most the sum of `room`.
    levels : int64, (n_bins,)
        What is in the bins already.
    room : int64, (n_bins,)
        How many units each bin can still take.
    rng : Generator
        Decides which bins get the units that do not go round.

    Returns
    -------
    int64, (n_bins,)
        Units for each bin; their sum is `amount`.

    Examples
    --------
    >>> spread(7, np.array([0, 0, 0]), np.array([1, 9, 9]), np.random.default_rng(0))
    array([1, 3, 3])
    """

    def filled_to(level: int) -> Counts:
        return np.clip(level - levels, 0, room)

    low, high = int(levels.min(initial=0)), int((levels + room).max(initial=0)) + 1
    while high - low > 1:  # the highest level that all bins with room can reach
        middle = (low + high) // 2
        low, high = (middle, high) if filled_to(middle).sum() <= amount else (low, middle)
    units = filled_to(low)
    can_take = np.flatnonzero(filled_to(low + 1) > units)
    units[can_take[shuffled(can_take.size, rng)[: amount - int(units.sum())]]] += 1
    return units


def deal_pool(pool_sizes: Counts, n_hits: int, n_per_hit: int, rng: np.random.Generator) -> Places:
    """Deal outputs of several systems into HITs, each output and each system as often as the others.

    Parameters
    ----------
    pool_sizes : int64, (n_systems,)
        Number of outputs of each system. Outputs are numbered from 0, those of the first system first.
    n_hits : int
    n_per_hit : int
        At most the number of outputs.
    rng : Generator

    Returns
    -------
    intp, (n_hits, n_per_hit)
        Outputs, none twice in a HIT. Over all HITs each is used equally often, give or take one. Over all HITs each
        system is used as often as the others, as far as its outputs reach; each HIT has ⌊c/n_hits⌋ or ⌈c/n_hits⌉
        outputs of a system that is used c times.

    Notes
    -----
    The slots of one system are dealt to the HITs in turn, beginning with the HIT where the system before it stopped.
    Each round that reaches all HITs goes through them in an order of its own, so that two HITs that share an output
    are no more likely to share the next. An output that is used again goes to the next HITs of the round; where a
    round ends, these come last in the next round, so that no HIT gets it twice.
    """
    n_slots, n_outputs = n_hits * n_per_hit, int(pool_sizes.sum())
    each, extra = divmod(n_slots, n_outputs)
    n_extra = spread(extra, each * pool_sizes, pool_sizes, rng)
    first = np.cumsum(pool_sizes) - pool_sizes
    outputs, hits, offset = [], [], 0
    for start, size, more in zip(first.tolist(), pool_sizes.tolist(), n_extra.tolist(), strict=True):
        n_uses = np.full(size, each)
        n_uses[:more] += 1
        slots = np.repeat(start + shuffled(size, rng), n_uses)
        outputs.append(slots)
        hits.append(_deal_rounds(slots, offset, n_hits, rng))
        offset = (offset + slots.size) % n_hits
    narrow = np.uint16 if n_hits <= 1 << 16 else np.int64  # 16-bit keys get a radix sort
    by_hit = np.argsort(np.concatenate(hits).astype(narrow), kind="stable")
    return np.concatenate(outputs)[by_hit].reshape(n_hits, n_per_hit)[shuffled(n_hits, rng)]


def _deal_rounds(slots: Places, offset: int, n_hits: int, rng: np.random.Generator) -> Places:
    """Return the HIT of each slot, equal slots side by side; the round that is not full comes first."""
    n_partial = slots.size % n_hits
    rounds = [(offset + shuffled(n_partial, rng)) % n_hits]
    for begin in range(n_partial, slots.size, n_hits):
        has_it = np.zeros(n_hits, dtype=np.uint8)
        if begin and slots[begin] == slots[begin - 1]:
            n_before = int((slots[max(begin - n_hits, 0) : begin] == slots[begin]).sum())
            has_it[rounds[-1][-n_before:]] = 1
        rounds.append(random_order((n_hits,), rng, has_it))
    return np.concatenate(rounds)


class Dealt(NamedTuple):
    """Outputs dealt source by source, and how many sources could not fill a HIT."""

    outputs: Places
    n_sources_left_out: int


def deal_sources(
    source: Codes,
    system: Codes,
    n_per_hit: int,
    *,
    n_hits: int | None,
    leftover: Leftover,
    anchor: int | None,
    rng: np.random.Generator,
) -> Dealt:
    """Deal outputs into HITs of one source each, every output of a HIT of another system.

    Parameters
    ----------
    source, system : int, (n_outputs,)
        Sorted by source, then system; no pair twice.
    n_per_hit : int
    n_hits : int, optional
        Number of HITs, over which the sources are spread evenly. If not given: as many HITs for each source as use
        every output (`Leftover.FILL`), or as its outputs fill (`Leftover.DROP`).
    leftover : Leftover
    anchor : int, optional
        System that is in every HIT.
    rng : Generator

    Returns
    -------
    outputs : intp, (n_hits, n_per_hit)
        Indices of outputs; the anchor's in column 0.
    n_sources_left_out : int
        Sources with fewer systems than `n_per_hit`, or without the anchor; always 0 with `Leftover.FILL`.

    Raises
    ------
    DesignError
        ``too_few_systems`` or ``no_anchor_output`` for a source that cannot fill a HIT (`Leftover.FILL`), or if none
        can.

    Notes
    -----
    A source with more systems than fit gives each HIT the outputs used least, among these those of the systems used
    least, at random among equals.
    """
    begin = np.flatnonzero(np.diff(source, prepend=source[0] - 1))
    n_of_source = np.diff(begin, append=source.size)
    has_anchor = np.logical_or.reduceat(system == anchor, begin) if anchor is not None else np.ones(begin.size, bool)
    is_whole = (n_of_source >= n_per_hit) & has_anchor
    if not is_whole.any() or (leftover == Leftover.FILL and not is_whole.all()):
        _refuse_sources(n_of_source, has_anchor, n_per_hit)
    n_whole, n_fixed = int(is_whole.sum()), int(anchor is not None)
    n_hits_of = np.zeros(begin.size, dtype=np.int64)
    if n_hits is not None:
        none = np.zeros(n_whole, dtype=np.int64)
        n_hits_of[is_whole] = spread(n_hits, none, none + n_hits, rng)
    else:
        n_free, n_places = n_of_source[is_whole] - n_fixed, n_per_hit - n_fixed
        n_hits_of[is_whole] = -(-n_free // n_places) if leftover == Leftover.FILL else n_free // n_places
    of_hit = np.repeat(np.arange(begin.size), n_hits_of)
    of_hit = of_hit[shuffled(of_hit.size, rng)]
    outputs = _take_least_used(begin[of_hit], n_of_source[of_hit], system, n_per_hit, anchor, rng)
    return Dealt(outputs, begin.size - n_whole)


def _take_least_used(
    begin: Places, size: Counts, system: Codes, n_per_hit: int, anchor: int | None, rng: np.random.Generator
) -> Places:
    """Return for each HIT, whose source's outputs are `begin` … `begin + size − 1`, the outputs used least so far."""
    n_uses = np.zeros(system.size, dtype=np.int64)
    n_system_uses = np.zeros(int(system.max()) + 1, dtype=np.int64)
    taken = np.empty((begin.size, n_per_hit), dtype=np.intp)
    for hit in range(begin.size):
        own = np.arange(begin[hit], begin[hit] + size[hit])
        keys = (rng.random(own.size), n_system_uses[system[own]], n_uses[own], system[own] != anchor)
        taken[hit] = own[np.lexsort(keys)[:n_per_hit]]
        n_uses[taken[hit]] += 1
        n_system_uses[system[taken[hit]]] += 1
    return taken


def _refuse_sources(n_of_source: Counts, has_anchor: NDArray[np.bool_], n_per_hit: int) -> None:
    """Say which sources cannot fill a HIT, with the numbers of the worst."""
    n_few = int((n_of_source < n_per_hit).sum())
    if n_few:
        raise DesignError(
            "too_few_systems",
            f"fewer systems than the mix wants: {n_of_source.min()} of {n_per_hit}, and so on for {n_few} of "
            f"{n_of_source.size} sources",
        )
    n_lacking = int((~has_anchor).sum())
    raise DesignError("no_anchor_output", f"{n_lacking} of {has_anchor.size} sources have no output of the anchor")


def deal_families(family: Codes, n_hits: int, n_per_hit: int, rng: np.random.Generator) -> Places:
    """Deal systems into HITs, one member of each family drawn at random.

    Parameters
    ----------
    family : int, (n_systems,)
        Systems with the same code are one family; a system without relatives has a code of its own.
    n_hits, n_per_hit : int
    rng : Generator

    Returns
    -------
    intp, (n_hits, n_per_hit)
        Systems. Families are used equally often, give or take one, and so are the members of a family among the HITs
        that hold it. In each HIT every member is equally likely.

    Raises
    ------
    DesignError
        ``too_few_systems``.
    """
    codes, family = np.unique(family, return_inverse=True)
    if codes.size < n_per_hit:
        raise DesignError(
            "too_few_systems",
            f"fewer systems of different families than the mix wants: {codes.size} of {n_per_hit}",
        )
    dealt = deal_pool(np.ones(codes.size, dtype=np.int64), n_hits, n_per_hit, rng).ravel()
    systems = np.empty_like(dealt)
    for code in range(codes.size):
        slots = np.flatnonzero(dealt == code)
        members = np.flatnonzero(family == code)
        members = members[shuffled(members.size, rng)]
        systems[slots] = members[shuffled(slots.size, rng) % members.size]
    return systems.reshape(n_hits, n_per_hit)
