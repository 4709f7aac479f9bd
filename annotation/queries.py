"""What a worker's page shows, by the token that is its access; and what a user may call a worker."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.db.models import QuerySet

from annotation.models import Assignment, Worker
from annotation.tokens import is_arrival, read_token
from annotation.worker_names import hashed_name
from campaigns.models import Campaign, Criterion, HitItem
from campaigns.queries import Role, has_role
from evalsite.lib.caches import byte_cache
from evalsite.lib.errors import DomainError


@dataclass(frozen=True)
class ShownItem:
    """What a worker's page may know of an item: neither its kind nor its system."""

    id: int
    position: int
    text: str
    source_id: int
    fields: Mapping[str, str]


def shown_items(items: QuerySet[HitItem]) -> list[ShownItem]:
    """Return items as a worker is shown them. One query."""
    rows = items.values_list("pk", "position", "text", "output__source", "output__source__fields")
    sources: dict[int, Mapping[str, str]] = {}
    return [
        ShownItem(pk, position, text, source, sources.setdefault(source, fields))
        for pk, position, text, source, fields in rows
    ]


@dataclass(frozen=True)
class CurrentItem:
    """The item that is to be rated next, and the one after it. `item` is None once all are rated."""

    assignment: Assignment
    item: ShownItem | None
    next_item: ShownItem | None
    criteria: list[Criterion]

    @property
    def campaign(self) -> Campaign:
        """The assignment's campaign."""
        return self.assignment.campaign

    @property
    def position(self) -> int:
        """Position of the item, from 1."""
        return self.assignment.position

    @property
    def n_items(self) -> int:
        """Size of the HIT."""
        return self.assignment.n_items


def get_assignment(token: str) -> Assignment:
    """Return the assignment of a token, with its campaign, HIT and worker. Its holder is the worker. One query.

    Raises DomainError `bad_token`, or `old_token` if its worker has come again from the platform since.
    """
    read = read_token(token)
    try:
        found = Assignment.objects.select_related("campaign", "hit", "worker").get(pk=read.assignment_id)
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


def get_current_item(assignment: Assignment) -> CurrentItem:
    """Return what the worker is to rate now: no query, except a HIT that this process has not shown yet."""
    items = items_of(assignment)
    position = assignment.position
    return CurrentItem(assignment, items.get(position), items.get(position + 1), criteria_of(assignment.campaign))


def items_of(assignment: Assignment) -> Mapping[int, ShownItem]:
    """Return the items of an assignment's HIT by position. They are frozen, and asked for once a process."""
    return _frozen_items(assignment.campaign.public_id, assignment.hit_id)


def _size_of_items(items: Mapping[int, ShownItem], *key: object) -> int:
    """Return about how many bytes items take; those of one source share its fields."""
    fields = {id(item.fields): item.fields for item in items.values()}
    texts = [item.text for item in items.values()] + [text for each in fields.values() for text in each.values()]
    return sum(map(sys.getsizeof, texts)) + 1000 * len(items)


# Of the HITs that a process shows at once; one of 100 items takes some 100 kB, with long texts more.
@byte_cache(64 * 2**20, _size_of_items)
def _frozen_items(public_id: UUID, hit_id: int) -> Mapping[int, ShownItem]:
    items = HitItem.objects.filter(hit__campaign__public_id=public_id, hit=hit_id)
    return {item.position: item for item in shown_items(items)}


def criteria_of(campaign: Campaign) -> list[Criterion]:
    """Return a campaign's criteria in order. Once it is launched they are frozen, and are asked for once a process."""
    return _frozen_criteria(campaign.public_id) if campaign.is_launched else list(campaign.criteria.all())


@lru_cache(maxsize=256)
def _frozen_criteria(public_id: UUID) -> list[Criterion]:
    return list(Criterion.objects.filter(campaign__public_id=public_id))


def worker_name(campaign: Campaign, worker: Worker) -> str:
    """Return what the user that the campaign was fetched for may call a worker: viewers get a hash, as in exports."""
    return worker.name if has_role(campaign, Role.EDITOR) else hashed_name(worker)
