"""What a worker's page shows, by the token that is its access; and what a user may call a worker."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from django.db.models import F, QuerySet

from annotation.access.tokens import is_arrival, read_token
from annotation.models import Assignment, Response, Turn, Worker
from annotation.worker_names import hashed_name
from campaigns.contracts.protocol import Scope
from campaigns.design.paging import PageKind
from campaigns.models import Campaign, Criterion, HitItem
from campaigns.queries import Role, has_role
from evalsite.lib.caches import byte_cache
from evalsite.lib.errors import DomainError
from evalsite.lib.kept_queries import KeptQuery


@dataclass(frozen=True, eq=False)
class ShownItem:
    """What a worker's page may know of an item: neither its kind nor its system. What is kept of it is for it alone."""

    id: int
    position: int
    text: str
    source_id: int | None
    fields: Mapping[str, str]
    page: int | None = None


class Reply(NamedTuple):
    """What a chatbot said in a chat, or an agent did, and the number of that turn."""

    number: int
    text: str


@dataclass(frozen=True)
class ShownPage:
    """What a worker sees at once: one item, or several that follow one another. `number` counts pages from 1."""

    items: tuple[ShownItem, ...]
    number: int
    n_pages: int

    @property
    def position(self) -> int:
        """Position of its first item."""
        return self.items[0].position

    @property
    def end(self) -> int:
        """Position of its last item."""
        return self.items[-1].position

    @property
    def has_several(self) -> bool:
        """Whether it shows more than one output."""
        return len(self.items) > 1

    @property
    def is_last(self) -> bool:
        """Whether the HIT ends with it."""
        return self.number == self.n_pages


def shown_items(items: QuerySet[HitItem]) -> list[ShownItem]:
    """Return items as a worker is shown them. One query."""
    rows = items.values_list("pk", "position", "text", "output__source", "output__source__fields", "page", "fields")
    sources: dict[int, Mapping[str, str]] = {}
    return [
        ShownItem(pk, position, text, source, own if source is None else sources.setdefault(source, fields), page)
        for pk, position, text, source, fields, page, own in rows
    ]


def shown_pages(items: QuerySet[HitItem]) -> list[ShownPage]:
    """Return all items of a HIT, page by page. One query."""
    return pages_of_items(sorted(shown_items(items), key=lambda item: item.position))


def pages_of_items(items: Iterable[ShownItem]) -> list[ShownPage]:
    """Return the pages of all items of a HIT, which are in order."""
    pages = [tuple(group) for _, group in groupby(items, key=lambda item: item.page or -item.position)]
    return [ShownPage(group, number, len(pages)) for number, group in enumerate(pages, start=1)]


@dataclass(frozen=True)
class CurrentPage:
    """The page that is to be rated next, and the one after it. `page` is None once all are rated."""

    assignment: Assignment
    page: ShownPage | None
    next_page: ShownPage | None
    criteria: list[Criterion]

    @property
    def campaign(self) -> Campaign:
        """The assignment's campaign."""
        return self.assignment.campaign


_ASSIGNMENTS = KeptQuery(Assignment.objects.select_related("campaign", "hit", "worker").filter(pk=0))
# What sending an image needs: with the other columns the query takes twice as long.
_CAMPAIGN_OF_IMAGES = ("public_id", "platform", "screen", "layout", "chat", "page_kind")
_ASSIGNMENTS_OF_IMAGES = KeptQuery(
    Assignment.objects.filter(pk=0)
    .select_related("campaign")
    .only(
        *("campaign", "hit", "n_rated", "is_accessible", "platform_id"),
        *(f"campaign__{name}" for name in _CAMPAIGN_OF_IMAGES),
    )
)


def get_assignment(token: str) -> Assignment:
    """Return the assignment of a token, with its campaign, HIT and worker. Its holder is the worker. One query.

    Raises DomainError `bad_token`, or `old_token` if its worker has come again from the platform since.
    """
    return _get_by_token(token, _ASSIGNMENTS)


def get_assignment_of_images(token: str) -> Assignment:
    """Return what `get_assignment` does, with as much as sending an image needs. One query. Raises as it does."""
    return _get_by_token(token, _ASSIGNMENTS_OF_IMAGES)


def _get_by_token(token: str, assignments: KeptQuery[Assignment]) -> Assignment:
    read = read_token(token)
    try:
        found = assignments.get(read.assignment_id)
    except Assignment.DoesNotExist:
        raise DomainError("bad_token", "This address does not work. Open the link that you were sent again.") from None
    _check_arrival(read.arrival, found.platform_id)
    return found


def assignment_id_of(token: str) -> int:
    """Return the id of a token's assignment. No query, but one where somebody came from a crowd platform.

    Raises DomainError `bad_token` or `old_token`.
    """
    read = read_token(token)
    if read.arrival:
        platform_ids = Assignment.objects.filter(pk=read.assignment_id).values_list("platform_id", flat=True)
        _check_arrival(read.arrival, platform_ids.first() or "")
    return read.assignment_id


def _check_arrival(arrival: str, platform_id: str) -> None:
    if not is_arrival(arrival, platform_id):
        raise DomainError("old_token", "You have opened this again since. Continue in the page that you opened last.")


