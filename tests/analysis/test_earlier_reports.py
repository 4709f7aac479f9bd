"""Reports that earlier versions stored are read in the shape of now: on pages, compared, downloaded and by the API."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.questions import sections_of_questions
from analysis.results.answers import Agreement, find_answer
from analysis.results.result import VERSION
from analysis.results.stored import answers_of, current, result_of
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
    assert report["summary"].items() >= {key: of for key, of in before["summary"].items() if key != "systems"}.items()
    assert [row["score"] for row in report["summary"]["systems"]] == [row["z"] for row in before["summary"]["systems"]]
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


# --- Answers that other keys had

STUDY_BEFORE = {
    "intra": None,
    "inter": None,
    "shared": {
        "fun": {
            "krippendorff_alpha": {"ratio": 0.1, "interval": 0.2, "ordinal": 0.3, "nominal": 0.4},
            "icc": {"average": 0.5, "single": 0.6},
            "fleiss_kappa": 0.7,
            "n_items": 8,
            "n_workers": 9,
        }
    },
    "tolerance": {who: {"n_pairs": 2, "observed": [0.5] * 6, "kappa": [0.25] * 6} for who in ("repeats", "outputs")},
    "halves": {"r": 0.5, "range": [0.4, 0.6], "whole": 0.7, "n_workers": 8, "n_splits": 500, "by_raters": {"1": 0.2}},
}
AGREED = {
    "n_items": 3,
    "n_judgements": 6,
    "same": 0.5,
    "opposite": None,
    "kappa": 0.1,
    "alpha": 0.2,
    "alpha_of_sets": 0.3,
}
APART = {"n_items": 3, "n_judgements": 6, "same": 0.5, "difference": 4.0, "alpha": 0.2}


def made_by(method: str, **parts: Any) -> dict[str, Any]:
    return {"settings": {"method": method, "criteria": []}, **parts}


def test_savings_of_before_are_shown_as_those_of_today() -> None:
    assistance = {"n_ratings": 9, "pairs": [], "metrics": [], "whole_systems_only": ["BLEU"]}
    [section] = sections_of_questions(result_of({"settings": {}, "assistance": assistance}))
    assert section.slug == "metric-savings" and "whole systems" in section.finding


def test_studies_of_before_are_shown_as_those_of_today() -> None:
    report = {"settings": {"criteria": [{"name": "fun"}]}, "reliability": STUDY_BEFORE}
    sections = {section.slug: section for section in sections_of_questions(result_of(report))}
    [row] = sections["agreement"].tables[0].rows
    assert list(row) == ["with each other", 0.4, 0.3, 0.2, 0.1, 0.6, 0.5, 0.7, 8, None, 9]
    assert [row[0] for row in sections["tolerance"].tables[0].rows][:2] == ["5 points", "10 points"]
    assert "by 0.50 in the median" in sections["halves"].finding


@pytest.mark.parametrize(
    ("report", "names", "coefficient"),
    [
        (
            made_by("ordinal", agreement={"b": {"between": AGREED, "within": AGREED}, "a": None}),
            ["b"],
            "alpha_ordinal",
        ),
        (made_by("esa", agreement={"score": {"between": APART, "within": APART}}), ["score"], "alpha_interval"),
        (made_by("preference", agreement={"between": AGREED, "within": AGREED}), [""], "alpha_ordinal"),
        (made_by("choice", agreement={"between": AGREED, "within": AGREED}), [""], "alpha_sets"),
        (
            made_by("choice", criteria=[{"criterion": "tone", "agreement": {"between": AGREED, "within": AGREED}}]),
            ["tone"],
            "alpha_nominal",
        ),
        (
            made_by("edits", agreement={"edits": {"between": APART, "within": APART}}),
            ["HTER", "edited text"],
            "text_difference",
        ),
    ],
)
def test_agreement_of_before_is_shown_as_that_of_today(
    report: dict[str, Any], names: list[str], coefficient: str
) -> None:
    agreement = find_answer(answers_of(report), "reliability", Agreement)
    assert agreement is not None
    assert [criterion.name for criterion in agreement.criteria] == names
    assert coefficient in agreement.criteria[-1].between.coefficients
    [section] = sections_of_questions(result_of(report))
    assert section.slug == "agreement" and len(section.tables[0].rows) == 2 * len(names)


def test_results_without_agreement_have_no_section() -> None:
    assert sections_of_questions(result_of(made_by("preference", agreement=None))) == []
    nobody = {"n_pairs": 0, "f1": None, "f1_severity": None, "kappa": None, "overlap": None}
    assert sections_of_questions(result_of(made_by("spans", agreement=nobody))) == []


def test_marks_of_before_are_shown_as_those_of_today() -> None:
    marks = {"n_pairs": 3, "f1": 0.5, "f1_severity": 0.4, "kappa": 0.3, "overlap": 0.2}
    [section] = sections_of_questions(result_of(made_by("spans", agreement=marks)))
    assert [list(row) for row in section.tables[0].rows] == [["with each other", 0.5, 0.4, 0.3, 0.2, None, None, None]]
