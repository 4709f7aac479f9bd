"""How far a replication agrees with its original, whatever the response method: of simulated campaigns, and by hand."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from analysis.planning.methods import PLANNED
from analysis.planning.methods.planned import SimulatedMethod
from analysis.results.compare import compare_results, comparison_sections
from analysis.results.compare_several import DatedResult, several_sections
from analysis.results.replication import compare_runs
from analysis.results.sections import LIGHT, Output
from analysis.results.stored import result_of
from analysis.stats.designs import PlannedDesign
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.errors import DomainError

DESIGN = PlannedDesign(4, 40, 60, 20, worker_test=NO_TEST)
# Large ones, in the unit of each method.
DIFFERENCES = {
    "ordinal": 1.5,
    "magnitude": 3.0,
    "spans": 3.0,
    "ranking": 95,
    "best_worst": 95,
    "esa": 25,
    "choice": 25,
    "ssa": 19,
}


def simulated(slug, seed):
    planned = PLANNED[slug](DIFFERENCES.get(slug, 15), 7, 4)
    model = planned.model_for(DESIGN, None, None)
    return planned.result(planned.simulate(DESIGN, model, np.random.default_rng(seed)), planned.settings(DESIGN))


def report_of(scores, pairs=(), *, higher_is_better=True, criteria=None):
    """Return what comparisons read of a report; `pairs`: p of (better, worse) after Holm’s correction."""
    order = sorted(scores, key=lambda name: scores[name] or 0, reverse=higher_is_better)
    rows = [
        {
            "system": name,
            "score": scores[name],
            "interval": None if scores[name] is None else [scores[name] - 0.1, scores[name] + 0.1],
            "criteria": {each: of.get(name) for each, of in (criteria or {}).items()},
        }
        for name in order
    ]
    return result_of(
        {
            "summary": {"higher_is_better": higher_is_better, "systems": rows},
            "pairs": [{"systems": list(systems), "p_holm": p} for systems, p in dict(pairs).items()],
        }
    )


@pytest.mark.parametrize("slug", [slug for slug, planned in PLANNED.items() if issubclass(planned, SimulatedMethod)])
def test_two_campaigns_of_very_different_systems_agree(slug):
    original, replication = simulated(slug, 1), simulated(slug, 2)
    found = compare_runs(original, replication)
    assert found.systems == ["s000000", "s000001", "s000002", "s000003"]
    assert found.overall.spearman == found.overall.kendall == 1
    assert found.overall.pearson > 0.97
    assert found.same_conclusions == {"0.1": 1.0, "0.05": 1.0}
    shown = compare_results(original, replication)
    assert shown.n_moved == 0 and [each.first_rank for each in shown.systems] == [1, 2, 3, 4]
    assert shown.same_conclusions == found.same_conclusions
    for section in comparison_sections(original, replication, shown):
        for figure in section.figures:
            figure.draw(LIGHT)


def test_conclusions_are_of_the_system_that_is_better():
    """The report has the better system first: with p 0.04 it beats the other one, which does not beat it."""
    report = report_of({"a": 3, "b": 2, "c": 1}, {("a", "b"): 0.04, ("b", "c"): None, ("a", "x"): 0.5})
    p = report.conclusions(["b", "a", "c"])
    assert (p[1, 0], p[0, 1]) == (0.04, 1)
    assert np.isnan([p[0, 0], p[0, 2], p[2, 0], p[1, 2]]).all()


def test_conclusions_are_of_the_pairs_that_the_original_ranks():
    """Of three pairs b–c is concluded in the original alone: the same of two in three."""
    original = report_of({"a": 3, "b": 2, "c": 1}, {("a", "b"): 0.01, ("a", "c"): 0.01, ("b", "c"): 0.02})
    second = report_of({"a": 3, "b": 1, "c": 2}, {("a", "b"): 0.01, ("a", "c"): 0.01, ("c", "b"): 0.8})
    assert compare_runs(original, second).same_conclusions == {
        "0.1": pytest.approx(2 / 3),
        "0.05": pytest.approx(2 / 3),
    }


def test_where_lower_scores_are_better_ranks_are_so_too():
    first = report_of({"a": 1.0, "b": 2.0, "c": 3.0}, higher_is_better=False)
    second = report_of({"a": 2.5, "b": 2.0, "c": 3.0}, higher_is_better=False)
    found = compare_results(first, second)
    assert [(each.name, *each.ranks) for each in found.systems] == [("a", 1, 2), ("b", 2, 1), ("c", 3, 3)]
    a = found.systems[0]
    assert (a.difference, a.low, a.high) == pytest.approx((1.5, 1.5 - 0.1 * 2**0.5, 1.5 + 0.1 * 2**0.5))


def test_criteria_of_both_are_correlated_and_systems_without_a_score_are_left_out():
    criteria = {"x": {"a": 1, "b": 2, "c": 3, "d": 9}, "y": {"a": 3, "b": 2, "c": 1, "d": 9}}
    first = report_of({"a": 3, "b": 2, "c": 1, "d": None}, criteria=criteria)
    second = report_of({"a": 3, "b": 2, "c": 1, "e": 0}, criteria={"y": criteria["x"], "x": criteria["x"]})
    found = compare_results(first, second)
    assert (found.names, found.only_first, found.only_second) == (["a", "b", "c"], ["d"], ["e"])
    written, _ = comparison_sections(first, second, found)[0].tables
    r = {row[0]: row[3] for row in written.rows}
    assert r == {"overall": pytest.approx(1), "x": pytest.approx(1), "y": pytest.approx(-1)}
    with pytest.raises(DomainError, match="share only 2 systems"):
        compare_results(first, report_of({"a": 3, "b": 2}))


def test_several_results_are_in_the_order_of_their_dates():
    results = [
        DatedResult(f"of {month}", datetime(2024, month, 1, tzinfo=UTC), report_of({"a": month, "b": 2, "c": 0}))
        for month in (5, 1, 9)
    ]
    over_time, pairwise = several_sections(results)
    (table,) = (table for table in over_time.tables if Output.PAGE in table.output)
    assert ["a", 1, 5, 9] in table.rows and "the score of a changes most" in over_time.finding
    assert "of the scores of every two results" in pairwise.tables[0].caption
    over_time.figures[0].draw(LIGHT)
    assert several_sections(results[:2]) == []


def test_the_command_says_how_far_a_replication_of_levels_agrees(tmp_path, analyse, rng):
    for name in ("original", "again"):
        rows = [
            f"w{worker},q{source},{system},{np.clip(round(3 + place + rng.normal(0, 0.7)), 1, 5)}"
            for worker in range(6)
            for source in range(8)
            for place, system in enumerate(("ash", "elm", "oak"), start=-1)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["worker,source,system,score", *rows]))
    sent = {"protocol": "likert", "compare": tmp_path / "original.csv"}
    found = json.loads(analyse(tmp_path / "again.csv", **sent, format="json")[0])["replication"]
    assert found["systems"] == ["oak", "elm", "ash"] and found["overall"]["pearson"] > 0.99
    assert found["same_conclusions"] == {"0.1": 1.0, "0.05": 1.0}
    text, _ = analyse(tmp_path / "again.csv", **sent)
    assert "Agreement of two runs over 3 systems; same conclusions: 100% at p < 0.1, 100% at p < 0.05." in text
