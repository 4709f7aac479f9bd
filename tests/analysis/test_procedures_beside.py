"""What other procedures conclude of pairs of systems, of scores and of comparisons: from a file to the page."""

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.results.sections import Output, Section, Table
from analysis.stats import procedures
from analysis.stats.permutation import compare_permuted
from campaigns.design.worker_test import NO_TEST
from tests.results import analyse_fully, sections_of

SYSTEMS = ("alder", "birch", "cedar")


def write(path: Path, header: str, rows: Any) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header.split(","), *rows])
    return path


def levels(path: Path, *, n_workers: int = 8, criteria: tuple[str, ...] = ("score",), left_out: float = 0.0) -> Path:
    """Write levels of workers who like some systems more, each of the outputs of twelve sources, some left out."""
    rng = np.random.default_rng(11)
    likes, difficulty = rng.normal(0, 0.4, (n_workers, 3)), rng.normal(0, 0.7, 12)
    rows = []
    for criterion, k, source, s in product(criteria, range(n_workers), range(12), range(3)):
        level = 3 + 0.5 * s + likes[k, s] + difficulty[source] + rng.normal(0, 0.8)
        more = [criterion] if len(criteria) > 1 else []
        if rng.random() >= left_out:
            rows.append([f"w{k}", f"q{source}", SYSTEMS[s], int(np.clip(np.round(level), 1, 5)), *more])
    header = "worker,source,system,score" + (",criterion" if len(criteria) > 1 else "")
    return write(path, header, rows)


def analysed(path: Path, kind: str, protocol: str, **changes: Any) -> dict[str, Any]:
    method, settings = get_method(kind), replace(from_protocol(protocol), **{"preset": NO_TEST} | changes)
    return json.loads(json.dumps(analyse_fully(method, method.read(ResponsesFile(path), settings), settings)))


def shown(report: Mapping[str, Any]) -> tuple[Section, list[Table], list[Table]]:
    """Return the section, its tables on pages, and its tables in files."""
    section = next(each for each in sections_of(report, "pairs") if each.slug == "procedures")
    in_files = [table for table in section.tables if Output.FILES in table.output]
    return section, section.tables_shown, in_files


def pair_of(report: Mapping[str, Any], *systems: str) -> dict[str, Any]:
    return next(pair for pair in report["questions"]["procedures"]["pairs"] if set(pair["systems"]) == set(systems))


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_crossed_effects_of_levels_are_those_of_statsmodels(tmp_path: Path) -> None:
    """By statsmodels 0.15.0: mixedlm("score ~ C(system)"), by Nelder–Mead, then BFGS, components as in
    `tests.stats.crossed_effects`."""
    report = analysed(levels(tmp_path / "levels.csv", left_out=0.4), "ordinal", "likert")
    for other, expected in (("birch", 0.516707), ("cedar", 1.023682)):
        pair = pair_of(report, "alder", other)
        assert pair["systems"] == [other, "alder"] and pair["difference"] > 0
        assert pair["others"]["crossed"]["difference"] == pytest.approx(expected, rel=1e-5)


def test_exchanged_labels_and_rank_sums_of_levels_are_those_of_the_scores_in_the_file(tmp_path: Path) -> None:
    path = levels(tmp_path / "levels.csv")
    report, rows = analysed(path, "ordinal", "likert"), read(path)
    order = [row["system"] for row in report["summary"]["systems"]]
    score = np.array([float(row["score"]) for row in rows])
    worker, source = (np.unique([row[name] for row in rows], return_inverse=True)[1] for name in ("worker", "source"))
    system = np.array([order.index(row["system"]) for row in rows])
    permuted = compare_permuted(score, system, worker, source, 3, np.random.default_rng(procedures.SEED))
    for pair in report["questions"]["procedures"]["pairs"]:
        i, j = (order.index(name) for name in pair["systems"])
        assert pair["others"]["permuted"]["p_holm"] == pytest.approx(permuted.holm[i, j])
        assert pair["p_studies"] == [rank_sum_p(score, system, i, j), rank_sum_p(score, system, j, i)]


def rank_sum_p(score: np.ndarray, system: np.ndarray, better: int, other: int) -> Any:
    found = stats.mannwhitneyu(score[system == better], score[system == other], alternative="greater")
    return pytest.approx(found.pvalue)


def test_of_several_criteria_the_mean_of_each_output_is_compared(tmp_path: Path) -> None:
    path, of = levels(tmp_path / "levels.csv", criteria=("wit", "art")), dict[tuple[str, ...], list[float]]()
    report = analysed(path, "ordinal", "likert")
    for row in read(path):
        of.setdefault((row["worker"], row["source"], row["system"]), []).append(float(row["score"]))
    mean = np.array([np.mean(levels) for levels in of.values()])
    pair = pair_of(report, "alder", "cedar")
    system = np.array([pair["systems"].index(key[2]) if key[2] in pair["systems"] else 2 for key in of])
    assert pair["p_studies"][0] == rank_sum_p(mean, system, 0, 1)


