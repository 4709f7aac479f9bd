"""`manage.py plan`, as users run it."""

import json
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.planning.pilot import Pilot, PilotSummary
from analysis.planning.plans import PlanSettings, make_plan
from analysis.stats.designs import TEXTS, PlannedDesign, simulate_ratings
from campaigns.design.composition import KINDS
from evalsite.lib.tables.writing import write_csv

DESIGN = ("--systems", 4, "--workers", 12, "--items", 20, "--sources", 30, "--difference", 9, "--simulations", 2)
KIND_NAMES = list(KINDS)


def plan(*arguments):
    out, err = StringIO(), StringIO()
    call_command("plan", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def json_plan(*arguments):
    return json.loads(plan(*arguments, "--format", "json")[0])


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    """A file of simulated ratings whose standard deviations are known."""
    design = PlannedDesign(5, 40, 60, 60, n_degraded=8, workers_per_hit=2, worker_test="paired-wilcoxon")
    model = replace(TEXTS, worker=9, liking=6, source=14, output=8, residual=12, degradation=30, careless=0.2)
    ratings = simulate_ratings(design, model, 2, np.random.default_rng(8))
    columns = (ratings.worker, ratings.assignment, ratings.source, ratings.system, ratings.kind, ratings.scores[:, 0])
    rows = [
        (f"w{w}", f"a{a}", f"s{s}", f"system {k}", KIND_NAMES[kind], "adequacy", np.clip(score, 0, 100))
        for w, a, s, k, kind, score in zip(*columns, strict=True)
    ]
    path = tmp_path_factory.mktemp("pilot") / "pilot.csv"
    with path.open("w", newline="") as file:
        write_csv(file, ["worker", "assignment", "source", "system", "kind", "criterion", "score"], rows)
    return path


def test_the_document_has_what_the_guide_names(tmp_path):
    found = json_plan(*DESIGN, "--reward", "2.50", "--fee", "0.50", "--currency", "USD", "--minutes", 30)
    row = found["planned"]
    assert (row["workers"], row["assignments"], row["sources"]) == (12, 12, 30)
    assert row["ratings_per_system"] == 60
    assert (row["cost"], row["hours"], row["days"]) == (36.0, 6.0, None)
    assert 0 <= row["power"] <= 1
    assert [point["workers"] for point in found["curve"]] == sorted(point["workers"] for point in found["curve"])
    assert row in found["curve"]
    assert {change["name"] for change in found["changes"]} == {"workers", "repeated", "hits", "sources"}
    assert set(found["variance_parts"]) == {"workers", "outputs", "residual"}
    assert found["pilot"] is found["still_needed"] is None
    assert found["findings"][0].startswith("With 12 workers × 1 HIT of 20 ordinary items, a difference of 9 points")


def test_the_same_seed_gives_the_same_bytes():
    assert plan(*DESIGN, "--format", "json") == plan(*DESIGN, "--format", "json")


def test_text_has_findings_and_tables():
    text, _ = plan(*DESIGN)
    assert "times in 100" in text
    assert "twice as many workers" in text
    assert "source × system" in text


def test_chats_are_planned_without_sources():
    found = json_plan(
        *("--systems", 6, "--workers", 30, "--items", 5, "--difference", 8, "--simulations", 2),
        *("--layout", "by-system"),
    )
    assert found["planned"]["sources"] is None
    assert found["settings"]["design"]["worker_test"] == "unpaired-ranksum"
    assert {change["name"] for change in found["changes"]} == {"workers", "hits"}


def test_a_pilot_gives_its_variances(pilot):
    found = json_plan(*DESIGN, "--pilot", pilot, "--protocol", "mrc-adequacy", "--hits-per-day", 4)
    sd = found["model"]["sd"]
    truth = {"liking": 6, "source": 14, "output": 8, "residual": 12, "degradation": 30}
    # Scores are cut at 0 and 100, which takes a part of the spread
    assert {name: sd[name] for name in truth} == pytest.approx(truth, rel=0.3)
    assert sd["careless"] == pytest.approx(0.2, abs=0.1)
    assert found["model"]["source"] == "pilot"
    assert found["pilot"]["name"] == "pilot.csv"
    assert found["pilot"]["variances"]["worker"] == pytest.approx(81, rel=0.5)
    assert found["still_needed"] is None or found["still_needed"]["assignments"] >= 0
    assert found["planned"]["days"] == 3


def test_a_metric_of_the_pilot_says_what_ratings_it_would_save(pilot, tmp_path):
    """Its scores are near the ratings of the pilot; three in four outputs were not rated there."""
    rng, means = np.random.default_rng(3), {}
    for row in pilot.read_text().splitlines()[1:]:
        _, _, source, system, kind, _, score = row.split(",")
        if kind == "ordinary":
            means.setdefault((system, source), []).append(float(score))
    rows = [("near", *key, np.mean(scores) + rng.normal(0, 5)) for key, scores in means.items()]
    spread = np.std([row[-1] for row in rows])
    rows += [("near", f"system {k % 5}", f"new {k // 5}", rng.normal(50, spread)) for k in range(3 * len(rows))]
    path = tmp_path / "metrics.csv"
    with path.open("w", newline="") as file:
        write_csv(file, ["metric", "system", "source", "score"], rows)
    found = json_plan(*DESIGN, "--pilot", pilot, "--protocol", "mrc-adequacy", "--metrics", path)
    (saving,), (learnt,) = found["metric_savings"], found["pilot"]["metrics"]
    assert (saving["name"], saving["n_outputs"]) == ("near", len(rows))
    assert 0 < saving["share_rated"] < 1 and saving["saving"] > 0.1
    assert saving["saving"] == pytest.approx(learnt["limit"] * (1 - saving["share_rated"]))
    assert any(f"{100 * saving['saving']:.0f} % of the ratings could be left out" in each for each in found["findings"])


def test_the_hits_still_needed_are_those_that_the_pilot_lacks(pilot):
    design = PlannedDesign(4, 12, 30, 20)
    model = replace(TEXTS, careless=0.0)
    settings = PlanSettings(design, 14, n_simulations=2)
    needed = []
    for n in (0, 40, 10_000):
        summary = PilotSummary("pilot.csv", 2, 2, 2, 2, n, 10.0, {})
        plan = make_plan(settings, Pilot(model, summary, [], 1, n, 2, False))
        needed.append(plan["still_needed"]["assignments"])
    assert needed[0] == plan["required"]["assignments"]
    assert needed[1] == needed[0] - 2
    assert needed[2] == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--items", 200), "there are 120 outputs"),
        (("--degraded", 3), "Nobody can pass the worker test"),
        (("--workers", 5000), "at most 2,000"),
        (("--pilot", "nothing.csv", "--protocol", "qg"), "nothing.csv"),
        (("--target", 0.04), "must lie between"),
        (("--workers-per-hit", 20), "20 different workers"),
    ],
)
def test_what_cannot_be_planned_is_said(arguments, text):
    with pytest.raises(CommandError, match=text):
        plan(*DESIGN, *arguments)


