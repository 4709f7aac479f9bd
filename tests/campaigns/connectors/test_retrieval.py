"""Retrieval: the reply to the most similar turn, no reply twice, the same for the same chat."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from campaigns.connectors.retrieval.index import Index, Vectors, index_of, terms_of
from campaigns.connectors.retrieval.plugin import Retrieval
from campaigns.contracts.connector import ConnectorError, Request, Setup
from campaigns.dialogues import read_dialogues
from evalsite.lib.errors import DomainError
from tests.campaigns.connectors.dialogue_files import EXAMPLE, INPUTS, chat_with, said, write_dialogues


def retrieval(path: Path, **settings: object) -> Retrieval:
    return Retrieval(Setup(settings=settings, dialogues=path))


def answer(chatbot: Retrieval, *texts: str, seed: int = 1, **request: object) -> str:
    return chatbot.reply(Request("chat", said(*texts), seed=seed, **request)).text  # type: ignore[arg-type]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_dialogues(
        tmp_path / "small.jsonl",
        ["Do you like music?", "I play the violin.", "How long have you played?", "Ten years."],
        ["Do you have a dog?", "Yes, a small one.", "What is its name?", "Rex."],
        ["What do you eat in the morning?", "Porridge with honey."],
    )


def test_it_answers_with_what_followed_the_most_similar_turn(small: Path) -> None:
    chatbot = retrieval(small)
    assert answer(chatbot, "Do you like music too?") == "I play the violin."
    assert answer(chatbot, "Have you got dogs?") == "Yes, a small one."
    assert answer(chatbot, "WHAT DO YOU EAT?") == "Porridge with honey."


def test_the_last_turn_of_a_dialogue_answers_but_is_not_answered(small: Path) -> None:
    assert answer(retrieval(small), "How long?") == "Ten years."
    index = index_of(small)
    assert np.flatnonzero(~index.has_reply).tolist() == [3, 7, 9]
    for seed in range(20):
        assert answer(retrieval(small), "Ten years.", seed=seed) in index.texts


def test_what_was_said_before_decides_between_equal_turns(tmp_path: Path) -> None:
    path = write_dialogues(
        tmp_path / "d.jsonl",
        ["Any hobbies?", "Chess.", "Why?", "It calms me."],
        ["Any pets?", "A cat.", "Why?", "She purrs."],
    )
    assert answer(retrieval(path), "Any pets at home?", "A cat.", "Why?") == "She purrs."
    assert answer(retrieval(path), "Any hobbies then?", "Chess.", "Why?") == "It calms me."


def test_topic_and_persona_decide_between_equal_turns(tmp_path: Path) -> None:
    turns = [["What do you do?", "I bake bread."], ["What do you do?", "I teach children."]]
    path = write_dialogues(tmp_path / "d.jsonl", *turns)
    assert answer(retrieval(path), "What do you do?", persona=("My job: to bake.",)) == "I bake bread."
    assert answer(retrieval(path), "What do you do?", persona=("The children come at eight.",)) == "I teach children."
    assert answer(retrieval(path), "What do you do?", topic="children") == "I teach children."
    of_dialogue = [{"turns": texts, "topic": topic} for texts, topic in zip(turns, ("food", "school"), strict=True)]
    path = write_dialogues(tmp_path / "t.jsonl", *of_dialogue)
    assert answer(retrieval(path), "What do you do?", topic="food") == "I bake bread."
    assert answer(retrieval(path), "What do you do?", topic="school") == "I teach children."


def test_no_reply_comes_twice_as_long_as_there_are_others(tmp_path: Path) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", *([f"Hello {n}", f"Reply {n % 6}"] for n in range(12)))
    replies = chat_with(retrieval(path), ["Hello"] * 9)
    assert len(set(replies[:6])) == 6
    assert set(replies[6:]) <= set(replies[:6])


def test_a_reply_that_was_cut_does_not_come_again(tmp_path: Path) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", ["Hello", "A very long story."], ["Hello", "A very short one."])
    first = retrieval(path).reply(Request("c", said("Hello"), max_chars=11)).text[:11]
    again = retrieval(path).reply(Request("c", said("Hello", first, "Hello"), max_chars=11)).text[:11]
    assert {first, again} == {"A very long", "A very shor"}


def test_it_does_not_say_what_the_worker_just_said(tmp_path: Path) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", ["How are you?", "How are you?"], ["How are you all?", "Fine."])
    assert answer(retrieval(path), "How are you?") == "Fine."


def test_the_same_chat_gets_the_same_replies_and_another_seed_others() -> None:
    first, again, other = (chat_with(retrieval(EXAMPLE, n_candidates=8), seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_candidates_are_drawn_from_the_best(tmp_path: Path) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", *([f"red {'blue ' * n}", f"Reply {n}"] for n in range(6)))
    drawn = {answer(retrieval(path, n_candidates=3), "red", seed=seed) for seed in range(60)}
    assert drawn == {"Reply 0", "Reply 1", "Reply 2"}
    assert {answer(retrieval(path), "red", seed=seed) for seed in range(20)} == {"Reply 0"}


def test_an_input_like_no_turn_is_answered_by_chance(small: Path) -> None:
    assert len({answer(retrieval(small), "zzz qqq", seed=seed) for seed in range(40)}) > 3
    near = "music music of the sea and the wind and rain"
    assert {answer(retrieval(small, min_similarity=1), near, seed=seed) for seed in range(20)} == {"I play the violin."}
    assert len({answer(retrieval(small, min_similarity=90), near, seed=seed) for seed in range(40)}) > 3


@pytest.mark.parametrize(
    ("turns", "asked", "reply"),
    [
        ([["你喜欢音乐吗？", "我拉小提琴。"], ["你有狗吗？", "有一只小狗。"]], "你喜欢什么音乐？", "我拉小提琴。"),
        (
            [["音楽は好きですか。", "はい。"], ["犬を飼っていますか。", "いいえ。"]],
            "犬は好き？飼っていますか",
            "いいえ。",
        ),
        ([["Tu aimes la musique ?", "Oui."], ["Tu as un chien ?", "Non."]], "As-tu des chiens ?", "Non."),
        ([["Ты любишь музыку?", "Да."], ["У тебя есть собака?", "Нет."]], "есть ли СОБАКА у тебя", "Нет."),
        ([["هل تحب الموسيقى؟", "نعم."], ["هل لديك كلب؟", "لا."]], "كلب؟", "لا."),
    ],
)
def test_any_language_is_compared(tmp_path: Path, turns: list[list[str]], asked: str, reply: str) -> None:
    assert answer(retrieval(write_dialogues(tmp_path / "d.jsonl", *turns)), asked) == reply


def test_an_input_of_signs_only_gets_a_reply(small: Path) -> None:
    assert answer(retrieval(small), "?! 👍") in index_of(small).texts


@pytest.mark.parametrize(
    "settings",
    [
        {"n_candidates": 0},
        {"n_candidates": "many"},
        {"n_candidates": True},
        {"min_similarity": 101},
        {"min_similarity": 1.5},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(DomainError) as caught:
        Retrieval.options.check(settings)
    assert caught.value.code == "bad_option"


def test_settings_left_empty_are_the_defaults() -> None:
    defaults, empty = Retrieval.options.defaults(), {"n_candidates": None, "min_similarity": ""}
    assert {name: Retrieval.options.value_of(empty, name) for name in empty} == defaults
    assert {name: Retrieval.options.value_of({}, name) for name in empty} == defaults


def test_without_a_file_it_is_misconfigured() -> None:
    with pytest.raises(ConnectorError) as caught:
        Retrieval(Setup(settings={})).reply(Request("chat", said("Hi")))
    assert (caught.value.code, caught.value.is_passing) == ("misconfigured", False)


def test_similarities_are_cosines_of_weighted_term_counts() -> None:
    """Against the formula, term by term."""
    texts = ["a dog and a cat", "the cat sleeps", "dogs bark", "..."]
    counts = [Counter(terms_of(text)) for text in texts]
    document = Counter(term for count in counts for term in count)

    def vector(count: Counter[str]) -> dict[str, float]:
        weight = {
            term: (1 + np.log(tf))
            * np.log(5 / document.get(term, 1))
            * (0.5 if " " in term and term in document else 1)
            for term, tf in count.items()
        }
        length = np.sqrt(sum(value**2 for value in weight.values())) or 1.0
        return {term: value / length for term, value in weight.items()}

    vectors, asked = [vector(count) for count in counts], vector(Counter(terms_of("a cat and dogs")))
    expected = [sum(asked.get(term, 0.0) * value for term, value in each.items()) for each in vectors]
    assert Vectors(texts).similarities("a cat and dogs") == pytest.approx(expected, abs=1e-6)
    assert Vectors(texts).similarities(texts[0])[0] == pytest.approx(1.0, abs=1e-6)


def test_nothing_is_similar_to_nothing() -> None:
    assert Vectors([]).similarities("a").tolist() == []
    assert Vectors(["...", ""]).similarities("a").tolist() == [0.0, 0.0]
    assert Vectors(["a", "b"]).similarities("").tolist() == [0.0, 0.0]


def test_the_index_of_the_example_answers_every_turn_it_holds() -> None:
    index = Index(read_dialogues(EXAMPLE))
    for place in range(0, len(index.texts), 97):
        assert index.turns.similarities(index.texts[place])[place] == pytest.approx(1.0, abs=1e-5)


def test_a_chat_on_the_example_says_ten_different_things() -> None:
    replies = chat_with(retrieval(EXAMPLE), topic="cooking")
    assert len(set(replies)) == len(INPUTS)
