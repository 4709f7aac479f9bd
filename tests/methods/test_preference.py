"""Votes between two systems: strengths, intervals, what decides the first place, ratings of arenas, and bad files."""

import csv
import json
from itertools import pairwise

import choix
import numpy as np
import pytest
from django.core.management import CommandError
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import binomtest

from analysis.data.votes import load_votes
from analysis.methods.strengths import Votes, estimate_strengths
from analysis.stats.arena import Glicko2, elo, glicko2, glicko2_period
from analysis.stats.bradley_terry import (
    count_votes,
    find_connection,
    fit_bradley_terry,
    fit_with_left,
    robust_covariance,
    robust_variance_of_left,
    sign_test,
    win_matrix,
)
from analysis.stats.fewest_votes import fewest_votes
from analysis.stats.pairs import variance_of_differences
from evalsite.lib.tables import TableError

COLUMNS = ("worker", "source", "system_a", "system_b", "winner")
# Davidson 1970, Table 3: votes between six brands of pudding: i, j, i preferred, j preferred, no preference.
PUDDING = """
1 2 19 22 16  1 3 16 19 12  2 3 19 19 10  1 4 18 23 13  2 4 23 19 9  3 4 19 20 15  1 5 13 19 18  2 5 16 20 12
3 5 16 15 17  4 5 17 14 16  1 6 18 21 12  2 6 22 20 12  3 6 13 18 10  4 6 14 19 18  5 6 11 21 12
"""


@pytest.fixture
def vote_file(tmp_path):
    """Return a function that writes votes (system a, system b, winner) or whole rows as a file."""

    def write(*votes, header=COLUMNS):
        path = tmp_path / "votes.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(header)
            writer.writerows(
                vote if len(vote) == len(header) else (f"w{k % 4}", f"s{k}", *vote) for k, vote in enumerate(votes)
            )
        return path

    return write


def simulate(rng, n_systems=5, n_votes=400, n_workers=12, ties=True, taste=0.0):
    strength = rng.normal(0, 0.8, n_systems)
    left = rng.integers(0, n_systems, n_votes)
    right = (left + rng.integers(1, n_systems, n_votes)) % n_systems
    worker = np.arange(n_votes) % n_workers
    own = strength + rng.normal(0, taste, (n_workers, n_systems))
    d = own[worker, left] - own[worker, right]
    share = np.exp(np.stack([d / 2, -d / 2, np.full_like(d, -1.0 if ties else -np.inf)], axis=1))
    share /= share.sum(axis=1, keepdims=True)
    outcome = (rng.random(n_votes)[:, None] > share.cumsum(axis=1)[:, :2]).sum(axis=1)
    return left, right, outcome, worker


def test_strengths_are_those_of_choix_on_a_thousand_tournaments(rng):
    n_compared = 0
    while n_compared < 1000:
        n = int(rng.integers(2, 7))
        counts = np.zeros((n, n, 3), np.int64)
        counts[:, :, 0] = rng.integers(0, 12, (n, n)) * (rng.random((n, n)) < 0.8)
        counts[np.diag_indices(n)] = 0
        connection = find_connection(counts)
        if connection.is_separated or connection.group.any():
            continue
        expected = choix.ilsr_pairwise_dense(counts[:, :, 0].astype(float), max_iter=10_000, tol=1e-9)
        np.testing.assert_allclose(fit_bradley_terry(counts).strength, expected - expected.mean(), atol=1e-6)
        n_compared += 1


def test_ties_are_those_of_davidsons_puddings():
    counts = np.zeros((6, 6, 3))
    for i, j, won, lost, ties in np.array(PUDDING.split(), int).reshape(-1, 5):
        counts[i - 1, j - 1] = won, lost, ties
    fit = fit_bradley_terry(counts)
    worth = np.exp(fit.strength)
    assert (worth / worth.sum()).round(3).tolist() == [0.139, 0.173, 0.162, 0.165, 0.159, 0.202]
    assert round(float(np.exp(fit.log_tie)), 3) == 0.747


