"""What a report finds, in sentences: right for any number of systems, ties, nobody who passed, no worker test."""

from itertools import pairwise
from typing import Any

import pytest

from analysis.results.findings import find, find_systems
from analysis.results.stored import result_of

Matrix = list[list[float | None]]


def report_of(
    z: dict[str, float | None], p: Matrix, workers: dict[str, int] | None = None, preset: str = "paired-wilcoxon"
) -> dict[str, Any]:
    """Return as much of a report as a finding needs; `workers` has how many are in which state."""
    states = [state for state, n in (workers or {"passed": 2}).items() for _ in range(n)]
    rows = [
        {
            "worker": f"w{k}", "p": None, "verdict": "passed" if state == "excluded" else state,
            "excluded": "asked" if state == "excluded" else None, "n_ratings": 5, "n_assignments": 1, "n_compared": 1,
            "mean": 50.0, "sd": 1.0, "histogram": [],
        }
        for k, state in enumerate(states)
    ]  # fmt: skip
    return {
        "summary": {
            "systems": [{"system": name, "z": value, "n": 600, "n_ratings": 600} for name, value in z.items()],
            "significance": {"order": list(z), "p": p},
            "worker_test": {"preset": preset, "alpha": 0.05},
        },
        "worker_table": rows,
    }


def found_in(report: dict[str, Any]) -> list[str]:
    return find(result_of(report))


def p_of(n: int, *undecided: tuple[int, int]) -> Matrix:
    """Return p of n systems of which each beats those after it, apart from some pairs."""
    return [
        [None if i == j else 0.3 if (min(i, j), max(i, j)) in undecided else 0.001 if i < j else 0.999
         for j in range(n)]
        for i in range(n)
    ]  # fmt: skip


def scores(n: int) -> dict[str, float | None]:
    return {f"s{k}": 0.5 - 0.1 * k for k in range(n)}


PASSED = "1,200 ratings by all 2 workers count; the worker test was passed at p < 0.05."


def test_of_two_systems_one_beats_the_other() -> None:
    assert found_in(report_of({"alder": 0.31, "birch": -0.31}, p_of(2))) == [
        "alder beats birch at p < 0.05 (mean z 0.310 against −0.310; p = .0010).",
        PASSED,
    ]


@pytest.mark.parametrize("other", [0.2, 0.31])
def test_two_systems_may_be_undecided_or_tie(other: float) -> None:
    found = found_in(report_of({"alder": 0.31, "birch": other}, p_of(2, (0, 1))))
    assert found[0] == f"Whether alder or birch is better is undecided (mean z 0.310 against {other:.3f}; p = .3000)."


def test_a_rank_sum_that_contradicts_the_means_is_said() -> None:
    reverse: Matrix = [[None, 0.99], [0.00001, None]]
    found = found_in(report_of({"alder": 0.01, "birch": 0.0}, reverse))
    assert found[0].startswith("birch beats alder in the rank-sum test (p < .0001), though alder has the higher mean z")
    three: Matrix = [[None, 0.99, 0.001], [0.001, None, 0.001], [0.9, 0.9, None]]
    found = found_in(report_of(scores(3), three))
    assert found[0] == (
        "s0 has the highest mean z (0.500) and beats 1 of the 2 other systems at p < 0.05; "
        "in the rank-sum test s1 beats it."
    )


def test_of_many_systems_all_pairs_differ() -> None:
    assert found_in(report_of(scores(5), p_of(5)))[:2] == [
        "s0 is the best of 5 systems: it beats each of the others at p < 0.05.",
        "All 10 pairs of systems differ.",
    ]


