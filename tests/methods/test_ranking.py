"""Rankings and best–worst choices: counts, strengths of the implied pairs, Friedman's test, and bad files."""

import csv
import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from django.core.management import CommandError
from scipy.stats import friedmanchisquare

from analysis.data.rankings import load_best_worst, load_rankings
from analysis.methods.ranking import Ranking
from analysis.methods.settings import RatedCriterion, from_protocol
from analysis.results.stored import document_of
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


@pytest.mark.parametrize(
    ("protocol", "header", "row", "others"),
    [
        ("ranking", RANKS, ("w", "1", "A", 1), {"worker": "annotator", "system": "model", "rank": "place"}),
        ("best-worst", CHOICES, ("w", "1", "A", "B", "C", "D", "A", "D"), {"worker": "annotator", "best": "winner"}),
    ],
)
def test_columns_may_have_other_names(table_file, analyse, protocol, header, row, others):
    rows = [row, ("w", "1", "B", 2)] if protocol == "ranking" else [row]
    one, other = (
        analyse(table_file(names, rows), protocol=protocol, format="json")[0]
        for names in (header, [others.get(name, name) for name in header])
    )
    assert json.loads(one)["systems"] == json.loads(other)["systems"]


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
        ([("w", "s", "A", 1), ("w", "s", "A", 2)], "rank", "row 2 has the same worker, source and system and another"),
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


def test_more_systems_than_are_compared_are_refused(table_file):
    rows = [("v", str(k // 2), f"S{k}", str(1 + k % 2)) for k in range(502)]
    with pytest.raises(TableError, match="502 different systems, and at most 500"):
        load_rankings(table_file(RANKS, rows))
    choices = [
        ("v", str(k), *(f"S{3 * k + n}" for n in range(3)), "", f"S{3 * k}", f"S{3 * k + 1}") for k in range(168)
    ]
    with pytest.raises(TableError, match="504 different systems, and at most 500"):
        load_best_worst(table_file(CHOICES, choices))


# --- Workers, tested on pages with a degraded output

PAGES = ("worker", "assignment", "page", "source", "criterion", "system", "rank", "kind")
COPIES = ("worker", "source", *(f"system_{k}" for k in range(1, 5)), "best", "worst", "kind", "degraded")
SYSTEMS = ("ash", "elm", "fir", "yew")


def ranked_pages(worker, place, *, n_degraded=4):
    """Rows of a worker who ranks as the systems are named, and degraded outputs of “ash” at a place.

    Each page is of the same source.
    """
    rows = []
    for page in range(2 + n_degraded):
        order = list(SYSTEMS)
        if page >= 2:
            order.insert(place - 1, order.pop(0))
        kinds = dict.fromkeys(SYSTEMS, "repeat" if page >= 2 else "ordinary")
        kinds |= {"ash": "degraded"} if page >= 2 else {}
        rows += [
            (worker, "1", page, "s", "fluent" if page % 2 else "true", name, k, kinds[name])
            for k, name in enumerate(order, start=1)
        ]
    return rows


def test_rankings_of_copies_and_of_workers_who_do_not_see_what_is_degraded_do_not_count(table_file, analyse):
    path = table_file(PAGES, [*ranked_pages("careful", 4), *ranked_pages("careless", 1), *ranked_pages("once", 4)[:8]])
    out, err = analyse(path, protocol="ranking", format="json")
    found = json.loads(out)
    assert found["worker_test"] == {"preset": "sign", "alpha": 0.05}
    assert found["workers"] == {"total": 3, "passed": 1, "failed": 1, "untested": 1}
    assert (found["n_judgements"], found["n_workers"], found["n_left_out"]) == (2, 1, 4)
    assert [row["system"] for row in found["systems"]] == list(SYSTEMS)
    assert found["criteria"].keys() == {"fluent", "true"}
    assert "Workers without a degraded item to compare, whose responses do not count: 1" in err


@pytest.mark.parametrize(("protocol", "n_ordinary"), [("ranking", 2), ("best-worst", 1)])
def test_where_no_worker_passes_no_system_has_a_score(table_file, analyse, protocol, n_ordinary):
    rows = ranked_pages("careless", 1)
    if protocol == "best-worst":
        rows = [
            ("careless", "s", *SYSTEMS, "ash", "yew", "degraded" if k else "ordinary", 1 if k else "") for k in range(4)
        ]
    out, err = analyse(table_file(PAGES if protocol == "ranking" else COPIES, rows), protocol=protocol, format="json")
    found = json.loads(out)
    assert [(row["score"], row["n"], row["rank"]) for row in found["systems"]] == [(None, 0, None)] * 4
    assert (found["workers"]["failed"], found["n_judgements"], found["n_left_out"]) == (1, 0, n_ordinary)
    assert "No worker passed the worker test" in err


def test_a_careful_worker_chooses_degraded_outputs_as_the_worst(table_file, analyse):
    rows = [("careful", f"s{k}", *SYSTEMS, "elm", "ash", "degraded", 1) for k in range(3)]
    rows += [("careful", "s9", *SYSTEMS, "ash", "yew", "ordinary", "")]
    found = json.loads(analyse(table_file(COPIES, rows), protocol="best-worst", format="json")[0])
    assert (found["workers"]["passed"], found["n_judgements"]) == (1, 1)  # p = 1/64
    assert {row["system"]: row["score"] for row in found["systems"]} == {"ash": 1, "elm": 0, "fir": 0, "yew": -1}


@pytest.mark.parametrize(("is_used", "n_compared"), [(True, 6 * 3), (False, 3 * 3)])
def test_criteria_that_the_worker_test_does_not_use_are_left_out_of_it(table_file, is_used, n_compared):
    data = load_rankings(table_file(PAGES, ranked_pages("careful", 4, n_degraded=6)))
    criteria = RatedCriterion("Fluent"), RatedCriterion("True", is_in_worker_test=is_used)
    report = document_of(Ranking().analyse(data, replace(from_protocol("ranking"), criteria=criteria)))
    assert [row["n_compared"] for row in report["worker_table"]] == [n_compared]


@pytest.mark.parametrize(
    ("header", "row", "column", "words"),
    [
        (PAGES, ("w", "1", 1, "s", "x", "A", 1, "spoilt"), "kind", "“spoilt” is not known"),
        (COPIES, ("w", "s", "A", "B", "C", "D", "A", "B", "degraded", 5), "degraded", "“5” is not known"),
    ],
)
def test_a_copy_that_is_none_is_named(table_file, header, row, column, words):
    load = load_rankings if header is PAGES else load_best_worst
    rows = [row, ("w", "1", 1, "s", "x", "B", 2, "ordinary")] if header is PAGES else [row]
    with pytest.raises(TableError, match=words) as caught:
        load(table_file(header, rows))
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(2, column)]
