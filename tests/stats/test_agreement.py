"""Coefficients of agreement: published examples, other implementations, brute force for small n."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from analysis.stats.agreement import (
    Kappa,
    categorise,
    cohen_kappa,
    fleiss_kappa,
    intraclass_correlation,
    pairs_within,
    tolerance_chance,
    tolerance_kappa,
)
from analysis.stats.krippendorff import Level, alpha_of_sets, krippendorff_alpha
from analysis.stats.repeated_judgements import first_and_own, mean_difference, share_opposite

_ = np.nan
# Krippendorff 2011, section C: four observers, twelve units
SECTION_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
)
# Three coders, fifteen units: the example of the Python package krippendorff
THREE_CODERS = np.array(
    [
        [_, _, _, _, _, 3, 4, 1, 2, 1, 1, 3, 3, _, 3],
        [1, _, 2, 1, 3, 3, 4, 3, _, _, _, _, _, _, _],
        [_, _, 2, 1, 3, 4, 4, _, 2, 1, 1, 3, 3, _, 4],
    ]
)
# Fleiss 1971: how many of six psychiatrists gave each of five diagnoses to thirty patients
FLEISS = [
    (0, 0, 0, 6, 0), (0, 3, 0, 0, 3), (0, 1, 4, 0, 1), (0, 0, 0, 0, 6), (0, 3, 0, 3, 0), (2, 0, 4, 0, 0),
    (0, 0, 4, 0, 2), (2, 0, 3, 1, 0), (2, 0, 0, 4, 0), (0, 0, 0, 0, 6), (1, 0, 0, 5, 0), (1, 1, 0, 4, 0),
    (0, 3, 3, 0, 0), (1, 0, 0, 5, 0), (0, 2, 0, 3, 1), (0, 0, 5, 0, 1), (3, 0, 0, 1, 2), (5, 1, 0, 0, 0),
    (0, 2, 0, 4, 0), (1, 0, 2, 0, 3), (0, 0, 0, 0, 6), (0, 1, 0, 5, 0), (0, 2, 0, 1, 3), (2, 0, 0, 4, 0),
    (1, 0, 0, 4, 1), (0, 5, 0, 1, 0), (4, 0, 0, 0, 2), (0, 2, 0, 4, 0), (1, 0, 5, 0, 0), (0, 0, 0, 0, 6),
]  # fmt: skip
ANXIETY = np.array(
    [
        [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
        [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
        [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
    ]
)
TARGETS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


def alpha(table, level):
    """α of a table, raters × items."""
    item = np.indices(table.shape)[1]
    return krippendorff_alpha(np.asarray(table, float).ravel(), item.ravel(), Level(level))


def icc(table, worker=None):
    """ICC of a table, items × workers."""
    item, column = np.indices(table.shape)
    worker = column if worker is None else worker
    return intraclass_correlation(np.asarray(table, float).ravel(), item.ravel(), worker.ravel())


def slow_alpha(table, level):
    """α by its definition: the mean difference of pairs of one item over that of all pairs, pair by pair."""
    items = [column[~np.isnan(column)].tolist() for column in np.asarray(table, float).T]
    items = [values for values in items if len(values) > 1]
    pooled = [value for values in items for value in values]

    def delta(a, b):
        low, high = sorted((a, b))
        match level:
            case "nominal":
                return float(a != b)
            case "interval":
                return (a - b) ** 2
            case "ratio":
                return ((a - b) / (a + b)) ** 2 if a + b else 0.0
        between = sum(low <= value <= high for value in pooled)
        return (between - (pooled.count(low) + pooled.count(high)) / 2) ** 2

    observed = sum(sum(delta(a, b) for a, b in itertools.permutations(v, 2)) / (len(v) - 1) for v in items)
    expected = sum(delta(a, b) for a, b in itertools.permutations(pooled, 2)) / max(len(pooled) - 1, 1)
    return 1 - observed / expected if expected else np.nan


tables = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.5, 7.0]), min_size=n, max_size=n), min_size=1, max_size=4
    )
)


@pytest.mark.parametrize(
    ("table", "level", "published"),
    [
        (SECTION_C, "nominal", 0.743),
        (SECTION_C, "ordinal", 0.815),
        (SECTION_C, "interval", 0.849),
        (SECTION_C, "ratio", 0.797),
        (THREE_CODERS, "nominal", 0.691),
        (THREE_CODERS, "ordinal", 0.807),
        (THREE_CODERS, "interval", 0.811),
        ([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]], "nominal", 0.095),  # section A
    ],
)
def test_alpha_is_the_published_one(table, level, published):
    assert round(alpha(np.array(table, float), level), 3) == published


@pytest.mark.parametrize("level", list(Level))
@settings(max_examples=40)
@given(table=tables)
def test_alpha_is_that_of_its_definition(level, table):
    assert alpha(np.array(table), level) == pytest.approx(slow_alpha(table, level), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", list(Level))
def test_alpha_depends_on_neither_raters_nor_the_order_of_items(level):
    rng = np.random.default_rng(1)
    shuffled = np.apply_along_axis(rng.permutation, 0, THREE_CODERS)[:, rng.permutation(15)]
    assert alpha(shuffled, level) == pytest.approx(alpha(THREE_CODERS, level), abs=1e-12)


def test_alpha_of_each_level_keeps_what_the_level_allows():
    assert alpha(SECTION_C * -3 + 7, "interval") == pytest.approx(alpha(SECTION_C, "interval"))
    assert alpha(np.exp(SECTION_C), "ordinal") == pytest.approx(alpha(SECTION_C, "ordinal"))
    assert alpha(7 * SECTION_C, "ratio") == pytest.approx(alpha(SECTION_C, "ratio"))
    assert alpha((SECTION_C * 2) % 5, "nominal") == pytest.approx(alpha(SECTION_C, "nominal"))


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("table", [[[]], [[3.0]], [[3.0, 4.0]], [[3.0], [3.0]], [[0.0, 0.0], [0.0, 0.0]], [[_], [5.0]]])
def test_alpha_is_undefined_without_pairs_or_differences(level, table):
    assert np.isnan(alpha(np.array(table), level))


def test_ratio_alpha_of_negative_ratings_is_undefined():
    assert np.isnan(alpha(SECTION_C - 3, "ratio"))


def test_ratio_alpha_does_not_depend_on_the_size_of_its_blocks(monkeypatch):
    monkeypatch.setattr("analysis.stats.krippendorff._BLOCK_CELLS", 4)
    assert round(alpha(SECTION_C, "ratio"), 3) == 0.797


def _masi(first, second):
    """Return the MASI distance of two sets, as Passonneau 2006 defines it."""
    if first == second:
        return 0.0
    weight = 2 / 3 if first < second or second < first else 1 / 3
    return 1 - weight * len(first & second) / len(first | second)


@pytest.fixture
def chosen_sets():
    """Sets of four options that three workers chose for nine items: rows of `sets`, and the item of each."""
    sets = np.array(list(itertools.product([False, True], repeat=4)))
    return np.random.default_rng(4).integers(len(sets), size=27), np.repeat(np.arange(9), 3), sets


def test_alpha_of_sets_is_that_of_another_program_with_the_distance_of_the_paper(chosen_sets):
    code, item, sets = chosen_sets
    members = [frozenset(np.flatnonzero(row).tolist()) for row in sets]
    rows = [(f"w{k % 3}", int(item[k]), members[code[k]]) for k in range(code.size)]
    assert alpha_of_sets(code, item, sets) == pytest.approx(AnnotationTask(rows, distance=_masi).alpha())


def test_alpha_of_sets_of_one_option_is_nominal_and_leaves_out_single_choices():
    rng = np.random.default_rng(5)
    code, item = rng.integers(4, size=30), rng.integers(12, size=30)
    nominal = krippendorff_alpha(code.astype(float), item, Level.NOMINAL)
    assert alpha_of_sets(code, item, np.eye(4, dtype=bool)) == pytest.approx(nominal)
    with_single = np.append(code, 0), np.append(item, 12)
    assert alpha_of_sets(*with_single, np.eye(4, dtype=bool)) == pytest.approx(nominal)


def test_alpha_of_sets_depends_neither_on_the_order_of_options_nor_on_how_many_nobody_chose(chosen_sets):
    code, item, sets = chosen_sets
    wide = np.hstack([sets, np.zeros((len(sets), 90), bool)])[:, np.random.default_rng(6).permutation(94)]
    assert alpha_of_sets(code, item, wide) == pytest.approx(alpha_of_sets(code, item, sets))


@pytest.mark.parametrize(("code", "item"), [([], []), ([0], [0]), ([0, 1], [0, 1]), ([1, 1, 0], [0, 0, 1])])
def test_alpha_of_sets_is_undefined_without_pairs_or_differences(code, item):
    sets = np.array([[True, False], [False, False]])
    assert np.isnan(alpha_of_sets(np.array(code, int), np.array(item, int), sets))


def test_icc_of_shrout_and_fleiss_leaves_out_what_is_no_complete_block():
    first = icc(TARGETS)
    assert (round(first.single, 2), round(first.average, 2), first.n_items, first.n_workers) == (0.29, 0.62, 6, 4)
    more = np.vstack([TARGETS, [1, 9, np.nan, 4], [np.nan, np.nan, np.nan, 5]])
    assert icc(more) == first
    assert icc(TARGETS[::-1, [2, 0, 3, 1]]).single == pytest.approx(first.single)
    assert icc(TARGETS * -3 + 50).average == pytest.approx(first.average)


def test_icc_of_two_blocks_is_that_of_variances_estimated_by_least_squares():
    rng = np.random.default_rng(2)
    blocks = [(5, [0, 1, 2]), (4, [3, 4]), (3, [2, 4])]
    rows = [(b, i, w, rng.normal(w + 2 * i)) for b, (n, ws) in enumerate(blocks) for i in range(n) for w in ws]
    block, item, worker, values = (np.array(column) for column in zip(*rows, strict=True))
    code = block * 10 + item

    def residual(*factors):
        """Sum of squares that is left by a model of these factors, and its rank."""
        dummies = np.hstack([np.equal.outer(f, np.unique(f)).astype(float) for f in factors])
        fit, _, rank, _ = np.linalg.lstsq(dummies, values, rcond=None)
        return ((values - dummies @ fit) ** 2).sum(), rank

    whole, rank = residual(code, block * 10 + worker)
    error = whole / (values.size - rank)
    # What an item's and a worker's effect adds to these sums of squares, block by block
    items = residual(block * 10 + worker)[0] - whole
    workers = residual(code)[0] - whole
    of_items = (items - (5 - 1 + 4 - 1 + 3 - 1) * error) / (3 * 4 + 2 * 3 + 2 * 2)
    of_workers = (workers - (3 - 1 + 2 - 1 + 2 - 1) * error) / (5 * 2 + 4 * 1 + 3 * 1)
    k = 12 / (5 / 3 + 4 / 2 + 3 / 2)
    found = intraclass_correlation(values, code, worker)
    assert found.n_items == 12 and found.n_workers == pytest.approx(k)
    assert found.single == pytest.approx(of_items / (of_items + of_workers + error))
    assert found.average == pytest.approx(of_items / (of_items + (of_workers + error) / k))


@pytest.mark.parametrize(
    "table", [[[]], [[5.0]], [[1.0, 2.0]], [[1.0], [2.0]], [[0.1, 0.1], [0.1, 0.1]], [[0.1, 0.1, 0.1], [0.7, _, 0.7]]]
)
def test_icc_is_undefined_without_a_block_or_without_differences(table):
    found = icc(np.array(table))
    assert np.isnan([found.single, found.average]).all()


def test_icc_of_workers_who_agree_is_one_and_of_opposites_is_not_above():
    assert icc(np.array([[1.0, 1.0], [2.0, 2.0]])).average == pytest.approx(1)
    opposite = icc(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [2.0, 2.0, 2.0]]))
    assert opposite.single < 0 and not opposite.average > 1


def fleiss(table):
    """Fleiss' κ of counts, items × categories."""
    table = np.array(table)
    item, category = (np.repeat(codes.ravel(), table.ravel()) for codes in np.indices(table.shape))
    order = np.random.default_rng(3).permutation(item.size)
    return fleiss_kappa(category[order], item[order])


