"""What workers say of the outputs of a page together, as rows: votes, rankings, choices of the best and the worst."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from annotation.export.rows import FINISHED, KIND_NAMES, Workers, assignment_chunks, assignments_at
from annotation.models import Assignment
from annotation.queries import answers_on
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.response import Comparison
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Criterion, HitItem
from evalsite.lib.column_queries import read_columns
from evalsite.lib.disk_sets import DiskSet
from evalsite.lib.tables.blocks import Block, Coded, spread

MOST_CHOSEN_FROM = 10
"""Of how many outputs a row of choices has a column each."""
_BEGINNING = ("worker", "assignment", "hit", "page", "source", "criterion")
VOTE_COLUMNS = (*_BEGINNING, "system_a", "system_b", "winner", "strength", "kind", "degraded")
RANKING_COLUMNS = (*_BEGINNING, "system", "rank", "kind")
CHOICE_COLUMNS = (
    *_BEGINNING,
    *(f"system_{place}" for place in range(1, MOST_CHOSEN_FROM + 1)),
    *("best", "worst", "kind", "degraded"),
)
_TIES, _NEITHER = ("tie", "draw", "equal"), ("both bad", "neither")


class _Page(NamedTuple):
    """The outputs of a page in the order in which they were shown."""

    source: str
    systems: tuple[str, ...]
    kinds: tuple[Kind, ...]
    outputs: tuple[int, ...]

    @property
    def kind(self) -> str:
        """What the page is: of a degraded one all but one item are repeats."""
        kind = Kind.DEGRADED if Kind.DEGRADED in self.kinds else max(self.kinds)
        return KIND_NAMES[kind]

    @property
    def degraded(self) -> int:
        """The place of the degraded output, from 1; 0 where none is."""
        return self.kinds.index(Kind.DEGRADED) + 1 if Kind.DEGRADED in self.kinds else 0

    @property
    def again(self) -> "_Page":
        """The page where its worker has seen the same outputs before."""
        return self._replace(kinds=(Kind.REPEAT,) * len(self.kinds))


_Key = tuple[int, int | None]
"""A HIT and a page of it."""
_Pages = dict[_Key, _Page]


class _Compared(NamedTuple):
    """Answers of some assignments: how their rows begin, what each says of the outputs of its page, and the pages."""

    beginning: list[Sequence[Any]]
    said: Sequence[Comparison]
    pages: Coded[_Page]


def vote_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield every vote of assignments in these states, with the columns VOTE_COLUMNS.

    `system_a` was shown first. `kind` is that of the page: ordinary, a repeat of one, or degraded, where `degraded`
    says which of the two outputs is: a or b.
    """
    for beginning, said, pages in _compared(campaign, "votes", states, names, workers, n_outputs=2):
        winners = [_winner(comparison, page.systems) for comparison, page in zip(said, pages, strict=True)]
        shown, kinds = spread(pages, attrgetter("systems")), spread(pages, attrgetter("kind"))
        systems = (spread(shown, itemgetter(k)) for k in (0, 1))
        degraded = spread(pages, lambda page: ("", "a", "b")[page.degraded])
        yield [*beginning, *systems, winners, [each.strength for each in said], kinds, degraded]


def _winner(said: Comparison, systems: Sequence[str]) -> str:
    first, second = said.ranks
    if first != second:
        return systems[first > second]
    words = _NEITHER if said.is_neither_good else _TIES
    return next(word for word in words if word not in systems)  # a system may be called so