def test_a_pilot_that_is_too_small_is_refused(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("worker,assignment,source,system,kind,criterion,score\nw,a,s,A,ordinary,adequacy,40\n")
    with pytest.raises(CommandError, match="has 0 ratings of 0 systems"):
        plan(*DESIGN, "--pilot", path, "--protocol", "mrc-adequacy")


def test_as_many_workers_count_as_in_the_pilot(shared_data):
    """173 of 248 workers passed in the first free-topic run of the dialogue study."""
    found = json_plan(
        *("--systems", 10, "--workers", 248, "--items", 5, "--layout", "by-system", "--difference", 9),
        *("--simulations", 2, "--pilot", shared_data / "dialogue-run1" / "ratings.csv", "--protocol", "dialogue-free"),
    )
    assert found["planned"]["workers_counted"] == pytest.approx(173, rel=0.1)
    assert (found["pilot"]["workers"], found["pilot"]["workers_counted"]) == (248, 173)
    assert found["pilot"]["variances"]["source x system"] is None


# --- Comparisons and levels


def test_comparisons_are_planned_by_the_share_of_votes_that_the_better_one_wins():
    found = json_plan("--method", "preference", *DESIGN[:8], "--difference", 75, "--simulations", 2)
    assert found["settings"]["design"]["worker_test"] == "sign"
    assert found["findings"][0].startswith(
        "With 12 workers × 1 HIT of 20 comparisons, a system that wins 75 % of the decided votes"
    )
    assert found["planned"]["sources"] is None
    assert {change["name"] for change in found["changes"]} <= {"workers", "hits"}
    assert found["variance_parts"] == {}


def test_scores_of_segments_are_planned_in_points(pilot):
    found = json_plan("--method", "esa", *DESIGN, "--pilot", pilot, "--protocol", "mrc-adequacy")
    assert found["findings"][0].startswith(
        "With 12 workers × 1 HIT of 20 segments, a difference of 9 points between two systems"
    )
    assert found["model"]["source"] == "pilot"
    assert set(found["variance_parts"]) == {"workers", "outputs", "residual"}


def test_marked_errors_are_planned_in_points_of_penalty():
    found = json_plan("--method", "spans", *DESIGN[:8], "--difference", 0.5, "--simulations", 2)
    assert (
        "12 workers × 1 HIT of 20 segments, a difference of 0.5 points of penalty per segment" in found["findings"][0]
    )
    assert "points of penalty" in found["findings"][1]
    assert found["planned"]["sources"] == 30
    assert found["model"]["sd"]["penalty"] == 2.3
    text, _ = plan("--method", "spans", *DESIGN[:8], "--difference", 0.5, "--simulations", 2)
    assert "share of major errors" in text


@pytest.mark.parametrize(
    ("method", "words", "unit", "test"),
    [
        ("choice", "20 answers, a difference of 8 percentage points of good answers", "percentage points", "none"),
        ("ssa", "20 ordinary items, a difference of 8 percentage points of SSA", "percentage points", "sign"),
        ("fact_count", "a difference of 8 percentage points of F", "percentage points", "paired-wilcoxon"),
        ("edits", "20 outputs, a difference of 8 points of HTER", "points of HTER", "paired-wilcoxon"),
    ],
)
def test_shares_are_planned_in_percentage_points(method, words, unit, test):
    found = json_plan("--method", method, *DESIGN[:8], "--difference", 8, "--simulations", 2)
    assert words in found["findings"][0]
    assert f" {unit}." in found["findings"][1]
    assert found["settings"]["design"]["worker_test"] == test
    assert (found["settings"]["design"]["n_degraded"] == 0) == (test == "none")
    assert 1 < found["planned"]["half_width"] < 100


def test_sensible_and_specific_replies_of_live_chats_are_planned():
    found = json_plan(
        *("--method", "ssa", "--systems", 5, "--workers", 20, "--items", 4, "--difference", 8, "--simulations", 2),
        *("--layout", "by-system"),
    )
    assert "of 4 ordinary chats, a difference of 8 percentage points of SSA" in found["findings"][0]
    assert found["planned"]["ratings_per_system"] == 20 * 4 * 14 / 5


def test_levels_are_planned_in_levels():
    found = json_plan("--method", "ordinal", "--levels", 7, *DESIGN[:8], "--difference", 0.5, "--simulations", 2)
    assert "a difference of 0.5 of 7 levels between two systems" in found["findings"][0]
    assert "levels" in found["findings"][1]


def test_magnitudes_are_planned_as_ratios():
    found = json_plan("--method", "magnitude", *DESIGN[:8], "--difference", 1.3, "--simulations", 2)
    assert found["findings"][0].startswith(
        "With 12 workers × 1 HIT of 20 magnitudes, a system whose values are 1.3 times as large"
    )
    assert found["planned"]["sources"] == 30
    assert "of the log ratio" in found["findings"][1]
    text, _ = plan("--method", "magnitude", *DESIGN[:8], "--difference", 1.3, "--simulations", 2)
    assert "A value 30 points higher is twice as large" in text


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("ranking", "20 rankings, a system that is placed above its neighbour in rank on 70 % of the pages with both"),
        ("best_worst", "20 choices, a system whose output is the better one on 70 % of the pages with its neighbour’s"),
    ],
)
def test_pages_of_several_outputs_are_planned_by_how_often_the_better_one_is_above(method, words):
    found = json_plan("--method", method, *DESIGN[:8], "--difference", 70, "--simulations", 2)
    assert found["settings"]["design"]["worker_test"] == "sign"
    assert found["settings"]["outputs_per_page"] == 4
    assert words in found["findings"][0]
    assert found["planned"]["ratings_per_system"] == 12 * 20 * 4 / 4
    assert found["variance_parts"] == {}
    text, _ = plan("--method", method, *DESIGN[:6], "--difference", 70, "--simulations", 2, "--outputs-per-page", 3)
    assert "as is assumed" in text


