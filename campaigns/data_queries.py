"""Reading sources, outputs and uploaded files. Callers have fetched the campaign for its user already."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Max, Prefetch, QuerySet
from django.shortcuts import get_object_or_404

from campaigns.blocks import find_highlights
from campaigns.contracts.protocol import Field, Screen
from campaigns.formats import get_format
from campaigns.importing.contents import Existing
from campaigns.models import Campaign, Output, Source, System, Upload
from evalsite.jobs.models import Job

_CHUNK = 5000

SOURCES_PER_PAGE = 10
"""On the page of a campaign's data."""


def get_upload_of(campaign: Campaign, upload_id: UUID) -> Upload:
    """Return an uploaded file of the campaign, with its job; raise Http404 for any other. One query."""
    upload = get_object_or_404(campaign.uploads.select_related("job"), pk=upload_id)
    upload.campaign = campaign
    return upload


def list_uploads(campaign: Campaign) -> QuerySet[Upload]:
    """Return the uploaded files with their jobs and whose they are, newest first."""
    return campaign.uploads.select_related("job", "uploaded_by")


def list_sources(campaign: Campaign) -> QuerySet[Source]:
    """Return the sources in the order of the file, with their outputs by system."""
    outputs = Output.objects.select_related("system").order_by("system__name")
    return campaign.sources.prefetch_related(Prefetch("outputs", outputs))


@dataclass(frozen=True)
class FieldText:
    """A source's text of one field, and where another field's text is highlighted in it for workers."""

    field: Field
    text: str
    highlights: tuple[tuple[int, int], ...]

    @property
    def words(self) -> str:
        """What is read of it, without markup."""
        return get_format(self.field.format).words(self.text)


def texts_of(source: Source, screen: Screen) -> list[FieldText]:
    """Return the texts that a source has, in the order of the screen. No query."""
    texts = source.fields
    return [
        FieldText(field, texts[field.name], find_highlights(texts[field.name], texts.get(field.marks, "")))
        for field in screen.fields
        if texts.get(field.name)
    ]


def count_missing(campaign: Campaign, *, n_sources: int) -> list[tuple[System, int]]:
    """Return each system, by name and with its `n_outputs`, and for how many sources it has none. One query.

    Where systems need not have outputs for the same sources (`ContentFormat.is_shared`), none is missing.
    """
    n_wanted = n_sources if campaign.format_of_outputs.is_shared else 0
    systems = campaign.systems.annotate(n_outputs=Count("outputs")).order_by("name")
    return [(system, max(0, n_wanted - system.n_outputs)) for system in systems]


def is_importing(campaign: Campaign, *, besides: Upload | None = None) -> bool:
    """Tell whether a file, other than `besides`, is being imported."""
    unfinished = campaign.uploads.filter(job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING])
    return (unfinished.exclude(pk=besides.pk) if besides else unfinished).exists()


def read_existing(campaign: Campaign) -> Existing:
    """Return what the campaign holds, for a file that is added to it. Two queries."""
    outputs = Output.objects.filter(source__campaign=campaign).order_by()
    pairs = outputs.values_list("source__name", "system__name").iterator(_CHUNK)
    columns = ("name", "fields", "attribute_values", "document")
    sources = list(campaign.sources.order_by().values_list(*columns).iterator(_CHUNK))
    return Existing(
        fields={name: fields for name, fields, *_ in sources},
        attributes={name: attributes for name, _, attributes, _ in sources if attributes},
        outputs=frozenset(pairs),
        documents={name: document for name, *_, document in sources if document},
    )


def version_of(campaign: Campaign) -> tuple[object, ...]:
    """Return something that is another thing once sources or outputs have come or gone. Two queries."""
    sources = campaign.sources.aggregate(n=Count("pk"), last=Max("pk"))
    outputs = Output.objects.filter(source__campaign=campaign).aggregate(n=Count("pk"), last=Max("pk"))
    return (*sources.values(), *outputs.values())


def source_keys(campaign: Campaign) -> dict[str, int]:
    """Return the key of each source, by name."""
    return dict(campaign.sources.order_by().values_list("name", "pk").iterator(_CHUNK))


def output_keys(campaign: Campaign) -> dict[tuple[str, str], int]:
    """Return the key of each output, by the names of its source and its system."""
    outputs = Output.objects.filter(source__campaign=campaign).order_by()
    rows = outputs.values_list("source__name", "system__name", "pk").iterator(_CHUNK)
    return {(source, system): key for source, system, key in rows}
