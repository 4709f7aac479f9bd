"""What workers see at once: one output, several outputs of one source, or the outputs of a document.

HITs are planned in pages. A page of one output is that output; here others are made of outputs, and a plan of pages is
written out as a plan of items, the outputs of a page one after another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from campaigns.design.composition import Kind
from campaigns.design.errors import DesignError
from campaigns.design.plan import HitPlan, Hits, PlanTotals
from campaigns.design.seeds import Codes, Mask, generator, shuffled

_PAGES, _ORDER, _DEGRADED, _BESIDE = 1, 2, 3, 4  # of the generators that a seed gives, beside the plan's own


class PageKind(StrEnum):
    """What workers see at once."""

    OUTPUT = "output"  # of one system for one source
    COMPARISON = "comparison"  # of several systems for one source
    DOCUMENT = "document"  # of one system for all sources of a document


@dataclass(frozen=True)
class Pages:
    """What may be on one page.

    Attributes
    ----------
    source, system : int64, (n_pages,)
        Codes by which pages are dealt as outputs are: pages of one `source` have different `system` codes.
    members : sequence of int64 arrays
        Of each page, its outputs in an order that means nothing but in documents.
    is_ordered : bool
        Whether the order of `members` is that in which they are shown.
    """

    source: Codes
    system: Codes
    members: Sequence[NDArray[np.int64]]
    is_ordered: bool = False

    def any_of(self, mask: Mask) -> Mask:
        """Return whether any output of each page is in `mask`, bool, (n_outputs,)."""
        return np.array([bool(mask[outputs].any()) for outputs in self.members], dtype=bool)


def compare_outputs(source: Codes, system: Codes, n_at_once: int, seed: int) -> Pages:
    """Return pages on which outputs of one source are compared.

    Parameters
    ----------
    source, system : int, (n_outputs,)
        Codes from 0.
    n_at_once : int
        Outputs of a page, at least 2. A source with fewer has no page.
    seed : int

    Returns
    -------
    Pages
        Of two at once, every pair of a source's outputs. Of more, rounds in which each output is shown once, as many
        as let each meet each other about once: the last page of a round is filled with outputs of its beginning.

    Raises
    ------
    DesignError
        ``bad_page_size`` for fewer than 2 at once, ``too_few_systems`` if no source has enough outputs.
    """
    if n_at_once < 2:
        raise DesignError("bad_page_size", f"a comparison needs at least 2 outputs, not {n_at_once}")
    order = np.lexsort((system, source))
    begin = np.flatnonzero(np.diff(source[order], prepend=-1))
    groups = [group for group in np.split(order, begin[1:]) if group.size >= n_at_once]
    if not groups:
        most = max((group.size for group in np.split(order, begin[1:])), default=0)
        raise DesignError("too_few_systems", f"no source has outputs of {n_at_once} systems; at most {most}")
    rng = generator(seed, _PAGES)
    members: list[NDArray[np.int64]] = []
    of_source: list[int] = []
    of_system: list[int] = []
    for group in groups:
        pages = _pairs(group) if n_at_once == 2 else _rounds(group, n_at_once, rng)
        members += pages
        of_source += [int(source[group[0]])] * len(pages)
        of_system += range(len(pages))
    return Pages(np.array(of_source), np.array(of_system), members)


def _pairs(group: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [group[[i, j]] for i in range(group.size) for j in range(i + 1, group.size)]


def _rounds(group: NDArray[np.int64], n_at_once: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    n_rounds = -(-(group.size - 1) // (n_at_once - 1)) if group.size > n_at_once else 1
    pages = []
    for _ in range(n_rounds):
        mixed = group[shuffled(group.size, rng)]
        around = np.concatenate([mixed, mixed[: -group.size % n_at_once]])
        pages += list(around.reshape(-1, n_at_once))
    return pages


def join_documents(document: Codes, place: Codes, system: Codes) -> Pages:
    """Return pages of one system's outputs for the sources of a document, in the order of `place`.

    Parameters
    ----------
    document, place, system : int, (n_outputs,)
        Of each output: its document, the place of its source there, its system.

    Returns
    -------
    Pages
        One for each document and system that has outputs for it.
    """
    order = np.lexsort((place, system, document))
    key = np.stack([document[order], system[order]])
    begin = np.flatnonzero(np.concatenate([[True], (key[:, 1:] != key[:, :-1]).any(axis=0)]))
    first = order[begin]
    return Pages(document[first], system[first], np.split(order, begin[1:]), is_ordered=True)


def write_out(plan: HitPlan, pages: Pages, *, system: Codes, is_degradable: Mask | None = None) -> HitPlan:
    """Return a plan of pages as one of items.

    Parameters
    ----------
    plan : HitPlan
        Its "outputs" are pages.
    pages : Pages
    system : int, (n_outputs,)
        For the totals.
    is_degradable : bool, (n_outputs,), optional
        Which outputs may be degraded; all, if not given.

    Returns
    -------
    HitPlan
        Of a copy of a page, every item is a copy of the same output on the page of its twin. On a degraded page one
        output of a comparison is degraded, or all of a document that can be; the others are repeats.

    Notes
    -----
    The outputs of a comparison change places from page to page: in all pages of the same outputs or of the same
    systems, each is in each place equally often, give or take one (all orders are turns of one that is random).
    """
    order = _order_of(plan, pages, system)
    n_of = np.array([outputs.size for outputs in order])
    hits = plan.hits
    page_of = np.repeat(np.arange(n_of.size), n_of)
    output = np.concatenate(order)
    kind = np.where(hits.kind[page_of] == Kind.ORDINARY, Kind.ORDINARY, Kind.REPEAT).astype(np.int8)
    kind[_degraded_items(plan, page_of, output, is_degradable, is_whole=pages.is_ordered)] = Kind.DEGRADED
    start = np.cumsum(n_of) - n_of
    new_hit = np.diff(hits.hit, prepend=-1) != 0
    position = np.arange(output.size) - np.repeat(start[new_hit], np.diff(np.append(start[new_hit], output.size))) + 1
    written = Hits(
        hit=hits.hit[page_of],
        position=position,
        output=output,
        kind=kind,
        twin_position=_twins(hits, page_of, output, position),
        page=hits.position[page_of],
    )
    return HitPlan(written, _count(plan, written, system), plan.seed)


def write_out_live(plan: HitPlan, pages: Pages, *, system: Codes) -> HitPlan:
    """Return a plan of pages on which systems are met live as one of items.

    Parameters
    ----------
    plan : HitPlan
        In the layout `BY_SYSTEM`; its "outputs" are pages, −1 a page with the degraded system.
    pages : Pages
        Of two systems each.
    system : int, (n_outputs,)
        Each output is a system.

    Returns
    -------
    HitPlan
        Output −1 is the degraded system. What it is shown with is a repeat: the systems in turn, so that each is there
        equally often, give or take one. Their order on the page changes as in `write_out`.
    """
    n = system.size
    is_degraded = plan.hits.kind == Kind.DEGRADED
    n_degraded = int(is_degraded.sum())
    beside = np.resize(shuffled(n, generator(plan.seed, _BESIDE)), n_degraded)
    met = replace(pages, members=[*pages.members, *(np.array([other, n]) for other in beside.tolist())])
    page = plan.hits.output.copy()
    page[is_degraded] = len(pages.members) + np.arange(n_degraded)
    written = write_out(
        replace(plan, hits=replace(plan.hits, output=page)),
        met,
        system=np.append(system, system.max() + 1),
        is_degradable=np.arange(n + 1) == n,
    )
    hits = replace(written.hits, output=np.where(written.hits.output == n, -1, written.hits.output))
    return replace(written, hits=hits, totals=_count(plan, hits, system))


def _order_of(plan: HitPlan, pages: Pages, system: Codes) -> list[NDArray[np.int64]]:
    """Return the outputs of each planned page in the order in which they are shown."""
    shown = [pages.members[page] for page in plan.hits.output.tolist()]
    if pages.is_ordered:
        return shown
    rng = generator(plan.seed, _ORDER)
    turns: dict[tuple[int, ...], tuple[NDArray[np.int64], int]] = {}
    ordered = []
    for outputs in shown:
        by_system = outputs[np.argsort(system[outputs], kind="stable")]
        key = tuple(system[by_system].tolist())
        base, turn = turns.get(key) or (shuffled(by_system.size, rng), int(rng.integers(by_system.size)))
        turns[key] = base, turn + 1
        ordered.append(np.roll(by_system[base], turn))
    return ordered


def _degraded_items(
    plan: HitPlan, page_of: Codes, output: Codes, is_degradable: Mask | None, *, is_whole: bool
) -> NDArray[np.int64]:
    """Return the items that are degraded: of each degraded page one, or all if `is_whole`."""
    may_be = plan.hits.kind[page_of] == Kind.DEGRADED
    if is_degradable is not None:
        may_be &= is_degradable[output]
    items = np.flatnonzero(may_be)
    if is_whole:
        return items
    rng = generator(plan.seed, _DEGRADED)
    items = items[shuffled(items.size, rng)]
    return items[np.unique(page_of[items], return_index=True)[1]]


def _twins(hits: Hits, page_of: Codes, output: Codes, position: Codes) -> NDArray[np.int64]:
    """Return the position of each copy's twin; −1 for ordinary items."""
    place_of = {
        (hit, page, shown): place
        for hit, page, shown, place in zip(
            hits.hit[page_of].tolist(), hits.position[page_of].tolist(), output.tolist(), position.tolist(), strict=True
        )
    }
    twins = hits.twin_position[page_of].tolist()
    return np.array(
        [
            place_of[hit, twin, shown] if twin > 0 else -1
            for hit, twin, shown in zip(hits.hit[page_of].tolist(), twins, output.tolist(), strict=True)
        ],
        dtype=np.int64,
    )


def _count(plan: HitPlan, hits: Hits, system: Codes) -> PlanTotals:
    ordinary = hits.output[hits.kind == Kind.ORDINARY]
    n_used = int(np.unique(ordinary).size)
    return replace(
        plan.totals,
        n_items=hits.hit.size,
        n_outputs_used=n_used,
        n_outputs_left_out=system.size - n_used,
        n_reuses=ordinary.size - n_used,
        ratings_per_system=np.bincount(system[ordinary], minlength=int(system.max()) + 1),
    )