@pytest.mark.parametrize(
    ("undecided", "best", "rest"),
    [
        ([(3, 4)], "is the best of 5", "Of 10 pairs of systems, 9 differ; undecided is s3 against s4."),
        (
            [(0, 1), (2, 3)],
            "s0 has the highest mean z (0.500) and beats 3 of the 4 other systems at p < 0.05, but not s1.",
            "Of 10 pairs of systems, 8 differ; undecided are s0 against s1 and s2 against s3.",
        ),
        (
            [(0, 1), (0, 2), (0, 3), (0, 4)],
            "s0 has the highest mean z (0.500) but beats no other system at p < 0.05.",
            "Of 10 pairs of systems, 6 differ; 4 are undecided.",
        ),
    ],
)
def test_of_many_systems_some_pairs_are_undecided(undecided, best: str, rest: str) -> None:
    found = found_in(report_of(scores(5), p_of(5, *undecided)))
    assert best in found[0]
    assert found[1] == rest


def test_no_system_beats_another() -> None:
    found = found_in(report_of(scores(3), p_of(3, (0, 1), (0, 2), (1, 2))))
    assert found[:2] == [
        "No system beats another at p < 0.05: s0 has the highest mean z (0.500), s2 the lowest (0.300).",
        "All 3 pairs are undecided.",
    ]


def test_systems_without_a_score_are_left_out() -> None:
    p: Matrix = [[None, None, 0.01], [None, None, None], [0.9, None, None]]
    found = found_in(report_of({"alder": 0.1, "empty": None, "birch": -0.1}, p))
    assert found[0].startswith("alder beats birch")
    alone = found_in(report_of({"alder": 0.0, "empty": None}, [[None, None], [None, None]]))
    assert alone[0] == "alder is the only system with a score (mean z 0.000): nothing to compare."


@pytest.mark.parametrize("n", [1, 2, 3, 12, 200])
def test_a_finding_has_at_most_three_short_sentences(n: int) -> None:
    names = {f"{k} {'a very long name of a system ' * 9}": 1 - k / n for k in range(n)}
    for undecided in ([], list(pairwise(range(n)))):
        found = found_in(report_of(names, p_of(n, *undecided)))
        assert 2 <= len(found) <= 3
        assert all(len(sentence) < 400 and sentence.endswith(".") for sentence in found)


def test_a_name_keeps_its_own_direction() -> None:
    found = found_in(report_of({"مترجم": 0.2, "birch": 0.1}, p_of(2)))
    assert found[0].startswith("\u2068مترجم\u2069 beats birch at")


# --- Workers


@pytest.mark.parametrize(
    ("workers", "preset", "said"),
    [
        ({"passed": 1}, "paired-t", "by the only worker count; the worker test was passed at p < 0.05."),
        ({"passed": 9, "failed": 1}, "paired-t", "by 9 of 10 workers count; 1 failed the worker test at p < 0.05."),
        (
            {"passed": 1, "failed": 2, "untested": 1, "excluded": 2},
            "paired-t",
            "by 1 of 6 workers count; 2 failed the worker test at p < 0.05, 1 could not be tested and 2 were excluded.",
        ),
        ({"trusted": 5}, "none", "by all 5 workers count; no worker test was applied."),
        (
            {"trusted": 4, "excluded": 1},
            "none",
            "by 4 of 5 workers count; no worker test was applied, 1 was excluded.",
        ),
    ],
)
def test_it_says_how_many_workers_count(workers: dict[str, int], preset: str, said: str) -> None:
    assert found_in(report_of(scores(2), p_of(2), workers, preset))[-1] == f"1,200 ratings {said}"


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        ({"failed": 1}, "the only worker failed the worker test at p < 0.05."),
        ({"failed": 4}, "all 4 workers failed the worker test at p < 0.05."),
        ({"excluded": 2}, "all 2 workers were excluded."),
        (
            {"failed": 1, "excluded": 2},
            "of 3 workers 1 failed the worker test at p < 0.05 and 2 were excluded.",
        ),
        ({"passed": 1}, "no item was rated on every criterion."),
    ],
)
def test_without_a_score_it_says_why(workers: dict[str, int], said: str) -> None:
    none: Matrix = [[None, None], [None, None]]
    assert found_in(report_of({"a": None, "b": None}, none, workers)) == [f"No system has a score: {said}"]


