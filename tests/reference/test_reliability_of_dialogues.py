"""The reliability section on the public ratings of the dialogue study: Table 5.7 and the pairs of Figure 5.12."""

import json
from typing import Any

import numpy as np
import pytest

from analysis.data.ratings.loading import load_ratings
from analysis.methods import DEFAULT, get_method
from analysis.methods.direct_assessment import StudyData
from analysis.methods.settings import load_settings
from analysis.methods.study.criteria import BetweenCriteria
from analysis.questions import sections_of_questions
from analysis.results.stored import as_result
from analysis.stats.ratings import or_nan
from tests.databases import on_both
from tests.results import analyse_fully

pytestmark = on_both


@pytest.fixture(scope="module")
def published(shared_data) -> dict[str, Any]:
    return json.loads((shared_data / "published_tables.json").read_text())["dialogue"]


@pytest.fixture(scope="module")
def report(shared_data, kept) -> dict[str, Any]:
    settings = load_settings("dialogue-free")
    path = shared_data / "dialogue-run1" / "ratings.csv"
    data = StudyData(load_ratings(path, criteria=settings.criterion_names))
    return kept(analyse_fully(get_method(DEFAULT), data, settings))


def test_correlations_between_criteria_are_those_of_table_5_7(report, published) -> None:
    found, table = report["between_criteria"], published["table_5_7_criteria_correlation"]
    order = [found["names"].index(name.lower()) for name in table["order"]]
    raw = np.array(found["raw"])
    pearson, spearman = (np.triu(half, 1) + np.triu(half, 1).T for half in (raw, raw.T))
    printed = np.array([or_nan(row) for row in table["upper_pearson_lower_spearman"]])
    upper = np.triu_indices(len(order), 1)
    for matrix, half in ((pearson, printed), (spearman, printed.T)):
        assert np.abs(matrix[np.ix_(order, order)] - half)[upper].max() <= 0.0005


def test_pairs_of_workers_are_as_many_as_in_figure_5_12(report, published) -> None:
    found = report["questions"]["reliability"]["inter"]
    assert {f"{name}_pairs": found[name]["n"] for name in found} == published["worker_pair_counts"]
    peak = np.argmax(found["passed"]["histogram"]) / 10 - 1
    assert peak == pytest.approx(0.6)


def test_sections_say_what_is_defined_and_what_is_not(report) -> None:
    found = [*sections_of_questions(as_result(report)), *BetweenCriteria().sections(as_result(report))]
    sections = {section.slug: section for section in found}
    assert "680 pairs" in sections["inter-rater"].finding and sections["inter-rater"].figures
    assert "nothing can be said" in sections["intra-rater"].finding  # the study has no repeats
    assert not sections["intra-rater"].tables and not sections["intra-rater"].figures
    assert [table.name for table in sections["criteria"].tables] == ["criteria-z", "criteria-raw"]


def test_more_raters_are_more_reliable(report) -> None:
    halves = report["questions"]["halves"]
    by_raters = list(halves["by_raters"].values())
    assert by_raters == sorted(by_raters) and 0 < by_raters[0] < by_raters[-1] < 1
    n, single = halves["n_workers"], by_raters[0]
    half = n / 2
    assert half * single / (1 + (half - 1) * single) == pytest.approx(halves["r"])  # Spearman and Brown's formula
    assert halves["whole"] == pytest.approx(n * single / (1 + (n - 1) * single))


def test_which_criterion_goes_with_the_others_is_said_with_its_interval(report) -> None:
    sections = {section.slug: section for section in BetweenCriteria().sections(as_result(report))}
    found = report["between_criteria"]["regressions"]
    strongest = max(zip(found["names"], found["with_rest"], strict=True), key=lambda each: each[1]["estimate"][0])
    said = sections["drivers"].finding
    assert said.startswith(f"{strongest[0]} goes most with the other criteria together")
    assert strongest[1]["low"][0] < strongest[1]["estimate"][0] < strongest[1]["high"][0]
    assert {each["n"] for each in found["on_others"]} == {1075}  # the dialogues of workers who passed
    named = {**found, "outcome": "fun"}
    other = {"between_criteria": {**report["between_criteria"], "regressions": named}}
    again = BetweenCriteria().sections(as_result(other))
    assert "“fun” follows most from interesting" in again[-1].finding


def test_tolerance_is_undefined_without_ratings_of_the_same(report) -> None:
    sections = {section.slug: section for section in sections_of_questions(as_result(report))}
    assert "nothing can be said" in sections["tolerance"].finding and not sections["tolerance"].tables
