"""What workers say of the outputs of a page together, as rows: votes, rankings, choices of the best and the worst."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from annotation.export.rows import FINISHED, KIND_NAMES, Workers, assignment_chunks
from annotation.models import Response
from annotation.worker_names import NameWorker, hashed_name
from campaigns.contracts.response import Comparison
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from evalsite.lib.disk_sets import DiskSet

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


class _Shown(NamedTuple):
    source: str
    system: str
    kind: Kind
    output: int


class _Compared(NamedTuple):
    """What was said of the outputs of a page, in the order in which they were shown, and how a row of it begins."""

    beginning: tuple[Any, ...]
    said: Comparison
    systems: list[str]
    kinds: list[Kind]

    @property
    def kind(self) -> str:
        """What the page is: of a degraded one all but one item are repeats."""
        kind = Kind.DEGRADED if Kind.DEGRADED in self.kinds else max(self.kinds)
        return KIND_NAMES[kind]

    @property
    def degraded(self) -> int:
        """The place of the degraded output, from 1; 0 where none is."""
        return self.kinds.index(Kind.DEGRADED) + 1 if Kind.DEGRADED in self.kinds else 0


def iter_votes(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield every vote of assignments in these states as a row of VOTE_COLUMNS.

    `system_a` was shown first. `kind` is that of the page: ordinary, a repeat of one, or degraded, where `degraded`
    says which of the two outputs is: a or b.
    """
    for each in _compared(campaign, "votes", states, names, workers):
        if len(each.systems) != 2:
            continue
        first, second = each.said.ranks
        words = _NEITHER if each.said.is_neither_good else _TIES
        tie = next(word for word in words if word not in each.systems)  # a system may be called so
        winner = tie if first == second else each.systems[first > second]
        yield *each.beginning, *each.systems, winner, each.said.strength, each.kind, ("", "a", "b")[each.degraded]


def iter_rankings(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield every output of every ranking of assignments in these states as a row of RANKING_COLUMNS.

    `rank`: from 1, the best; equal ranks are ties. `kind` is that of the output: on a page with a degraded one the
    others are repeats.
    """
    for each in _compared(campaign, "rankings", states, names, workers):
        for system, rank, kind in zip(each.systems, each.said.ranks, each.kinds, strict=True):
            yield *each.beginning, system, rank, KIND_NAMES[kind]


def iter_choices(
    campaign: Campaign,
    *,
    states: Collection[str] = FINISHED,
    names: NameWorker = hashed_name,
    workers: Workers = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield every choice of the best and the worst in assignments in these states as a row of CHOICE_COLUMNS.

    `system_1` was shown first; columns of outputs that were not shown are empty. `kind` is that of the page, as of
    votes; `degraded` is the number of the degraded output.
    """
    for each in _compared(campaign, "choices", states, names, workers):
        ranks, empty = each.said.ranks, [""] * (MOST_CHOSEN_FROM - len(each.systems))
        best, worst = (each.systems[ranks.index(rank)] for rank in (min(ranks), max(ranks)))
        yield *each.beginning, *each.systems, *empty, best, worst, each.kind, each.degraded or ""


def _compared(
    campaign: Campaign, table: str, states: Collection[str], names: NameWorker, workers: Workers
) -> Iterator[_Compared]:
    """Yield what assignments in these states say on criteria of a table, by assignment, page and criterion.

    What a worker says of the same outputs again, in another HIT, is of a repeat. Each chat is a source of its own.
    """
    criteria = {each.pk: each for each in campaign.criteria.all() if each.response_kind.table == table}
    with DiskSet() as seen:
        for assignments in assignment_chunks(campaign, states, workers=workers):
            pages = _pages_of({each.hit_id for each in assignments})
            known = {each.pk: each for each in assignments}
            found = Response.objects.filter(assignment__in=assignments, criterion__in=criteria, value__isnull=False)
            order = ("assignment", "item__position", "criterion__order")
            rows = found.order_by(*order).values_list("assignment", "item__page", "criterion", "value")
            for pk, page, criterion, value in rows.iterator():
                shown, assignment, asked = pages[known[pk].hit_id, page], known[pk], criteria[criterion]
                said = asked.response_kind.compared(value, len(shown))
                if said is None or len(said.ranks) != len(shown):
                    continue
                kinds = [each.kind for each in shown]
                if not any(kinds) and not campaign.is_live:
                    outputs = sorted({each.output for each in shown})
                    if not seen.add(f"{assignment.worker_id} {criterion} {outputs}"):
                        kinds = [Kind.REPEAT] * len(shown)
                source = f"{shown[0].source} {pk}.{page}" if campaign.is_live else shown[0].source
                beginning = names(assignment.worker), pk, assignment.hit.number, page, source, asked.name
                yield _Compared(beginning, said, [each.system for each in shown], kinds)


def _pages_of(hits: set[int]) -> dict[tuple[int, int | None], list[_Shown]]:
    """Return what each page of some HITs shows, by HIT and page."""
    pages: dict[tuple[int, int | None], list[_Shown]] = {}
    items = HitItem.objects.filter(hit__in=hits).order_by("hit", "position")
    columns = ("hit", "page", "output__source__name", "output__system__name", "kind", "output")
    for hit, page, source, system, kind, output in items.values_list(*columns).iterator():
        pages.setdefault((hit, page), []).append(_Shown(source, system, Kind(kind), output))
    return pages
