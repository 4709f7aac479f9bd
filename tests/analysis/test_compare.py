"""Comparing two results: of which systems, how far they agree, what is refused in words."""

import csv
import html
import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.results.agreement_figures import draw_scatter
from analysis.results.compare import compare_results, comparison_sections, reproducibility_sections
from analysis.results.compare_several import DatedResult, several_sections
from analysis.results.result import Comparison, Result
from analysis.results.sections import DARK, LIGHT, Section
from analysis.results.stored import result_of
from analysis.results.words import number
from analysis.stats.correlation import correlate
from analysis.stats.ratings import or_nan
from analysis.web.navigation import result_url
from evalsite.lib.errors import DomainError
from tests.analysis.conftest import ratings_csv

SIX = ("alder", "birch", "cedar", "elm", "fir", "hazel")


def report_of(z: dict[str, float | None], raw: dict[str, float] | None = None, **more: Any) -> Result:
    names = list(z)
    p = [[None if i == j else 0.01 if i < j else 0.99 for j in range(len(names))] for i in range(len(names))]
    systems = [
        {
            "system": name,
            "z": value,
            "raw": (raw or {}).get(name, value and 50 + 20 * value),
            "criteria": {"c": {"z": value, "raw": value}},
        }
        for name, value in z.items()
    ]
    return result_of({"summary": {"systems": systems, "significance": {"order": names, "p": p}}, **more})


def compared(first: Result, second: Result) -> dict[str, Section]:
    found = compare_results(first, second)
    return {section.slug: section for section in comparison_sections(first, second, found)}


def rows_of(section: Section) -> list[dict[str, Any]]:
    """The rows of a section's first table, by the names of the columns."""
    table = section.tables[0]
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def test_two_results_agree_as_the_correlations_say() -> None:
    first, second = {"a": 0.4, "b": 0.3, "c": 0.1, "x": 0.0}, {"b": 0.5, "a": 0.2, "y": 0.15, "c": -0.1}
    found = compare_results(report_of(first), report_of(second))
    shared = correlate(or_nan([0.4, 0.3, 0.1]), or_nan([0.2, 0.5, -0.1]))
    overall, of_raw = rows_of(compared(report_of(first), report_of(second))["agreement"])
    assert (overall["criterion"], overall["r"], overall["rho"]) == ("overall", shared.pearson, shared.spearman)
    assert (of_raw["scores"], of_raw["r"]) == ("raw means", pytest.approx(shared.pearson))
    assert overall["r low"] is None  # three systems say nothing about others
    assert [(s.name, *s.ranks) for s in found.systems] == [("a", 1, 2), ("b", 2, 1), ("c", 3, 3)]
    assert (found.only_first, found.only_second, found.n_moved) == (["x"], ["y"], 2)
    assert found.same_conclusions == pytest.approx({"0.1": 2 / 3, "0.05": 2 / 3})


def test_ties_share_a_rank_and_constant_scores_have_no_correlation() -> None:
    first, second = report_of(dict.fromkeys("abc", 0.1)), report_of({"a": 0.3, "b": 0.2, "c": 0.1})
    assert [s.first_rank for s in compare_results(first, second).systems] == [1, 1, 1]
    agreement = compared(first, second)["agreement"]
    assert rows_of(agreement)[0]["r"] is None and "not defined" in agreement.finding


def test_conclusions_are_counted_by_direction() -> None:
    conclusions = compared(report_of({"a": 3, "b": 2, "c": 1}), report_of({"a": 2, "c": 1.5, "b": 1}))["conclusions"]
    at_05 = rows_of(conclusions)[1]
    assert (at_05["pairs"], at_05["same system better"], at_05["contradicted"]) == (3, 2, 1)
    assert "the same of 2 of 3 pairs. 1 pair contradicted" in conclusions.finding


def test_differences_have_intervals_where_both_scores_have() -> None:
    intervals = {"intervals": {name: [-0.03, 0.03] for name in "abc"}}
    first, second = report_of({"a": 0.3, "b": 0.2, "c": 0.1}, **intervals), {"a": 0.2, "b": 0.21, "c": 0.1}
    a, b, c = compare_results(first, report_of(second, **intervals)).systems
    half = 0.03 * 2**0.5
    assert (a.low, a.high) == pytest.approx((-0.1 - half, -0.1 + half))
    assert (
        "1 system of 3 differ in z by their intervals: a."
        in compared(first, report_of(second, **intervals))["systems"].finding
    )
    assert (b.difference, c.difference) == pytest.approx((0.01, 0.0))
    assert compare_results(first, report_of(second)).systems[0].low is None