def get_current_page(assignment: Assignment) -> CurrentPage:
    """Return what the worker is to rate now: no query, except a HIT that this process has not shown yet."""
    pages = pages_of(assignment)
    page = pages.get(assignment.position)
    following = pages.get(page.end + 1) if page else None
    return CurrentPage(assignment, page, following, criteria_of(assignment.campaign))


def pages_of(assignment: Assignment) -> Mapping[int, ShownPage]:
    """Return the pages of an assignment's HIT by position of their first item.

    They are frozen, and asked for once a process.
    """
    return _frozen_pages(assignment.campaign.public_id, assignment.hit_id)


def count_pages(assignment: Assignment) -> tuple[int, int]:
    """Return how many pages of an assignment are rated, and how many there are: what workers read on pages."""
    if assignment.campaign.page_kind == PageKind.OUTPUT:
        return assignment.n_rated, assignment.n_items
    pages = pages_of(assignment).values()
    return sum(page.end <= assignment.n_rated for page in pages), len(pages)


def items_near(assignment: Assignment) -> list[ShownItem]:
    """Return the items of the page that is to be rated next, of the one after it and of the one before."""
    pages = list(pages_of(assignment).values())
    at = next((place for place, page in enumerate(pages) if page.position >= assignment.position), len(pages))
    return [item for page in (*pages[at : at + 2], *pages[max(at - 1, 0) : at]) for item in page.items]


def _size_of_pages(pages: Mapping[int, ShownPage], *key: object) -> int:
    """Return about how many bytes pages take; items of one source share its fields."""
    items = [item for page in pages.values() for item in page.items]
    fields = {id(item.fields): item.fields for item in items}
    texts = [item.text for item in items] + [text for each in fields.values() for text in each.values()]
    return sum(map(sys.getsizeof, texts)) + 1200 * len(items)


# Of the HITs that a process shows at once; one of 100 items takes some 100 kB, with long texts more.
@byte_cache(64 * 2**20, _size_of_pages)
def _frozen_pages(public_id: UUID, hit_id: int) -> Mapping[int, ShownPage]:
    items = HitItem.objects.filter(hit__campaign__public_id=public_id, hit=hit_id)
    return {page.position: page for page in shown_pages(items)}


def responses_to(assignment_id: int, page: ShownPage, *, is_locked: bool = False) -> list[Response]:
    """Return what an assignment's worker has answered on a page so far, locked if it is about to change. One query."""
    items = [item.id for item in page.items]
    return _responses(len(items), is_locked).list(assignment_id, *items)


@lru_cache(maxsize=256)
def _responses(n_items: int, is_locked: bool) -> KeptQuery[Response]:
    found = Response.objects.filter(assignment=0, item__in=range(n_items))
    return KeptQuery(found.select_for_update() if is_locked else found)


def criteria_of(campaign: Campaign) -> list[Criterion]:
    """Return a campaign's criteria in order. Once it is launched they are frozen, and are asked for once a process."""
    return _frozen_criteria(campaign.public_id) if campaign.is_launched else list(campaign.criteria.all())


@lru_cache(maxsize=256)
def _frozen_criteria(public_id: UUID) -> list[Criterion]:
    return list(Criterion.objects.filter(campaign__public_id=public_id))


def replies_to_rate(
    campaign: Campaign, assignment_id: int, page: ShownPage, criteria: Iterable[Criterion]
) -> list[Reply]:
    """Return the replies that were given in the chat of a page, in order; none where no criterion is about them.

    One query if some are. Where outputs are rated, see `replies_shown`.
    """
    if not campaign.is_live:
        return replies_shown(campaign, page, criteria)
    if all(each.scope != Scope.TURN for each in criteria):
        return []
    chat = {"conversation__assignment": assignment_id, "conversation__item": page.items[0].id}
    found = Turn.objects.filter(**chat, speaker=Turn.Speaker.CHATBOT).order_by("number")
    return [Reply(*row) for row in found.values_list("number", "text")]


def replies_shown(campaign: Campaign, page: ShownPage, criteria: Iterable[Criterion]) -> list[Reply]:
    """Return the replies or steps of the one output of a page, from 1; none where no criterion is about them."""
    is_asked = any(each.scope == Scope.TURN or each.response_kind.needs_turns for each in criteria)
    if not is_asked or page.has_several:
        return []
    turns = campaign.format_of_outputs.turns(page.items[0].text)
    return [Reply(number, text) for number, text in enumerate(turns, 1)]


def worker_name(campaign: Campaign, worker: Worker) -> str:
    """Return what the user that the campaign was fetched for may call a worker: viewers get a hash, as in exports."""
    return worker.name if has_role(campaign, Role.EDITOR) else hashed_name(worker)


def answers_on(criteria: Iterable[int], assignments: Iterable[Assignment]) -> QuerySet[Response]:
    """Return what assignments answered on criteria, by their keys."""
    # A sum has no index: SQLite would take that of criteria, and read all of a campaign for each few assignments.
    asked = Response.objects.alias(asked=F("criterion_id") + 0)
    return asked.filter(assignment__in=assignments, asked__in=list(criteria))