def test_a_pilot_of_scores_says_nothing_of_magnitudes(pilot):
    with pytest.raises(CommandError, match="Plan magnitudes without one"):
        plan(*DESIGN[:8], "--method", "magnitude", "--difference", 1.3, "--pilot", pilot, "--protocol", "mrc-adequacy")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--method", "magnitude", "--difference", 1), "write more than 1 and at most 10"),
        (("--method", "magnitude", "--difference", 20), "write more than 1 and at most 10"),
        (
            ("--method", "magnitude", "--difference", 1.2, "--layout", "by-system", "--items", 4),
            "no plan for magnitudes of live chats",
        ),
        (("--method", "preference", "--difference", 40), "more than 50 and less than 100"),
        (("--method", "preference", "--difference", 60, "--worker-test", "paired-t"), "tested by the sign test"),
        (("--method", "preference", "--difference", 60, "--criteria", 2), "A plan for comparisons has one criterion"),
        (("--method", "ranking", "--difference", 50), "more than 50 and less than 100"),
        (("--method", "ranking", "--difference", 60, "--outputs-per-page", 5), "with 4 systems it can show 2 to 4"),
        (("--method", "best_worst", "--difference", 60, "--outputs-per-page", 2), "it can show 3 to 4"),
        (("--method", "ranking", "--difference", 60, "--worker-test", "paired-t"), "tested by the sign test"),
        (("--method", "ranking", "--difference", 60, "--criteria", 2), "A plan for rankings has one criterion"),
        (("--method", "ranking", "--difference", 60, "--degraded", 2), "Nobody can pass the worker test"),
        (("--method", "spans", "--difference", 4), "with 4 systems it must be above 0 and at most 3.17"),
        (("--method", "spans", "--difference", 1, "--layout", "by-system", "--items", 4), "no plan for marked errors"),
        (
            ("--method", "choice", "--difference", 40),
            "evenly spaced around 50 %, it must be above 0 and less than 33.3",
        ),
        (("--method", "choice", "--difference", 5, "--worker-test", "sign"), "tested by no worker test: choose “none”"),
        (("--method", "edits", "--difference", 25), "around 70 %, it must be above 0 and less than 20"),
        (("--method", "ordinal", "--difference", 9), "of 5 levels it must be above 0 and at most 4"),
        (("--method", "ordinal", "--difference", 1, "--levels", 40), "a plan is for 2 to 11"),
        (
            ("--method", "ordinal", "--difference", 1, "--layout", "by-system", "--items", 4),
            "no plan for levels of live chats",
        ),
    ],
)
def test_differences_that_a_method_cannot_have_are_refused(arguments, text):
    with pytest.raises(CommandError, match=text):
        plan(*DESIGN[:6], *arguments)