def test_fleiss_kappa_is_the_published_one():
    assert round(fleiss(FLEISS).kappa, 3) == 0.430
    of_fourteen = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    assert round(fleiss(of_fourteen).kappa, 3) == 0.210
    assert fleiss([*FLEISS, (0, 0, 1, 0, 0)]) == fleiss(FLEISS)


@pytest.mark.parametrize("table", [[(0, 3), (0, 2)], [(1, 0), (0, 1)], [(4, 0)]])
def test_fleiss_kappa_of_one_category_or_no_pair_is_undefined(table):
    assert np.isnan(fleiss(table).kappa)
    assert np.isnan(fleiss_kappa(np.empty(0, int), np.empty(0, int)).kappa)


def test_weighted_kappa_is_that_of_other_programs():
    table = np.array([[0, 4, 1], [0, 8, 0], [0, 1, 5]])
    first, second = (np.repeat(codes.ravel(), table.ravel()) for codes in np.indices(table.shape))
    sas = [cohen_kappa(first, second, 3, weights).kappa for weights in (None, "linear")]
    assert np.round(sas, 4).tolist() == [0.4842, 0.4701]
    # R's irr leaves out categories that nobody uses
    first, second = np.searchsorted([1, 2, 3, 4, 6], ANXIETY[1:])
    irr = [cohen_kappa(first, second, 5, weights).kappa for weights in (None, "linear", "quadratic")]
    assert irr == pytest.approx([-0.006289308, 0.1459075, 0.2520325], abs=1e-6)


