"""Rankings and best–worst choices: counts, strengths of the implied pairs, Friedman's test, and bad files."""

import csv
import json
from itertools import combinations

import numpy as np
import pytest
from django.core.management import CommandError
from scipy.stats import friedmanchisquare

from analysis.rankings.loading import load_best_worst, load_rankings
from analysis.stats.bradley_terry import count_votes, fit_bradley_terry
from analysis.stats.rankings import friedman_test, implied_pairs, share_beaten
from evalsite.lib.tables import TableError

# Hollander & Wolfe 1973, p. 140: times of 22 baseball players by three ways to round first base.
ROUNDING_TIMES = """
5.40 5.50 5.55  5.85 5.70 5.75  5.20 5.60 5.50  5.55 5.50 5.40  5.90 5.85 5.70  5.45 5.55 5.60  5.40 5.40 5.35
5.45 5.50 5.35  5.25 5.15 5.00  5.85 5.80 5.70  5.25 5.20 5.10  5.65 5.55 5.45  5.60 5.35 5.45  5.05 5.00 4.95
5.50 5.50 5.40  5.45 5.55 5.50  5.55 5.55 5.35  5.45 5.50 5.55  5.50 5.45 5.25  5.65 5.60 5.40  5.70 5.65 5.55
6.30 6.30 6.25
"""
RANKS = ("worker", "source", "system", "rank")
CHOICES = ("worker", "source", "system_1", "system_2", "system_3", "system_4", "best", "worst")


@pytest.fixture
def table_file(tmp_path):
    """Return a function that writes rows of named columns as a file."""

    def write(header, rows):
        path = tmp_path / "rankings.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(header)
            writer.writerows(rows)
        return path

    return write


def test_friedmans_test_of_rounding_times():
    found = friedman_test(np.array(ROUNDING_TIMES.split(), float).reshape(22, 3))
    # As R's friedman.test prints them.
    assert (round(found.statistic, 4), found.df, round(found.p_value, 6)) == (11.1429, 2, 0.003805)


def test_friedmans_test_is_scipys_and_undefined_where_nothing_differs(rng):
    ranks = rng.integers(1, 5, (15, 4)).astype(float)
    found, expected = friedman_test(ranks), friedmanchisquare(*ranks.T)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    for ranks in (np.ones((5, 3)), np.ones((1, 3)), np.empty((0, 3)), np.ones((5, 1))):
        assert np.isnan(friedman_test(ranks).p_value)


def test_implied_pairs_are_those_of_brute_force(rng):
    judgement, rank = rng.integers(0, 6, 30), rng.integers(1, 4, 30).astype(float)
    found = implied_pairs(judgement, rank)
    seen = {
        frozenset((a, b)): (a, o)
        for a, b, o in zip(found.first.tolist(), found.second.tolist(), found.outcome, strict=True)
    }
    expected = [(a, b) for a, b in combinations(range(30), 2) if judgement[a] == judgement[b]]
    assert len(found.first) == len(expected) == len(seen)
    for a, b in expected:
        first, outcome = seen[frozenset((a, b))]
        other = b if first == a else a
        assert outcome == (0 if rank[first] < rank[other] else 1 if rank[first] > rank[other] else 2)
    beaten = share_beaten(np.array([0, 0, 1, 1, 1]), np.array([2.0, 1, 1, 1, 3]))
    assert beaten.tolist() == [0, 1, 0.75, 0.75, 0]


def rankings(rng, n=30):
    """Rankings of four systems by five workers, ash first in the mean."""
    rows = []
    for k in range(n):
        merit = np.array([2.0, 1.2, 0.6, 0.0]) + rng.normal(0, 1.2, 4)
        rank = 1 + (-merit).argsort().argsort()
        rows += [(f"w{k % 5}", f"s{k}", name, r) for name, r in zip(("ash", "elm", "fir", "yew"), rank, strict=True)]
    return rows


def test_rankings_are_counted_and_give_strengths(table_file, analyse, rng, tmp_path):
    rows = rankings(rng)
    path = table_file(RANKS, rows)
    found = json.loads(analyse(path, protocol="ranking", format="json", out=tmp_path / "out")[0])
    rank = {name: np.array([row[3] for row in rows if row[2] == name]) for name in ("ash", "elm", "fir", "yew")}
    assert (found["method"], found["n_judgements"], found["n_workers"]) == ("ranking", 30, 5)
    for row in found["systems"]:
        assert row["score"] == pytest.approx(((4 - rank[row["system"]]) / 3).mean())
        assert row["n"] == 30 and row["interval"][0] < row["score"] < row["interval"][1]
    expected = friedmanchisquare(*rank.values())
    assert found["friedman"]["p_value"] == pytest.approx(expected.pvalue)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    data = load_rankings(path)
    pairs = implied_pairs(data.judgement, data.rank)
    fit = fit_bradley_terry(count_votes(data.system[pairs.first], data.system[pairs.second], pairs.outcome, 4))
    strengths = [report["strengths"][name][0] for name in data.systems]
    assert strengths == pytest.approx(fit.strength.tolist())
    assert "30 rankings" in analyse(path, protocol="ranking")[0]


