"""Questions of votes, rankings and choices: circular triads, and metrics on the pairs that workers compared."""

import csv
import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.data.compared import ComparedPairs
from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import AnalysisSettings, from_protocol
from analysis.metrics.loading import load_segment_scores
from analysis.questions import circular_triads
from analysis.results.anonymity import anonymise, anonymous_report, workers_of
from analysis.results.sections import Section
from analysis.stats.circular_triads import share_by_chance
from analysis.stats.davidson import Outcome
from tests.analysis.test_stored_order import simulated
from tests.results import analyse_fully, sections_of

CIRCLE = [("x", "y"), ("y", "z"), ("z", "x")]
ORDER = [("x", "y"), ("y", "z"), ("x", "z")]
METHODS = {"preference": "preference", "ranking": "ranking", "best_worst": "best-worst"}


def write(path: Path, header: str, rows: Iterable[Iterable[object]]) -> Path:
    """Write a CSV file."""
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def votes_of(worker: str, source: str, pairs: Iterable[tuple[str, str]], *more: str) -> list[tuple[str, ...]]:
    """Return votes in which the first system of each pair wins, shown on the right."""
    return [(worker, source, loser, winner, winner, *more) for winner, loser in pairs]


def compared(path: Path, kind: str, **changes: Any) -> ComparedPairs:
    """Return the pairs of a file."""
    method, settings = get_method(kind), _settings(kind, **changes)
    found = method.comparisons(method.read(ResponsesFile(path), settings), settings)
    assert found is not None
    return found


def analysed(path: Path, kind: str, *, metrics: Path | None = None, **changes: Any) -> dict[str, Any]:
    """Return the report of a file."""
    method, settings = get_method(kind), _settings(kind, **changes)
    scores = load_segment_scores(metrics, has_metrics=True) if metrics else None
    return json.loads(
        json.dumps(analyse_fully(method, method.read(ResponsesFile(path), settings), settings, metrics=scores))
    )


def _settings(kind: str, **changes: Any) -> AnalysisSettings:
    return replace(from_protocol(METHODS[kind]), **changes)


def named(pairs: ComparedPairs) -> list[tuple[str, ...]]:
    """Return worker, source, criterion, winner and loser of each pair, or both in order and a tie."""
    found = []
    for k, outcome in enumerate(pairs.outcome.tolist()):
        one, other = (pairs.systems[int(codes[k])] for codes in (pairs.first, pairs.second))
        best, worst = (other, one) if outcome == Outcome.RIGHT else (one, other)
        source = pairs.sources[int(pairs.source[k])] if pairs.sources else ""
        of = pairs.workers[int(pairs.worker[k])], source, pairs.criteria[int(pairs.criterion[k])]
        found.append((*of, best, worst, *(["tie"] if outcome == Outcome.TIE else [])))
    return sorted(found)


def section_of(report: dict[str, Any], page: str, slug: str) -> Section:
    return next(section for section in sections_of(report, page) if section.slug == slug)


# --- What is compared


def test_votes_are_pairs_of_workers_who_count_on_ordinary_pages(tmp_path: Path) -> None:
    header = "worker,source,system_a,system_b,winner,criterion,kind"
    rows = [
        *votes_of("bob", "q2", ORDER[:1], "wit", "ordinary"),
        *votes_of("ann", "q1", ORDER[1:2], "art", "ordinary"),
        *votes_of("ann", "q1", ORDER[1:2], "art", "repeat"),
        ("ann", "q2", "x", "y", "tie", "wit", "ordinary"),
        ("ann", "q3", "x", "y", "both bad", "wit", "ordinary"),
        *votes_of("cem", "q1", ORDER[:1], "wit", "ordinary"),
    ]
    path = write(tmp_path / "votes.csv", header, rows)
    excluded = {"cem": "by hand"}
    expected = [("ann", "q1", "art", "y", "z"), ("ann", "q2", "wit", "x", "y", "tie"), ("bob", "q2", "wit", "x", "y")]
    assert named(compared(path, "preference", excluded=excluded, options={"both_bad": "leave out"})) == expected
    as_tie = [*expected[:2], ("ann", "q3", "wit", "x", "y", "tie"), expected[2]]
    assert named(compared(path, "preference", excluded=excluded, options={"both_bad": "tie"})) == as_tie


