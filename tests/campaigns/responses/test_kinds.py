"""Response kinds: what an answer is, what it is worth, and which answers and settings are refused."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.contracts.response import BadAnswerError, ResponseKind, Subject
from campaigns.responses import get_response_kind, list_response_kinds
from evalsite.lib.errors import DomainError

LIKERT = {"labels": "bad\nso so\ngood", "lowest": 0}
COUNT = {"least": "0", "greatest": "20", "is_whole": "yes"}
RATIO = {"least": "0,5", "greatest": "", "is_whole": "no"}
MAGNITUDE = {"least": "1", "is_whole": "no", "reference": "100"}
ONE_OF = {"options": "red\ngreen", "is_several": "no", "none_label": ""}
SOME_OF = {"options": "red\ngreen", "is_several": "yes", "none_label": "none of these"}
OF_SOURCE = {"options": "", "field": "answers", "is_several": "yes", "none_label": ""}
NOTE = {"longest": 10}
# Of each kind, settings to be checked: all kinds of the site, so that a new one needs a line here.
EXAMPLES = [
    ("slider", {}),
    ("slider", {"labels_between": "rather bad\nrather good"}),
    ("scale", LIKERT),
    ("number", COUNT),
    ("number", RATIO),
    ("number", MAGNITUDE),
    ("number", {"least": "0.001", "greatest": "0.004", "is_whole": "no"}),
    ("choice", ONE_OF),
    ("choice", SOME_OF),
    ("choice", OF_SOURCE),
    ("step", {}),
    ("step", {"word": "Reply", "none_label": "All is right"}),
    ("text", NOTE),
    ("spans", {}),
    ("edit", {}),
    ("preference", {}),
    ("preference", {"has_strength": "yes", "may_tie": "no"}),
    ("best_worst", {}),
    ("ranking", {}),
]


def subject_of(kind: type[ResponseKind]) -> Subject:
    """Return as many outputs as a kind compares at least, and a few steps."""
    return Subject(("a text",) * (kind.compares[0] if kind.compares else 1), n_turns=5)


@pytest.mark.parametrize(
    ("slug", "settings", "offered"),
    [
        ("choice", ONE_OF, ["red", "green"]),
        ("choice", SOME_OF, ["red", "green", "none of these"]),
        ("choice", OF_SOURCE, None),
        ("scale", LIKERT, None),
    ],
)
def test_only_options_that_all_outputs_have_are_offered(slug: str, settings: Any, offered: list[str] | None) -> None:
    assert get_response_kind(slug).offered(settings) == offered


@pytest.mark.parametrize(
    ("slug", "settings", "sent", "value", "score"),
    [
        ("slider", {}, ["0"], 0, 0),
        ("slider", {}, ["100"], 100, 100),
        ("scale", LIKERT, ["0"], 0, 0),
        ("scale", LIKERT, ["2"], 2, 2),
        ("scale", {}, ["5"], 5, 5),
        ("number", COUNT, [" 7 "], 7, 7),
        ("number", RATIO, ["2,25"], 2.25, 2.25),
        ("number", {"least": "", "is_whole": "no"}, ["−3.5"], -3.5, -3.5),
        ("choice", ONE_OF, ["green"], "green", None),
        ("choice", SOME_OF, ["green", "red"], ["red", "green"], None),
        ("choice", SOME_OF, ["none of these"], ["none of these"], None),
        ("text", NOTE, ["  a\r\nb "], "a\nb", None),
    ],
)
def test_what_an_answer_is_and_is_worth(slug: str, settings: dict, sent: list[str], value: Any, score: Any) -> None:
    kind = get_response_kind(slug)
    found = kind.clean(sent, settings)
    assert (found, type(found)) == (value, type(value))
    assert kind.score(found, settings) == score


@pytest.mark.parametrize(
    ("slug", "settings", "sent"),
    [
        ("slider", {}, ["101"]),
        ("slider", {}, ["-1"]),
        ("slider", {}, ["5.5"]),
        ("slider", {}, ["٣"]),  # a digit, but not ours
        ("slider", {}, ["5", "6"]),
        ("scale", LIKERT, ["3"]),
        ("scale", LIKERT, ["good"]),
        ("number", COUNT, ["21"]),
        ("number", COUNT, ["-1"]),
        ("number", COUNT, ["1.5"]),
        ("number", COUNT, ["1,000"]),  # a thousand, or one?
        ("number", RATIO, ["12,000"]),
        ("number", COUNT, ["1e309"]),
        ("number", COUNT, ["nan"]),
        ("number", RATIO, ["0.25"]),
        ("number", RATIO, ["99999999999"]),
        ("choice", ONE_OF, ["blue"]),
        ("choice", ONE_OF, ["red", "green"]),
        ("choice", SOME_OF, ["red", "none of these"]),
        ("text", NOTE, ["x" * 11]),
    ],
)
def test_what_the_page_cannot_have_sent_is_refused(slug: str, settings: dict, sent: list[str]) -> None:
    with pytest.raises(BadAnswerError):
        get_response_kind(slug).clean(sent, settings)


@pytest.mark.parametrize(
    ("slug", "settings", "word"),
    [
        ("scale", {"labels": "one"}, "Points"),
        ("scale", {"labels": "\n".join("abcdefghijkl")}, "Points"),
        ("scale", {"labels": "a\na"}, "Points"),
        ("scale", {"labels": "a\n" + "b" * 101}, "Points"),
        ("number", {"least": "3", "greatest": "3"}, "Greatest"),
        ("number", {"least": "few"}, "Least"),
        ("number", {"least": "0.2", "greatest": "0.8"}, "Least"),
        ("number", {"greatest": "7.5"}, "Greatest"),
        ("number", {"least": "0", "reference": "100"}, "Value of the reference"),
        ("number", {"least": "", "reference": "100"}, "Value of the reference"),
        ("number", MAGNITUDE | {"reference": "-5"}, "Value of the reference"),
        ("number", MAGNITUDE | {"reference": "many"}, "Value of the reference"),
        ("choice", {"options": "red"}, "Options"),
        ("choice", {"options": "red\nred"}, "Options"),
        ("choice", {"options": "red\nnone", "none_label": "none"}, "Options"),
        ("text", {"longest": 0}, "Characters"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_by_name(slug: str, settings: dict, word: str) -> None:
    kind = get_response_kind(slug)
    with pytest.raises(DomainError, match=f"^{word}") as error:
        kind.check(kind.options.check(settings))
    assert error.value.code == "bad_option"


def test_every_kind_is_tested_here() -> None:
    assert {slug for slug, _ in EXAMPLES} == {kind.slug for kind in list_response_kinds()}


@given(example=st.sampled_from(EXAMPLES), level=st.integers(0, 100), seed=st.integers(0, 99))
def test_simulated_answers_can_be_kept_and_more_is_never_worth_less(
    example: tuple[str, dict], level: int, seed: int
) -> None:
    slug, settings = example
    kind: type[ResponseKind] = get_response_kind(slug)
    kind.check(settings)

    def answer(level: int) -> Any:
        subject = subject_of(kind)
        sent = kind.simulate([level] * len(subject.outputs), settings, np.random.default_rng(seed), subject)
        return kind.clean(sent, settings, subject)

    found = answer(level)
    assert found is not None
    score = kind.score(found, settings)
    if score is None:
        assert kind.bounds(settings) is None
        return
    assert score <= kind.score(answer(100), settings)
    if bounds := kind.bounds(settings):
        assert bounds[0] <= score <= bounds[1]
        assert (kind.score(answer(0), settings), kind.score(answer(100), settings)) == bounds


def test_a_slider_says_what_its_labels_between_the_ends_are():
    slider = get_response_kind("slider")
    esa = {"left_label": "nothing", "labels_between": "some\n most \n\n", "right_label": "all"}
    assert slider.shown(esa)["between"] == ["some", "most"]
    assert slider.ends(esa) == ("nothing", "all")
    assert slider.describe(esa) == "a slider from “nothing” to “all”, with “some” and “most” between"
    assert slider.describe({}) == "a slider from “strongly disagree” to “strongly agree”"


@pytest.mark.parametrize("labels", ["a\nb\nc\nd\ne\nf", "same\nsame", "x" * 101])
def test_labels_that_a_slider_cannot_have_are_refused(labels: str):
    with pytest.raises(DomainError, match="Labels between the ends"):
        get_response_kind("slider").check({"labels_between": labels})


def test_numbers_above_0_are_magnitudes_beside_their_reference() -> None:
    kind = get_response_kind("number")
    assert [kind.is_in("magnitudes", settings) for settings in (MAGNITUDE, RATIO, COUNT)] == [True, True, False]
    assert [kind.is_testable(settings) for settings in (MAGNITUDE, COUNT, {})] == [True, True, False]
    assert kind.cells(150, MAGNITUDE, Subject()) == (150, 100) and kind.cells(7, RATIO, Subject()) == (7, None)
    assert "where a reference has 100" in kind.describe(MAGNITUDE)
    rng = np.random.default_rng(1)
    sent = [float(kind.simulate([level], MAGNITUDE, rng)[0]) for level in (0, 25, 50, 75, 100)]
    assert sent == [25, 50, 100, 200, 400], "twice as large for every 25 points"
    assert kind.simulate([0], MAGNITUDE | {"least": "40"}, rng) == ["40.000000"]


@pytest.mark.parametrize(
    ("sent", "value", "score"),
    [("1", {"step": 1, "of": 4}, 0), ("4", {"step": 4, "of": 4}, 75), ("none", {"step": None, "of": 4}, 100)],
)
def test_the_first_wrong_step_is_worth_what_was_right_before_it(sent: str, value: dict, score: float) -> None:
    kind, subject = get_response_kind("step"), Subject(("a trace",), n_turns=4)
    assert kind.clean([sent], {}, subject) == value
    assert kind.score(value, {}) == score
    assert kind.sent(value) == [sent]
    chosen = {"1": "Step 1", "4": "Step 4", "none": "No step is wrong"}[sent]
    assert [json.loads(cell) for cell in kind.cells(value, {}, subject)] == [[chosen], ["No step is wrong"]]


@pytest.mark.parametrize("sent", ["0", "5", "-1", "1.0", "NONE", "٣", "9" * 5000])
def test_a_step_that_is_not_there_is_refused(sent: str) -> None:
    with pytest.raises(BadAnswerError, match="only 1 to 4, or none"):
        get_response_kind("step").clean([sent], {}, Subject(("a trace",), n_turns=4))


def test_each_step_of_an_output_may_be_chosen() -> None:
    shown = get_response_kind("step").shown_with({"word": "Reply"}, Subject(("a",), n_turns=2))
    assert shown.steps == [(1, "Reply 1"), (2, "Reply 2")]