@pytest.mark.parametrize("has_left", [False, True])
def test_the_fit_is_where_the_likelihood_is_largest(rng, has_left):
    left, right, outcome, _ = simulate(rng)
    fit = fit_bradley_terry(count_votes(left, right, outcome, 5), has_left=has_left)

    def minus_log(x):
        d = x[left] - x[right] + (x[6] if has_left else 0)
        terms = np.stack([d / 2, -d / 2, np.full_like(d, x[5])])
        top = terms.max(axis=0)
        return -(terms[outcome, np.arange(d.size)] - top - np.log(np.exp(terms - top).sum(axis=0))).sum()

    found = minimize(minus_log, np.zeros(6 + has_left), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(fit.strength, found.x[:5] - found.x[:5].mean(), atol=1e-5)
    assert fit.log_tie == pytest.approx(found.x[5], abs=1e-5)
    assert fit.log_likelihood == pytest.approx(-found.fun)
    if has_left:
        assert fit.log_left == pytest.approx(found.x[6], abs=1e-5)


@pytest.mark.parametrize("has_left", [False, True])
def test_robust_covariance_is_the_sandwich_of_numerical_scores(rng, has_left):
    left, right, outcome, worker = simulate(rng, taste=0.7)
    fit = fit_bradley_terry(count_votes(left, right, outcome, 5), has_left=has_left)
    at = np.r_[fit.strength, fit.log_tie, *([fit.log_left] if has_left else [])]

    def log_of_workers(x):
        d = x[left] - x[right] + (x[6] if has_left else 0)
        share = np.exp(np.stack([d / 2, -d / 2, np.full_like(d, x[5])]))
        return np.bincount(worker, np.log(share[outcome, np.arange(d.size)] / share.sum(axis=0)))

    h = 1e-5
    steps = np.eye(at.size) * h
    scores = np.stack([(log_of_workers(at + step) - log_of_workers(at - step)) / (2 * h) for step in steps], axis=1)
    total = lambda x: log_of_workers(x).sum()  # noqa: E731
    second = np.array(
        [
            [
                (total(at + a + b) - total(at + a - b) - total(at - a + b) + total(at - a - b)) / (4 * 1e-6)
                for a in np.eye(at.size) * 1e-3
            ]
            for b in np.eye(at.size) * 1e-3
        ]
    )
    bread = np.linalg.pinv(-second, rcond=1e-6)
    expected = bread @ (scores.T @ scores) @ bread * 12 / 11
    found = robust_covariance(fit, left, right, outcome, worker, 12)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-5)
    np.testing.assert_allclose(fit.covariance, bread, rtol=2e-3, atol=2e-5)


def test_many_workers_are_kept_sparse_and_give_the_same(rng, monkeypatch):
    left, right, outcome, worker = simulate(rng)
    fit = fit_bradley_terry(count_votes(left, right, outcome, 5))
    dense = robust_covariance(fit, left, right, outcome, worker, 12)
    monkeypatch.setattr("analysis.stats.davidson._FEW_CELLS", 0)
    monkeypatch.setattr("analysis.stats.davidson._MOSTLY_EMPTY", 0)
    monkeypatch.setattr("analysis.stats.davidson._VOTES_AT_ONCE", 70)
    np.testing.assert_allclose(robust_covariance(fit, left, right, outcome, worker, 12), dense, atol=1e-15)


@pytest.mark.parametrize("ties", [True, False])
def test_the_variance_of_the_left_side_is_that_of_the_whole_covariance(rng, ties):
    left, right, outcome, worker = simulate(rng, ties=ties)
    fit = fit_with_left(count_votes(left, right, outcome, 5))
    assert np.isnan(fit.log_tie) != ties
    found = robust_variance_of_left(fit, left, right, outcome, worker, 12)
    assert found == pytest.approx(robust_covariance(fit, left, right, outcome, worker, 12)[-1, -1], rel=1e-10)


def test_robust_intervals_hold_the_truth_where_naive_ones_do_not():
    from benchmarks.preference import WORLDS, coverage

    found = coverage(WORLDS[0], 250)
    assert 0.92 <= found["robust"] <= 0.98 and 0.92 <= found["robust_pairs"] <= 0.98
    assert found["naive"] < 0.8 and found["naive_pairs"] < 0.8


def test_strengths_follow_the_names_of_systems(rng):
    left, right, outcome, worker = simulate(rng)
    fit = fit_bradley_terry(count_votes(left, right, outcome, 5))
    new = rng.permutation(5)
    other = fit_bradley_terry(count_votes(new[left], new[right], outcome, 5))
    np.testing.assert_allclose(other.strength[new], fit.strength, atol=1e-9)
    swapped = np.array([1, 0, 2])[outcome]
    mirrored = fit_bradley_terry(count_votes(right, left, swapped, 5))
    np.testing.assert_allclose(mirrored.strength, fit.strength, atol=1e-9)
    variance = variance_of_differences(robust_covariance(fit, left, right, outcome, worker, 12)[:5, :5])
    assert (variance[~np.eye(5, dtype=bool)] > 0).all() and not np.diag(variance).any()