def ranking_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield every output of every ranking of assignments in these states, with the columns RANKING_COLUMNS.

    `rank`: from 1, the best; equal ranks are ties. `kind` is that of the output: on a page with a degraded one the
    others are repeats.
    """
    for beginning, said, pages in _compared(campaign, "rankings", states, names, workers):
        rows = np.repeat(np.arange(len(said)), [len(each.ranks) for each in said])
        ranks = list(chain.from_iterable(each.ranks for each in said))
        systems = list(chain.from_iterable(page.systems for page in pages))
        kinds = [KIND_NAMES[kind] for page in pages for kind in page.kinds]
        yield [*(Coded(column, rows) for column in map(list, beginning)), systems, ranks, kinds]


def choice_blocks(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[Block]:
    """Yield every choice of the best and the worst in assignments in these states, with the columns CHOICE_COLUMNS.

    `system_1` was shown first; columns of outputs that were not shown are empty. `kind` is that of the page, as of
    votes; `degraded` is the number of the degraded output.
    """
    for beginning, said, pages in _compared(campaign, "choices", states, names, workers):
        shown = spread(pages, lambda page: (*page.systems, *[""] * (MOST_CHOSEN_FROM - len(page.systems))))
        systems = (spread(shown, itemgetter(k)) for k in range(MOST_CHOSEN_FROM))
        best, worst = (
            [page.systems[each.ranks.index(end(each.ranks))] for each, page in zip(said, pages, strict=True)]
            for end in (min, max)
        )
        degraded = spread(pages, lambda page: page.degraded or "")
        yield [*beginning, *systems, best, worst, spread(pages, attrgetter("kind")), degraded]


def _compared(
    campaign: Campaign,
    table: str,
    states: Collection[str],
    names: NameWorker,
    workers: Workers,
    n_outputs: int | None = None,
) -> Iterator[_Compared]:
    """Yield what assignments in these states say on criteria of a table, by assignment, page and criterion.

    What a worker says of the same outputs again, in another HIT, is of a repeat. Each chat is a source of its own.
    `n_outputs`: pages of so many alone.
    """
    criteria = {each.pk: each for each in campaign.criteria.all() if each.response_kind.table == table}
    with DiskSet() as seen:
        for assignments in assignment_chunks(campaign, states, workers=workers):
            pages = _pages_of({each.hit_id for each in assignments})
            rows = _answers(assignments, criteria, pages, n_outputs)
            if not rows:
                continue
            ids, keys, asked, said = zip(*rows, strict=True)
            shown = _shown_to(assignments, ids, keys, asked, pages, None if campaign.is_live else seen)
            sources = spread(shown, attrgetter("source"))
            if campaign.is_live:
                sources = [f"{source} {pk}.{page}" for source, pk, (_, page) in zip(sources, ids, keys, strict=True)]
            of_assignments = np.searchsorted([each.pk for each in assignments], ids)
            called, hits, _ = assignments_at(of_assignments, assignments, names)
            in_assignments = Coded([each.pk for each in assignments], of_assignments)
            numbers, criterion_names = [page for _, page in keys], spread(asked, lambda pk: criteria[pk].name)
            yield _Compared([called, in_assignments, hits, numbers, sources, criterion_names], said, shown)


def _answers(
    assignments: Sequence[Assignment], criteria: Mapping[int, Criterion], pages: _Pages, n_outputs: int | None
) -> list[tuple[int, _Key, int, Comparison]]:
    """Return assignment, page, criterion and what was said of each answer about all outputs of its page, in order."""
    found = answers_on(criteria, assignments).filter(value__isnull=False)
    in_order = found.order_by("assignment", "item__position", "criterion__order")
    ids, numbers, asked, values = read_columns(in_order, "assignment", "item__page", "criterion", "value")
    hits = {each.pk: each.hit_id for each in assignments}
    keys = [(hits[pk], page) for pk, page in zip(ids, numbers, strict=True)]
    sizes = [len(pages[key].systems) for key in keys]
    known: dict[tuple[int, int, int], Comparison | None] = {}
    said = list(zip(asked, map(id, values), sizes, strict=True))  # equal values are one object
    for each, value in dict(zip(said, values, strict=True)).items():
        criterion, _, n = each
        compared = criteria[criterion].response_kind.compared(value, n)
        fits = compared is not None and len(compared.ranks) == n and n_outputs in (None, n)
        known[each] = compared if fits else None
    rows = zip(ids, keys, asked, map(known.__getitem__, said), strict=True)
    return [(pk, key, criterion, compared) for pk, key, criterion, compared in rows if compared is not None]


def _shown_to(
    assignments: Sequence[Assignment],
    ids: Sequence[int],
    keys: Sequence[_Key],
    asked: Sequence[int],
    pages: _Pages,
    seen: DiskSet | None,
) -> Coded[_Page]:
    """Return the page of each answer, of repeats where its worker has answered the same of its outputs before."""
    outputs = {key: sorted(set(page.outputs)) for key, page in pages.items() if seen and not any(page.kinds)}
    workers = {each.pk: each.worker_id for each in assignments}
    answers = zip(ids, asked, keys, strict=True)
    texts = [f"{workers[pk]} {criterion} {outputs[key]}" for pk, criterion, key in answers if key in outputs]
    is_new = iter(seen.add_all(texts) if seen else [])
    places = {key: place for place, key in enumerate(pages)}
    codes = [places[key] + len(pages) * (key in outputs and not next(is_new)) for key in keys]
    return Coded([*pages.values(), *(page.again for page in pages.values())], np.array(codes))


def _pages_of(hits: set[int]) -> _Pages:
    """Return what each page of some HITs shows, by HIT and page."""
    items = HitItem.objects.filter(hit__in=hits).order_by("hit", "position")
    columns = ("hit", "page", "output__source__name", "output__system__name", "kind", "output")
    rows: dict[_Key, list[tuple[Any, ...]]] = {}
    for hit, page, *row in zip(*read_columns(items, *columns), strict=True):
        rows.setdefault((hit, page), []).append(tuple(row))
    pages: _Pages = {}
    for key, shown in rows.items():
        (source, *_), systems, kinds, outputs = zip(*shown, strict=True)
        pages[key] = _Page(source, systems, tuple(map(Kind, kinds)), outputs)
    return pages
