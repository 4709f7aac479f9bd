"""Reading sources, outputs and uploaded files. Whoever calls has fetched the campaign for its user already."""

from uuid import UUID

from django.db.models import Count, Max, Prefetch, QuerySet
from django.shortcuts import get_object_or_404

from campaigns.importing.contents import Existing
from campaigns.models import Campaign, Output, Source, Upload
from evalsite.jobs.models import Job

_CHUNK = 5000


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


def is_importing(campaign: Campaign, *, besides: Upload | None = None) -> bool:
    """Tell whether a file, other than `besides`, is being imported."""
    unfinished = campaign.uploads.filter(job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING])
    return (unfinished.exclude(pk=besides.pk) if besides else unfinished).exists()


def read_existing(campaign: Campaign) -> Existing:
    """Return what the campaign holds, for a file that is added to it. Two queries."""
    outputs = Output.objects.filter(source__campaign=campaign).order_by()
    pairs = outputs.values_list("source__name", "system__name").iterator(_CHUNK)
    return Existing(
        fields=dict(campaign.sources.order_by().values_list("name", "fields").iterator(_CHUNK)),
        outputs=frozenset(pairs),
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
