"""Reading what HITs are made of, and HITs. Callers have fetched the campaign for its user already."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.http import Http404
from numpy.typing import NDArray

from campaigns.building.estimate import BuildEstimate, estimate_of
from campaigns.building.inputs import BuildInputs, Texts
from campaigns.building.refusals import refusal
from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Kind, Mix
from campaigns.design.errors import DesignError
from campaigns.design.paging import PageKind
from campaigns.design.plan import plan_hits
from campaigns.design.sampling import Leftover
from campaigns.design.worker_test import Compared
from campaigns.formats import get_format
from campaigns.models import Campaign, HitItem, Output
from evalsite.lib.errors import DomainError

_CHUNK = 5000


def mix_of(campaign: Campaign) -> Mix:
    """Return what a HIT consists of; raise DomainError, with the numbers, if none can be made so. No query."""
    try:
        return campaign.mix
    except DesignError as error:
        raise refusal(error) from error


def read_build_inputs(campaign: Campaign, *, with_texts: bool = True, mix: Mix | None = None) -> BuildInputs:
    """Return what the campaign's HITs follow from; raise DomainError if its mix makes no HIT. Three queries.

    Without texts it is enough to see what HITs come to. A `mix` takes the place of the campaign's.
    """
    mix, screen = mix or mix_of(campaign), Screen.from_json(campaign.screen)
    systems = sorted(campaign.systems.filter(is_degraded=False).values_list("name", "pk", "is_human", "family"))
    columns = ("name", "pk", "document", "place", *(["fields"] if with_texts else []))
    sources: list[Any] = sorted(campaign.sources.values_list(*columns), key=lambda row: row[0])
    texts: list[str] = []
    degraded: list[str] = []
    keys = _read_outputs(campaign, (texts, degraded) if with_texts else None)
    family, degraded_id = None, None
    if campaign.is_live:
        is_ordinary = np.isin(keys[:, 2], [row[1] for row in systems])
        degraded_id = int(keys[~is_ordinary, 0][0]) if not is_ordinary.all() else None
        keys, texts = keys[is_ordinary], []
        # A chatbot without a family is one of its own, called by its name: a family may not be called so.
        _, family = np.unique([row[3] or f"\0{row[0]}" for row in systems], return_inverse=True)
    source, system = _codes(keys[:, 1], [row[1] for row in sources]), _codes(keys[:, 2], [row[1] for row in systems])
    order = np.lexsort((system, source))
    return BuildInputs(
        mix=mix,
        seed=campaign.seed,
        n_hits=campaign.n_hits,
        leftover=Leftover(campaign.leftover),
        reference_label=_label(screen, screen.reference_field),
        donor_label=_label(screen, screen.donor_field),
        source_names=[row[0] for row in sources],
        system_names=[row[0] for row in systems],
        human=next((code for code, row in enumerate(systems) if row[2]), None),
        source=source[order],
        system=system[order],
        output_ids=keys[order, 0],
        texts=_texts(
            screen,
            [row[4] for row in sources],
            [texts[k] for k in order.tolist()] if texts else [],
            [degraded[k] for k in order.tolist()] if texts and any(degraded) else [],
        )
        if with_texts
        else None,
        format=get_format(screen.output_format),
        family=None if family is None else np.asarray(family)[system[order]],
        degraded_id=degraded_id,
        page_kind=PageKind(campaign.page_kind),
        outputs_per_page=campaign.outputs_per_page,
        **_places_of(sources, source[order]) if campaign.is_revisable else {},
    )


def _places_of(sources: list[Any], source: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Return the number of each output's document and the place of its source there.

    A source that belongs to no document is one of its own.
    """
    codes = {key: code for code, key in enumerate(sorted({(row[2], row[2] or row[0]) for row in sources}), start=1)}
    document = np.array([codes[row[2], row[2] or row[0]] for row in sources], dtype=np.int64)
    place = np.array([row[3] for row in sources], dtype=np.int64)
    return {"document": document[source], "place": place[source]}