def test_sign_tests_are_scipys(rng):
    wins = rng.integers(0, 12, (4, 4)).astype(float)
    found = sign_test(wins)
    for i in range(4):
        for j in range(4):
            if i != j and wins[i, j] + wins[j, i]:
                p = binomtest(int(wins[i, j]), int(wins[i, j] + wins[j, i])).pvalue
                assert found[i, j] == pytest.approx(p)


def test_so_few_votes_change_the_first_place_and_no_fewer_in_this_order(rng):
    left, right, outcome, _ = simulate(rng, n_systems=4, n_votes=200)
    counts = count_votes(left, right, outcome, 4)
    fit = fit_bradley_terry(counts)
    found = fewest_votes(counts, fit)
    assert found is not None and found.system != np.argmax(fit.strength)
    first, n_random = int(np.argmax(fit.strength)), 200
    for _ in range(n_random):  # so many votes at random never change it
        kept = rng.permutation(left.size)[found.n_votes :]
        other = fit_bradley_terry(count_votes(left[kept], right[kept], outcome[kept], 4))
        assert other.strength[first] >= other.strength[found.system]


def test_the_fewest_votes_of_two_systems_are_the_lead():
    counts = np.zeros((2, 2, 3), np.int64)
    counts[0, 1] = 30, 23, 0
    found = fewest_votes(counts, fit_bradley_terry(counts))
    assert found is not None and (found.n_votes, found.system) == (7, 1)


# --- Arenas


def test_glicko_2_gives_glickmans_example():
    before = Glicko2(np.array([1500.0, 1400, 1550, 1700]), np.array([200.0, 30, 100, 300]), np.full(4, 0.06))
    after = glicko2_period(before, np.zeros(3, int), np.array([1, 2, 3]), np.array([1.0, 0, 0]))
    # The reference rounds at each step: 1464.0507 and 0.059996 without.
    assert after.rating[0] == pytest.approx(1464.06, abs=0.01)
    assert after.deviation[0] == pytest.approx(151.52, abs=0.005)
    assert after.volatility[0] == pytest.approx(0.05999, abs=1e-5)
    assert after.rating[1:].tolist() == before.rating[1:].tolist()
    np.testing.assert_allclose(after.deviation[1:], np.hypot(before.deviation[1:], 0.06 * 173.7178))


def test_elo_and_glicko_order_systems_that_differ(rng):
    left, right = rng.integers(0, 3, 3000), rng.integers(0, 3, 3000)
    keep = left != right
    left, right = left[keep], right[keep]
    score = (rng.random(left.size) < 1 / (1 + np.exp(right - left) ** -1.0)).astype(float)
    for ratings in (elo(left, right, score, 3), glicko2(left, right, score, 3, period=30).rating):
        assert all(a > b for a, b in pairwise(ratings))
    assert elo(left, right, score, 3).sum() == pytest.approx(3000)


# --- The command


def test_the_command_names_the_winner_and_what_it_rests_on(vote_file, analyse, tmp_path):
    votes = [("ash", "elm", "ash")] * 40 + [("elm", "ash", "a")] * 10 + [("elm", "ash", "tie")] * 6
    votes += [("fir", "elm", "right")] * 30 + [("elm", "fir", "fir")] * 12 + [("ash", "fir", "both bad")] * 4
    path = vote_file(*votes)
    found = json.loads(analyse(path, protocol="preference", format="json", out=tmp_path / "out")[0])
    assert [row["system"] for row in found["systems"]] == ["ash", "elm", "fir"]
    assert sum(row["score"] for row in found["systems"]) == pytest.approx(0)
    assert found["higher_is_better"] is True and found["method"] == "preference"
    assert (found["n_votes"], found["n_ties"], found["n_both_bad"], found["n_workers"]) == (102, 10, 4, 4)
    assert found["order_effect"]["n_left"] == 50 and found["order_effect"]["n_right"] == 42
    assert found["first_place"]["system"] in {"elm", "fir"}
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["votes"]["wins"] == [[0, 40, 0], [10, 0, 30], [0, 12, 0]]
    assert report["votes"]["sign_p"][0][1] == pytest.approx(binomtest(10, 50).pvalue)
    names = {path.name for path in (tmp_path / "out" / "tables").iterdir()}
    assert {"systems.csv", "win-matrix.tex", "votes.csv", "arena.csv", "order-effect.csv"} <= names
    table = analyse(path, protocol="preference")[0]
    assert "4 workers gave 102 votes, 10 of them ties." in table

    protocol = tmp_path / "own.json"
    protocol.write_text(json.dumps({"protocol": "preference", "options": {"both_bad": "leave out"}}))
    fewer = json.loads(analyse(path, protocol=str(protocol), format="json")[0])
    assert (fewer["n_votes"], fewer["n_ties"], fewer["n_both_bad"]) == (98, 6, 4)


