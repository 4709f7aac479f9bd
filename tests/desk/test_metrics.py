"""What the site tells a program that collects measures: its own parser reads it."""

from typing import Any

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import ResolverMatch, reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from annotation.models import Assignment
from annotation.services.assignments import start_assignment
from desk import metrics
from desk.health import ReadinessProbe
from desk.metrics import site_measures
from evalsite.accounts.models import User
from evalsite.jobs.services import record_heartbeat
from evalsite.lib.measures import measure_requests, request_measures
from tests.annotation.open_campaigns import open_campaign
from tests.databases import on_both

TOKEN = "a-token-of-the-tests"


def measured(text: bytes, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a measure by those of its labels."""
    samples = [each for family in text_string_to_metric_families(text.decode()) for each in family.samples]
    return {tuple(each.labels.values()): each.value for each in samples if each.name == name}


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "readiness", ReadinessProbe(kept_s=0))


@on_both
@pytest.mark.django_db
def test_work_under_way_is_told_in_a_constant_number_of_queries(
    owner: User, django_assert_max_num_queries: Any
) -> None:
    record_heartbeat("w1")
    campaign = open_campaign(owner, workers_per_hit=2)
    *_, left = [start_assignment(campaign=campaign, worker_key=name) for name in ("ada", "ben", "cleo", "dan")]
    Assignment.objects.filter(pk=left.pk).update(leased_until=timezone.now())
    with django_assert_max_num_queries(12):
        found = site_measures()
    assert measured(found, "evalsite_assignments_active") == {(): 3}
    assert measured(found, "evalsite_job_workers") == {(): 1}
    assert measured(found, "evalsite_ready")["workers",] == 1
    assert measured(found, "evalsite_jobs")["failed",] == 0
    assert 0 < measured(found, "evalsite_disk_free_bytes")[()] <= measured(found, "evalsite_disk_bytes")[()]


@pytest.mark.django_db
def test_only_who_has_the_token_is_told(client: Client, settings: Settings) -> None:
    address = reverse("probes:metrics")
    settings.METRICS_TOKEN = ""
    assert client.get(address, headers={"Authorization": "Bearer "}).status_code == 404
    settings.METRICS_TOKEN = TOKEN
    for sent in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}"):
        assert client.get(address, headers={"Authorization": sent}).status_code == 401
    response = client.get(address, headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    assert measured(response.content, "evalsite_ready")["database",] == 1


def test_requests_are_measured_by_the_name_of_their_address_never_by_what_it_holds(settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    with pytest.raises(MiddlewareNotUsed):
        measure_requests(lambda request: HttpResponse())
    settings.METRICS_TOKEN = TOKEN

    def answer(request: HttpRequest) -> HttpResponse:
        request.resolver_match = ResolverMatch(answer, (), {"token": "of-a-worker"}, "item", namespaces=["rate"])
        return HttpResponse(status=302)

    before = measured(request_measures(), "evalsite_request_seconds_count").get(("POST", "3xx", "rate:item"), 0)
    measure_requests(answer)(RequestFactory().post("/rate/of-a-worker/"))
    found = request_measures()
    assert measured(found, "evalsite_request_seconds_count")["POST", "3xx", "rate:item"] == before + 1
    assert b"of-a-worker" not in found


def test_a_method_that_nobody_knows_has_no_series_of_its_own(settings: Settings) -> None:
    settings.METRICS_TOKEN = TOKEN
    for method in ("BREW", "WHEN"):
        measure_requests(lambda request: HttpResponse(status=405))(RequestFactory().generic(method, "/"))
    methods = {labels[0] for labels in measured(request_measures(), "evalsite_request_seconds_count")}
    assert "other" in methods and not methods & {"BREW", "WHEN"}