def _read_outputs(campaign: Campaign, texts: tuple[list[str], list[str]] | None) -> NDArray[np.int64]:
    """Return the keys of each output, its source and its system; append its text and its degraded version, if given."""
    columns = ["pk", "source_id", "system_id"] + (["text", "degraded"] if texts is not None else [])
    rows = Output.objects.filter(source__campaign=campaign).order_by().values_list(*columns)
    keys: list[int] = []
    for row in rows.iterator(chunk_size=_CHUNK):
        keys += row[:3]
        if texts is not None:
            texts[0].append(row[3])
            texts[1].append(row[4])
    return np.array(keys, dtype=np.int64).reshape(-1, 3)


def _codes(keys: NDArray[np.int64], in_order: list[int]) -> NDArray[np.int64]:
    """Return the place of each key among `in_order`."""
    by_key = np.argsort(np.array(in_order, dtype=np.int64))
    return by_key[np.searchsorted(np.array(in_order, dtype=np.int64)[by_key], keys)]


def _label(screen: Screen, name: str) -> str:
    return next((field.label for field in screen.fields if field.name == name), name)


def _texts(screen: Screen, fields: list[dict[str, str]], outputs: list[str], degraded: list[str]) -> Texts:
    def texts_of(name: str) -> list[str]:
        return [str(each.get(name) or "") for each in fields]

    donors = texts_of(screen.donor_field) if screen.donor_field else None
    return Texts(outputs, texts_of(screen.reference_field), donors, degraded)


def get_estimate(campaign: Campaign) -> BuildEstimate:
    """Return what the HITs come to as the design is; raise DomainError, with the numbers, if there can be none.

    Three queries, or as many that count the HITs that came with a file. Texts are not read: an output without words,
    or a source without a reference, is found when the HITs are built.
    """
    if campaign.has_given_hits:
        return _given_estimate(campaign)
    inputs = read_build_inputs(campaign, with_texts=False)
    return estimate_of(inputs, workers_per_hit=campaign.workers_per_hit, reward=campaign.reward)


def _given_estimate(campaign: Campaign) -> BuildEstimate:
    """Return what the HITs that came with a file come to."""
    ordinary = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.ORDINARY)
    items = HitItem.objects.filter(hit__campaign=campaign).aggregate(
        n=Count("pk"),
        n_hits=Count("hit", distinct=True),
        n_ordinary=Count("pk", filter=Q(kind=Kind.ORDINARY)),
        n_used=Count("output", distinct=True, filter=Q(kind=Kind.ORDINARY)),
    )
    counts = dict(ordinary.order_by().values_list("output__system__name").annotate(n=Count("pk")))
    n_outputs = Output.objects.filter(source__campaign=campaign).count()
    return BuildEstimate(
        n_hits=items["n_hits"],
        n_items=items["n"],
        n_outputs_used=items["n_used"],
        n_outputs_left_out=n_outputs - items["n_used"],
        n_reuses=items["n_ordinary"] - items["n_used"],
        n_sources_left_out=0,
        ratings_per_system=np.array([n for _, n in sorted(counts.items())], dtype=np.int64),
        system_names=sorted(counts),
        workers_per_hit=campaign.workers_per_hit,
        reward=campaign.reward,
    )


