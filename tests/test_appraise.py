"""Appraise's example campaign, from its batches over the worker pages to the exported ratings."""

from collections import Counter
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.data.ratings.loading import load_ratings
from analysis.models import AnalysisRun
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Upload
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from tests.campaigns.cast import make_campaign


@pytest.mark.django_db(transaction=True)
def test_appraise_batches_are_imported_rated_and_exported(
    owner: User, owner_client: Client, shared_data: Path, tmp_path: Path
) -> None:
    campaign = make_campaign(owner, "da-translation")
    import_batches(owner_client, campaign, shared_data / "appraise-direct/batches.json")
    campaign.refresh_from_db()
    assert (campaign.status, campaign.hits.count(), campaign.sources.count()) == (Campaign.Status.READY, 1, 55)

    instructions = {"instructions": "Compare each translation into Icelandic with its English source text."}
    owner_client.post(reverse("campaigns:instructions", args=[campaign.public_id]), instructions)
    owner_client.post(reverse("campaigns:launch", args=[campaign.public_id]))
    call_command("simulate", str(campaign.public_id), workers=1, careless=0.0, seed=2)
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED

    exported = owner_client.get(reverse("monitoring:export_file", args=[campaign.public_id, "ratings.csv"]))
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"".join(exported.streaming_content))
    loaded = load_ratings(path, criteria=["adequacy"])
    kinds = Counter(loaded.ratings.kind.tolist())
    assert kinds == {Kind.ORDINARY: 80, Kind.DEGRADED: 10, Kind.REFERENCE: 5, Kind.REPEAT: 5}

    do_jobs()
    run = AnalysisRun.objects.get()
    assert run.report is not None
    (worker,) = run.report["worker_table"]
    assert worker["verdict"] == "passed"


def import_batches(client: Client, campaign: Campaign, path: Path) -> None:
    file = SimpleUploadedFile(path.name, path.read_bytes())
    client.post(reverse("campaigns:upload", args=[campaign.public_id]), {"file": file})
    upload = Upload.objects.get()
    client.post(reverse("campaigns:columns", args=[campaign.public_id, upload.pk]), {"import": "1"})
    do_jobs()


def do_jobs() -> None:
    """Run what is queued, and what that queues."""
    while job := Job.objects.filter(status=Job.Status.QUEUED).first():
        run_job(job.pk)
