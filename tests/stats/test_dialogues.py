"""What chats are like, against plain loops."""

import math
from fractions import Fraction
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.dialogues import Dialogues, Inputs, Opinion, count_letters, describe_dialogues, quartiles

NAN = math.nan


def dialogues_of(chats, worker, seconds=None, singles=None) -> Dialogues:
    """Return dialogues of chats: assignment, is degraded, opinion, inputs, words, characters, changes."""
    columns = list(zip(*chats, strict=True)) if chats else [()] * 8
    inputs, words, characters, by_chatbot, by_worker = (np.array(column, np.float64) for column in columns[3:])
    return Dialogues(
        assignment=np.array(columns[0], np.int64),
        is_degraded=np.array(columns[1], bool),
        opinion=np.array(columns[2], np.int64),
        n_inputs=inputs,
        n_words=words,
        n_characters=characters,
        changes_by_chatbot=by_chatbot,
        changes_by_worker=by_worker,
        worker=np.array(worker, np.int64),
        seconds=np.full(len(worker), NAN) if seconds is None else np.array(seconds, np.float64),
        inputs=singles,
    )


def with_inputs(n_words) -> tuple[list[tuple], Inputs]:
    """Return chats of whose inputs the words are given, five characters each, and these inputs."""
    chats = [(0, False, LIKE, len(each), sum(each), 5 * sum(each), 0, 0) for each in n_words]
    place = np.repeat(np.arange(len(n_words)), [len(each) for each in n_words])
    words = np.array([n for each in n_words for n in each], np.float64)
    return chats, Inputs(place, words, 5 * words)


def describe(chats, worker, seconds=None, members=None):
    n_workers = max(worker, default=-1) + 1
    is_member = np.ones(n_workers, bool) if members is None else np.isin(np.arange(n_workers), members)
    return describe_dialogues(dialogues_of(chats, worker, seconds), is_member)


LIKE, AMBIVALENT, DISLIKE = Opinion
A_CHAT = (0, False, LIKE, 10, 63, 249, 1, 0)
DEGRADED = (0, True, DISLIKE, 12, 99, 999, 5, 5)


def test_without_chats_nothing_is_defined():
    found = describe([], [])
    assert (found.n_workers, found.n_assignments, found.n_chats, found.n_ordinary) == (0, 0, 0, 0)
    assert found.opinions.tolist() == [0, 0, 0]
    assert found.words.n == 0
    undefined = [found.minutes_per_chat, found.assignments_per_worker, found.words.median, found.changes_by_chatbot]
    assert np.isnan([*undefined, found.share_changed]).all()


def test_one_chat_is_its_own_median():
    found = describe([A_CHAT], [0], [391.8])
    assert (found.words.low, found.words.median, found.words.high) == (63, 63, 63)
    assert found.words_per_input.median == pytest.approx(6.3)
    assert found.characters_per_input.median == pytest.approx(24.9)
    assert found.minutes_per_chat == pytest.approx(6.53)
    assert (found.changes_by_chatbot, found.changes_by_worker, found.share_changed) == (1, 0, 1)


def test_the_degraded_chatbot_counts_for_opinions_and_time_and_not_for_lengths():
    found = describe([A_CHAT, DEGRADED], [0], [120.0])
    assert (found.n_chats, found.n_ordinary) == (2, 1)
    assert found.opinions.tolist() == [1, 0, 1]
    assert found.minutes_per_chat == 1
    assert (found.words.median, found.changes_by_worker) == (63, 0)


def test_only_members_are_described():
    chats = [A_CHAT, (1, False, AMBIVALENT, 10, 10, 20, 0, 0), (2, False, DISLIKE, 10, 30, 60, 0, 0)]
    found = describe(chats, [0, 1, 1], [60, 120, 180], members=[1])
    assert (found.n_workers, found.n_assignments, found.n_chats) == (1, 2, 2)
    assert found.opinions.tolist() == [0, 1, 1]
    assert (found.words.median, found.minutes_per_chat, found.assignments_per_worker) == (20, 2.5, 2)


def test_a_chat_without_input_has_no_mean_per_input():
    found = describe([(0, False, LIKE, 0, 0, 0, 0, 0), A_CHAT], [0])
    assert (found.inputs.n, found.words.n, found.words_per_input.n) == (2, 2, 1)
    assert found.words.median == 31.5


def test_lengths_per_input_are_of_single_inputs_where_they_are_known():
    n_words = [[1, 1, 1, 1, 1, 1, 1], [8], [9, 9]]
    chats, inputs = with_inputs(n_words)
    single = describe_dialogues(dialogues_of(chats, [0], singles=inputs), np.array([True]))
    of_means = describe(chats, [0])
    everything = [n for each in n_words for n in each]
    assert (single.words_per_input.median, of_means.words_per_input.median) == (median(everything), 8)
    assert (single.words_per_input.n, of_means.words_per_input.n) == (10, 3)
    assert single.words_per_input.mean == of_means.words_per_input.mean == mean(everything) == 3.3
    assert single.characters_per_input.median == 5
    assert single.characters_per_input.mean == of_means.characters_per_input.mean == pytest.approx(16.5)
    assert (single.words.median, single.words.mean) == (8, 11)


