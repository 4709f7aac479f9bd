"""How far workers agree, of every kind of response: by hand, within a few points, and as earlier versions stored it."""

import itertools
import json
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from analysis.data.compared import ComparedPairs
from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.methods import ResponsesFile, get_method, list_response_methods
from analysis.methods.settings import from_protocol
from analysis.questions import coefficients as coefficients_module
from analysis.questions import sections_of_questions
from analysis.questions.coefficients import ALPHA, COEFFICIENTS
from analysis.questions.reliability import Reliability, agreement_section, measure_reliability
from analysis.results.answers import Agreement, AgreementOnCriterion, SharedCoefficients
from analysis.results.stored import result_of
from analysis.stats.agreement import fleiss_kappa
from analysis.stats.ratings import Ratings
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.edits import edit_distance
from tests.analysis.test_stored_order import analysed, simulated

KINDS = [method.slug for method in list_response_methods() if not method.is_study]
Rows = Iterable[Iterable[object]]


@pytest.fixture
def measured(tmp_path: Path) -> Callable[..., Agreement]:
    """What is found in rows of responses by a protocol."""

    def measure(protocol: str, header: str, rows: Rows, **changes: Any) -> Agreement:
        path = tmp_path / "responses.csv"
        path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
        settings = replace(from_protocol(protocol), **changes)
        method = get_method(settings.method)
        judgements = method.judgements(method.read(ResponsesFile(path), settings), settings)
        assert judgements is not None
        return measure_reliability(judgements)

    return measure


def named(agreement: Agreement) -> dict[str, AgreementOnCriterion]:
    return {criterion.name: criterion for criterion in agreement.criteria}


def numbers_of(shared: SharedCoefficients) -> dict[str, float | None]:
    return {**vars(shared), **shared.coefficients}


class ByHand(NamedTuple):
    """A file, and what is found in it by hand: of each criterion, `between` and `within` workers."""

    protocol: str
    header: str
    rows: Rows
    found: dict[str, list[dict[str, float]]]
    said: str
    options: dict[str, Any] = {}


