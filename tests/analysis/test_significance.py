"""The heatmaps."""

import re
from collections.abc import Sequence
from copy import deepcopy
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.results.stored import result_of
from analysis.templatetags.results import conclusions, heat_of_p, heat_of_superiority, heatmap, number, p_value, signed


def heat_of(client: Client, run: AnalysisRun, query: str = ""):
    return client.get(reverse("analysis:pairs", args=[run.pk]) + query)


@pytest.mark.parametrize("value", ["p", "holm", "bh", "superiority"])
@pytest.mark.parametrize("criterion", ["overall", "clear", "wordy"])
def test_each_criterion_and_value_is_shown(
    owner_client: Client, done_with_two_criteria: AnalysisRun, criterion: str, value: str
) -> None:
    comparison = {each.name: each for each in done_with_two_criteria.result.comparisons}[criterion]

    drawn = heatmap(comparison, value)

    assert drawn["systems"] == comparison.order
    assert [row["cells"][k]["heat"] for k, row in enumerate(drawn["rows"])] == [None] * 3
    step = heat_of_superiority if value == "superiority" else heat_of_p
    for i, row in enumerate(drawn["rows"]):
        for j in {0, 1, 2} - {i}:
            assert row["cells"][j]["heat"] == step(getattr(comparison, value)[i][j])
    assert comparison.n_pairs == 3
    page = heat_of(owner_client, done_with_two_criteria, f"?criterion={criterion}&value={value}").text
    assert drawn["caption"].replace("'", "&#x27;").replace(">", "&gt;") in page
    shown = [cell["text"] for row in drawn["rows"] for cell in row["cells"] if cell["heat"] is not None]
    heat = page[page.rindex('<table class="heatmap"') :].split("</table>")[0]
    assert [unescape(text) for text in re.findall(r'<td(?: class="heat-.")?>([^<]+)</td>', heat)] == shown


def concluded(report: dict[str, Any], systems: Sequence[str] = "abc") -> list[list[tuple[str, int | None]]]:
    """Return text and colour of each cell of the matrix of a report."""
    return [
        [(cell.get("text"), cell["heat"]) for cell in row["cells"]]
        for row in conclusions(result_of(report), systems)["rows"]
    ]


def test_a_matrix_has_the_p_of_every_pair_in_the_row_of_the_better_system() -> None:
    pairs = [{"systems": [*pair], "p_holm": p} for pair, p in (("ab", 0.003), ("ac", 1.0), ("bc", None))]
    assert concluded({"settings": {"method": "ordinal"}, "summary": {}, "pairs": pairs}) == [
        [(None, None), (".0030", 3), ("> .9999", 0)],
        [("", 0), (None, None), ("–", 0)],
        [("> .9999", 0), ("–", 0), (None, None)],
    ]


@pytest.mark.parametrize("by_studies", [False, True])
def test_the_matrix_of_a_study_has_what_it_concludes_by(done: AnalysisRun, by_studies: bool) -> None:
    report = deepcopy(done.report)
    if by_studies:
        report["summary"]["concluded_by"] = "studies"
    of_best = [pair["p_holm"] for pair in report["recommended"]["pairs"] if pair["systems"][0] == "alder"]
    expected = report["summary"]["significance"]["p"][0][1:] if by_studies else of_best
    found = concluded(report, ["alder", "birch", "cedar"])
    assert [text for text, _ in found[0][1:]] == [p_value(p) for p in expected]


def test_pairs_that_differ_are_counted(owner_client: Client, done: AnalysisRun) -> None:
    p = done.report["comparisons"][0]["p"]
    n = sum(min(p[i][j], p[j][i]) < 0.05 for i in range(3) for j in range(i))
    assert f"{n} of 3 pairs of systems differ" in heat_of(owner_client, done).text


@pytest.mark.parametrize("query", ["?criterion=beauty", "?value=q", "?criterion="])
def test_what_was_not_compared_is_not_found(owner_client: Client, done: AnalysisRun, query: str) -> None:
    assert heat_of(owner_client, done, query).status_code == 404


@pytest.mark.parametrize(
    ("p", "text", "heat"),
    [
        (0.5, ".5000", 0),
        (0.1, ".1000", 0),
        (0.0999, ".0999", 1),
        (0.05, ".0500", 1),
        (0.0465, ".0465", 2),
        (0.01, ".0100", 2),
        (0.0009, ".0009", 4),
        (0.0001, ".0001", 4),
        (0.00003, "< .0001", 5),
        (0.0, "< .0001", 5),
        (0.99999, "> .9999", 0),
        (1.0, "> .9999", 0),
        (0.9999, ".9999", 0),
    ],
)
def test_p_values_as_papers_print_them(p: float, text: str, heat: int) -> None:
    assert (p_value(p), heat_of_p(p)) == (text, heat)


def test_numbers_have_a_true_minus_and_zero_has_none() -> None:
    assert [number(x) for x in (-0.0381, 0.5, -0.0001, None)] == ["−0.038", "0.500", "0.000", "–"]
    assert signed(0.0123) == "+0.012"
    assert number(52.494, 2) == "52.49"
