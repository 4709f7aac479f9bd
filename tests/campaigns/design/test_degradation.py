"""Degraded texts."""

import json
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.degradation import STEPS_TO_20, STEPS_TO_29, RunLengths, degrade
from campaigns.design.errors import DesignError
from campaigns.design.seeds import generator
from campaigns.design.words import Unit, segment
from evalsite.lib.clusters import split_clusters

seeds = st.integers(0, 2**40)
tables = st.sampled_from([STEPS_TO_20, STEPS_TO_29])
latin_words = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=6)
spaces = st.sampled_from([" ", "  ", "\n", "\u00a0", "\u3000"])
CLUSTERS = ["什", "么", "か\u3099", "น้ำ", "ขี้", "ខ្មែ", "မြ", "葛\U000e0100", "？", "👩\u200d🚀", "𠮷"]


@st.composite
def spaced_texts(draw, min_words=1, max_words=40):
    words = draw(st.lists(latin_words, min_size=min_words, max_size=max_words))
    gaps = draw(st.lists(spaces, min_size=len(words), max_size=len(words)))
    return "".join(word + gap for word, gap in zip(words, gaps, strict=True))


def new_words(n, prefix="new"):
    return " ".join(f"{prefix}{k}" for k in range(n))


def code_of(text, *donors, lengths=STEPS_TO_20):
    with pytest.raises(DesignError) as refused:
        degrade(text, donors[0], generator(0), lengths, further_donors=donors[1:])
    return refused.value.code


# --- Length of the run


@pytest.mark.parametrize(
    ("key", "table"),
    [("replacement_length_mrc_qg", STEPS_TO_20), ("replacement_length_dialogue", STEPS_TO_29)],
)
def test_run_lengths_are_the_published_ones(shared_data, key, table):
    published = json.loads((shared_data / "published_tables.json").read_text())["unit_fixtures"][key]["values"]
    assert len(published) > 30
    assert {n: table.length(int(n)) for n in published} == published


