"""The state of a job and its retry button, as its owner and others see them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from evalsite.accounts.models import User
from evalsite.jobs.models import Job, WorkerHeartbeat
from evalsite.jobs.queries import job_state
from evalsite.jobs.services import record_heartbeat

pytestmark = pytest.mark.databases("sqlite", "postgresql")


@pytest.fixture
def running_job(owner: User) -> Job:
    return Job.objects.create(
        kind="example.count", owner=owner, status="running", lease_token=uuid4(),
        lease_until=timezone.now() + timedelta(minutes=1), stage="Counting", done=1, total=3,
    )  # fmt: skip


@pytest.fixture
def failed_job(owner: User) -> Job:
    return Job.objects.create(
        kind="example.count", owner=owner, status="failed", finished_at=timezone.now(),
        error_code="too_few_ratings", error_message="Line 3: <fewer> than two ratings.",
    )  # fmt: skip


def state_url(job: Job) -> str:
    return reverse("jobs:state", args=[job.pk])


def retry_url(job: Job) -> str:
    return reverse("jobs:retry", args=[job.pk])


# --- State


def test_the_owner_sees_how_far_it_is(owner_client: Client, running_job: Job) -> None:
    record_heartbeat("w1")
    response = owner_client.get(state_url(running_job))

    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    assert response.json() == {
        "status": "running",
        "stage": "Counting",
        "done": 1,
        "total": 3,
        "percent": 33,
        "error": None,
        "worker_alive": True,
        "finished": False,
        "url": state_url(running_job),
        "retry_url": retry_url(running_job),
    }


def test_the_owner_sees_why_it_failed(owner_client: Client, failed_job: Job) -> None:
    state = owner_client.get(state_url(failed_job)).json()

    assert state["finished"]
    assert state["error"] == {"code": "too_few_ratings", "message": "Line 3: <fewer> than two ratings."}


def test_a_silent_worker_is_reported(owner_client: Client, running_job: Job) -> None:
    assert owner_client.get(state_url(running_job)).json()["worker_alive"] is False
    record_heartbeat("w1")
    assert owner_client.get(state_url(running_job)).json()["worker_alive"] is True
    WorkerHeartbeat.objects.update(last_seen_at=timezone.now() - timedelta(seconds=31))
    assert owner_client.get(state_url(running_job)).json()["worker_alive"] is False


def test_a_job_of_unknown_length_has_no_percentage(owner_client: Client, owner: User) -> None:
    job = Job.objects.create(kind="example.count", owner=owner)
    state = owner_client.get(state_url(job)).json()
    assert (state["percent"], state["stage"]) == (None, "Waiting for a worker")


def test_a_job_without_owner_is_found_by_nobody(owner_client: Client) -> None:
    assert owner_client.get(state_url(Job.objects.create(kind="example.count"))).status_code == 404


def test_an_unknown_job_is_not_found(owner_client: Client) -> None:
    assert owner_client.get(reverse("jobs:state", args=[uuid4()])).status_code == 404


# --- Retry


def test_the_owner_retries_and_comes_back_to_the_page(owner_client: Client, failed_job: Job) -> None:
    response = owner_client.post(retry_url(failed_job), {"next": "/jobs/?page=2"})

    assert (response.status_code, response["Location"]) == (302, "/jobs/?page=2")
    failed_job.refresh_from_db()
    assert failed_job.status == "queued"


@pytest.mark.parametrize("other_page", ["", "https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_a_retry_leads_nowhere_else(owner_client: Client, failed_job: Job, other_page: str) -> None:
    response = owner_client.post(retry_url(failed_job), {"next": other_page})
    assert response.status_code == 200
    assert response.json()["status"] == "queued"


def test_a_second_retry_is_refused(owner_client: Client, failed_job: Job) -> None:
    owner_client.post(retry_url(failed_job))
    response = owner_client.post(retry_url(failed_job))
    assert response.status_code == 409
    assert response.json()["error"]["code"] == "job_not_failed"


# --- What a page includes


def fragment(job: Job) -> str:
    context = {"job": job_state(job), "next": "/analysis/?a=1&b=2"}
    return render_to_string("jobs/progress.html", context, request=RequestFactory().get("/"))


def test_the_progress_of_a_running_job(running_job: Job) -> None:
    html = fragment(running_job)
    assert f'data-job-progress data-url="{state_url(running_job)}" data-status="running"' in html
    assert 'role="progressbar"' in html
    assert 'aria-valuenow="33"' in html
    assert "Counting: 1 of 3" in html
    assert 'href="/analysis/?a=1&amp;b=2"' in html
    assert "<form" not in html


def test_the_banner_shows_only_when_no_worker_lives(running_job: Job) -> None:
    assert "data-job-no-worker>" in fragment(running_job)
    record_heartbeat("w1")
    assert "data-job-no-worker hidden>" in fragment(running_job)


def test_the_fragment_of_a_failed_job_has_the_error_and_a_retry_form(failed_job: Job) -> None:
    html = fragment(failed_job)
    assert "data-job-error>Line 3: &lt;fewer&gt; than two ratings.<" in html
    assert f'<form method="post" action="{retry_url(failed_job)}">' in html
    assert "csrfmiddlewaretoken" in html
    assert 'value="/analysis/?a=1&amp;b=2"' in html


def test_the_fragment_needs_no_inline_style_or_script(running_job: Job, failed_job: Job) -> None:
    for job in (running_job, failed_job):
        html = fragment(job)
        assert "style=" not in html
        assert "<script" not in html
