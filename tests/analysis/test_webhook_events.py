"""Events that webhooks are sent, from what people do: a researcher launches, workers finish, a job fails."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from annotation.services.assignments import expire_leases
from campaigns.contracts.events import EVENTS
from campaigns.models import Campaign, Delivery
from campaigns.queries import BUILD
from campaigns.services.deliveries import send_due_deliveries
from campaigns.services.lifecycle import close_campaign
from campaigns.services.webhooks import add_webhook
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, enqueue
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from tests.annotation.cast import build, launch, make_worker, rate_hit
from tests.annotation.worker_pages import url
from tests.campaigns.cast import make_campaign
from tests.campaigns.receiver import Receiver

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(owner: User, receiver: Receiver) -> Campaign:
    """A campaign of two HITs that may be launched, with a webhook for everything."""
    campaign = make_campaign(owner, "qg", "Questions")
    build(campaign, 2)
    Campaign.objects.update(status=Campaign.Status.READY)
    add_webhook(campaign=campaign, url=receiver.url, events=list(EVENTS))
    campaign.refresh_from_db()
    return campaign


def sent(receiver: Receiver, wait: timedelta = timedelta(minutes=1)) -> list[tuple[str, dict[str, Any]]]:
    """Send what is due after a while; return all that has come, as name and data."""
    send_due_deliveries(JobContext(), timezone.now() + wait)
    return [(event["event"], event["data"]) for event in receiver.events()]


def active(campaign: Campaign, number: int, worker: str) -> Assignment:
    """Return an assignment in which everything is rated, and which is not finished."""
    hit = campaign.hits.get(number=number)
    return rate_hit(hit, make_worker(campaign, worker), np.random.default_rng(number), state=Assignment.State.ACTIVE)


def run_jobs(*kinds: str) -> None:
    for kind in kinds:
        run_job(Job.objects.get(kind=kind, status=Job.Status.QUEUED).pk)


def test_a_campaign_is_launched_and_its_last_hit_finished(
    campaign: Campaign, owner_client: Client, client: Client, receiver: Receiver
) -> None:
    owner_client.post(reverse("campaigns:launch", args=[campaign.public_id]), {"is_confirmed": "on"})
    campaign.refresh_from_db()
    assert campaign.is_open
    finished = [active(campaign, 1, "ann"), active(campaign, 2, "ben")]
    for assignment in finished:
        client.post(url("feedback", assignment), {"feedback": ""})
    found = dict(sent(receiver))
    assert list(found) == ["campaign.launched", "campaign.closed", "hits.finished"]
    assert found["campaign.launched"]["n_hits"] == found["campaign.launched"]["n_places"] == 2
    hits = [(hit["assignment"], hit["hit"]) for hit in found["hits.finished"]["finished"]]
    assert hits == [(finished[0].pk, 1), (finished[1].pk, 2)]
    assert found["campaign.closed"]["n_places_left"] == 0
    assert {each["campaign"] for each in receiver.events()} == {str(campaign.public_id)}


def test_no_event_names_a_worker_or_a_kind_of_item(campaign: Campaign, receiver: Receiver) -> None:
    launch(campaign)
    active(campaign, 1, "ann-of-the-platform")
    expire_leases(campaign=campaign, now=timezone.now() + timedelta(days=1))
    close_campaign(campaign=campaign)
    assert [name for name, _ in sent(receiver)] == ["campaign.closed", "hits.finished"]
    for received in receiver.received:
        text = received.body.decode()
        assert not any(word in text for word in ("ann-of-the-platform", "degraded", "repeat", "kind", "item"))
        assert received.event["data"].keys() <= {"closed_at", "n_places_left", "finished"}


def test_what_is_undone_is_not_announced(campaign: Campaign, owner_client: Client) -> None:
    Campaign.objects.update(status=Campaign.Status.DRAFT)
    assert owner_client.post(reverse("campaigns:launch", args=[campaign.public_id])).status_code == 409
    assert not Delivery.objects.exists()


def test_a_job_that_fails_is_announced(campaign: Campaign, receiver: Receiver) -> None:
    Campaign.objects.update(n_ordinary=30_000)  # after the job was queued
    job = enqueue(BUILD, args={"campaign": campaign.pk})
    run_job(job.pk)
    job.refresh_from_db()
    assert job.finished_at
    assert job.error_code
    assert sent(receiver) == [
        (
            "job.failed",
            {
                "job": str(job.pk),
                "kind": BUILD,
                "code": job.error_code,
                "failed_at": f"{job.finished_at:%Y-%m-%dT%H:%M:%SZ}",
            },
        )
    ]


def test_an_analysis_that_fails_is_announced(
    campaign: Campaign, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch(campaign)
    active(campaign, 1, "ann")
    expire_leases(campaign=campaign, now=timezone.now() + timedelta(days=1))
    close_campaign(campaign=campaign)
    run_jobs("analysis.campaign")
    monkeypatch.setattr("analysis.web.tasks.execute_run", None)  # not callable: a fault of the server's own
    run_jobs("analysis.run")
    failed = dict(sent(receiver))["job.failed"]
    assert (failed["kind"], failed["code"]) == ("analysis.run", "internal")
