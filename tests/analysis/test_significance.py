"""The heatmaps."""

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.presenters.heatmaps import heat_of_p, heat_of_superiority
from analysis.templatetags.results import number, p_value, signed


def heat_of(client: Client, run: AnalysisRun, query: str = ""):
    return client.get(reverse("analysis:significance", args=[run.pk]) + query)


@pytest.mark.parametrize("value", ["p", "holm", "bh", "superiority"])
@pytest.mark.parametrize("criterion", ["overall", "clear", "wordy"])
def test_each_criterion_and_value_is_shown(
    owner_client: Client, done_with_two_criteria: AnalysisRun, criterion: str, value: str
) -> None:
    heat = heat_of(owner_client, done_with_two_criteria, f"?criterion={criterion}&value={value}").context["heat"]

    comparison = next(c for c in done_with_two_criteria.report["comparisons"] if c["name"] == criterion)
    assert heat["systems"] == comparison["order"]
    assert [row["cells"][k]["heat"] for k, row in enumerate(heat["rows"])] == [None] * 3
    cells = [(i, j) for i in range(3) for j in range(3) if i != j]
    step = heat_of_superiority if value == "superiority" else heat_of_p
    for i, j in cells:
        assert heat["rows"][i]["cells"][j]["heat"] == step(comparison[value][i][j])
    assert heat["n_pairs"] == 3


def test_pairs_that_differ_are_counted(owner_client: Client, done: AnalysisRun) -> None:
    heat = heat_of(owner_client, done).context["heat"]
    p = done.report["comparisons"][0]["p"]
    assert heat["n_differing"] == sum(min(p[i][j], p[j][i]) < 0.05 for i in range(3) for j in range(i))


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
