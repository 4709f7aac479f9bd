"""Reports that earlier versions stored are read in the shape of now: on pages, compared, downloaded and by the API."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.results.stored import VERSION, current
from tests.analysis.conftest import ratings_csv

INSTALLATIONS = Path(__file__).parents[1] / "data" / "installations"


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    """The report of a study of seven systems, which answered questions under keys of its own."""
    with zipfile.ZipFile(INSTALLATIONS / "before_response_kinds.zip") as archive:
        return json.loads(archive.read("report.json"))


@pytest.fixture
def stored_before(done: AnalysisRun, before: dict[str, Any]) -> AnalysisRun:
    """A result as an earlier version stored it."""
    AnalysisRun.objects.filter(pk=done.pk).update(report=before)
    return AnalysisRun.objects.select_related("ratings_file", "job").get(pk=done.pk)


def test_answers_of_studies_are_those_of_the_questions(stored_before: AnalysisRun, before: dict[str, Any]) -> None:
    report, old = stored_before.report, before["sensitivity"]
    assert report["version"] == VERSION and not {"sensitivity", "metrics"} & set(report)
    found = report["questions"]["sensitivity"]
    assert (found["measure"], found["score"], found["order"]) == ("z", old["z"], old["order"])
    assert found["alpha"]["score"] == old["alpha"]["z"]
    assert found["lengths"]["input"]["score"] == old["lengths"]["input"]["z"]
    assert found["without_worker"]["n_counting"] == old["without_worker"]["n_workers"]
    assert report["summary"] == before["summary"]
    assert current(report) == report


def test_pages_files_and_scripts_show_them(
    stored_before: AnalysisRun, before: dict[str, Any], owner_client: Client
) -> None:
    page = owner_client.get(reverse("analysis:sensitivity", args=[stored_before.pk])).text
    assert "Does the ranking survive?" in page and "σ with ddof = 0" in page and "short references only" in page
    figure = owner_client.get(reverse("analysis:run_file", args=[stored_before.pk, "figures/z-by-alpha.svg"]))
    assert figure.status_code == 200 and b"<svg" in b"".join(figure)
    report = owner_client.get(reverse("api:report", args=[stored_before.pk])).json()
    assert report["questions"]["sensitivity"]["score"] == before["sensitivity"]["z"]


def test_they_are_compared(stored_before: AnalysisRun, before: dict[str, Any], upload, start, owner_client) -> None:
    other = start(upload(ratings_csv(n_sources=9), title="Other trees"))
    AnalysisRun.objects.filter(pk=other.pk).update(report=before)
    page = owner_client.get(reverse("analysis:compare_any"), {"first": stored_before.pk, "second": other.pk})
    assert page.status_code == 200 and "Agreement at each α" in page.text


@pytest.mark.parametrize(
    ("stored", "answer"),
    [
        ({"sensitivity": {"order": ["a"], "z": [0.1]}}, {"refused": "There are fewer than two systems with a score."}),
        (
            {"questions": {"sensitivity": {"order": ["a", "b"], "score": [2, 1]}}},
            {"order": ["a", "b"], "score": [2, 1], "measure": "score", "lengths": {}},
        ),
        ({"questions": {"sensitivity": {"refused": "Why."}}}, {"refused": "Why."}),
    ],
)
def test_what_was_not_answered_stays_so(stored: dict[str, Any], answer: dict[str, Any]) -> None:
    assert current({"summary": {}} | stored)["questions"]["sensitivity"] == answer


def test_metrics_of_studies_are_found_where_those_of_other_kinds_are() -> None:
    old = {"metrics": [], "human": [[0.2, 0.1]]}
    found = current({"summary": {}, "metrics": old})
    assert found["questions"]["metrics"] == old | {"measure": "mean z", "is_by_system": False}
    assert current({"summary": {}}) == {"summary": {}, "version": VERSION}
