"""What administrators see of jobs, and trying again."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from campaigns.models import Campaign
from campaigns.queries import BUILD
from evalsite.accounts.models import User
from evalsite.jobs import handlers
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job, WorkerHeartbeat
from evalsite.jobs.running import run_job
from evalsite.jobs.services import record_heartbeat
from tests.campaigns.cast import make_campaign


def make_job(status: str, owner: User | None = None, kind: str = BUILD, **fields: object) -> Job:
    if status in ("failed", "succeeded"):
        fields |= {"finished_at": timezone.now()}
    if status == "failed":
        fields |= {"error_code": "internal", "error_message": "Something went wrong."}
    return Job.objects.create(kind=kind, owner=owner, status=status, **fields)


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return make_campaign(owner)


def listed(client: Client, **query: str) -> list[Job]:
    page = client.get(reverse("desk:jobs"), query)
    assert page.status_code == 200
    return [row.job for row in page.context["rows"]]


def retry(client: Client, job: Job, **data: str):
    return client.post(reverse("desk:job_retry", args=[job.pk]), data, follow=True)


def test_jobs_are_found_by_state_kind_number_and_owner(admin_client: Client, owner: User, campaign: Campaign) -> None:
    args = {"campaign": campaign.pk}
    failed = make_job("failed", owner, args=args, error_details="Traceback: <boom>")
    queued = make_job("queued", kind="analysis.campaign", args=args)
    page = admin_client.get(reverse("desk:jobs"))
    assert [row.job for row in page.context["rows"]] == [queued, failed]
    assert {row.campaign for row in page.context["rows"]} == {campaign}
    assert "Something went wrong." in page.text and "Traceback: &lt;boom&gt;" in page.text
    assert listed(admin_client, status="failed") == [failed]
    assert listed(admin_client, kind=BUILD) == [failed]
    assert listed(admin_client, search=f" {queued.pk} ") == [queued]
    assert listed(admin_client, search="OWNER@") == [failed]
    assert listed(admin_client, status="running") == []
    assert admin_client.get(reverse("desk:jobs"), {"status": "lazy"}).status_code == 422


def test_a_job_whose_campaign_is_gone_is_listed(admin_client: Client) -> None:
    for kind, args in (
        (BUILD, {"campaign": 999}),
        ("campaigns.import", {"upload": "00000000-0000-0000-0000-000000000000"}),
        ("analysis.run", {"run": "00000000-0000-0000-0000-000000000000"}),
        ("no.longer.there", {}),
    ):
        job = make_job("failed", kind=kind, args=args)
        assert listed(admin_client, search=str(job.pk)) == [job]


def test_every_kind_of_job_has_a_title() -> None:
    assert [kind for kind, title in handlers.list_kinds().items() if kind == title and "example" not in kind] == []


def test_a_long_list_has_pages(admin_client: Client) -> None:
    for _ in range(26):
        make_job("queued", kind="campaigns.deliveries")
    assert len(listed(admin_client)) == 25
    assert len(listed(admin_client, page="2")) == 1


# --- Workers


def test_the_workers_alive_are_named(admin_client: Client) -> None:
    record_heartbeat("celery@here")
    page = admin_client.get(reverse("desk:jobs"))
    assert [worker.name for worker in page.context["workers"].alive] == ["celery@here"]
    assert "No worker runs" not in page.text


def test_without_a_worker_the_page_says_since_when_and_what_to_start(admin_client: Client, settings: Settings) -> None:
    settings.REDIS_URL, settings.JOBS_IN_PROCESS = "redis://localhost", False
    seen = timezone.now() - timedelta(hours=3)
    WorkerHeartbeat.objects.create(name="celery@here", last_seen_at=seen)
    make_job("queued", run_after=timezone.now() - timedelta(hours=2))
    page = admin_client.get(reverse("desk:jobs"))
    workers = page.context["workers"]
    assert (workers.last_seen_at, workers.n_due) == (seen, 1)
    assert "No worker runs" in page.text and "evalsite worker" in page.text


# --- Trying again


def test_a_failed_job_is_tried_again(admin_client: Client, owner: User, campaign: Campaign) -> None:
    job = make_job("failed", owner, args={"campaign": campaign.pk}, error_details="Traceback")
    page = retry(admin_client, job, next=reverse("desk:jobs") + "?status=failed")
    assert page.redirect_chain == [(reverse("desk:jobs") + "?status=failed", 302)]
    job.refresh_from_db()
    assert (job.status, job.error_code, job.error_details) == ("queued", "", "")
    again = retry(admin_client, job, next="https://elsewhere.example/")
    assert again.redirect_chain == [(reverse("desk:jobs"), 302)]
    assert "Only a failed job can be retried" in again.text


def test_a_job_of_somebody_who_is_no_editor_any_more_stays_failed(
    admin_client: Client, owner: User, campaign: Campaign
) -> None:
    job = make_job("failed", owner, args={"campaign": campaign.pk})
    campaign.memberships.all().delete()
    assert "no longer an editor" in retry(admin_client, job).text
    job.refresh_from_db()
    assert job.status == "failed"


def test_a_job_that_nobody_owns_is_tried_again(admin_client: Client, campaign: Campaign) -> None:
    job = make_job("failed", args={"campaign": campaign.pk})
    retry(admin_client, job)
    job.refresh_from_db()
    assert job.status == "queued"


@pytest.mark.django_db(transaction=True)
def test_the_traceback_of_a_failed_job_is_kept_for_administrators(
    admin_client: Client, owner_client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(ctx: object) -> None:
        raise ValueError("at /accounts/reset/MQ/secret-token/ \0")

    monkeypatch.setitem(handlers._handlers, "example.fails", fail)
    job = enqueue("example.fails", owner=owner)
    run_job(job.pk)
    page = admin_client.get(reverse("desk:jobs"))
    assert "ValueError: at /accounts/reset/***/***/" in page.text
    assert "secret-token" not in page.text
    assert "ValueError" not in owner_client.get(reverse("jobs:state", args=[job.pk])).text
