"""Worker tests of votes, rankings and marked errors: exact chances, brute force, and who cannot be tested."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, wilcoxon

from analysis.stats.quality import Verdict, run_paired_test, run_ranking_test
from analysis.stats.ranked_low import ranked_low
from analysis.stats.ranks import sign_less


def test_the_sign_test_of_seven_of_eight():
    # D. Lane, HyperStat Online, "Sign test": 7 of 8 differences have the same sign, one-tailed p = 0.03516.
    p = sign_less(np.array([-1.0] * 7 + [1, 0]), np.zeros(9, int), 1)
    assert round(float(p[0]), 5) == 0.03516


def test_the_sign_test_is_scipys_worker_by_worker_and_leaves_ties_out():
    rng = np.random.default_rng(3)
    worker, difference = rng.integers(0, 8, 120), rng.integers(-2, 3, 120).astype(float)
    p = sign_less(difference, worker, 9)
    for who in range(8):
        own = difference[worker == who]
        n_below, n = int((own < 0).sum()), int((own != 0).sum())
        assert p[who] == pytest.approx(binomtest(n_below, n, alternative="greater").pvalue)
    assert np.isnan(p[8])
    assert sign_less(np.zeros(3), np.zeros(3, int), 1).tolist() == [1.0]


def test_votes_are_tested_by_the_sign_test():
    rng = np.random.default_rng(4)
    n = 60
    judgement, worker = np.repeat(np.arange(n), 2), rng.integers(0, 4, n)
    rank = rng.integers(1, 3, 2 * n).astype(float)
    is_degraded = np.tile([True, False], n)
    p, n_compared = ranked_low(judgement, rank, is_degraded, worker, 4)
    assert p == pytest.approx(sign_less(rank[1::2] - rank[::2], worker, 4))
    assert n_compared.tolist() == np.bincount(worker).tolist()


def test_rankings_have_the_chances_of_every_way_to_hide_the_degraded_outputs():
    rng = np.random.default_rng(5)
    sizes, hidden = [4, 3, 5, 2], [1, 1, 2, 1]
    judgement = np.repeat(np.arange(4), sizes)
    rank = rng.integers(1, 4, judgement.size).astype(float)
    is_degraded = np.concatenate([np.arange(size) < n for size, n in zip(sizes, hidden, strict=True)])
    order = rng.permutation(judgement.size)
    p, n_compared = ranked_low(judgement[order], rank[order], is_degraded[order], np.zeros(4, int), 1)

    def lost(ranks, degraded):
        return sum(np.sign(ranks[a] - ranks[b]) for a in degraded for b in range(len(ranks)) if b not in degraded)

    def ways(ranks, n):
        return [[i] for i in range(len(ranks))] if n == 1 else [[i, j] for i in range(len(ranks)) for j in range(i)]

    of = [rank[judgement == k] for k in range(4)]
    observed = sum(lost(ranks, list(range(n))) for ranks, n in zip(of, hidden, strict=True))
    every = [[lost(ranks, way) for way in ways(ranks, n)] for ranks, n in zip(of, hidden, strict=True)]
    sums = [sum(each) for each in product(*every)]
    assert p[0] == pytest.approx(np.mean([total >= observed for total in sums]))
    assert n_compared[0] == 3 + 2 + 6 + 1


def test_a_last_place_in_a_long_ranking_is_not_many_wins():
    best = run_ranking_test(
        np.zeros(6, int), np.arange(6.0), np.arange(6) == 5, np.zeros(1, int), 1, alpha=0.05
    )  # one ranking of six, the degraded output last: five pairs, yet a chance of one in six
    assert best.p_value[0] == pytest.approx(1 / 6)
    assert best.n_compared[0] == 5 and best.verdict[0] == Verdict.FAILED


def test_workers_without_comparisons_are_untested_and_ties_fail():
    judgement = np.repeat(np.arange(3), 2)
    rank = np.array([1.0, 1, 1, 2, 1, 2])
    is_degraded = np.array([True, False, False, False, True, True])
    found = run_ranking_test(judgement, rank, is_degraded, np.array([0, 1, 2]), 3, alpha=0.05)
    assert found.verdict.tolist() == [Verdict.FAILED, Verdict.UNTESTED, Verdict.UNTESTED]
    assert found.p_value[0] == 1.0


def test_marked_errors_are_tested_in_the_other_direction():
    penalty = np.array([5.0, 1, 6, 10, 3, 0.1, 7])  # more of them in degraded outputs
    worker = np.zeros(7, int)
    more = run_paired_test(penalty, worker, 1, preset="paired-wilcoxon", alpha=0.05, higher_is_better=False)
    assert more.p_value[0] == pytest.approx(wilcoxon(penalty, alternative="greater").pvalue)
    assert more.is_passed[0]
    assert not run_paired_test(penalty, worker, 1, preset="paired-wilcoxon", alpha=0.05).is_passed[0]
    with pytest.raises(KeyError):
        run_paired_test(penalty, worker, 1, preset="unpaired-ranksum", alpha=0.05)