def test_kappa_is_undefined_where_all_is_in_one_category():
    ones = np.ones(4, int)
    for weights in (None, "linear", "quadratic"):
        assert np.isnan(cohen_kappa(ones, ones, 3, weights).kappa)
        assert np.isnan(cohen_kappa(ones[:0], ones[:0], 3, weights).kappa)
        assert cohen_kappa(ones, np.array([0, 1, 1, 2]), 3, weights).kappa == pytest.approx(0)


def test_table_3_7_and_the_study_s_categories(shared_data):
    published = json.loads((shared_data / "published_tables.json").read_text())
    for _n, *row in published["mrc"]["table_3_7_kappa"]["rows"]:
        for observed, expected, kappa in (row[:3], row[3:]):
            assert Kappa(observed, expected).kappa == pytest.approx(kappa, abs=2e-3)
    for score, n, category in published["unit_fixtures"]["ncat"]["values"]:
        assert categorise(np.array([score]), n)[0] + 1 == category


def test_tolerance_kappa_counts_near_scores_and_knows_no_chance_of_disagreeing_on_the_whole_scale():
    first, second = np.array([0.0, 50, 33.3, 100]), np.array([10.0, 61, 43.3, 30])
    found = tolerance_kappa(first, second, 10)
    by_chance = np.mean([abs(a - b) <= 10 for a in range(101) for b in range(101)])
    assert (found.observed, found.expected) == (0.5, pytest.approx(by_chance))
    assert tolerance_kappa(second, first, 10) == found
    assert np.isnan(tolerance_kappa(first, second, 100).kappa)
    assert np.isnan(tolerance_kappa(first[:0], second[:0], 10).kappa)
    assert tolerance_chance(0, 1, 4) == 0.25
    chance = [round(tolerance_chance(t, 1, 100), 3) for t in (5, 10, 15, 20, 25, 30)]
    assert chance == [0.107, 0.199, 0.286, 0.368, 0.445, 0.517]  # as published


