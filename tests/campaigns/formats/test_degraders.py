"""Degraded outputs of every format: how much of them changes, and whether something is worse.

All outputs and draws: `benchmarks/degraders.py`.
"""

import json
from functools import partial

import numpy as np
import pytest

from benchmarks.degraders import DEGRADERS, Degrader, measure
from benchmarks.outputs import pictures
from campaigns.contracts.format import Degradation
from campaigns.design.code_lines import worsen_lines
from campaigns.design.errors import DesignError
from campaigns.formats.conversation import Conversation
from campaigns.formats.dialogue import Dialogue
from campaigns.formats.image import Image
from campaigns.formats.json_tree import JsonTree
from campaigns.formats.trace import AgentTrace

LEAST_MEDIAN, MOST_NO_WORSE = 0.1, 0.08
RNG_SEEDS = range(20)
DOCUMENTED = '''import os
import sys
def area(width, height):
    """Return what is covered.

    The width and the height are lengths.
    """
    # width of one times height of the other
    area = width * height
    print("area of", area)
    return area'''


@pytest.mark.parametrize("degrader", DEGRADERS, ids=lambda each: each.name)
def test_a_tenth_or_more_changes_and_nearly_all_are_worse(degrader: Degrader) -> None:
    few = partial(pictures, 12) if degrader.format is Image else lambda: degrader.outputs()[:80]
    found = measure(degrader._replace(outputs=few), 1 if degrader.format is Image else 2)
    assert found.share.size
    assert np.median(found.share) >= LEAST_MEDIAN
    assert found.is_no_worse.mean() <= MOST_NO_WORSE
    assert 0.9 < np.median(found.length) < 1.1, "length does not tell them"


def by(seed: int, *texts: str) -> Degradation:
    return Degradation(np.random.default_rng(seed), lambda: list(texts))


def test_where_all_replies_are_short_they_are_degraded_too() -> None:
    dialogue = Dialogue.read("Person: Well?\nChatbot: Yes.\nPerson: So?\nChatbot: No.", is_output=True)
    assert Dialogue.turns(Dialogue.degrade(dialogue, by(1, "whatever", "the river"))) != ["Yes.", "No."]
    said = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "Yes."}]
    talk = Conversation.read(json.dumps(said), is_output=True)
    assert Conversation.turns(Conversation.degrade(talk, by(1, "Bread is baked."))) == ["Bread is baked."]


def test_a_trace_without_calls_is_refused_and_not_shown_as_it_is() -> None:
    with pytest.raises(DesignError) as refused:
        AgentTrace.degrade(AgentTrace.read('[{"answer": "Yes."}]', is_output=True), by(1, "a text"))
    assert refused.value.code == "nothing_to_degrade"


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_comments_texts_and_imports_are_left_alone(seed: int) -> None:
    code = DOCUMENTED.splitlines()
    worse = worsen_lines(code, range(len(code)), np.random.default_rng(seed))
    assert worse[3:8] == code[3:8]
    assert worse[:2] != ["import sys", "import os"]
    assert worse[8:] != code[8:]


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_long_code_changes_in_all_its_parts(seed: int) -> None:
    code = [f"a{n} = b{n} + a{n // 2}" for n in range(60)]
    worse = worsen_lines(code, range(60), np.random.default_rng(seed))
    for part in range(4):
        lines = slice(15 * part, 15 * part + 15)
        assert worse[lines] != code[lines]


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_a_fifth_of_json_changes_and_not_just_the_order_of_a_list(seed: int) -> None:
    tree = {"tags": ["a", "b", "c"], **{f"key {n}": n for n in range(17)}}
    worse = json.loads(JsonTree.degrade(JsonTree.read(json.dumps(tree), is_output=True), by(seed)))
    n_changed = sum(worse[key] != value for key, value in tree.items() if key != "tags")
    n_changed += sum(was != now for was, now in zip(tree["tags"], worse["tags"], strict=True))  # type: ignore[call-overload]
    assert n_changed == 4
    assert {*worse["tags"]} != {"a", "b", "c"} or worse["tags"] == tree["tags"]
