"""The degraded chatbot: replies of the file, a run of their words replaced as METHOD §1 says, whatever is said."""

from pathlib import Path

import pytest

from campaigns.connectors.degraded.plugin import Degraded
from campaigns.contracts.connector import ConnectorError, Request, Setup
from campaigns.dialogues import read_dialogues
from tests.campaigns.connectors.dialogue_files import EXAMPLE, INPUTS, chat_with, said, write_dialogues

# Words of a reply, and how many of them are replaced: METHOD §1, dialogue (Ji et al. 2022, App. A.1)
TABLE = {
    3: 1, 4: 2, 5: 2, 6: 3, 7: 3, 8: 3, 9: 4, 12: 4, 15: 4, 16: 5, 20: 5, 21: 5, 24: 5, 29: 5, 30: 6, 34: 6, 35: 7,
    50: 10, 100: 20,
}  # fmt: skip


def degraded(path: Path) -> Degraded:
    return Degraded(Setup(settings={}, dialogues=path))


def words(letter: str, n: int) -> str:
    return " ".join(f"{letter}{number}" for number in range(n))


def turns_after(n_replies: int) -> tuple[str, ...]:
    """Return a chat that has `n_replies` already, whatever was said."""
    return tuple(f"text {number}" for number in range(2 * n_replies + 1))


@pytest.mark.parametrize(("n", "n_replaced"), TABLE.items())
def test_as_many_words_are_replaced_as_the_table_says(tmp_path: Path, n: int, n_replaced: int) -> None:
    """Of two dialogues with one reply each, both of n words, either is the donor of the other."""
    path = write_dialogues(tmp_path / "d.jsonl", ["Hi", words("a", n)], ["Hello", words("b", n)])
    for seed in range(12):
        text = degraded(path).reply(Request("chat", said("Hi"), seed=seed)).text.split()
        own, other = ("a", "b") if text[0] == "a0" else ("b", "a")
        replaced = [place for place, word in enumerate(text) if word != f"{own}{place}"]
        taken = [int(text[place].removeprefix(other)) for place in replaced]
        assert len(text) == n
        assert replaced == list(range(replaced[0], replaced[0] + n_replaced))
        assert taken == list(range(taken[0], taken[0] + n_replaced))
        assert not {0, n - 1} & {*replaced}


@pytest.mark.parametrize(
    ("n", "possible"),
    [(1, {"a0", "b0"}), (2, {"b0 a1", "b1 a1", "a0 b0", "a0 b1", "a1 b1", "b0 a0"})],
)
def test_of_one_or_two_words_any_one_is_replaced(tmp_path: Path, n: int, possible: set[str]) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", ["Hi", words("a", n)], ["Hello", words("b", n)])
    assert {degraded(path).reply(Request("chat", said("Hi"), seed=seed)).text for seed in range(60)} == possible


def test_it_says_the_same_whatever_the_worker_says() -> None:
    chatbot = degraded(EXAMPLE)
    first = chat_with(chatbot, INPUTS, seed=3, topic="music", persona=["I sing."])
    assert chat_with(chatbot, ["Something else"] * len(INPUTS), seed=3) == first
    assert chat_with(chatbot, INPUTS, seed=4) != first


def test_seed_and_number_of_turns_determine_a_reply() -> None:
    whole = chat_with(degraded(EXAMPLE), ["Hi"] * 6, seed=5)
    for number, reply in enumerate(whole):
        request = Request("another chat", said(*turns_after(number)), seed=5)
        assert degraded(EXAMPLE).reply(request).text == reply


def test_a_hundred_replies_are_all_different_and_have_a_few_words() -> None:
    replies = chat_with(degraded(EXAMPLE), ["Hi"] * 100)
    assert len(set(replies)) == 100
    assert min(len(reply.split()) for reply in replies) >= 4


def test_replies_start_and_end_as_replies_of_the_file_and_are_none_of_them() -> None:
    file = read_dialogues(EXAMPLE)
    replies = {file.texts[place] for place in file.replies}
    ends = {(reply.split()[0], reply.split()[-1]) for reply in replies}
    for text in chat_with(degraded(EXAMPLE), ["Hi"] * 50):
        assert (text.split()[0], text.split()[-1]) in ends
        assert text not in replies


def test_a_small_file_gives_every_reply_before_one_comes_again(tmp_path: Path) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", *(["Hi", words(letter, 8)] for letter in "abcde"))
    for seed in range(5):
        replies = chat_with(degraded(path), ["Hi"] * 10, seed=seed)
        assert sorted(reply[0] for reply in replies[:5]) == list("abcde")
        assert len(set(replies)) == 10


def test_the_same_text_in_many_dialogues_counts_once(tmp_path: Path) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", *(["Hi", words("a", 8)] for _ in range(20)), ["Hi", words("b", 8)])
    for seed in range(5):
        assert {reply[0] for reply in chat_with(degraded(path), ["Hi"] * 2, seed=seed)} == {"a", "b"}


def test_first_turns_are_no_replies(tmp_path: Path) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", [words("x", 9), words("a", 9)], [words("y", 9), words("b", 9)])
    text = " ".join(chat_with(degraded(path), ["Hi"] * 6))
    assert "x" not in text
    assert "y" not in text


def test_replies_longer_than_wanted_are_left_out(tmp_path: Path) -> None:
    short = ["one two three four five", "six seven eight nine ten"]
    path = write_dialogues(
        tmp_path / "d.jsonl", *(["Hi", text] for text in (*short, words("long", 60), words("x", 60)))
    )
    for number in range(8):
        reply = degraded(path).reply(Request("chat", said(*turns_after(number)), max_chars=40)).text
        assert reply.split()[0] in ("one", "six")


def test_languages_without_spaces_are_degraded_by_clusters(tmp_path: Path) -> None:
    own, other = "我很喜欢在山里散步也喜欢看书", "她昨天晚上做了一顿美味的晚饭"
    path = write_dialogues(tmp_path / "d.jsonl", ["你好", own], ["你好", other])
    text = degraded(path).reply(Request("chat", said("你好"))).text
    whole = own if text[0] == own[0] else other
    assert len(text) == len(whole) == 14
    assert sum(a != b for a, b in zip(text, whole, strict=True)) == 8  # 9 to 15 units: 4, doubled


@pytest.mark.parametrize(
    "dialogues",
    [
        [["Hi", words("a", 8), words("b", 8)]],  # no other dialogue
        [["Hi", "a a a a a"], ["Hi", "A a, a a a"]],  # no other words
    ],
)
def test_a_file_that_gives_no_other_words_is_misconfigured(tmp_path: Path, dialogues: list[list[str]]) -> None:
    path = write_dialogues(tmp_path / "d.jsonl", *dialogues)
    with pytest.raises(ConnectorError) as caught:
        degraded(path).reply(Request("chat", said("Hi")))
    assert (caught.value.code, caught.value.is_passing) == ("misconfigured", False)


def test_without_a_file_it_is_misconfigured() -> None:
    with pytest.raises(ConnectorError) as caught:
        Degraded(Setup(settings={})).reply(Request("chat", said("Hi")))
    assert caught.value.code == "misconfigured"