@pytest.mark.parametrize(("table", "last"), [(STEPS_TO_20, 20), (STEPS_TO_29, 29)])
def test_every_length_up_to_a_hundred_words_is_that_of_the_method(table, last):
    expected = [0, 1, 1, 1, 2, 2, 3, 3, 3, *[4] * 7, *[5] * (last - 15), *[n // 5 for n in range(last + 1, 101)]]
    assert [table.length(n) for n in range(1, 101)] == expected[1:]
    assert [table.length(n, Unit.CLUSTER) for n in range(1, 101)] == [2 * k for k in expected[1:]]


# --- The published example


def test_the_published_example_is_one_of_all_the_degraded_texts_that_there_are(shared_data):
    example = json.loads((shared_data / "published_tables.json").read_text())["mrc"]["figure_3_3_degradation_example"]
    original, donor = example["original"], example["sample"]
    drawn = [degrade(original, donor, generator(seed), STEPS_TO_20) for seed in range(2000)]
    assert len(original.split()) == example["total_length"] and STEPS_TO_20.length(10) == example["k"]
    assert example["bad_ref"] in drawn
    counts = np.unique(drawn, return_counts=True)[1]
    # 10 − 2 − 4 + 1 starts in the text, 9 − 2 − 4 + 1 in the donor, all equally likely: 100 of each expected
    assert counts.size == 5 * 4
    assert ((counts - 100) ** 2 / 100).sum() < 43.8  # χ², 19 degrees of freedom, p = 0.001


# --- What holds of every degraded text


@given(spaced_texts(), seeds, tables)
def test_one_run_of_the_right_length_changes_and_nothing_else(text, seed, lengths):
    n = len(text.split())
    length = lengths.length(n)
    degraded = degrade(text, new_words(60, "☆"), generator(seed), lengths)
    before, after = segment(text, Unit.WORD), segment(degraded, Unit.WORD)
    changed = [k for k in range(n) if "☆" in after.units[k]]
    assert after.gaps == before.gaps
    assert len(changed) == length and changed == list(range(changed[0], changed[0] + length))
    assert all(before.units[k] == after.units[k] for k in range(n) if k not in changed)
    taken = [int(after.units[k][1:]) for k in changed]
    assert taken == list(range(taken[0], taken[0] + length))
    if n > 2:
        assert 0 not in changed and n - 1 not in changed
        assert lengths is STEPS_TO_29 or not {0, 59} & set(taken)


@given(spaced_texts(), spaced_texts(max_words=12), seeds, tables)
def test_a_degraded_text_differs_or_is_refused(text, donor, seed, lengths):
    try:
        degraded = degrade(text, donor, generator(seed), lengths)
    except DesignError as refused:
        assert refused.code in ("donor_too_short", "degraded_equals_original")
    else:
        assert degraded != text and len(degraded.split()) == len(text.split())


@given(spaced_texts(), seeds)
def test_the_same_generator_gives_the_same_text(text, seed):
    first, second = (degrade(text, new_words(60, "☆"), generator(seed, 3, 7), STEPS_TO_20) for _ in range(2))
    assert first == second


@given(st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=60), seeds, tables)
def test_clusters_are_never_torn_and_the_run_is_doubled(clusters, seed, lengths):
    degraded = degrade("".join(clusters), "字" * 80, generator(seed), lengths, unit=Unit.CLUSTER)
    after = split_clusters(degraded)
    n = len(clusters)
    changed = [k for k in range(n) if after[k] != clusters[k]]
    room = n - 2 if n > 2 else n
    assert len(after) == n
    assert len(changed) == min(2 * lengths.length(n), room)
    assert changed == list(range(changed[0], changed[0] + len(changed)))
    assert n <= 2 or (changed[0] > 0 and changed[-1] < n - 1)


def test_a_text_without_spaces_is_degraded_by_clusters_of_itself():
    text, donor = "她在公园里看书，然后回家吃饭。", "昨天我们一起去了北京的故宫博物院参观"
    degraded = degrade(text, donor, generator(4), STEPS_TO_20)
    assert len(degraded) == len(text) == 15
    assert sum(a != b for a, b in zip(text, degraded, strict=True)) in (7, 8)
    assert degraded[0] == "她" and degraded[-1] == "。"


@given(seeds)
def test_a_text_of_one_or_two_words_may_lose_any_and_take_any(seed):
    assert degrade("yes", "no", generator(seed), STEPS_TO_20) == "no"
    assert degrade("in Rome", "at home", generator(seed), STEPS_TO_20) in (
        "at Rome",
        "home Rome",
        "in at",
        "in home",
    )


def test_every_place_of_a_short_text_is_drawn():
    drawn = {degrade("in Rome", "at home", generator(seed), STEPS_TO_20) for seed in range(200)}
    assert drawn == {"at Rome", "home Rome", "in at", "in home"}


# --- Donors


def all_of(text, *donors, lengths=STEPS_TO_20):
    return {degrade(text, donors[0], generator(seed), lengths, further_donors=donors[1:]) for seed in range(200)}


def test_the_first_and_last_word_of_a_donor_are_left_out():
    assert all_of("one two three", "a b c d") == {"one b three", "one c three"}
    assert all_of("one two three", "a b c") == {"one b three"}
    assert all_of("o1 o2 o3 o4 o5", "a b c d e") == {
        *("o1 b c o4 o5", "o1 c d o4 o5", "o1 o2 b c o5", "o1 o2 c d o5"),
    }


def test_a_donor_of_one_or_two_words_gives_them_to_any_text():
    assert all_of("one two three", "a") == {"one a three"}
    assert all_of("one two three", "a b") == {"one a three", "one b three"}
    assert all_of("o1 o2 o3 o4 o5", "a b") == {"o1 a b o4 o5", "o1 o2 a b o5"}
    assert all_of("你好吗", "天气", lengths=STEPS_TO_20) == {"你天吗", "你气吗"}


def test_a_text_of_one_or_two_words_takes_any_of_a_longer_donor():
    assert all_of("yes", "a b c") == {"a", "b", "c"}
    assert all_of("in Rome", "a b c") == {f"{word} Rome" for word in "abc"} | {f"in {word}" for word in "abc"}


def test_in_dialogue_only_the_edges_of_the_replaced_text_are_left_out():
    assert all_of("one two three", "a b c", lengths=STEPS_TO_29) == {f"one {word} three" for word in "abc"}
    assert all_of("o1 o2 o3 o4", "a b", lengths=STEPS_TO_29) == {"o1 a b o4"}
    assert degrade(new_words(10, "old"), "a b c d", generator(0), STEPS_TO_29).count("old") == 6


@pytest.mark.parametrize("n", range(1, 9))
def test_near_the_length_of_the_run_a_text_has_room_and_a_donor_enough(n):
    text, length = new_words(n, "old"), STEPS_TO_20.length(n)
    edges = 2 if n > 2 and length > 0 else 0
    assert degrade(text, new_words(length + edges), generator(n), STEPS_TO_20).count("new") == length
    if length + edges - 1 > 2:
        assert code_of(text, new_words(length + edges - 1)) == "donor_too_short"


def test_several_donors_of_which_some_are_short_give_what_each_may():
    assert all_of("o1 o2 o3 o4 o5 o6 o7", "a b", "c d e") == {
        *("o1 a b d o5 o6 o7", "o1 o2 a b d o6 o7", "o1 o2 o3 a b d o7"),
    }


def test_a_donor_that_is_too_short_is_passed_over():
    degraded = degrade(new_words(10, "old"), "far too short", generator(1), STEPS_TO_20, further_donors=[new_words(9)])
    assert degraded.count("new") == 4 and "too" not in degraded


def test_a_run_is_made_of_several_donors_where_each_is_too_short():
    donors = ["a b1 b2 c", "d e1 f", "g h1 h2 i"]
    degraded = degrade(new_words(9, "old"), donors[0], generator(1), STEPS_TO_20, further_donors=donors[1:])
    assert re.search(r"b1 b2 e1 h1|b2 e1 h1 h2", degraded)


def test_a_donor_that_gives_nothing_new_is_passed_over():
    text = "The cat sat on the mat"
    degraded = degrade(text, text.upper(), generator(0), RunLengths(((99, 4),)), further_donors=["a b c d e f"])
    assert degraded == "The b c d e mat"


@given(seeds)
def test_another_place_is_tried_where_the_first_gives_nothing_new(seed):
    assert degrade("a b b b b z", "a b b b c z", generator(seed), STEPS_TO_20) != "a b b b b z"
    assert degrade("a b b b c z", "a b b b b z", generator(seed), STEPS_TO_20) != "a b b b c z"


@pytest.mark.parametrize(
    ("text", "donor", "code"),
    [
        ("", "a b c", "text_without_words"),
        (" \n\u3000", "a b c", "text_without_words"),
        ("one two three", "", "donor_too_short"),
        ("one", " ", "donor_too_short"),
        (new_words(10), "a b c d e", "donor_too_short"),
        ("什么时候开始", "昨天", "donor_too_short"),
        ("a b a", "c b d", "degraded_equals_original"),
        ("Paris.", "“paris”", "degraded_equals_original"),
        ("?", "?", "degraded_equals_original"),
        ("caf\u00e9", "cafe\u0301", "degraded_equals_original"),
        (new_words(30, ""), new_words(30, ""), None),
    ],
)
def test_what_cannot_be_degraded_is_refused_with_the_reason(text, donor, code):
    if code is None:
        assert degrade(text, donor, generator(0), STEPS_TO_20) != text
    else:
        assert code_of(text, donor) == code


def test_the_refusal_has_the_numbers():
    with pytest.raises(DesignError, match=r"4 words .* have 3 "):
        degrade(new_words(10), "a b c d e", generator(0), STEPS_TO_20)


def test_punctuation_alone_is_still_a_text():
    assert degrade("?", "!", generator(0), STEPS_TO_20) == "!"
    assert unicodedata.normalize("NFC", degrade("🙂", "🙁", generator(0), STEPS_TO_20)) == "🙁"


# --- Real texts


def test_real_questions_are_degraded_by_other_passages(shared_data):
    lines = (shared_data / "qg-outputs" / "qg.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    for k, row in enumerate(rows):
        donor = rows[(k + 1) % len(rows)]["passage"]
        for number, question in enumerate(row["outputs"].values()):
            degraded = degrade(question, donor, generator(1, k, number), STEPS_TO_20).split()
            words = question.split()
            n_changed = sum(a != b for a, b in zip(words, degraded, strict=True))
            assert 1 <= n_changed <= STEPS_TO_20.length(len(words))
            assert len(words) < 3 or (words[0], words[-1]) == (degraded[0], degraded[-1])