def test_single_inputs_are_those_of_members_and_of_ordinary_chatbots():
    chats, inputs = with_inputs([[1, 2], [30], [5, 5, 5]])
    chats[1] = (0, True, *chats[1][2:])
    chats[2] = (1, *chats[2][1:])
    found = describe_dialogues(dialogues_of(chats, [0, 1], singles=inputs), np.array([True, False]))
    assert (found.words_per_input.n, found.words_per_input.mean) == (2, 1.5)
    nobody = describe_dialogues(dialogues_of(chats, [0, 1], singles=inputs), np.array([False, False]))
    assert nobody.words_per_input.n == 0
    assert math.isnan(nobody.words_per_input.mean)


def test_what_is_not_known_is_left_out():
    found = describe([(0, False, -1, NAN, NAN, NAN, NAN, NAN), A_CHAT], [0])
    assert found.opinions.sum() == 1
    assert (found.n_ordinary, found.words.n, found.share_changed) == (2, 1, 1)


def test_time_is_only_that_of_chats_whose_time_is_known():
    chats = [(0, False, LIKE, 10, 10, 10, 0, 0)] * 2 + [(1, False, LIKE, 10, 10, 10, 0, 0)]
    assert describe(chats, [0, 0, 0], [600.0, NAN, 999.0]).minutes_per_chat == 5  # the last has no chat


def test_letters_are_characters_without_spaces():
    texts = [["I like tea", "ok"], ["Ça va ?"], ["a"]]
    n_words = [sum(len(text.split()) for text in chat) for chat in texts]
    n_characters = [sum(map(len, chat)) for chat in texts]
    found = count_letters(*(np.array(n, np.float64) for n in (n_characters, n_words, [len(chat) for chat in texts])))
    assert found.tolist() == [sum(len("".join(text.split())) for text in chat) for chat in texts]
    assert np.isnan(count_letters(np.array([5.0]), np.array([NAN]), np.array([1.0]))).all()


def test_quartiles_are_linear_between_two_values():
    assert quartiles(np.array([1.0, 2.0, 3.0, 4.0])) == quartiles(np.array([4.0, NAN, 3.0, 2.0, 1.0]))
    found = quartiles(np.array([1.0, 2.0, 3.0, 4.0]))
    assert (found.n, found.low, found.median, found.high, found.mean) == (4, 1.75, 2.5, 3.25, 2.5)


numbers = st.integers(0, 40)
chats = st.tuples(st.integers(0, 3), st.booleans(), st.integers(-1, 2), *[numbers] * 5)
seconds = st.lists(st.one_of(st.just(NAN), st.floats(0, 9000)), min_size=4, max_size=4)


@given(st.lists(chats, max_size=9), seconds)
def test_against_plain_loops(rows, seconds):
    worker, members = [0, 0, 1, 2], [0, 1]
    found = describe(rows, worker, seconds, members)
    own = [row for row in rows if worker[row[0]] in members]
    ordinary = [row for row in own if not row[1]]
    assert (found.n_workers, found.n_assignments, found.n_chats, found.n_ordinary) == (2, 3, len(own), len(ordinary))
    assert found.opinions.tolist() == [sum(row[2] == opinion for row in own) for opinion in Opinion]
    per_input = [row[4] / row[3] for row in ordinary if row[3]]
    for value, expected in (
        (found.words.median, [row[4] for row in ordinary]),
        (found.characters.median, [row[5] for row in ordinary]),
        (found.words_per_input.median, per_input),
    ):
        assert value == pytest.approx(median(expected)) if expected else math.isnan(value)
    for value, expected in (
        (found.changes_by_chatbot, [row[6] for row in ordinary]),
        (found.changes_by_worker, [row[7] for row in ordinary]),
        (found.share_changed, [row[6] + row[7] > 0 for row in ordinary]),
    ):
        assert value == pytest.approx(mean(expected)) if expected else math.isnan(value)
    n_inputs = sum(row[3] for row in ordinary)
    if n_inputs:
        n_words = sum(row[4] for row in ordinary if row[3])
        assert found.words_per_input.mean == pytest.approx(n_words / n_inputs)
    timed = {row[0] for row in own if not math.isnan(seconds[row[0]])}
    n_timed = sum(row[0] in timed for row in own)
    if n_timed:
        total = sum((Fraction(seconds[assignment]) for assignment in timed), Fraction())
        assert found.minutes_per_chat == pytest.approx(float(total / 60 / n_timed))
    else:
        assert math.isnan(found.minutes_per_chat)


@given(st.lists(chats, min_size=1, max_size=9), seconds, st.randoms())
def test_the_order_of_chats_and_assignments_changes_no_bit(rows, seconds, random):
    worker, places = [0, 0, 1, 2], [0, 1, 2, 3]
    random.shuffle(places)  # the assignment at place k was at places[k]
    moved = [(places.index(row[0]), *row[1:]) for row in random.sample(rows, len(rows))]
    one = describe(rows, worker, seconds)
    other = describe(moved, [worker[k] for k in places], [seconds[k] for k in places])
    np.testing.assert_equal(vars(one), vars(other))