def test_pools_of_workers_are_compared_with_halves_of_one() -> None:
    halves = {"r": 0.9, "range": [0.8, 0.95], "whole": 0.947, "n_workers": 40, "n_splits": 50, "by_raters": {}}
    first = report_of({"a": 0.3, "b": 0.2, "c": 0.1}, questions={"halves": halves})
    pools = compared(first, report_of({"a": 0.3, "b": 0.1, "c": 0.2}))["pools"]
    assert "less than random halves of the workers of the first result do (0.800 to 0.950)" in pools.finding
    assert len(rows_of(pools)) == 2
    assert "pools" not in compared(report_of({"a": 3, "b": 2, "c": 1}), report_of({"a": 3, "b": 2, "c": 1}))


def test_reproducibility_is_the_coefficient_of_variation_of_belz_et_al() -> None:
    # Belz, Popović & Mille 2022, Table 4: BLEU of NTS_def in seven reproductions, CV* = 1.562.
    scores = (84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20)
    results = [report_of({"a": 1.0}, {"a": score}) for score in scores]
    (section,) = reproducibility_sections(results, ["a"], [])
    assert round(rows_of(section)[0]["CV* overall"], 3) == 1.562
    assert "over 7 results is 1.6 %" in section.finding


def test_several_results_are_in_the_order_of_their_dates() -> None:
    first, last = report_of({"a": 0.4, "b": 0.2, "c": 0.1}), report_of({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.0})
    dated = [DatedResult(name, datetime(2024, month, 1, tzinfo=UTC), result) for name, month, result in (
        ("Late", 9, last), ("Early", 1, first), ("Middle", 5, first),
    )]  # fmt: skip
    sections = {section.slug: section for section in several_sections(dated)}
    assert rows_of(sections["over-time"])[0]["1: z"] == 0.4 and rows_of(sections["over-time"])[3]["1: z"] is None
    assert "z of a changes most, by 0.300" in sections["over-time"].finding
    pairs = rows_of(sections["pairwise"])
    assert (pairs[0]["2"], pairs[0]["3"]) == pytest.approx(
        (1.0, correlate(or_nan([0.4, 0.2, 0.1]), or_nan([0.1, 0.2, 0.3])).pearson)
    )
    assert pairs[2]["1"] == 3  # systems that both score
    assert [row["system"] for row in rows_of(sections["reproducibility-several"])] == ["a", "b", "c"]
    assert several_sections(dated[:2]) == []
    figure = sections["over-time"].figures[0].draw(DARK)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == [
        "1: 2024-01-01",
        "2: 2024-05-01",
        "3: 2024-09-01",
    ]


@pytest.mark.parametrize("seed", range(3))
def test_names_in_a_scatter_plot_do_not_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=20)
    second = first + rng.normal(scale=0.3, size=20)
    figure = draw_scatter([f"system-{k}" for k in range(20)], first.tolist(), second.tolist(), LIGHT)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    overlapping = [
        1 for i, one in enumerate(boxes) for other in boxes[:i] if one.shrunk(0.9, 0.7).overlaps(other.shrunk(0.9, 0.7))
    ]
    assert len(boxes) == 20 and not overlapping


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


# --- Pages


@pytest.fixture
def two(upload, start) -> tuple[AnalysisRun, AnalysisRun]:
    """Finished runs of two files that rate the same systems."""
    first = start(upload(ratings_csv(SIX, n_sources=6), title="First"))
    return first, start(upload(ratings_csv(SIX[::-1], n_sources=6), title="Second"))


def query_of(first: AnalysisRun, second: AnalysisRun) -> str:
    return f"?first={first.pk}&second={second.pk}"


def test_two_files_are_compared_from_either_page(owner_client: Client, two, monkeypatch) -> None:
    first, second = two
    # `test_figures.py` writes figures in every format.
    monkeypatch.setattr("analysis.results.figures.save", lambda drawing, path: path.write_text(f"{drawing}" * 9))
    free = owner_client.get(reverse("analysis:compare_any") + query_of(*two))
    of_file = owner_client.get(f"{result_url(first, 'compare')}?second={second.pk}")
    assert free.context["agreement"] == of_file.context["agreement"] is not None
    links = {html.unescape(link) for link in re.findall(r'(?:href|src)="([^"]*file=[^"]*)"', free.text)}
    assert links == {html.unescape(link) for link in re.findall(r'(?:href|src)="([^"]*file=[^"]*)"', of_file.text)}
    figures = [link for link in links if ".svg" in link and "download" not in link]
    assert len(figures) == 2 * 2  # scatter and heatmaps, for light and dark pages
    for link in links:
        answer = owner_client.get(link)
        assert answer.status_code == 200 and len(answer.content) > 50, link
        assert answer["Content-Disposition"].startswith("inline" if link in figures else "attachment"), link
    csv_of_correlations = next(link for link in links if "comparison.csv" in link)
    rows = list(csv.DictReader(io.StringIO(owner_client.get(csv_of_correlations).text)))
    assert f"is {number(float(rows[0]['r']))} over {len(SIX)} systems" in free.text
    nothing = csv_of_correlations.replace("comparison.csv", "other.csv")
    assert owner_client.get(nothing).status_code == 404


