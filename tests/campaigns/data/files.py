"""Files of sources and outputs, and the pages that take them in."""

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign, Output, Upload
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError

LONG = """source_id,passage,answer,system,output
p1,The sky is blue.,blue,human,What colour is the sky?
p1,The sky is blue.,blue,alder,Which colour has the sky?
p2,Grass is green.,green,human,What colour is grass?
p2,Grass is green.,green,alder,Is grass green?
"""
WIDE = """source_id,passage,answer,human,alder
p1,The sky is blue.,blue,What colour is the sky?,Which colour has the sky?
p2,Grass is green.,green,What colour is grass?,Is grass green?
"""
TEXTS = {
    ("p1", "human"): "What colour is the sky?",
    ("p1", "alder"): "Which colour has the sky?",
    ("p2", "human"): "What colour is grass?",
    ("p2", "alder"): "Is grass green?",
}


def url(name: str, campaign: Campaign, *args) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def send(client: Client, campaign: Campaign, content: str | bytes, name: str = "outputs.csv"):
    raw = content.encode() if isinstance(content, str) else content
    return client.post(url("upload", campaign), {"file": SimpleUploadedFile(name, raw)})


def upload(client: Client, campaign: Campaign, content: str | bytes, name: str = "outputs.csv") -> Upload:
    """Upload a file that is taken."""
    response = send(client, campaign, content, name)
    assert response.status_code == 302, response.text
    return campaign.uploads.latest("uploaded_at")


def mapping(found: Upload, **changes: str) -> dict[str, str]:
    """Return the form of an upload as the page shows it, with other roles for some columns."""
    columns = found.layout["columns"]
    roles = {**found.layout["roles"], **changes}
    return {f"role-{place}": roles.get(column, "") for place, column in enumerate(columns)}


def post_import(client: Client, found: Upload, mode: str = "replace", **changes: str):
    data = {**mapping(found, **changes), "mode": mode, "import": "1"}
    return client.post(url("columns", found.campaign, found.pk), data)


def bring_in(client: Client, campaign: Campaign, content: str | bytes, mode: str = "replace", **changes: str) -> Upload:
    """Upload a file and import it to the end of its job."""
    found = upload(client, campaign, content)
    assert post_import(client, found, mode, **changes).status_code == 302
    return finish(found)


def finish(found: Upload) -> Upload:
    found.refresh_from_db()
    do_job(found.job)
    return Upload.objects.select_related("job", "campaign").get(pk=found.pk)


def do_job(job: Job) -> None:
    """Run a job's handler and record how it ended, within the test's transaction."""
    end = {"status": Job.Status.SUCCEEDED, "finished_at": timezone.now()}
    try:
        get_handler(job.kind)(JobContext(), **job.args)
    except DomainError as error:
        end |= {"status": Job.Status.FAILED, "error_code": error.code, "error_message": error.message}
    Job.objects.filter(pk=job.pk).update(**end)


def texts_of(campaign: Campaign) -> dict[tuple[str, str], str]:
    outputs = Output.objects.filter(source__campaign=campaign)
    return {
        (source, system): text for source, system, text in outputs.values_list("source__name", "system__name", "text")
    }


def problems_of(found: Upload) -> list[tuple]:
    return [(row, column) for row, column, _ in found.problems["rows"]]
