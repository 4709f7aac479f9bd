"""Comparing two results: of which systems, how far they agree, what is refused in words."""

import csv
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.compare import compare_results, correlations_table, systems_table
from analysis.models import AnalysisRun
from analysis.navigation import result_url
from analysis.stats.correlation import correlate
from analysis.stats.ratings import or_nan
from evalsite.lib.errors import DomainError
from tests.analysis.conftest import ratings_csv

SIX = ("alder", "birch", "cedar", "elm", "fir", "hazel")


def report_of(z: dict[str, float | None]) -> dict[str, Any]:
    names = list(z)
    p = [[None if i == j else 0.01 if i < j else 0.99 for j in range(len(names))] for i in range(len(names))]
    systems = [{"system": name, "z": value, "criteria": {"c": {"z": value}}} for name, value in z.items()]
    return {"summary": {"systems": systems, "significance": {"order": names, "p": p}}}


def test_two_results_agree_as_the_correlations_say() -> None:
    first, second = {"a": 0.4, "b": 0.3, "c": 0.1, "x": 0.0}, {"b": 0.5, "a": 0.2, "y": 0.15, "c": -0.1}
    found = compare_results(report_of(first), report_of(second))
    shared = correlate(or_nan([0.4, 0.3, 0.1]), or_nan([0.2, 0.5, -0.1]))
    (overall,) = found.correlations
    assert (overall.name, overall.pearson, overall.spearman) == ("overall", shared.pearson, shared.spearman)
    assert [(s.name, s.first_rank, s.second_rank, s.n_places) for s in found.systems] == [
        ("a", 1, 2, -1), ("b", 2, 1, 1), ("c", 3, 3, 0),
    ]  # fmt: skip
    assert (found.only_first, found.only_second, found.n_moved) == (["x"], ["y"], 2)
    assert found.same_conclusions == pytest.approx({"0.1": 2 / 3, "0.05": 2 / 3})


def test_ties_share_a_rank_and_constant_scores_have_no_correlation() -> None:
    found = compare_results(report_of(dict.fromkeys("abc", 0.1)), report_of({"a": 0.3, "b": 0.2, "c": 0.1}))
    assert [s.first_rank for s in found.systems] == [1, 1, 1]
    assert found.correlations[0].pearson is None
    assert all(0 <= s.x <= 100 and 0 <= s.y <= 100 for s in found.systems)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"x": 0.1, "y": 0.0}, "share no system with a score"),
        ({"a": 0.1, "b": 0.0, "c": None}, "share only 2 systems with a score"),
    ],
)
def test_too_few_shared_systems_are_refused_in_words(second: dict[str, float | None], said: str) -> None:
    with pytest.raises(DomainError) as refused:
        compare_results(report_of({"a": 0.3, "b": 0.2, "c": 0.1}), report_of(second))
    assert refused.value.code == "few_systems"
    assert said in refused.value.message and "“a”, “b”, “c”" in refused.value.message


def test_the_tables_hold_what_the_page_shows() -> None:
    found = compare_results(report_of({"a": 0.3, "b": 0.2, "c": 0.1}), report_of({"a": 0.2, "b": 0.3, "c": 0.0}))
    assert systems_table(found).rows[0] == ["a", 0.3, 0.2, 1, 2]
    assert correlations_table(found).rows[0][:2] == ["overall", 3]


# --- Pages


@pytest.fixture
def two(upload, start) -> tuple[AnalysisRun, AnalysisRun]:
    """Finished runs of two files that rate the same systems."""
    first = start(upload(ratings_csv(SIX, n_sources=6), title="First"))
    return first, start(upload(ratings_csv(SIX[::-1], n_sources=6), title="Second"))


def query_of(first: AnalysisRun, second: AnalysisRun) -> str:
    return f"?first={first.pk}&second={second.pk}"


def test_two_files_are_compared_from_either_page(owner_client: Client, two) -> None:
    first, second = two
    free = owner_client.get(reverse("analysis:compare_any") + query_of(*two))
    of_file = owner_client.get(f"{result_url(first, 'compare')}?second={second.pk}")
    assert free.context["agreement"] == of_file.context["agreement"] is not None
    assert free.text.count('class="interval-point"') == len(SIX)
    for name in ("systems.csv", "systems.tex", "correlations.csv", "correlations.tex"):
        address = f"{reverse('analysis:comparison_file')}?file={name}&{query_of(*two)[1:]}"
        assert address.replace("&", "&amp;") in free.text
        assert len(owner_client.get(address).text) > 50
    rows = list(csv.DictReader(io.StringIO(owner_client.get(address.replace(".tex", ".csv")).text)))
    assert float(rows[0]["r"]) == free.context["agreement"].correlations[0].pearson


def test_what_cannot_be_compared_is_said(owner_client: Client, two, done: AnalysisRun) -> None:
    first, _ = two
    page = reverse("analysis:compare_any")
    assert owner_client.get(page).context["agreement"] is None
    same = owner_client.get(page + query_of(first, first))
    assert (same.status_code, "one and the same result" in same.text) == (422, True)
    file = owner_client.get(reverse("analysis:comparison_file") + query_of(first, first))
    assert file["Location"] == page + query_of(first, first)


def test_another_s_result_is_not_found(stranger_client: Client, two) -> None:
    assert stranger_client.get(reverse("analysis:compare_any") + query_of(*two)).status_code == 404
    assert not stranger_client.get(reverse("analysis:compare_any")).context["offered"]