def test_pairs_within_items_are_every_two_ratings_of_one():
    values, item = np.array([5.0, 1.0, 2.0, 3.0, 4.0]), np.array([7, 2, 7, 2, 7])
    first, second = pairs_within(values, item)
    assert sorted(zip(first, second, strict=True)) == [(1.0, 3.0), (2.0, 4.0), (5.0, 2.0), (5.0, 4.0)]
    assert pairs_within(values, item, most=1)[0].size == 3  # the nearest ones alone
    assert pairs_within(values[:0], item[:0])[0].size == 0


# --- Numbers of the same items


def pairs_of(value, item):
    """Return the pairs of numbers of each item that has two or more."""
    of_item = [list(itertools.combinations(value[item == code], 2)) for code in np.unique(item)]
    return [pairs for pairs in of_item if pairs]


@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_an_item_are_compared_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    item, value = rng.integers(0, 9, 30), rng.integers(0, 6, 30) / 7
    is_shared, pairs = np.bincount(item)[item] > 1, pairs_of(value, item)
    value, item = value[is_shared], np.unique(item[is_shared], return_inverse=True)[1]
    expected = np.mean([np.mean([abs(a - b) for a, b in each]) for each in pairs])
    assert mean_difference(value, item) == pytest.approx(expected)


def test_numbers_that_are_all_equal_differ_by_exactly_nothing():
    assert mean_difference(np.full(7, 0.1), np.array([0, 0, 0, 0, 1, 1, 1])) == 0