CASES = {
    # Of q1 two workers say 1 and 1, of q2 2 and 3: shares 1/2, 1/4, 1/4. Ann rates that of q2 again, and says 3.
    "levels": ByHand(
        "likert",
        "worker,source,system,score,kind",
        [
            *[("ann", "q1", "A", 1, "ordinary"), ("bob", "q1", "A", 1, "ordinary"), ("ann", "q2", "A", 2, "ordinary")],
            *[("bob", "q2", "A", 3, "ordinary"), ("ann", "q2", "A", 3, "repeat")],
        ],
        {
            "score": [
                {"n_items": 2, "same": 0.5, "fleiss_kappa": (1 / 2 - 3 / 8) / (1 - 3 / 8), "n_workers": 2},
                {"n_items": 1, "same": 0},
            ]
        },
        "Two answers of one worker about an output are the same in 0 % of cases",
    ),
    # Of one output two raters say 60 and 70, of another 80 and 80; ann scores the latter again, as 90. D_o = 50; D_e,
    # of the six pairs of 60, 70, 80 and 80, is (10² + 2 · 20² + 2 · 10² + 0)/6 = 1100/6; α = 1 − 50 · 6/1100.
    "scores of segments": ByHand(
        "esa",
        "rater,doc,seg_id,system,score,kind",
        [
            *[("ann", "d", 1, "A", 60, ""), ("bob", "d", 1, "A", 70, ""), ("ann", "d", 2, "A", 80, "")],
            *[("bob", "d", 2, "A", 80, ""), ("ann", "d", 2, "A", 90, "repeat")],
            *[("ann", "e", 1, "A", 0, ""), ("bob", "e", 2, "A", 100, "")],  # the same names in another document
        ],
        {
            "score": [
                {"n_items": 2, "n_judgements": 4, "difference": 5, "alpha_interval": 8 / 11},
                {"n_items": 1, "difference": 10},
            ]
        },
        "Two workers’ answers about an output are 5 apart in the mean (Krippendorff’s α 0.73)",
    ),
    # Present: 4 and 6, then 2 and 2: D_o = 2, D_e = (4 + 2 · 4 + 2 · 16)/6. Correct: 3 and 3, then 2 and 1: D_o = 1/2,
    # D_e = (2 · 1 + 2 · 4 + 1)/6. Ann counts the second output again, and finds one correct fact fewer.
    "counts": ByHand(
        "fact-count",
        "worker,source,system,present,correct,missing,kind",
        [
            *[("ann", "s1", "A", 4, 3, 1, ""), ("bob", "s1", "A", 6, 3, 1, ""), ("ann", "s2", "A", 2, 2, 0, "")],
            *[("bob", "s2", "A", 2, 1, 0, ""), ("ann", "s2", "A", 2, 1, 0, "repeat")],
            ("bob", "s3", "A", 1, 5, 0, ""),  # more correct than present
        ],
        {
            "present": [{"same": 0.5, "difference": 1, "alpha_interval": 8 / 11}, {"same": 1, "difference": 0}],
            "correct": [{"same": 0.5, "difference": 0.5, "alpha_interval": 8 / 11}, {"same": 0, "alpha_interval": 0}],
            "missing": [{"same": 1, "difference": 0, "alpha_interval": 1}, {"same": 1}],
        },
        "2 outputs have answers of two workers or more who count",
    ),
    # Logs in units of log 2: 0, 0 and 0, 1. Observed 2·1/4, expected 2·3·1/(4·3): α = 1 − 0.5/0.5. On the repeated page
    # the reference has another number, and the value is as many times as large.
    "magnitudes": ByHand(
        "rank-me",
        "worker,source,system,value,reference,kind",
        [
            *[("ann", "s1", "A", 100, 50, "ordinary"), ("bob", "s1", "A", 200, 100, "ordinary")],
            *[("ann", "s2", "A", 100, 50, "ordinary"), ("bob", "s2", "A", 40, 10, "ordinary")],
            ("ann", "s1", "A", 20, 10, "repeat"),
        ],
        {
            "magnitude": [
                {"n_items": 2, "alpha_interval": 0, "difference": np.log(2) / 2},
                {"n_items": 1, "difference": 0},
            ]
        },
        "are 0 apart in the mean",
    ),
    # Bob replaces one of four words in both outputs, ann in one of them, which she leaves as it is the second time.
    # Distances: 1 of 7 characters, and 0. HTER: 0 and 25, then 25 and 25; D_o = D_e: α = 0.
    "edits": ByHand(
        "post-edit",
        "worker,source,system,output,edited,kind",
        [
            *[("ann", "s1", "A", "a b c d", "a b c d", ""), ("bob", "s1", "A", "a b c d", "a b c x", "")],
            *[("ann", "s2", "A", "a b c d", "a b c x", ""), ("bob", "s2", "A", "a b c d", "a b c x", "")],
            ("ann", "s2", "A", "a b c d", "a b c d", "repeat"),
        ],
        {
            "HTER": [{"difference": 12.5, "alpha_interval": 0}, {"difference": 25}],
            "edited text": [{"same": 0.5, "text_difference": 50 / 7}, {"same": 0, "text_difference": 100 / 7}],
        },
        "2 outputs have answers of two workers or more who count",
    ),
    # Of q1 both choose a and b, of q2 one a and one b: shares 1/2, 1/4, 1/4.
    "options": ByHand(
        "option-selection",
        "worker,source,system,answer,kind",
        [
            *[("ann", "q1", "A", "a; b", ""), ("bob", "q1", "A", "b; a", "")],
            *[("ann", "q2", "A", "a", ""), ("bob", "q2", "A", "b", "")],
        ],
        {"answer": [{"same": 0.5, "fleiss_kappa": (1 / 2 - 3 / 8) / (1 - 3 / 8)}, {"n_items": 0}]},
        "Two workers’ answers about an output are the same in 50 % of cases",
    ),
    # Of q1 ann says a and b, then a; of q2 c, then c. MASI: 1 − 1/2 · 2/3 = 2/3, and 1 from c to both others.
    # D_o = (2/3 + 0)/2. Of the six pairs of all four one is at 2/3, four at 1, one at 0: D_e = 7/9.
    "sets of options": ByHand(
        "option-selection",
        "worker,source,system,answer,kind",
        [
            *[("ann", "q1", "A", "a; b", "ordinary"), ("ann", "q2", "A", "c", "ordinary")],
            *[("ann", "q1", "A", "a", "repeat"), ("ann", "q2", "A", "c", "repeat")],
        ],
        {
            "answer": [
                {"n_items": 0},
                {"same": 0.5, "alpha_sets": 1 - (1 / 3) / (7 / 9), "alpha_nominal": 1 - (1 / 2) / (5 / 6)},
            ]
        },
        "No output was judged by two workers who count",
    ),
    # The example of docs/method/agreement.md, then what ann and bob say when they see a comparison again.
    "votes": ByHand(
        "preference",
        "worker,source,system_a,system_b,winner,kind",
        [
            ("ann", 1, "A", "B", "A", "ordinary"),
            ("bob", 1, "B", "A", "A", "ordinary"),  # the same vote, seen from the other side
            ("cem", 1, "A", "B", "tie", "ordinary"),
            *[("ann", 2, "A", "C", "C", "ordinary"), ("bob", 2, "A", "C", "A", "ordinary")],
            ("ann", 3, "B", "C", "B", "ordinary"),  # judged by ann alone
            *[("ann", 1, "B", "A", "A", "repeat"), ("ann", 2, "C", "A", "A", "repeat")],
            ("bob", 2, "A", "C", "tie", "degraded"),  # not the same outputs
        ],
        {
            "preference": [
                {"n_items": 2, "n_judgements": 5, "same": 1 / 6, "opposite": 1 / 2, "fleiss_kappa": -1 / 3},
                {"n_items": 2, "n_judgements": 4, "same": 0.5, "opposite": 0.5, "fleiss_kappa": 0},
            ]
        },
        "Two workers’ answers about a comparison are the same in 17 % of cases",
        {"preset": NO_TEST},
    ),
    # Of the pairs AB, AC and BC: + + + by w1, + + − by w1 again, − + + by w2.
    "rankings": ByHand(
        "ranking",
        "worker,source,assignment,page,kind,system,rank",
        [
            (worker, "s", f"a-{worker}", page, kind, system, rank)
            for worker, page, kind, ranks in (
                *[("w1", 1, "ordinary", "123"), ("w1", 2, "repeat", "132")],
                ("w2", 1, "ordinary", "213"),
            )
            for system, rank in zip("ABC", ranks, strict=True)
        ],
        {"preference": [{"n_items": 3, "n_judgements": 6, "same": 2 / 3, "opposite": 1 / 3}] * 2},
        "Two answers of one worker about a comparison are the same in 67 % of cases",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_workers_agree_with_each_other_and_with_themselves_as_by_hand(case: ByHand, measured) -> None:
    found = measured(case.protocol, case.header, case.rows, **case.options)
    assert list(named(found)) == list(case.found)
    for name, expected in case.found.items():
        for who, numbers in zip(("between", "within"), expected, strict=True):
            one = numbers_of(getattr(named(found)[name], who))
            assert {key: one[key] for key in numbers} == pytest.approx(numbers, abs=1e-9), (name, who)
    section = agreement_section(found)
    assert case.said in section.finding
    rows = [shared for criterion in found.criteria for shared in (criterion.between, criterion.within)]
    assert len(section.tables[0].rows) == sum(bool(shared.n_items) for shared in rows)
    assert "workers who count" in section.tables[0].caption


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_the_coefficients_that_fit_its_answers(kind: str, tmp_path: Path) -> None:
    report = json.loads(json.dumps(simulated(kind, tmp_path)))
    answer = report["questions"]["reliability"]
    if kind == "preference":  # simulated votes are of no source
        assert answer["refused"].endswith(".")
        return
    for one in answer["criteria"]:
        fitting = {each.key for each in COEFFICIENTS if AnswerKind(one["answer"]) in each.fits}
        assert set(one["between"]["coefficients"]) == fitting
        assert one["between"]["n_items"] > 10, "outputs are shared"
        assert ALPHA.get(AnswerKind(one["answer"]), "same") in fitting
    sections = {
        section.slug: section for section in sections_of_questions(result_of(report)) if section.page == "reliability"
    }
    assert sections["agreement"].tables
    answers = {one["answer"] for one in answer["criteria"]}
    assert ("inter-rater" in sections) == bool(answers & {"slider", "levels", "number", "amount", "marks"})
    assert ("tolerance" in sections) == bool(answers & {"slider", "levels"})


def levels_of(scores: np.ndarray, kind: np.ndarray, levels: np.ndarray) -> Judgements:
    """Return levels of two workers, (n_outputs, 2), as ordinary items of one assignment each; `kind`, (n_outputs,)."""
    n, n_workers = scores.shape
    source, worker = (each.ravel() for each in np.indices(scores.shape))
    ratings = Ratings(
        scores=scores.reshape(-1, 1),
        worker=worker,
        system=np.zeros(n * n_workers, int),
        assignment=worker,
        source=source,
        kind=kind[source],
        n_workers=n_workers,
        n_systems=1,
    )
    counted = np.ones(n_workers, bool)
    return Judgements(ratings, ["quality"], [Scale.of_levels(levels)], counted, ~counted)


def test_levels_are_near_within_one_of_them() -> None:
    """Of halves from 1 to 3, five levels: equal, one level apart, and two. By chance 5 + 2 · 4 of 25 are within one."""
    levels = np.array([1, 1.5, 2, 2.5, 3])
    scores = np.array([[1, 1], [1.5, 2], [2, 3], [3, 2.5]])
    found = measure_reliability(levels_of(scores, np.full(4, Kind.ORDINARY), levels)).tolerance
    assert found is not None and (found.unit, found.tolerances) == ("levels", [1, 2])
    assert found.chance == pytest.approx([13 / 25, 19 / 25])
    assert found.outputs.observed == pytest.approx([3 / 4, 1])
    assert found.outputs.kappa == pytest.approx([(3 / 4 - 13 / 25) / (12 / 25), 1])
    assert found.repeats.n_pairs == 0


def test_two_levels_have_no_order_and_no_tolerance() -> None:
    scores = np.array([[0.0, 0], [1, 0], [1, 1]])
    found = measure_reliability(levels_of(scores, np.full(3, Kind.ORDINARY), np.array([0.0, 1])))
    [criterion] = found.criteria
    assert criterion.answer is AnswerKind.OPTION and found.tolerance is None
    assert criterion.between.coefficients["alpha_nominal"] is not None
    assert "weighted_kappa" not in criterion.between.coefficients


@pytest.mark.parametrize("kind", [Kind.DEGRADED, Kind.REFERENCE])
def test_items_of_quality_control_are_no_shared_outputs(kind: Kind) -> None:
    scores = np.array([[1.0, 5], [2, 2], [4, 4]])
    levels, all_of = np.arange(1.0, 6), np.array([kind, Kind.ORDINARY, Kind.ORDINARY])
    between = measure_reliability(levels_of(scores, all_of, levels)).criteria[0].between
    assert (between.n_items, between.coefficients["same"]) == (2, 1)


def test_raters_who_fail_the_worker_test_are_not_compared(measured) -> None:
    rng, rows = np.random.default_rng(3), []
    for rater, drop in (("ann", 30), ("bob", 25), ("careless", -5)):
        for n in range(12):
            score = int(rng.integers(40, 95))
            rows += [(rater, "d", n, "A", score, "ordinary"), (rater, "d", n, "A", score - drop, "degraded")]
    header = "rater,doc,seg_id,system,score,kind"
    found = measured("esa", header, rows)
    assert found.criteria[0].between.n_judgements == 24
    assert found.criteria == measured("esa", header, [row for row in rows if row[0] != "careless"]).criteria
    everybody = measured("esa", header, rows, preset=NO_TEST)
    assert everybody.criteria[0].between.n_judgements == 36
    assert (found.inter.passed.n_assignments, found.inter.failed.n_assignments) == (2, 1)


def test_two_workers_of_the_same_items_correlate_on_levels_of_several_criteria(measured) -> None:
    """An item's score is the mean over its criteria: of three items ann's are 1, 2, 3 and bob's 1, 3, 2."""
    of_item = {"ann": ((1, 1), (1, 3), (3, 3)), "bob": ((1, 1), (3, 3), (2, 2))}
    rows = [
        (worker, f"q{source}", "A", criterion, score)
        for worker, items in of_item.items()
        for criterion, place in (("art", 0), ("wit", 1))
        for source, item in enumerate(items)
        for score in (item[place],)
    ]
    found = measured("likert", "worker,source,system,criterion,score", rows)
    assert found.inter.passed.n == 1
    assert found.inter.passed.quartiles[1] == pytest.approx(0.5)
    assert found.tolerance.outputs.n_pairs == 6


def test_without_sources_nothing_is_shared(measured, tmp_path: Path) -> None:
    found = measured("likert", "worker,system,score", [("ann", "A", 1), ("bob", "A", 2), ("ann", "B", 3)])
    assert found.criteria[0].between.n_items == 0
    assert not agreement_section(found).tables and "More workers" in agreement_section(found).finding
    votes = tmp_path / "votes.csv"
    votes.write_text("worker,system_a,system_b,winner\nw,A,B,A\nv,A,B,A\n")
    refused = analysed(votes, "preference")["questions"]["reliability"]
    assert "about the same" in refused["refused"]


def some_texts(n_sources: int, n_workers: int) -> list[tuple[str, ...]]:
    draw = random.Random(5)
    texts = ["a b c d", "a b c e", "a b", "x y z", "a bb c d e"]
    return [
        (f"w{w}", f"s{n}", "AB"[n % 2], "a b c d", draw.choice(texts), "ordinary")
        for n in range(n_sources)
        for w in range(n_workers)
    ]


EDITED = "worker,source,system,output,edited,kind"


@pytest.fixture
def distances(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The pairs of edited texts that are compared for agreement."""
    calls: list[tuple[str, str]] = []

    def count(text: str, other: str) -> int:
        calls.append((text, other))
        return edit_distance(text, other)

    monkeypatch.setattr(coefficients_module, "edit_distance", count)
    return calls


def test_distances_are_those_of_every_two_workers_and_each_two_texts_are_compared_once(measured, distances) -> None:
    rows = some_texts(9, 4)
    found = named(measured("post-edit", EDITED, rows))["edited text"].between.coefficients

    def mean_over_outputs(of_pair: Callable[[str, str], float]) -> float:
        outputs = [[row[4] for row in rows if row[1] == f"s{n}"] for n in range(9)]
        return float(np.mean([np.mean([of_pair(*pair) for pair in itertools.combinations(own, 2)]) for own in outputs]))

    assert found["same"] == pytest.approx(mean_over_outputs(lambda one, other: one == other))
    expected = mean_over_outputs(lambda one, other: 200 * edit_distance(one, other) / (len(one) + len(other)))
    assert found["text_difference"] == pytest.approx(expected)
    assert len(distances) == len({frozenset(pair) for pair in distances}) <= 15


def test_of_many_pairs_some_are_compared_evenly_over_the_outputs(measured, distances, monkeypatch) -> None:
    monkeypatch.setattr(coefficients_module, "_MOST_PAIRS", 200)
    rows = [(*row[:4], f"{row[4]} {row[1]} {row[0]}", "") for row in some_texts(150, 4)]
    some = named(measured("post-edit", EDITED, rows))["edited text"].between.coefficients["text_difference"]
    assert len(distances) == 200
    monkeypatch.setattr(coefficients_module, "_MOST_PAIRS", 10_000)
    every = named(measured("post-edit", EDITED, rows))["edited text"].between.coefficients["text_difference"]
    assert some == pytest.approx(every, rel=0.1) and len(distances) == 200 + 150 * 6


@pytest.fixture
def votes() -> Callable[..., ComparedPairs]:
    """Votes on pairs of two systems, of which some are called the other way round."""

    def make(value: np.ndarray, item: np.ndarray, worker: np.ndarray) -> ComparedPairs:
        outcome = np.select([value > 0, value < 0], [0, 1], 2)
        labels = (["A", "B"], [f"s{n}" for n in range(60)], list("abcdefghi"), [""])
        zero = np.zeros(value.size, int)
        return ComparedPairs(*labels, zero, zero + 1, outcome, worker, item, zero, np.arange(value.size))

    return make


def test_which_system_has_which_name_does_not_change_agreement(votes) -> None:
    rng = np.random.default_rng(4)
    item, worker = rng.integers(0, 60, 400), rng.integers(0, 9, 400)
    value = rng.choice([1.0, 1.0, 1.0, 0.0, -1.0], 400)
    turned = np.where(rng.random(60) < 0.5, -1, 1)[item]
    one, other = (measure_reliability(votes(values, item, worker)).criteria[0] for values in (value, value * turned))
    for shared, turned_round in ((one.between, other.between), (one.within, other.within)):
        assert shared.coefficients == pytest.approx(turned_round.coefficients)
        assert shared.n_items and replace(shared, coefficients={}) == replace(turned_round, coefficients={})


def test_chance_of_votes_is_that_of_ties_and_of_both_directions(votes) -> None:
    rng = np.random.default_rng(5)
    item, worker = np.repeat(np.arange(40), 5), np.tile(np.arange(5), 40)
    value = rng.choice([1.0, 0.0, -1.0], 200)
    found = measure_reliability(votes(value, item, worker)).criteria[0].between.coefficients
    ties = np.mean(value == 0)
    chance = ties**2 + (1 - ties) ** 2 / 2
    assert found["same"] == pytest.approx(fleiss_kappa(value.astype(int) + 1, item).observed)
    assert found["fleiss_kappa"] == pytest.approx((found["same"] - chance) / (1 - chance))


def test_a_coefficient_is_one_entry(monkeypatch: pytest.MonkeyPatch, measured) -> None:
    """Where it stands in the list, it is in the report, on the page, and in files."""
    extra = replace(COEFFICIENTS[0], key="twice", heading="twice")
    for module in ("coefficients", "reliability"):
        monkeypatch.setattr(f"analysis.questions.{module}.COEFFICIENTS", (*COEFFICIENTS, extra))
    case = CASES["levels"]
    found = measured(case.protocol, case.header, case.rows)
    assert found.criteria[0].between.coefficients["twice"] == 0.5
    [table] = Reliability().sections(found)[-2].tables
    assert "twice" in [column.name for column in table.columns]
