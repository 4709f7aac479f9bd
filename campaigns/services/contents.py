"""Putting sources, outputs and HITs that came with a file into a campaign, and taking out what is there.

Each is called inside a transaction that holds the campaign's lock.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat

from django.db import transaction
from django.db.models import Max

from campaigns.data_queries import output_keys, source_keys
from campaigns.design.composition import Kind, Layout
from campaigns.importing.contents import Contents, GivenHit, SourceText
from campaigns.importing.tables import MAX_SYSTEMS
from campaigns.models import Campaign, Hit, HitItem, Output, Source, System
from campaigns.services.campaigns import live, lock_for_change, mark_unbuilt
from campaigns.services.rows import ItemRow, delete_hits, insert_items, insert_rows
from campaigns.stored_files import drop_files
from evalsite.lib.errors import DomainError

OnProgress = Callable[[int, int, str], None]

_CHUNK = 2000
_HUMAN = "human"


def clear_contents(campaign: Campaign) -> None:
    """Take out all HITs, outputs, systems, sources, and the files that they name."""
    delete_hits(campaign)
    drop_files(campaign)
    # Not `delete()`, which would fetch every row to look for others that point to it: there are none left.
    for rows in (Output.objects.filter(source__campaign=campaign), campaign.systems.all(), campaign.sources.all()):
        rows._raw_delete(rows.db)


def add_contents(
    campaign: Campaign, contents: Contents, on_progress: OnProgress, human: Sequence[str] | None = ()
) -> None:
    """Add sources, systems and outputs to what is there; raise DomainError `too_many_systems`.

    Fields, attributes and a document that a source lacked are added to it. If no system is marked as human, the first
    is that is called as one of `human`, or “human”; None: none is.
    """
    source_ids = _add_sources(campaign, contents.sources)
    system_ids = _add_systems(campaign, contents.systems)
    if human is not None:
        _mark_human(campaign, human)
    insert_rows(
        Output,
        ("source_id", "system_id", "text", "degraded"),
        _output_rows(contents, source_ids, system_ids, on_progress),
    )


def _output_rows(
    contents: Contents, source_ids: Sequence[int], system_ids: Sequence[int], on_progress: OnProgress
) -> Iterator[tuple[int, int, str, str]]:
    degraded = contents.degraded or repeat("")
    for n_done, ((source, system, text), worse) in enumerate(zip(contents.outputs(), degraded, strict=False)):
        if n_done % _CHUNK == 0:
            on_progress(n_done, len(contents.texts), "Storing the outputs")
        yield source_ids[source], system_ids[system], text, worse


def _add_sources(campaign: Campaign, sources: Sequence[SourceText]) -> list[int]:
    """Return the key of each source, once the new ones are stored and the others have their further fields."""
    keys = source_keys(campaign)
    place_of = _places(campaign, sources)
    known = [source for source in sources if source.name in keys]
    new = [source for source in sources if source.name not in keys]
    stored = Source.objects.bulk_create(
        (
            Source(
                campaign=campaign,
                name=source.name,
                fields=source.fields,
                attribute_values=source.attributes,
                document=source.document,
                place=place_of.get(source.name, 0),
            )
            for source in new
        ),
        batch_size=_CHUNK,
    )
    keys |= {source.name: source.pk for source in stored}
    for chunk in _chunks(known):
        by_name = {source.name: source for source in chunk}
        changed = []
        for row in campaign.sources.filter(name__in=by_name):
            source = by_name[row.name]
            is_more = not (
                source.fields.keys() <= row.fields.keys() and source.attributes.keys() <= row.attribute_values.keys()
            )
            if row.name in place_of or is_more:
                row.fields, row.attribute_values = source.fields | row.fields, source.attributes | row.attribute_values
                row.document = row.document or source.document
                row.place = place_of.get(row.name, row.place)
                changed.append(row)
        Source.objects.bulk_update(changed, ["fields", "attribute_values", "document", "place"])
    return [keys[source.name] for source in sources]


def _places(campaign: Campaign, sources: Sequence[SourceText]) -> dict[str, int]:
    """Return the place, from 1, of each source that gets a document, in the order of the file, after those there."""
    there = campaign.sources.exclude(document="").order_by()
    known = set(there.values_list("name", flat=True).iterator(_CHUNK))
    last: dict[str, int] = dict(there.values("document").annotate(n=Max("place")).values_list("document", "n"))
    places = {}
    for source in sources:
        if source.document and source.name not in known:
            places[source.name] = last[source.document] = last.get(source.document, 0) + 1
    return places


def _chunks(sources: Sequence[SourceText]) -> Iterator[Sequence[SourceText]]:
    # SQLite takes at most 999 values in one query.
    return (sources[begin : begin + 500] for begin in range(0, len(sources), 500))


def _add_systems(campaign: Campaign, names: Sequence[str]) -> list[int]:
    """Return the key of each system, once those that are new are stored."""
    keys: dict[str, int] = dict(campaign.systems.values_list("name", "pk"))
    new = [System(campaign=campaign, name=name) for name in names if name not in keys]
    if (n_systems := len(keys) + len(new)) > MAX_SYSTEMS:
        raise DomainError(
            "too_many_systems",
            f"The campaign would have {n_systems:,} systems, and at most {MAX_SYSTEMS} are compared. Leave some out.",
        )
    keys |= {system.name: system.pk for system in System.objects.bulk_create(new)}
    return [keys[name] for name in names]


def _mark_human(campaign: Campaign, human: Sequence[str]) -> None:
    systems = list(campaign.systems.order_by("pk"))
    if any(system.is_human for system in systems):
        return
    found = [system for system in systems if system.name in human]
    found += [system for system in systems if system.name.casefold() == _HUMAN]
    if found:
        campaign.systems.filter(pk=found[0].pk).update(is_human=True)


def add_given_hits(campaign: Campaign, contents: Contents, hits: Sequence[GivenHit]) -> None:
    """Store HITs of the contents' outputs as they are given, and their mix; the campaign is ready then.

    All are for as many workers as the one that asks for most.
    """
    n_workers = max(hit.n_workers for hit in hits)
    keys = output_keys(campaign)
    names = [(contents.sources[source].name, contents.systems[system]) for source, system, _ in contents.outputs()]
    stored = Hit.objects.bulk_create(
        Hit(campaign=campaign, number=number, n_places_left=n_workers) for number in range(1, len(hits) + 1)
    )
    insert_items(_item_rows(stored, hits, [keys[name] for name in names]))
    HitItem.objects.bulk_create(_tutorial_items(stored, hits), batch_size=_CHUNK)
    largest = max(hits, key=lambda hit: len(hit.items))
    mix: Mapping[str, object] = {
        "n_ordinary": largest.count(Kind.ORDINARY),
        "n_degraded": largest.count(Kind.DEGRADED),
        "n_repeat": largest.count(Kind.REPEAT),
        "n_reference": largest.count(Kind.REFERENCE),
        "n_tutorial": largest.count(Kind.TUTORIAL),
        "layout": Layout.POOLED.value,
        "has_anchor": False,
        "n_hits": None,
        "workers_per_hit": n_workers,
        "status": Campaign.Status.READY,
    }
    Campaign.objects.filter(pk=campaign.pk).update(**mix)


def _item_rows(stored: Sequence[Hit], hits: Sequence[GivenHit], output_ids: Sequence[int]) -> Iterator[ItemRow]:
    for row, hit in zip(stored, hits, strict=True):
        for position, item in enumerate(hit.items, start=1):
            if item.output is not None:
                yield row.pk, position, int(item.kind), output_ids[item.output], item.twin_position, item.text, None


def _tutorial_items(stored: Sequence[Hit], hits: Sequence[GivenHit]) -> Iterator[HitItem]:
    for row, hit in zip(stored, hits, strict=True):
        for position, item in enumerate(hit.items, start=1):
            if item.output is None:
                yield HitItem(hit=row, position=position, kind=item.kind, text=item.text, fields=item.fields)


@transaction.atomic
def rename_system(*, campaign: Campaign, system: System, name: str) -> None:
    """Give a system another name. Built HITs stay: they hold outputs, not names.

    Raises DomainError `frozen`, `name_taken` by another system, or `live`: chatbots are changed as such.
    """
    if lock_for_change(campaign).is_live:
        raise live()
    if campaign.systems.filter(name=name).exclude(pk=system.pk).exists():
        raise DomainError("name_taken", f"Another system is called “{name}”. Systems need different names.")
    campaign.systems.filter(pk=system.pk).update(name=name)


@transaction.atomic
def mark_human(*, campaign: Campaign, system: System | None) -> None:
    """Say which system is human; None for none. HITs must be built again if that changes.

    Raises DomainError `frozen`, or `live`: chatbots are not human.
    """
    locked = lock_for_change(campaign)
    if locked.is_live:
        raise live()
    before = campaign.systems.filter(is_human=True).first()
    if before == system:
        return
    campaign.systems.filter(is_human=True).update(is_human=False)
    if system:
        campaign.systems.filter(pk=system.pk).update(is_human=True)
    mark_unbuilt(locked)