def test_rankings_and_choices_are_the_pairs_that_they_imply(tmp_path: Path) -> None:
    rows = [("ann", "q1", system, rank) for system, rank in zip("wxyz", (2, 1, 3, 3), strict=True)]
    pairs = compared(write(tmp_path / "ranks.csv", "worker,source,system,rank", rows), "ranking")
    expected = [("x", "w"), ("x", "y"), ("x", "z"), ("w", "y"), ("w", "z"), ("y", "z", "tie")]
    assert named(pairs) == sorted(("ann", "q1", "", *pair) for pair in expected)
    assert np.unique(pairs.judgement).size == 1
    header = "worker,source,system_1,system_2,system_3,system_4,best,worst"
    choices = write(tmp_path / "choices.csv", header, [("ann", "q1", *"wxyz", "x", "z")])
    expected = [("x", "w"), ("x", "y"), ("x", "z"), ("w", "z"), ("y", "z")]
    assert named(compared(choices, "best_worst")) == sorted(("ann", "q1", "", *pair) for pair in expected)


# --- Circular triads


def test_a_worker_who_contradicts_themselves_on_one_source_is_found(tmp_path: Path) -> None:
    rows = votes_of("ann", "q1", CIRCLE) + votes_of("ann", "q2", ORDER) + votes_of("bob", "q1", ORDER)
    rows += [*votes_of("bob", "q2", ORDER[:2]), ("bob", "q2", "z", "x", "tie")]
    report = analysed(write(tmp_path / "votes.csv", "worker,source,system_a,system_b,winner", rows), "preference")
    found = report["questions"]["circular_triads"]
    own = found["on"]["source"]
    assert (own["n_compared"], own["n_decided"], own["n_circular"], own["n_complete"]) == (4, 3, 1, 3)
    assert (own["share"], own["by_chance"], own["consistence"]) == (pytest.approx(1 / 3), 0.25, pytest.approx(2 / 3))
    assert [(row["worker"], row["n_circular"], row["consistence"]) for row in found["workers"]] == [
        ("ann", 1, 0.5),
        ("bob", 0, 1.0),
    ]
    everyone = found["on"]["all"]  # x over y four times, y over z four times, x over z twice and once below it
    assert (everyone["n_decided"], everyone["n_circular"], everyone["consistence"]) == (1, 0, 1.0)
    shown = section_of(report, "reliability", "circular_triads")
    assert "On one source, 33 % of 3 triads" in shown.finding and "1 triad with a tie is not counted" in shown.finding
    assert [list(row[:6]) for row in shown.tables[0].rows] == [
        ["a worker, on one source", 4, 1, 1, pytest.approx(100 / 3), 25.0],
        ["all workers, by majority", 1, 0, 0, 0.0, 25.0],
    ]
    anonymous = anonymous_report(report, anonymise(workers_of(report)))
    assert '"ann"' not in json.dumps(anonymous) and len(anonymous["questions"]["circular_triads"]["workers"]) == 2


@pytest.mark.parametrize("header", ["worker,source,system_a,system_b,winner", "worker,page,system_a,system_b,winner"])
def test_where_no_source_has_triads_those_over_all_sources_count(header: str, tmp_path: Path) -> None:
    rows = [vote for k, pair in enumerate(CIRCLE) for vote in votes_of("ann", f"q{k}", [pair])]
    report = analysed(write(tmp_path / "votes.csv", header, rows), "preference")
    on = report["questions"]["circular_triads"]["on"]
    assert set(on) == {"worker", "all"} and on["worker"]["n_circular"] == on["all"]["n_circular"] == 1
    assert "Over all the sources that a worker judged, 100 % of 1 triad" in (
        section_of(report, "reliability", "circular_triads").finding
    )


def test_preferences_on_two_criteria_do_not_contradict_each_other(tmp_path: Path) -> None:
    rows = votes_of("ann", "q1", CIRCLE[:2], "art") + votes_of("ann", "q1", CIRCLE[2:], "wit")
    path = write(tmp_path / "votes.csv", "worker,source,system_a,system_b,winner,criterion", rows)
    report = analysed(path, "preference")
    assert all(one["n_compared"] == 0 for one in report["questions"]["circular_triads"]["on"].values())
    shown = section_of(report, "reliability", "circular_triads")
    assert shown.finding == "No worker decided between all of three systems." and not shown.tables


def rankings(orders: dict[tuple[str, str], str]) -> list[tuple[object, ...]]:
    return [
        (worker, source, system, rank)
        for (worker, source), order in orders.items()
        for rank, system in enumerate(order, start=1)
    ]


