"""Response kinds that compare outputs: what is kept of an answer, what is refused, what simulated workers say."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.contracts.response import BadAnswerError, Comparison, Subject
from campaigns.responses import get_response_kind, list_response_kinds
from campaigns.responses.preference import Preference

STRENGTH = {"has_strength": "yes", "may_be_neither": "yes"}
DECIDED = {"may_tie": "no"}
STRICT = {"may_tie": "no"}
SETTINGS = [
    *(("preference", settings) for settings in ({}, STRENGTH, DECIDED)),
    *(("ranking", settings) for settings in ({}, STRICT)),
    ("best_worst", {}),
]


def outputs(n: int) -> Subject:
    return Subject(tuple(f"text {k}" for k in range(n)))


@pytest.mark.parametrize(
    ("slug", "settings", "n", "sent", "value"),
    [
        ("preference", {}, 2, ["1"], "1"),
        ("preference", {}, 2, ["tie"], "tie"),
        ("preference", STRENGTH, 2, ["2 slightly"], "2 slightly"),
        ("preference", STRENGTH, 2, ["neither"], "neither"),
        ("best_worst", {}, 3, ["worst:1", "best:3"], {"best": 3, "worst": 1}),
        ("best_worst", {}, 4, ["", "best:4", "worst:2"], {"best": 4, "worst": 2}),
        ("ranking", {}, 3, ["3:1", "1:2", "2:3"], [2, 3, 1]),
        ("ranking", {}, 4, ["1:4", "2:1", "3:1", "4:4"], [2, 1, 1, 2]),  # shared ranks leave none out
        ("ranking", STRICT, 2, ["1:2", "2:1"], [2, 1]),
    ],
)
def test_what_is_kept_of_an_answer(slug: str, settings: dict[str, str], n: int, sent: list[str], value: Any) -> None:
    kind = get_response_kind(slug)
    kept = kind.clean(sent, settings, outputs(n))
    assert kept == value
    assert kind.clean(kind.sent(kept), settings, outputs(n)) == value, "a form that is filled in again sends the same"
    assert kind.score(kept, settings) is kind.bounds(settings) is None


@pytest.mark.parametrize(
    ("slug", "settings", "n", "sent", "message"),
    [
        ("preference", {}, 2, ["3"], "“3” cannot be chosen"),
        ("preference", {}, 2, ["1 much"], "cannot be chosen"),
        ("preference", STRENGTH, 2, ["1"], "one of the 6 answers"),
        ("preference", {}, 2, ["neither"], "cannot be chosen"),
        ("preference", DECIDED, 2, ["tie"], "cannot be chosen"),
        ("preference", {}, 2, ["1", "2"], "several were sent"),
        ("preference", {}, 3, ["1"], "Two outputs are compared, and 3 are shown"),
        ("best_worst", {}, 3, ["best:1"], "No output was chosen as “Worst”"),
        ("best_worst", {}, 3, ["best:1", "worst:1"], "cannot be both “Best” and “Worst”"),
        ("best_worst", {}, 3, ["best:1", "worst:4"], "no output “4” on this page, only 1 to 3"),
        ("best_worst", {}, 3, ["best:0", "worst:1"], "no output “0”"),
        ("best_worst", {}, 3, ["best:1", "best:2", "worst:3"], "Choose one output as “Best”"),
        ("best_worst", {}, 3, ["good:1", "worst:3"], "neither the best nor the worst"),
        ("best_worst", {}, 2, ["best:1", "worst:2"], "need 3 outputs, and 2 are shown"),
        ("ranking", {}, 3, ["1:1", "2:2"], "1 of 3 have no rank"),
        ("ranking", {}, 3, ["1:1", "2:2", "3:4"], "from 1 to 3, not “4”"),
        ("ranking", {}, 3, ["1:1", "2:2", "3:1e309"], "from 1 to 3"),
        ("ranking", {}, 3, ["1:1", "2:2", "4:3"], "no output “4”"),
        ("ranking", {}, 3, ["1:1", "1:2", "2:2", "3:3"], "several were sent"),
        ("ranking", STRICT, 3, ["1:1", "2:2", "3:2"], "Two outputs have the same rank"),
    ],
)
def test_what_no_page_sends_is_refused_and_said(
    slug: str, settings: dict[str, str], n: int, sent: list[str], message: str
) -> None:
    with pytest.raises(BadAnswerError, match=message):
        get_response_kind(slug).clean(sent, settings, outputs(n))


_TEXTS = st.text(st.sampled_from("0123456789:- abestworchmul١²\n"), max_size=12) | st.text(max_size=30)


@given(st.sampled_from(SETTINGS), st.integers(0, 6), st.lists(_TEXTS, max_size=7))
def test_whatever_is_sent_is_kept_as_it_would_be_sent_again_or_refused(
    example: tuple[str, dict[str, str]], n: int, sent: list[str]
) -> None:
    slug, settings = example
    kind = get_response_kind(slug)
    try:
        value = kind.clean(sent, settings, outputs(n))
    except BadAnswerError as error:
        assert len(error.message) < 200, "a message quotes little of what was sent"
        return
    if value is None:
        assert not any(sent)
    else:
        assert kind.compares[0] <= n
        assert kind.clean(kind.sent(value), settings, outputs(n)) == value


@given(st.sampled_from(SETTINGS), st.lists(st.integers(0, 100), min_size=3, max_size=6), st.integers(0, 99))
def test_simulated_workers_answer_by_what_they_see(
    example: tuple[str, dict[str, str]], levels: list[int], seed: int
) -> None:
    slug, settings = example
    kind = get_response_kind(slug)
    levels = levels[: kind.compares[1]]
    subject = outputs(len(levels))
    value = kind.clean(kind.simulate(levels, settings, np.random.default_rng(seed), subject), settings, subject)
    if slug == "preference":
        ranks = Preference.compared(value, 2).ranks
        assert ranks == (1, 1) or levels[ranks.index(1)] == max(levels)
        assert ranks != (1, 1) or settings != DECIDED
    elif slug == "best_worst":
        assert (levels[value["best"] - 1], levels[value["worst"] - 1]) == (max(levels), min(levels))
    else:
        in_order = sorted(range(len(levels)), key=lambda place: value[place])
        # Those that share a rank are close to each other, one after the other.
        assert all(levels[a] >= levels[b] or value[a] == value[b] for a, b in pairwise(in_order))


def test_equal_outputs_are_chosen_by_chance() -> None:
    """Else workers who put all sliders at one point would prefer what is on the left."""
    rng = np.random.default_rng(3)
    sent = [get_response_kind("best_worst").simulate([50] * 3, {}, rng, outputs(3))[0] for _ in range(60)]
    assert set(sent) == {"best:1", "best:2", "best:3"}
    assert {Preference.simulate([50, 50], DECIDED, rng)[0] for _ in range(20)} == {"1", "2"}


def test_an_answer_says_the_rank_of_each_output() -> None:
    assert Preference.compared("2 much", 2) == Comparison((2, 1), "much")
    assert Preference.compared("1", 2) == Comparison((1, 2))
    assert Preference.compared("tie", 2) == Comparison((1, 1))
    assert Preference.compared("neither", 2) == Comparison((1, 1), is_neither_good=True)
    assert get_response_kind("best_worst").compared({"best": 3, "worst": 1}, 4) == Comparison((3, 2, 1, 2))
    assert get_response_kind("ranking").compared([2, 1, 2], 3) == Comparison((2, 1, 2))


def test_settings_say_what_can_be_chosen() -> None:
    assert Preference.values({}) == ("3", "A is better; Both are equally good; B is better")
    assert "“B is slightly better”" in Preference.describe(STRENGTH)
    ends = get_response_kind("best_worst").describe({"best_label": "Most fluent", "worst_label": "Least fluent"})
    assert ends == "choosing one output as “Most fluent” and another one as “Least fluent”"


def test_each_of_them_says_how_many_outputs_it_compares() -> None:
    found = {kind.slug: kind.compares for kind in list_response_kinds() if kind.compares}
    assert found == {"preference": (2, 2), "best_worst": (3, 10), "ranking": (2, 10)}