def compared_in_hit(campaign: Campaign) -> Compared:
    """Return what the worker test compares of one HIT and one criterion: of given HITs, of the fullest.

    One query for given HITs, for documents, whose mean number of segments counts, and for comparisons. In a live
    campaign the degraded chatbot has no twin; it can only be compared with what it is shown with.
    """
    n_alike = count_alike(campaign)
    if not campaign.has_given_hits:
        n_pairs = 0 if campaign.is_live and not campaign.compares_chats else campaign.n_degraded
        pages = Compared(n_pairs, campaign.n_degraded, campaign.n_ordinary, n_alike)
        return pages.times(count_segments(campaign) or 1) if campaign.page_kind == PageKind.DOCUMENT else pages
    twin = HitItem.objects.filter(hit=OuterRef("hit"), output=OuterRef("output"), kind=Kind.ORDINARY)
    is_degraded = Q(kind=Kind.DEGRADED)
    of_hits = HitItem.objects.filter(hit__campaign=campaign).order_by().annotate(has_twin=Exists(twin)).values("hit")
    counted = of_hits.annotate(
        n_pairs=Count("pk", filter=is_degraded & Q(has_twin=True)),
        n_degraded=Count("pk", filter=is_degraded),
        n_ordinary=Count("pk", filter=Q(kind=Kind.ORDINARY)),
    )
    names = ("n_pairs", "n_degraded", "n_ordinary")
    most = counted.aggregate(**{f"most_{name}": Max(name) for name in names})
    return Compared(**{name: most[f"most_{name}"] or 0 for name in names}, n_alike=n_alike)


def count_alike(campaign: Campaign) -> int:
    """Return among how many outputs a degraded one could be any, as `Compared` has it. A query for comparisons."""
    if campaign.page_kind != PageKind.COMPARISON:
        return 2
    tested = [each for each in campaign.criteria.all() if each.is_tested]
    return campaign.outputs_per_page if tested and all(each.response_kind.compares for each in tested) else 2


def count_segments(campaign: Campaign) -> int:
    """Return how many segments a document has in the mean; 0 without documents. One query."""
    of_documents = campaign.sources.exclude(document="").order_by()
    found = of_documents.aggregate(n_segments=Count("pk"), n_documents=Count("document", distinct=True))
    return int(found["n_segments"] // max(found["n_documents"], 1))


def list_items(campaign: Campaign, number: int) -> list[HitItem]:
    """Return the items of a HIT by position, with output, system and source. One query.

    Raises Http404 if the campaign has no HIT of this number.
    """
    items = HitItem.objects.filter(hit__campaign=campaign, hit__number=number)
    found = list(items.select_related("output__system", "output__source"))
    if not found:
        raise Http404("There is no such HIT.")
    return found


class Cell(NamedTuple):
    """An item of a HIT in a drawing: its place, its kind, and the place of its twin."""

    position: int
    kind: Kind
    twin: int | None


def cells_of(items: Iterable[HitItem]) -> list[Cell]:
    """Return the items of a HIT as cells, by position."""
    return sorted(Cell(item.position, Kind(item.kind), item.twin_position) for item in items)


def example_cells(campaign: Campaign) -> list[Cell]:
    """Return the first HIT that came with the file, else one as the design makes it; none if it makes none.

    One query for a HIT of a file, else none.
    """
    if campaign.has_given_hits:
        first = campaign.hits.order_by("number").values("pk")[:1]
        return cells_of(HitItem.objects.filter(hit__in=first).only("position", "kind", "twin_position"))
    try:
        mix = mix_of(campaign)
    except DomainError:
        return []
    n = mix.n_ordinary
    one_source, anchor = np.zeros(n, dtype=np.int64), 0 if mix.has_anchor else None
    hits = plan_hits(mix, source=one_source, system=np.arange(n), seed=campaign.seed, n_hits=1, anchor=anchor).hits
    rows = zip(hits.position.tolist(), hits.kind.tolist(), hits.twin_position.tolist(), strict=True)
    return sorted(Cell(position, Kind(kind), twin if twin > 0 else None) for position, kind, twin in rows)


def count_outputs(campaign: Campaign) -> dict[int, dict[int, int]]:
    """Return how many ordinary items of each system a campaign's HITs hold, by key of the HIT and of the system.

    One query.
    """
    items = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.ORDINARY).order_by()
    found: dict[int, dict[int, int]] = {}
    for hit, system, n in items.values_list("hit", "output__system").annotate(n=Count("pk")).iterator():
        found.setdefault(hit, {})[system] = n
    return found