def test_tied_and_partial_rankings_are_read(table_file, analyse):
    rows = [("w", "s", "A", 1), ("w", "s", "B", 1), ("w", "s", "C", 2), ("v", "s", "A", 2), ("v", "s", "C", 1)]
    found = json.loads(analyse(table_file(RANKS, rows), protocol="ranking", format="json")[0])
    scores = {row["system"]: row["score"] for row in found["systems"]}
    assert scores == {"A": (0.75 + 0) / 2, "B": 0.75, "C": 0.5}
    assert found["friedman"] == {"statistic": None, "df": 2, "p_value": None, "n_blocks": 1}


def test_best_worst_choices_are_counted(table_file, analyse):
    rows = [
        ("w", "1", "A", "B", "C", "D", "A", "D"),
        ("v", "1", "B", "A", "D", "C", "B", "D"),
        ("w", "2", "C", "B", "A", "", "A", "C"),
    ]
    rows.append(("v", "2", "A", "B", "C", "D", "D", "A"))
    path = table_file(CHOICES, rows)
    found = json.loads(analyse(path, protocol="best-worst", format="json")[0])
    scores = {row["system"]: (row["score"], row["n"]) for row in found["systems"]}
    assert scores == {"A": (0.25, 4), "B": (0.25, 4), "C": (-0.25, 4), "D": (pytest.approx(-1 / 3), 3)}
    assert [row["rank"] for row in found["systems"]] == [1, 1, 3, 4]
    assert found["method"] == "best_worst" and found["higher_is_better"] is True
    data = load_best_worst(path)
    assert data.rank[data.judgement == 0].tolist() == [1, 2, 2, 3]


@pytest.mark.parametrize(
    ("rows", "column", "words"),
    [
        ([("w", "s", "A", 1), ("w", "s", "A", 2)], "system", "row 2 ranks the same system"),
        ([("w", "s", "A", 1), ("w", "s", "B", 0)], "rank", "is no rank"),
        ([("w", "s", "A", 1), ("w", "s", "B", "1e309")], "rank", "is no rank"),
        ([("w", "s", "A", 1), ("w", "s", "B", "first")], "rank", "is no rank"),
        ([("w", "s", "A", 1), ("w", "s", "B", "")], "rank", "the cell is empty"),
        ([("w", "s", "B", 1), ("w", "s", "A", 2), ("v", "s", "A", 1)], "system", "the only system"),
    ],
)
def test_a_bad_ranking_is_named(table_file, rows, column, words):
    with pytest.raises(TableError) as caught:
        load_rankings(table_file(RANKS, rows))
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(len(rows) + 1, column)]
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        (("w", "1", "A", "B", "C", "D", "E", "D"), "best", "“E” was not shown"),
        (("w", "1", "A", "B", "C", "D", "A", "A"), "worst", "the same system is best and worst"),
        (("w", "1", "A", "B", "B", "D", "A", "D"), "system_1", "shown twice"),
        (("w", "1", "A", "B", "", "", "A", "B"), "system_1", "fewer than three"),
        (("w", "1", "A", "B", "C", "", "A", ""), "worst", "the cell is empty"),
        (("", "1", "A", "B", "C", "", "A", "B"), "worker", "the cell is empty"),
    ],
)
def test_a_bad_choice_is_named(table_file, row, column, words):
    with pytest.raises(TableError) as caught:
        load_best_worst(table_file(CHOICES, [("v", "1", "A", "B", "C", "D", "A", "B"), row]))
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(3, column)]
    assert words in str(caught.value)


def test_missing_columns_are_named(table_file, analyse):
    with pytest.raises(CommandError, match="there is no column “rank”"):
        analyse(table_file(RANKS[:3], [("w", "s", "A")]), protocol="ranking")
    with pytest.raises(CommandError, match="there is no column “system_1”"):
        analyse(table_file(("worker", "source", "best", "worst"), [("w", "s", "A", "B")]), protocol="best-worst")
