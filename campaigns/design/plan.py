"""A campaign's HITs, or the reason why its design cannot be built."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from campaigns.design.composition import Layout, Mix, arrange, choose_twins
from campaigns.design.errors import DesignError
from campaigns.design.sampling import Counts, Leftover, deal_families, deal_pool, deal_sources
from campaigns.design.seeds import Codes, Mask, Places, generator


@dataclass(frozen=True)
class Hits:
    """The items of all HITs, in the order of HIT and position.

    Attributes
    ----------
    hit : int64, (n_items,)
        From 0.
    position : int64, (n_items,)
        From 1 to the size of a HIT.
    output : int64, (n_items,)
        Index into the outputs that the plan was made of: the output shown or, for a copy, the output that it is a
        copy of. −1 for a degraded system that is met live.
    kind : int8, (n_items,)
        `Kind` codes.
    twin_position : int64, (n_items,)
        Position of the copy's twin in the same HIT; −1 for ordinary items and where there is none.
    page : int64, (n_items,), optional
        From 1 in each HIT: items of one page are shown at once. Without it, each item is alone.
    """

    hit: NDArray[np.int64]
    position: NDArray[np.int64]
    output: NDArray[np.int64]
    kind: NDArray[np.int8]
    twin_position: NDArray[np.int64]
    page: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class PlanTotals:
    """What a plan comes to, for the set-up page; all of one worker per HIT.

    Attributes
    ----------
    n_hits, n_items : int
    n_outputs_used, n_outputs_left_out : int
        Outputs that are, and are not, an ordinary item of some HIT.
    n_reuses : int
        Ordinary items whose output is already an ordinary item of another HIT.
    n_sources_left_out : int
        Sources that cannot fill a HIT (layout `BY_SOURCE`, `Leftover.DROP`).
    ratings_per_system : int64, (n_systems,)
        Ordinary items of each system: ratings per criterion, a repeat and its twin counted as one (METHOD §4).
    """

    n_hits: int
    n_items: int
    n_outputs_used: int
    n_outputs_left_out: int
    n_reuses: int
    n_sources_left_out: int
    ratings_per_system: Counts


@dataclass(frozen=True)
class HitPlan:
    """HITs, what they come to, and the seed that makes them again."""

    hits: Hits
    totals: PlanTotals
    seed: int


def plan_hits(
    mix: Mix,
    *,
    source: Codes,
    system: Codes,
    seed: int,
    n_hits: int | None = None,
    leftover: Leftover = Leftover.FILL,
    anchor: int | None = None,
    family: Codes | None = None,
    is_degradable: Mask | None = None,
) -> HitPlan:
    """Build a campaign's HITs.

    Parameters
    ----------
    mix : Mix
    source, system : int, (n_outputs,)
        Codes from 0 of each output's source and system. In the layout `BY_SYSTEM` an "output" is a system, and
        `source` may be all 0.
    seed : int
        Not negative.
    n_hits : int, optional
        By default as many as use each output once. Required in the layout `BY_SYSTEM`.
    leftover : Leftover
        What becomes of outputs that do not fill a HIT, where `n_hits` is not given. Whether given or not, `FILL`
        refuses sources that cannot fill a HIT and `DROP` leaves them out.
    anchor : int, optional
        System (human) with a degraded copy and a repeat in every HIT; required by a mix with an anchor.
    family : int, (n_outputs,), optional
        Layout `BY_SYSTEM`: systems of one family, of which a HIT holds one. By default each is alone.
    is_degradable : bool, (n_outputs,), optional
        Which outputs may be degraded, those with words; all, if not given.

    Returns
    -------
    HitPlan

    Raises
    ------
    DesignError
        With the numbers: ``bad_outputs``, ``no_outputs``, ``duplicate_output``, ``negative_seed``,
        ``bad_number_of_hits``, ``too_few_outputs``, ``too_few_systems``, ``no_anchor``, ``no_anchor_output``,
        ``too_few_degradable``.

    Notes
    -----
    The same codes and seed give the same HITs on every machine, in whatever order the outputs come; other codes for
    the same outputs give other HITs. The order of HITs is random, so that any first part of them is a fair sample.

    References
    ----------
    METHOD §1, §2.
    """
    source, system = np.asarray(source), np.asarray(system)
    _check_outputs(mix, source, system, family, is_degradable)
    _check_settings(mix, system, n_hits, anchor)
    rng = generator(seed)
    order = np.lexsort((system, source) if mix.layout == Layout.BY_SOURCE else (source, system))
    _check_different(source[order], system[order])
    ordinary, n_sources_left_out = _deal(
        mix, source[order], system[order], n_hits, leftover, anchor, None if family is None else family[order], rng
    )
    ordinary = order[ordinary]
    twins = choose_twins(mix, len(ordinary), rng, None if is_degradable is None else is_degradable[ordinary])
    hits = _lay_out(mix, ordinary, twins, rng)
    return HitPlan(hits, _count(hits, ordinary, system, n_sources_left_out), seed)


def _check_outputs(mix: Mix, source: Codes, system: Codes, family: Codes | None, is_degradable: Mask | None) -> None:
    """Refuse outputs that are none, or not what they should be."""
    sizes = {array.shape for array in (source, system, family, is_degradable) if array is not None}
    if len(sizes) > 1 or source.ndim != 1:
        raise DesignError("bad_outputs", f"source, system and the rest need one value per output, not {sorted(sizes)}")
    if source.size == 0:
        raise DesignError("no_outputs", f"the mix needs {mix.n_ordinary} ordinary outputs per HIT and there are none")
    if min(source.min(), system.min()) < 0:
        raise DesignError("bad_outputs", "codes of sources and systems count from 0 and one is negative")


def _check_different(source: Codes, system: Codes) -> None:
    """Refuse sorted outputs of which two have the same source and system."""
    n_same = int(((source[1:] == source[:-1]) & (system[1:] == system[:-1])).sum())
    if n_same:
        raise DesignError(
            "duplicate_output",
            f"a system has one output per source; of {source.size} outputs {n_same} have the source and system of "
            "another",
        )


def _check_settings(mix: Mix, system: Codes, n_hits: int | None, anchor: int | None) -> None:
    """Refuse settings that do not go with the mix."""
    if n_hits is not None and n_hits < 1:
        raise DesignError("bad_number_of_hits", f"a campaign needs at least 1 HIT, not {n_hits}")
    if n_hits is None and mix.layout == Layout.BY_SYSTEM:
        raise DesignError("bad_number_of_hits", "the number of HITs must be given for systems that are met live")
    if mix.has_anchor and anchor is None:
        raise DesignError("no_anchor", "the mix has an anchor: say which system it is")
    if mix.has_anchor and not (system == anchor).any():
        raise DesignError("no_anchor_output", f"the anchor, system {anchor}, has no output")


def _deal(
    mix: Mix,
    source: Codes,
    system: Codes,
    n_hits: int | None,
    leftover: Leftover,
    anchor: int | None,
    family: Codes | None,
    rng: np.random.Generator,
) -> tuple[Places, int]:
    """Return the ordinary outputs of each HIT and the number of sources left out."""
    if mix.layout == Layout.BY_SYSTEM:
        family = system if family is None else family
        return deal_families(family, n_hits or 0, mix.n_ordinary, rng), 0
    if mix.layout == Layout.BY_SOURCE:
        anchor = anchor if mix.has_anchor else None
        return deal_sources(source, system, mix.n_ordinary, n_hits=n_hits, leftover=leftover, anchor=anchor, rng=rng)
    if source.size < mix.n_ordinary:
        raise DesignError(
            "too_few_outputs",
            f"the mix needs {mix.n_ordinary} ordinary outputs per HIT and there are {source.size}",
        )
    if n_hits is None:
        is_filled = leftover == Leftover.FILL
        n_hits = -(-source.size // mix.n_ordinary) if is_filled else source.size // mix.n_ordinary
    return deal_pool(np.bincount(system), n_hits, mix.n_ordinary, rng), 0


def _lay_out(mix: Mix, ordinary: Places, twins: Places, rng: np.random.Generator) -> Hits:
    """Return the items of HITs with these ordinary outputs and twins, shuffled."""
    n_hits, n, size = len(ordinary), mix.n_ordinary, mix.size
    own = np.broadcast_to(np.arange(size), (n_hits, size))
    origin = np.where(own < n, own, np.concatenate([own[:, :n], twins], axis=1))
    origin = np.where(origin < 0, own, origin)  # a degraded system met live comes from itself
    order = arrange(origin, rng)
    position = np.empty_like(order)
    np.put_along_axis(position, order, own + 1, axis=1)

    kind = np.repeat(np.array([0, *(kind for kind, _ in mix.copies)], dtype=np.int8), [n, *(k for _, k in mix.copies)])
    twin_position = np.where(origin == own, -1, np.take_along_axis(position, origin, axis=1))
    live = np.full((n_hits, 1), -1)
    output = np.take_along_axis(np.concatenate([ordinary, live], axis=1), np.minimum(origin, n), axis=1)

    def in_order(columns: NDArray[np.intp]) -> NDArray[np.int64]:
        return np.take_along_axis(columns, order, axis=1).ravel()

    hit = np.repeat(np.arange(n_hits), size)
    return Hits(hit, (own + 1).ravel(), in_order(output), kind[order].ravel(), in_order(twin_position))


def _count(hits: Hits, ordinary: Places, system: Codes, n_sources_left_out: int) -> PlanTotals:
    n_uses = np.bincount(ordinary.ravel(), minlength=system.size)
    n_used = int((n_uses > 0).sum())
    return PlanTotals(
        n_hits=len(ordinary),
        n_items=hits.hit.size,
        n_outputs_used=n_used,
        n_outputs_left_out=system.size - n_used,
        n_reuses=ordinary.size - n_used,
        n_sources_left_out=n_sources_left_out,
        ratings_per_system=np.bincount(system[ordinary.ravel()], minlength=int(system.max()) + 1),
    )