def finite(value):
    """Return every number of a JSON document, so that none of them is infinite by the way it was read."""
    if isinstance(value, dict):
        return [n for each in value.values() for n in finite(each)]
    if isinstance(value, list):
        return [n for each in value for n in finite(each)]
    return [value] if isinstance(value, float) else []


def test_a_system_that_never_lost_is_first_and_that_is_explained(vote_file, analyse):
    votes = [("ash", "elm", "ash")] * 5 + [("elm", "fir", "elm")] * 6 + [("elm", "fir", "fir")] * 3
    votes += [("ash", "fir", "a")] * 4
    out, err = analyse(vote_file(*votes), protocol="preference", format="json")
    found = json.loads(out)
    assert [(row["system"], row["rank"]) for row in found["systems"]] == [("ash", 1), ("elm", 2), ("fir", 3)]
    assert found["systems"][0]["interval"] is None and found["systems"][1]["interval"] is not None
    assert "never lost: ash" in err and "no finite strength" in err
    assert max(map(abs, finite(found))) < 10


def test_systems_that_were_not_compared_with_the_others_have_no_strength(vote_file, analyse):
    votes = [
        ("ash", "elm", "ash"),
        ("ash", "elm", "elm"),
        ("ash", "elm", "a"),
        ("yew", "fir", "yew"),
        ("yew", "fir", "b"),
    ]
    out, err = analyse(vote_file(*votes), protocol="preference", format="json")
    scores = {row["system"]: row["score"] for row in json.loads(out)["systems"]}
    assert scores["ash"] > 0 > scores["elm"] and scores["yew"] is scores["fir"] is None
    assert "without a strength: fir, yew" in err


@pytest.mark.parametrize("votes", [[("ash", "elm", "tie")] * 3, [("ash", "elm", "ash")], [("ash", "elm", "a")] * 3])
def test_few_or_equal_votes_are_no_error(vote_file, analyse, votes, tmp_path):
    path = vote_file(*votes)
    out, err = analyse(path, protocol="preference", format="json", out=tmp_path / "out")
    assert err
    assert json.loads(out)["first_place"] is None
    assert all(abs(number) < 10 for number in finite(json.loads(out)))


def test_one_worker_on_one_source_has_no_robust_interval(vote_file, analyse):
    votes = [("w", "s", "ash", "elm", "a"), ("w", "s", "elm", "yew", "a"), ("w", "s", "yew", "ash", "a")]
    found = json.loads(analyse(vote_file(*votes), protocol="preference", format="json")[0])
    assert [row["interval"] for row in found["systems"]] == [None, None, None]


def test_one_worker_on_several_sources_has_intervals_that_hold_for_this_worker(vote_file, analyse):
    votes = [("w", f"s{n}", "ash", "elm", winner) for n, winner in enumerate("aabab")]
    found = json.loads(analyse(vote_file(*votes), protocol="preference", format="json")[0])
    assert found["clusters"] == {"source": 5}
    assert found["systems"][0]["score"] == pytest.approx(np.log(1.5) / 2)
    assert all(None not in row["interval"] for row in found["systems"])
    sure = [("w", f"s{n}", "ash", "elm", "b" if n == 1 else "a") for n in range(40)]
    found = json.loads(analyse(vote_file(*sure), protocol="preference", format="json")[0])
    assert "for these raters" in found["findings"][0]


def test_errors_are_clustered_by_worker_and_source_and_at_least_as_large_as_by_either(rng):
    n, systems = 600, list("abcd")
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    worker, source = rng.integers(0, 12, n), rng.integers(0, 30, n)
    taste = rng.normal(0, 0.8, (30, 4))  # of a source: some systems are good at it
    ahead = taste[source, left] - taste[source, right]
    outcome = (rng.random(n) > 1 / (1 + np.exp(-ahead))).astype(int)

    def variance(**clusters):
        return estimate_strengths(Votes.of(systems, left, right, outcome, clusters)).scores.pairs.standard_error ** 2

    of_worker, of_source, both = (
        variance(worker=worker),
        variance(source=source),
        variance(worker=worker, source=source),
    )
    of_cells = variance(cell=worker * 30 + source)
    upper = np.triu_indices(4, 1)
    expected = np.maximum(np.maximum(of_worker, of_source), of_worker + of_source - of_cells)
    np.testing.assert_allclose(both[upper], expected[upper])
    assert (of_source[upper] > of_worker[upper]).mean() > 0.5, "what is shared here are sources"


