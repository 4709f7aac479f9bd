"""Levels (Likert) and scores of segments (ESA): distributions, means, medians, rank tests, and what is refused."""

import csv
import json

import numpy as np
import pytest
from django.core.management import CommandError
from scipy.stats import mannwhitneyu

from analysis.methods.ordinal import Ordinal
from analysis.stats.segment_means import clustered_means, segment_means
from evalsite.lib.errors import DomainError


@pytest.fixture
def score_file(tmp_path):
    """Return a function that writes rows of named columns as a file."""

    def write(header, *rows):
        path = tmp_path / "scores.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(header)
            writer.writerows(rows)
        return path

    return write


@pytest.fixture
def protocol(tmp_path):
    """Return a function that writes a protocol's file with options."""

    def write(**options):
        path = tmp_path / "own.json"
        path.write_text(json.dumps({"protocol": "likert", "options": options}))
        return str(path)

    return write


LIKERT = ("worker", "source", "system", "criterion", "score")


def ratings(rng, n=24):
    """Ratings of three systems on two criteria by four workers; ash is best."""
    level = {"ash": 4.0, "elm": 3.0, "fir": 2.4}
    return [
        (f"w{k % 4}", f"s{k}", system, criterion, int(np.clip(rng.normal(mean, 1), 1, 5).round()))
        for k in range(n)
        for system, mean in level.items()
        for criterion in ("fluent", "true")
    ]


def test_scores_are_means_over_criteria_with_medians_and_distributions(score_file, analyse, rng, tmp_path):
    rows = ratings(rng)
    out, _ = analyse(score_file(LIKERT, *rows), protocol="likert", format="json", out=tmp_path / "out")
    found = json.loads(out)
    assert (found["method"], found["higher_is_better"], found["levels"]) == ("ordinal", True, list("12345"))
    values = {name: np.array([row[4] for row in rows if row[2] == name]) for name in ("ash", "elm", "fir")}
    assert [row["system"] for row in found["systems"]] == ["ash", "elm", "fir"]
    for row in found["systems"]:
        assert row["score"] == pytest.approx(values[row["system"]].mean())
        assert row["n"] == 48 and row["interval"][0] < row["score"] < row["interval"][1]
        fluent = np.mean([r[4] for r in rows if r[2] == row["system"] and r[3] == "fluent"])
        assert row["criteria"]["fluent"] == found["criteria"]["fluent"][row["system"]] == pytest.approx(fluent)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    first = report["criteria"][0]
    for row in first["systems"]:
        given = [r[4] for r in rows if r[2] == row["system"] and r[3] == "fluent"]
        assert row["counts"] == [given.count(level) for level in range(1, 6)]
        assert row["median"] == np.median(given)
    for test in first["tests"]:
        one, other = ([r[4] for r in rows if r[2] == name and r[3] == "fluent"] for name in test["systems"])
        assert test["p"] == pytest.approx(mannwhitneyu(one, other, use_continuity=True).pvalue, rel=1e-6)
        assert test["superiority"] == pytest.approx(mannwhitneyu(one, other).statistic / (len(one) * len(other)))
    assert (tmp_path / "out" / "figures" / "levels-true.svg").exists()
    assert "fluent" in (tmp_path / "out" / "tables" / "levels-fluent.tex").read_text()


def test_levels_may_be_names_and_criteria_reversed(score_file, analyse, protocol):
    rows = [("w", "s1", "A", "clear", "Agree"), ("w", "s2", "A", "clear", "2"), ("v", "s1", "A", "wordy", "disagree")]
    rows += [("v", "s1", "B", "clear", "neutral"), ("v", "s1", "B", "wordy", "agree")]
    path = score_file(LIKERT, *rows)
    own = protocol(levels=["disagree", "neutral", "agree"], negative=["Wordy"])
    found = json.loads(analyse(path, protocol=own, format="json")[0])
    assert {row["system"]: row["score"] for row in found["systems"]} == {"A": (2.5 + 3) / 2, "B": (2 + 1) / 2}
    assert found["levels"] == ["disagree", "neutral", "agree"]