def test_a_ranking_is_not_circular_but_rankings_of_several_sources_are(tmp_path: Path) -> None:
    path, header = tmp_path / "ranks.csv", "worker,source,system,rank"
    once = analysed(write(path, header, rankings({("ann", "q1"): "xyz", ("bob", "q1"): "yzx"})), "ranking")
    shown = section_of(once, "reliability", "circular_triads")
    assert shown.finding == "A ranking is never circular in itself, and no worker gave several that could be."
    assert not shown.tables
    orders = {("ann", "q1"): "xyz", ("ann", "q2"): "yzx", ("ann", "q3"): "zxy", ("bob", "q1"): "xyz"}
    report = analysed(write(path, header, rankings(orders)), "ranking")
    on = report["questions"]["circular_triads"]["on"]
    assert (on["worker"]["n_decided"], on["worker"]["n_circular"]) == (1, 1)
    assert 0.01 < on["worker"]["by_chance"] < 0.15  # 1/18
    shown = section_of(report, "reliability", "circular_triads")
    assert shown.finding.startswith("A ranking is never circular in itself, but several together can be.")


def test_of_very_many_rankings_chance_is_drawn_of_some_and_all_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_workers, rng, drawn = 200, np.random.default_rng(2), []
    orders = {(f"w{k}", f"q{n}"): "".join(rng.permutation([*"xyz"])) for k in range(n_workers) for n in range(3)}
    path = write(tmp_path / "ranks.csv", "worker,source,system,rank", rankings(orders))
    monkeypatch.setattr(circular_triads, "_MANY_GROUPS", 100)
    monkeypatch.setattr(circular_triads, "_MOST_DRAWN", 5 * 9 * n_workers // 2)

    def share(*args: Any, **named: Any) -> float:
        drawn.append(args[0].size)
        return share_by_chance(*args, **named)

    monkeypatch.setattr(circular_triads, "share_by_chance", share)
    on = analysed(path, "ranking")["questions"]["circular_triads"]["on"]["worker"]
    assert 9 * n_workers * 0.4 < drawn[0] < 9 * n_workers * 0.6
    assert (on["n_compared"], on["n_decided"]) == (n_workers, n_workers)
    assert 0.02 < on["by_chance"] < 0.1  # 1/18


def test_chance_is_known_where_many_rank_few_systems(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    orders = {(f"w{k}", f"q{n}"): "".join(rng.permutation([*"xyz"])) for k in range(300) for n in range(5)}
    path = write(tmp_path / "ranks.csv", "worker,source,system,rank", rankings(orders))
    found = analysed(path, "ranking")["questions"]["circular_triads"]["on"]["all"]
    # Of very many random rankings the majority is circular in 8.77 % of cases (Guilbaud 1952).
    assert found["by_chance"] == pytest.approx(0.0877, abs=3 * np.sqrt(0.0877 * 0.9123 / 2000))


@pytest.mark.parametrize("kind", ["ordinal", "choice", "spans"])
def test_kinds_with_scores_are_not_asked(kind: str, tmp_path: Path) -> None:
    report = simulated(kind, tmp_path)
    assert not {"circular_triads", "metric_votes"} & set(report["questions"])


def test_two_systems_have_no_triads(tmp_path: Path) -> None:
    rows = votes_of("ann", "q1", ORDER[:1]) + votes_of("bob", "q1", ORDER[:1])
    report = analysed(write(tmp_path / "votes.csv", "worker,source,system_a,system_b,winner", rows), "preference")
    assert "Fewer than three systems" in report["questions"]["circular_triads"]["refused"]


# --- Metrics


def voted(path: Path) -> Path:
    """Write votes of four workers on the pairs of three systems for twelve sources."""
    rng, rows = np.random.default_rng(4), []
    for worker, source, (one, other) in product("abcd", range(12), ORDER):
        if rng.random() < 0.8:
            winner = rng.choice([one, other, "tie"], p=[0.5, 0.3, 0.2])
            rows.append((f"w{worker}", f"q{source}", one, other, winner))
    return write(path, "worker,source,system_a,system_b,winner", rows)


def scored(path: Path) -> Path:
    """Write scores of a metric with many equal scores, of one that has not all sources, and of one of whole systems."""
    rng, rows = np.random.default_rng(5), []
    for place, system in enumerate("xyz"):
        rows += [("coarse", system, f"q{source}", int(rng.integers(0, 3)) - place) for source in range(12)]
        rows += [("fine", system, f"q{source}", f"{rng.normal(-place):.4f}") for source in range(2, 15)]
        rows.append(("corpus", system, "", -place))
    return write(path, "metric,system,source,score", rows)


def test_metrics_are_compared_with_decided_votes_one_by_one(tmp_path: Path) -> None:
    votes, scores = voted(tmp_path / "votes.csv"), scored(tmp_path / "metrics.csv")
    report = analysed(votes, "preference", metrics=scores)
    found = report["questions"]["metric_votes"]
    with scores.open(newline="") as stream:
        of = {(row["metric"], row["system"], row["source"]): float(row["score"]) for row in csv.DictReader(stream)}
    with votes.open(newline="") as stream:
        decided = [row for row in csv.DictReader(stream) if row["winner"] != "tie"]
    assert found["n_decided"] == len(decided)
    assert {each["name"] for each in found["metrics"]} == {"coarse", "fine"}
    assert found["metrics"][0]["share"] > found["metrics"][1]["share"]
    for each in found["metrics"]:
        values, clusters = [], []
        for row in decided:
            loser = row["system_b"] if row["winner"] == row["system_a"] else row["system_a"]
            won, lost = (of.get((each["name"], system, row["source"])) for system in (row["winner"], loser))
            if won is not None and lost is not None:
                values.append(0.5 if won == lost else float(won > lost))
                clusters.append((row["worker"], row["source"]))
        assert (each["n"], each["n_equal"]) == (len(values), values.count(0.5))
        assert each["share"] == pytest.approx(np.mean(values))
        variances = [clustered(values, [key(c) for c in clusters]) for key in (lambda c: c[0], lambda c: c[1], tuple)]
        variance = max(variances[0], variances[1], variances[0] + variances[1] - variances[2])
        assert each["high"] - each["share"] == pytest.approx(3.182446 * np.sqrt(variance))  # t with 4 workers less 1
        assert each["share"] - each["low"] == pytest.approx(each["high"] - each["share"])


def clustered(values: list[float], groups: list[Any]) -> float:
    """Return the variance of a mean with errors that depend on each other within groups."""
    rest = np.array(values) - np.mean(values)
    sums = [sum(r for r, of in zip(rest, groups, strict=True) if of == group) for group in set(groups)]
    return len(sums) / (len(sums) - 1) * sum(each**2 for each in sums) / len(values) ** 2


def test_beside_metrics_the_page_says_how_far_two_workers_agree(tmp_path: Path) -> None:
    rows = votes_of("ann", "q1", ORDER) + votes_of("bob", "q1", CIRCLE) + [("cem", "q1", "x", "y", "tie")]
    votes = write(tmp_path / "votes.csv", "worker,source,system_a,system_b,winner", rows)
    scores = write(tmp_path / "m.csv", "metric,system,source,score", [("m", s, "q1", k) for k, s in enumerate("zyx")])
    report = analysed(votes, "preference", metrics=scores)
    slugs = [section.slug for section in sections_of(report, "metrics")]
    assert slugs[0] == "metrics" and slugs[-2:] == ["metric_votes", "metric-savings"]
    assert "metric-segments" not in slugs
    shown = section_of(report, "metrics", "metric_votes")
    assert list(shown.tables[0].rows[0][:2]) == ["m", pytest.approx(500 / 6)]
    assert list(shown.tables[0].rows[1]) == ["two workers", pytest.approx(200 / 3), None, None, 3, None]
    assert "83 % of 6 decided comparisons" in shown.finding and "Two workers agree on 67 %." in shown.finding


@pytest.mark.parametrize("header", ["worker,source,system_a,system_b,winner", "worker,page,system_a,system_b,winner"])
def test_metrics_of_other_outputs_say_nothing_of_votes(header: str, tmp_path: Path) -> None:
    votes = write(tmp_path / "votes.csv", header, votes_of("ann", "q1", ORDER) + votes_of("bob", "q1", CIRCLE))
    scores = write(tmp_path / "m.csv", "metric,system,source,score", [("m", s, "q9", k) for k, s in enumerate("xyz")])
    report = analysed(votes, "preference", metrics=scores)
    assert report["questions"]["metric_votes"]["metrics"] == []
    shown = section_of(report, "metrics", "metric_votes")
    assert shown.finding.startswith("No two outputs that a worker decided between") and not shown.tables


@pytest.mark.parametrize("kind", ["ranking", "best_worst"])
def test_rankings_and_choices_are_compared_with_metrics_by_the_pairs_they_imply(kind: str, tmp_path: Path) -> None:
    if kind == "ranking":
        path = write(
            tmp_path / "r.csv", "worker,source,system,rank", rankings({("ann", "q1"): "xyz", ("bob", "q2"): "xzy"})
        )
    else:
        rows = [("ann", "q1", *"xyz", "x", "z"), ("bob", "q2", *"xyz", "x", "y")]
        path = write(tmp_path / "c.csv", "worker,source,system_1,system_2,system_3,best,worst", rows)
    scores = [("m", system, source, -place) for place, system in enumerate("xyz") for source in ("q1", "q2")]
    metrics = write(tmp_path / "m.csv", "metric,system,source,score", scores)
    [found] = analysed(path, kind, metrics=metrics)["questions"]["metric_votes"]["metrics"]
    assert (found["n"], found["share"]) == (6, pytest.approx(5 / 6))