# --- Files


def test_a_name_wins_over_a_word_and_other_names_of_columns_are_known(vote_file):
    header = ("judge", "question_id", "Model A", "model_b", "winner")
    data = load_votes(
        vote_file(
            ("j", "q", "b", "a", "b"),
            ("j", "q", "b", "tie", "model_a"),
            ("j", "r", "b", "a", "tie (bothbad)"),
            header=header,
        )
    )
    assert data.systems == ["a", "b", "tie"]
    assert data.outcome.tolist() == [0, 0, 2] and data.is_both_bad.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("vote", "column", "words"),
    [
        (("ash", "elm", "oak"), "winner", "“oak” is not “ash” or “elm”"),
        (("ash", "elm", "fir"), "winner", "“fir” is not “ash” or “elm”"),
        (("ash", "ash", "ash"), "system_b", "compared with itself"),
        (("ash", "elm", ""), "winner", "the cell is empty"),
        (("", "elm", "b"), "system_a", "the cell is empty"),
    ],
)
def test_a_bad_vote_is_named(vote_file, vote, column, words):
    with pytest.raises(TableError) as caught:
        load_votes(vote_file(("ash", "fir", "a"), vote))
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(3, column)]
    assert words in str(caught.value)


def test_a_missing_column_is_named(vote_file, analyse):
    with pytest.raises(CommandError, match="there is no column “winner”"):
        analyse(vote_file(("w", "ash", "elm"), header=("worker", "system_a", "system_b")), protocol="preference")


def test_wins_are_counted_from_both_sides():
    counts = count_votes(np.array([0, 1, 1]), np.array([1, 0, 0]), np.array([0, 0, 2]), 2)
    wins, ties = win_matrix(counts)
    assert wins.tolist() == [[0, 1], [1, 0]] and ties.tolist() == [[0, 1], [1, 0]]


def test_wins_and_ties_that_fit_steps_have_no_finite_strengths_and_are_estimated_all_the_same():
    """With a win and a tie of two systems, strength and the odds of a tie can grow together for ever."""
    counts = np.zeros((3, 3, 3), int)
    counts[0, 1] = 1, 0, 1
    counts[1, 2] = 2, 0, 1
    found = find_connection(counts)
    assert (found.is_separated, found.is_stepped) == (True, True)
    left, right = np.array([0, 0, 1, 1, 1]), np.array([1, 1, 2, 2, 2])
    votes = Votes.of(["a", "b", "c"], left, right, np.array([0, 2, 0, 0, 2]), {"worker": np.array([0, 1, 0, 1, 2])})
    strengths = estimate_strengths(votes)
    score = strengths.scores.score
    assert score[0] > score[1] > score[2]
    assert "at most a step apart" in strengths.notes[0]
    counts[2, 0] = 1, 0, 0  # a cycle of wins
    assert not find_connection(counts).is_stepped
    fit_bradley_terry(counts)


def test_a_tie_across_two_steps_is_no_step():
    counts = np.zeros((3, 3, 3), int)
    counts[0, 1, 0] = counts[1, 2, 0] = counts[0, 2, 2] = 1
    found = find_connection(counts)
    assert (found.is_separated, found.is_stepped) == (False, False)
    assert np.isfinite(fit_bradley_terry(counts).strength).all()


def test_strengths_of_a_few_votes_are_always_found(rng):
    for _ in range(300):
        n = rng.integers(1, 40)
        left = rng.integers(0, 4, n)
        right = (left + rng.integers(1, 4, n)) % 4
        better = np.where(rng.random(n) < 0.9, left > right, left < right)
        outcome = np.where(rng.random(n) < 0.2, 2, better)
        estimate_strengths(Votes.of(list("abcd"), left, right, outcome, {"worker": np.arange(n) % 3}))


def test_of_no_systems_nothing_is_connected():
    connection = find_connection(np.zeros((0, 0, 3), np.int64))
    assert connection.group.size == connection.block.size == 0 and not connection.is_stepped


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_connected_parts_are_those_of_the_graph(n, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.1, 0.4, 1]), (n, n, 3)) * ~np.eye(n, dtype=bool)[:, :, None]
    wins, ties = win_matrix(counts)
    block = connected_components(csr_array(wins + ties > 0), directed=True, connection="strong")[1]
    found = find_connection(counts).block
    assert np.array_equal(found[:, None] == found, block[:, None] == block)