def test_odds_of_levels_are_beside_rank_tests(score_file, analyse, protocol, rng, tmp_path):
    path = score_file(LIKERT, *ratings(rng), *((f"w{k}", f"s{k}", f"tree{k % 2}", "old", 1 + k % 2) for k in range(4)))
    own = protocol(model="cumulative-link")
    out, err = analyse(path, protocol=own, format="table", out=tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    fluent, old, _ = report["criteria"]
    assert [row["system"] for row in fluent["odds"]["systems"]][:3] == ["ash", "elm", "fir"]
    pair = fluent["odds"]["pairs"][0]
    assert pair["interval"][0] < pair["log_odds"] < pair["interval"][1] and pair["p"] <= pair["p_holm"]
    assert pair["log_odds"] > 0 and "odds ratio" in out
    assert old["odds"] is None and "No finite odds of levels fit best on old" in err
    assert fluent["tests"][0]["p"] is not None


def test_degraded_items_are_left_out_and_counted(score_file, analyse):
    header = ("worker", "system", "kind", "score")
    path = score_file(header, ("w", "A", "ordinary", 4), ("v", "A", "degraded", 1), ("v", "A", "repeat", 5))
    out, err = analyse(path, protocol="likert", format="json")
    assert json.loads(out)["systems"][0]["score"] == 4.5
    assert "left out: 1" in err


def test_a_system_without_a_rating_on_some_criterion_has_no_score(score_file, analyse):
    rows = [("w", "s", "A", "x", 1), ("v", "s", "A", "y", 3), ("w", "s", "B", "x", 2)]
    out, err = analyse(score_file(LIKERT, *rows), protocol="likert", format="json")
    assert [(row["system"], row["score"], row["rank"]) for row in json.loads(out)["systems"]] == [
        ("A", 2, 1),
        ("B", None, None),
    ]
    assert "without a score: B" in err


def test_a_system_without_a_score_is_in_no_pair_and_has_no_rank(score_file, analyse, rng, tmp_path):
    """Of pine everything on one criterion is known: what is found of the others must not depend on it."""
    rows = ratings(rng)
    more = [*rows, *((row[0], row[1], "pine", "fluent", 5) for row in rows if row[2:4] == ("ash", "fluent"))]
    reports = []
    for name, each in (("without", rows), ("with", more)):
        analyse(score_file(LIKERT, *each), protocol="likert", out=tmp_path / name, no_figures=True)
        reports.append(json.loads((tmp_path / name / "report.json").read_text()))
    without, found = reports
    assert found["pairs"] == without["pairs"] and len(found["pairs"]) == 3
    *known, last = found["summary"]["systems"]
    assert known == without["summary"]["systems"]
    assert (last["system"], last["score"], last["rank"], last["ranks"]) == ("pine", None, None, None)


@pytest.mark.parametrize("score", ["6", "0", "2.5", "x", "inf", "1e309"])
def test_a_level_that_there_is_not_is_named(score_file, analyse, protocol, score):
    path = score_file(("worker", "system", "score"), ("w", "A", 1), ("w", "B", score))
    with pytest.raises(CommandError, match="row 3, column “score”"):
        analyse(path, protocol=protocol(levels=5))


def test_long_scales_are_not_levels(score_file, analyse):
    path = score_file(("worker", "system", "score"), *(("w", "A", k) for k in range(30)))
    with pytest.raises(CommandError, match="There are 30 different scores"):
        analyse(path, protocol="likert")


@pytest.mark.parametrize(
    "options",
    [
        {"levels": 1},
        {"levels": 12},
        {"levels": ["a", "a"]},
        {"levels": True},
        {"negative": ["x"]},
        {"colour": 1},
        {"model": 1},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(DomainError):
        Ordinal().check_options(options)


def test_a_mean_of_criteria_has_the_interval_of_the_workers_means(rng):
    from scipy.stats import sem, t

    by_worker = rng.normal(0, 1, (12, 2))  # each worker rates each criterion once
    worker, criterion = np.indices((12, 2)).reshape(2, -1)
    centre = by_worker.mean(axis=0)[criterion]
    groups = {"worker": worker}
    found = clustered_means(by_worker.ravel(), np.zeros(24, int), 1, np.full(24, 1 / 24), groups, centre)
    means = by_worker.mean(axis=1)
    low, high = t.interval(0.95, 11, means.mean(), sem(means))
    assert (found.mean[0], found.low[0], found.high[0]) == pytest.approx((means.mean(), low, high))


# --- ESA


def test_esa_averages_raters_then_segments_of_documents(score_file, analyse):
    header = ("system", "doc", "seg_id", "rater", "score")
    rows = [
        ("A", "d1", "1", "r1", 80),
        ("A", "d1", "1", "r2", 60),
        ("A", "d2", "1", "r1", 30),
        ("B", "d1", "1", "r1", 90),
    ]
    rows += [("B", "d2", "1", "r2", 50.5)]
    found = json.loads(analyse(score_file(header, *rows), protocol="esa", format="json")[0])
    scores = [(row["system"], row["score"], row["n"]) for row in found["systems"]]
    assert scores == [("B", 70.25, 2), ("A", 50.0, 2)]
    assert found["method"] == "esa" and found["higher_is_better"] is True
    system, segment = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 0, 1])
    expected = segment_means(np.array([80, 60, 30, 90, 50.5]), system, segment, 2, {"segment": segment})
    assert found["systems"][1]["interval"] == pytest.approx([expected.low[0], expected.high[0]])


@pytest.mark.parametrize("score", ["101", "-1", "good", "1e309"])
def test_esa_scores_are_from_0_to_100(score_file, analyse, score):
    path = score_file(("system", "seg_id", "rater", "score"), ("A", "1", "r1", score))
    with pytest.raises(CommandError, match="It must be a number from 0 to 100"):
        analyse(path, protocol="esa")


# --- Workers


def write_tested(score_file, *, careful=8, careless=2):
    """Write levels of two systems by workers, each degraded item two levels lower, or not by careless ones."""
    rows = []
    for w in range(careful + careless):
        for k in range(6):
            for system, level in (("A", 4), ("B", 3)):
                rows.append((f"w{w}", f"a{w}", f"s{k}", system, "ordinary", level))
            lower = 2 if w < careful else 5
            rows.append((f"w{w}", f"a{w}", f"s{k}", "A", "degraded", lower))
        rows.append((f"w{w}", f"a{w}", "s0", "B", "repeat", 4))
    return score_file(("worker", "assignment", "source", "system", "kind", "score"), *rows)


def test_who_does_not_give_degraded_items_lower_levels_is_left_out(score_file, analyse):
    path = write_tested(score_file)
    found = json.loads(analyse(path, protocol="likert", format="json")[0])
    assert found["workers"] == {"total": 10, "passed": 8, "failed": 2, "untested": 0}
    assert found["worker_test"] == {"preset": "paired-wilcoxon", "alpha": 0.05}
    # 8 workers of 6 sources; of B one of them is the mean of 3 and its repeat, 4
    assert [(row["system"], row["score"], row["n"]) for row in found["systems"]] == [
        ("A", pytest.approx(4), 48),
        ("B", pytest.approx((5 * 3 + 3.5) / 6), 48),
    ]
    assert found["n_left_out"] == 2 * 13
    everyone = json.loads(analyse(path, protocol="likert", format="json", worker_test="none")[0])
    assert [row["n"] for row in everyone["systems"]] == [60, 60] and everyone["workers"]["failed"] == 0


def test_where_no_worker_passes_no_system_has_a_score(score_file, analyse, tmp_path):
    path = write_tested(score_file, careful=0)
    out, err = analyse(path, protocol="likert", format="json", out=tmp_path / "out")
    assert [(row["score"], row["rank"]) for row in json.loads(out)["systems"]] == [(None, None)] * 2
    assert "No worker passed the worker test" in err
    assert (tmp_path / "out" / "tables" / "workers.csv").read_text().count("failed") == 2


def test_a_worker_without_a_degraded_item_counts_only_where_nobody_is_tested(score_file, analyse):
    header = ("worker", "source", "system", "kind", "score")
    ordinary = [("v", f"s{k}", "A", "ordinary", 5) for k in range(6)]
    tested = [("w", f"s{k}", "A", kind, level) for k in range(6) for kind, level in (("ordinary", 3), ("degraded", 1))]
    some = json.loads(analyse(score_file(header, *ordinary, *tested), protocol="likert", format="json")[0])
    assert (some["systems"][0]["score"], some["workers"]["untested"]) == (pytest.approx(3), 1)
    nobody = json.loads(analyse(score_file(header, *ordinary), protocol="likert", format="json")[0])
    assert (nobody["systems"][0]["score"], nobody["worker_test"]["preset"]) == (pytest.approx(5), "none")