def test_a_third_result_shows_all_over_time(
    owner_client: Client, stranger_client: Client, two, done: AnalysisRun
) -> None:
    query = f"{query_of(*two)}&more={done.pk}&more={two[0].pk}&more="
    page = owner_client.get(reverse("analysis:compare_any") + query)
    assert [each.pk for each in page.context["more"]] == [done.pk]  # each result once
    assert "Over time" in page.text and "Every two results" in page.text
    assert page.context["query"].count("more=") == 1
    assert stranger_client.get(f"{reverse('analysis:compare_any')}?more={done.pk}").status_code == 404


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


def test_conclusions_by_criterion_are_in_the_order_of_the_first_result() -> None:
    def with_tests(z: dict[str, float | None], p: dict[str, float]) -> Result:
        names = sorted(z)
        found = report_of(z)
        for row in found.summary.systems:
            row.criteria["d"] = row.criteria["c"]
        tests = [[None if i == j else p["same" if i < j else "other"] for j in range(3)] for i in range(3)]
        comparisons = [Comparison(name, names, tests, tests, tests, tests) for name in ("overall", "c", "d")]
        return replace(found, comparisons=comparisons)

    first = with_tests({"c": 3, "a": 2, "b": 1}, {"same": 0.01, "other": 0.99})
    second = with_tests({"a": 3, "b": 2, "c": 1}, {"same": 0.01, "other": 0.99})
    section = compared(first, second)["conclusions-criteria"]
    assert [(row["criterion"], row["pairs"], row["same system better"]) for row in rows_of(section)] == [
        ("c", 3, 3),
        ("d", 3, 3),
    ]
    assert [figure.name for figure in section.figures] == ["comparison-heatmaps-c", "comparison-heatmaps-d"]
    left, right, _ = section.figures[0].draw(LIGHT).axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["c", "a", "b"]
    assert (left.images[0].get_array() == right.images[0].get_array()).all()


def test_intervals_by_workers_are_beside_those_over_systems_if_both_results_have_them() -> None:
    def with_draws(seed: int) -> dict[str, Any]:
        rng, z = np.random.default_rng(seed), {name: 0.5 - 0.2 * k for k, name in enumerate("abcde")}
        draws = {name: " ".join(f"{value:.4f}" for value in mean + rng.normal(0, 0.1, 200)) for name, mean in z.items()}
        return report_of(z, resampled={"overall": draws})

    first, second = with_draws(1), with_draws(2)
    row = rows_of(compared(first, second)["agreement"])[0]
    assert 0.5 < row["r low by workers"] < row["r high by workers"] <= 1
    assert rows_of(compared(first, second)["agreement"])[1]["r low by workers"] is None  # raw means
    assert "r low by workers" not in rows_of(compared(first, report_of({"a": 3, "b": 2, "c": 1})).get("agreement"))[0]
    found = compare_results(first, second)
    same = comparison_sections(first, second, found, is_independent=False)[0]
    assert "r low by workers" not in rows_of(same)[0]


@pytest.mark.parametrize("kind", ["the same bytes", "the same rows"])
def test_results_of_the_same_ratings_are_compared_with_a_warning(
    owner_client: Client, upload, start, kind: str
) -> None:
    content = ratings_csv(SIX, n_sources=6)
    head, *rows = content.decode().splitlines()
    again = content if kind == "the same bytes" else "\n".join([head, *rows[::-1]]).encode()
    first, second = (start(upload(each, title=title)) for each, title in ((content, "One"), (again, "Two")))
    page = owner_client.get(reverse("analysis:compare_any") + query_of(first, second))
    assert page.status_code == 200 and "Results 1 and 2 hold the same ratings" in page.text
    assert "by workers" not in page.text


def test_results_of_other_ratings_have_no_warning(owner_client: Client, two) -> None:
    page = owner_client.get(reverse("analysis:compare_any") + query_of(*two))
    assert not page.context["warnings"]