def test_ratings_without_ordinary_items_have_no_score() -> None:
    assert found_in(report_of({}, [])) == ["No system has a score: there is no ordinary item in these ratings."]


HOLM = "p < 0.05 after Holm’s correction"


def test_while_ratings_come_the_finding_is_by_bounds_that_hold_at_every_look() -> None:
    report = report_of(scores(3), p_of(3)) | {"settings": {"workers_planned": 30}}
    pairs = [("s0", "s1", 0.001), ("s0", "s2", 0.002), ("s1", "s2", 0.3)]
    report["recommended"] = {
        "pairs": [{"systems": [one, other], "difference": 0.1, "p_holm": p} for one, other, p in pairs]
    }
    best, rest, _ = found_in(report)
    assert best == f"s0 is the best of 3 systems: it beats each of the others at {HOLM}, valid whenever you look."
    assert rest == "Of 3 pairs of systems, 2 differ; undecided is s1 against s2."
    report["recommended"]["pairs"][0]["difference"] = -0.1
    assert found_in(report)[0].endswith("valid whenever you look; in the comparison of systems s1 beats it.")


def concluding(p_holm: list[float | None], **summary: str) -> dict[str, Any]:
    """A report of three systems by the recommended comparison, where the rank-sum tests say that all differ."""
    report = report_of(scores(3), p_of(3)) | {"settings": {}}
    report["summary"] |= {"concluded_by": "clustered"} | summary
    pairs = [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    report["recommended"] = {
        "pairs": [
            {"systems": list(each), "difference": 0.1, "p_holm": p} for each, p in zip(pairs, p_holm, strict=True)
        ]
    }
    return report


def test_the_finding_is_by_the_comparison_that_is_corrected() -> None:
    best, rest, _ = found_in(concluding([0.2, 0.01, 0.06]))
    assert best == f"s0 has the highest mean z (0.500) and beats 1 of the 2 other systems at {HOLM}, but not s1."
    assert rest == "Of 3 pairs of systems, 1 differs; undecided are s0 against s1 and s1 against s2."
    none, rest, _ = found_in(concluding([0.2, 0.3, None]))
    assert none.startswith(f"No system beats another at {HOLM}: s0 has the highest mean z")
    assert rest == "All 3 pairs are undecided."


def test_it_is_by_the_tests_of_the_studies_where_these_were_asked_for() -> None:
    assert found_in(concluding([0.2, 0.3, 0.4], concluded_by="studies"))[0].endswith("each of the others at p < 0.05.")


def test_a_procedure_that_could_not_be_computed_finds_nothing() -> None:
    report = concluding([None, None, None], concluded_by="crossed")
    report["recommended"]["refused"] = {"crossed": "there are more effects than it is made for"}
    found, _ = found_in(report)
    assert found == (
        "Systems were not compared: there are more effects than it is made for. Choose the recommended comparison."
    )


def test_other_kinds_of_responses_are_found_by_in_the_same_words() -> None:
    """Of penalties fewer is better, and of few raters the level says whose conclusion it is."""
    systems = [{"system": name, "score": score} for name, score in (("elm", 1.25), ("oak", 2.0), ("ash", 4.5))]
    pairs = [(("elm", "oak"), 0.3), (("elm", "ash"), 0.01), (("oak", "ash"), 0.04)]
    report = {
        "summary": {"higher_is_better": False, "systems": systems, "clusters": {"segment": 40}},
        "pairs": [{"systems": list(names), "p_holm": p} for names, p in pairs],
    }
    best, pairs_decided = find_systems(result_of(report))
    assert best.startswith("elm has the lowest score (1.250) and beats 1 of the 2 other systems at ")
    assert best.endswith(f"{HOLM}, for these raters, but not oak.")
    assert pairs_decided == "Of 3 pairs of systems, 2 differ; undecided is elm against oak."