def test_criteria_that_nobody_scored_together_are_not_compared(tmp_path: Path) -> None:
    rows = [(f"w{k}", "q1", SYSTEMS[k % 3], 1 + k % 5, "wit" if k < 6 else "art") for k in range(12)]
    path = write(tmp_path / "levels.csv", "worker,source,system,score,criterion", rows)
    report = analysed(path, "ordinal", "likert")
    assert "on every criterion" in report["questions"]["procedures"]["refused"]
    assert shown(report)[0].finding == report["questions"]["procedures"]["refused"]


def test_pairs_on_which_procedures_disagree_are_on_the_page_and_all_in_files(tmp_path: Path) -> None:
    report = analysed(levels(tmp_path / "levels.csv"), "ordinal", "likert")
    section, on_page, in_files = shown(report)
    assert "labels exchanged within sources of" in section.finding
    assert len(in_files) == 1 and len(in_files[0].rows) == 3
    apart = [list(row) for row in in_files[0].rows if len(set(row[2:])) > 1]
    assert apart and [list(row) for row in on_page[0].rows] == apart


def test_where_fewer_errors_are_better_the_same_system_wins_by_all(tmp_path: Path) -> None:
    rng, rows = np.random.default_rng(5), []
    for rater, source, s in product("abcdefgh", range(15), range(3)):
        n_errors = rng.poisson(2.5 - s)
        row = [SYSTEMS[s], "d", f"q{source}", rater, "text", f"text {s}"]
        rows += [[*row, "Accuracy", "Minor"]] * n_errors or [[*row, "No-error", "No-error"]]
    path = write(tmp_path / "mqm.tsv", "system,doc,seg_id,rater,source,target,category,severity", rows)
    pair = pair_of(analysed(path, "spans", "mqm"), "alder", "cedar")
    assert pair["systems"] == ["cedar", "alder"] and pair["difference"] > 0
    assert all(other["difference"] > 0 and other["p_holm"] < 0.01 for other in pair["others"].values())
    assert pair["p_studies"][0] < 0.01


def votes(path: Path, header: str = "worker,source,system_a,system_b,winner") -> Path:
    """Write votes of eight workers on any two of three systems; cedar is better than alder."""
    rng, rows = np.random.default_rng(3), []
    for k, source in product(range(8), range(15)):
        one, other = rng.permutation(3)[:2]
        is_first = rng.random() < 1 / (1 + np.exp(0.8 * (other - one)))
        rows.append((f"w{k}", f"q{source}", SYSTEMS[one], SYSTEMS[other], "ab"[not is_first]))
    return write(path, header, rows)


@pytest.mark.parametrize("header", ["worker,source,system_a,system_b,winner", "worker,page,system_a,system_b,winner"])
def test_of_votes_labels_are_exchanged_within_sources_or_workers(header: str, tmp_path: Path) -> None:
    report = analysed(votes(tmp_path / "votes.csv", header), "preference", "preference")
    pair = pair_of(report, "alder", "cedar")
    assert pair["systems"] == ["cedar", "alder"] and set(pair["others"]) == {"permuted"} and pair["p_studies"] is None
    assert pair["others"]["permuted"]["difference"] == pytest.approx(pair["difference"], abs=0.4)
    assert pair["others"]["permuted"]["p_holm"] < 0.05
    assert "labels exchanged within sources of" in shown(report)[0].finding


def test_a_ranking_counts_once_however_many_pairs_it_implies(tmp_path: Path) -> None:
    """Four rankings are exchanged in 16 ways, two of which are as great: 24 independent votes would be in millions."""
    rows = [
        (f"w{source % 2}", f"q{source}", system, rank)
        for source, order in enumerate(("abcd", "acbd", "abdc", "bacd"))
        for rank, system in enumerate(order, start=1)
    ]
    report = analysed(write(tmp_path / "ranks.csv", "worker,source,system,rank", rows), "ranking", "ranking")
    p_values = [pair["others"]["permuted"]["p_holm"] for pair in report["questions"]["procedures"]["pairs"]]
    assert min(p_values) == pytest.approx(6 * 2 / 16)  # with Holm's correction over six pairs


def test_what_says_nothing_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = analysed(levels(tmp_path / "levels.csv", n_workers=1), "ordinal", "likert")
    assert set(report["questions"]["procedures"]["unavailable"]) == {"crossed"}
    assert "Crossed random effects: it takes two workers and two sources" in shown(report)[0].finding
    monkeypatch.setattr(procedures, "MOST_BESIDE", 100)
    report = analysed(levels(tmp_path / "levels.csv"), "ordinal", "likert")
    assert set(report["questions"]["procedures"]["unavailable"]) == {"crossed", "permuted"}
    assert "Labels exchanged within sources: it is not computed beside another" in shown(report)[0].finding


def test_the_page_of_pairs_shows_what_other_procedures_conclude(upload, start, owner_client: Client, tmp_path) -> None:
    path = levels(tmp_path / "levels.csv")
    run = start(upload(path.read_bytes()), from_protocol("likert"))
    page = owner_client.get(reverse("analysis:pairs", args=[run.pk])).text
    assert "Pairs of systems" in page and "Where procedures disagree" in page
    table = owner_client.get(reverse("analysis:run_file", args=[run.pk, "tables/procedures.csv"]))
    assert b"crossed random effects" in table.getvalue()