def test_without_numbers_or_votes_nothing_agrees():
    nothing = np.empty(0), np.empty(0, int)
    assert np.isnan([mean_difference(*nothing), share_opposite(*nothing)]).all()


def test_the_first_answer_of_a_worker_is_in_the_order_of_the_rows():
    rng = np.random.default_rng(3)
    item, worker = rng.integers(0, 4, 40), rng.integers(0, 5, 40)
    first, own = first_and_own(item, worker)
    places: dict[tuple[int, int], int] = {}
    for row, place in enumerate(zip(item.tolist(), worker.tolist(), strict=True)):
        places.setdefault(place, row)
    assert sorted(first) == sorted(places.values())
    assert np.unique(own).size == len(places)


@pytest.mark.parametrize("seed", range(5))
def test_votes_are_opposite_in_pairs(seed):
    rng = np.random.default_rng(seed)
    value, item = rng.choice([1.0, 0.0, -1.0], 60), np.repeat(np.arange(15), 4)
    pairs = pairs_of(value, item)
    assert share_opposite(value, item) == pytest.approx(
        np.mean([np.mean([a * b < 0 for a, b in each]) for each in pairs])
    )


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_that_of_every_two_ratings(weights):
    """Beside brute force: by squared distances, of as many ratings of each item, α is 1 − (1 − κ)(1 − 1/n)."""
    rng = np.random.default_rng(6)
    item, n = np.repeat(np.arange(30), 3), 90
    category = np.clip(rng.integers(0, 5, 30)[item] + rng.integers(-1, 2, n), 0, 4)
    power = {"linear": 1, "quadratic": 2}[weights]

    def agree(a, b):
        return 1 - (abs(a - b) / 4) ** power

    found = fleiss_kappa(category, item, weights)
    pairs = pairs_of(category.astype(float), item)
    observed = np.mean([np.mean([agree(a, b) for a, b in each]) for each in pairs])
    expected = np.mean([agree(a, b) for a in category for b in category])
    assert (found.observed, found.expected) == (pytest.approx(observed), pytest.approx(expected))
    if weights == "quadratic":
        alpha = krippendorff_alpha(category.astype(float), item, Level.INTERVAL)
        assert alpha == pytest.approx(1 - (1 - found.kappa) * (1 - 1 / n))


def test_weighted_kappa_of_two_categories_is_kappa():
    category, item = np.array([0, 0, 1, 1, 0, 1, 1, 1]), np.repeat(np.arange(4), 2)
    assert fleiss_kappa(category, item, "quadratic") == fleiss_kappa(category, item)
