"""Metrics by script: upload scores, compute them, read how they agree with people."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import MULTIPART_CONTENT
from django.urls import reverse

from analysis.metrics.kinds import list_kinds
from analysis.models import AnalysisRun, MetricScores
from campaigns.models import Output
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import finish
from tests.metrics.test_pages import scores_csv
from tests.metrics.tiny_models import masked_lm


@pytest.fixture
def rated(owner, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return analysed(rated_campaign(owner), owner)


def send(client, run, content, **more):
    data = {"file": SimpleUploadedFile("scores.csv", content.encode("windows-1252"))} | more
    return client.post(reverse("api:metrics", args=[run.pk]), data, MULTIPART_CONTENT)


def test_scores_are_uploaded_compared_and_removed(api, owner, rated):
    client, systems = api(owner), [row["system"] for row in rated.report["summary"]["systems"]]
    content = scores_csv(metrics=("Güte", "other"), systems=systems, sources=False)
    refused = send(client, rated, content)
    assert refused.status_code == 422
    assert "encoding" in refused.json()["errors"]
    assert not MetricScores.objects.exists()
    answer = send(client, rated, content, encoding="windows-1252")
    assert answer.status_code == 202
    finish(AnalysisRun.objects.select_related("ratings_file").get(pk=answer.json()["id"]))
    report = client.get(reverse("api:report", args=[answer.json()["id"]])).json()
    assert [metric["name"] for metric in report["questions"]["metrics"]["metrics"]] == ["Güte", "other"]
    sections = client.get(reverse("api:sections", args=[answer.json()["id"]])).json()
    assert "Güte agrees best" in next(each["finding"] for each in sections if each["slug"] == "metrics")
    (listed,) = client.get(reverse("api:metrics", args=[rated.pk])).json()
    assert listed["metrics"][0] == {"name": "Güte", "n_outputs": 0, "n_systems": len(systems)}
    assert send(client, rated, content, encoding="windows-1252").status_code == 422  # the same metrics twice
    assert client.delete(reverse("api:metric_scores", args=[rated.pk, listed["id"]])).status_code == 204
    assert client.get(reverse("api:metrics", args=[rated.pk])).json() == []


def test_metrics_are_computed_by_a_job(api, owner, rated):
    client, url = api(owner), reverse("api:metrics_computed", args=[rated.pk])
    found = client.get(url).json()
    assert [kind["slug"] for kind in found["kinds"]][:3] == ["bleu", "gleu", "rouge-l"]
    kinds = {kind["slug"]: kind for kind in found["kinds"]}
    assert kinds["q-bleu"]["options"]["answerability"] == "70"
    assert [slug for slug, kind in kinds.items() if not kind["missing"]] == [kind.slug for kind in list_kinds()][:7]
    assert "model folder" in kinds["qascore"]["missing"] and found["models"] == []
    wanted = {"kinds": ["rouge-l"], "reference": found["references"][0]["value"]}
    for bad in (
        {"kinds": ["no"]},
        {"reference": "field:no"},
        {"kinds": ["q-bleu"], "options": {"q-bleu": {"name": "x"}}},
        {"kinds": ["qascore"]},
        {"kinds": ["rouge-l"], "reference": ""},
    ):
        answer = client.post(url, wanted | bad)
        assert answer.status_code == 422, bad
        assert set(answer.json()["errors"]) <= {"kinds", "reference", "options"}
    answer = client.post(url, wanted)
    assert answer.status_code == 202
    job = Job.objects.get(pk=answer.json()["id"])
    get_handler(job.kind)(JobContext(), **job.args)
    assert [each["name"] for each in MetricScores.objects.get().metrics] == ["ROUGE-L"]


def test_a_metric_by_a_model_needs_no_reference(api, owner, rated, settings, tmp_path):
    settings.EVALSITE_MODELS = tmp_path
    masked_lm(tmp_path)
    client, url = api(owner), reverse("api:metrics_computed", args=[rated.pk])
    found = client.get(url).json()
    assert found["models"] == ["tiny-mlm"]
    assert {kind["slug"]: kind["missing"] for kind in found["kinds"]}["qascore"] == ""
    for options in ({}, {"model": "../tiny-mlm"}, {"model": "tiny-mlm", "passage": "no"}):
        answer = client.post(url, {"kinds": ["qascore"], "options": {"qascore": options}})
        assert (answer.status_code, set(answer.json()["errors"])) == (422, {"options"})
    answer = client.post(url, {"kinds": ["qascore"], "options": {"qascore": {"model": "tiny-mlm"}}})
    job = Job.objects.get(pk=answer.json()["id"])
    get_handler(job.kind)(JobContext(), **job.args)
    (row,) = client.get(reverse("api:metrics", args=[rated.pk])).json()[0]["metrics"]
    n_outputs = Output.objects.filter(source__campaign=rated.ratings_file.campaign, system__is_degraded=False).count()
    assert row.pop("n_systems") > 2
    assert row == {
        "name": "QAScore", "n_outputs": n_outputs, "model": "tiny-mlm", "n_windowed": 0, "n_left_out": 0,
    }  # fmt: skip
