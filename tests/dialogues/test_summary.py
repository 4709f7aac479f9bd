"""The summary of chats: who counts where, and what is said of chats that do not fit the ratings."""

import json

import pytest

from analysis.data.dialogues.rows import Chat, Work, in_order
from analysis.data.dialogues.summary import N_TOPICS, N_WORDS, summarise_dialogues
from analysis.methods.study.dialogue import Dialogue, workers_in_words
from analysis.results.exports import dump_json, to_csv, to_latex
from analysis.results.result import Result
from analysis.results.sections import LIGHT

GROUP_OF = {"pia": "passed", "pam": "passed", "fay": "failed"}
SYSTEMS = {"A": False, "B": False, "zero": True}


def chat(worker: str, position: int = 1, **more) -> Chat:
    known = {"system": "A", "topic": "food", "opinion": "like", "n_inputs": 10, "n_words": 60, "n_characters": 300}
    return Chat(worker, f"{worker}-1", position, **(known | more))


EVERYONE = [chat("pia"), chat("pam"), chat("fay", opinion="dislike", topic="Rain", n_words=20)]


ON_TIME = [Work(worker, f"{worker}-1", 60.0) for worker in GROUP_OF]


def summary(chats, work=(), group_of=GROUP_OF):
    found = summarise_dialogues(in_order(chats, work), group_of, SYSTEMS)
    assert json.loads(dump_json(found)) == found  # no NaN
    return found


def test_passed_and_failed_are_apart_and_all_together() -> None:
    found = summary(EVERYONE)
    groups = found["groups"]
    assert [groups[name]["chats"] for name in ("passed", "failed", "all")] == [2, 1, 3]
    assert groups["failed"]["opinions"]["dislike"] == {"n": 1, "share": 1.0}
    words = groups["passed"]["lengths"]["words_per_chat"]
    assert words == {"n": 2, "low": 60, "median": 60, "high": 60, "mean": 60}
    assert found["topics"] == [
        {"topic": "food", "passed": 2, "failed": 0, "all": 2},
        {"topic": "rain", "passed": 0, "failed": 1, "all": 1},
    ]
    assert found["words"] == [{"word": "food", "n": 2}]
    assert found["notices"] == []


def test_without_a_worker_test_there_are_all_workers_only() -> None:
    trusted = dict.fromkeys(GROUP_OF, "")
    found = summarise_dialogues(in_order(EVERYONE, ON_TIME), trusted, SYSTEMS, is_tested=False)
    assert list(found["groups"]) == ["all"] and found["groups"]["all"]["chats"] == 3
    assert found["topics"][0] == {"topic": "food", "all": 2}
    assert {row["word"]: row["n"] for row in found["words"]} == {"food": 2, "rain": 1}
    assert sum(found["histogram"]["all"]) == 3
    assert found["notices"] == []
    sections = Dialogue().sections(Result(own={"summary": {"dialogues": found}}))
    tables = {table.name: table for section in sections for table in section.tables_shown}
    assert all(to_csv(table) and to_latex(table) for section in sections for table in section.tables)
    for figure in (figure for section in sections for figure in section.figures):
        figure.draw(LIGHT)
    assert [column.name for column in tables["topics"].columns] == ["Topic", "all"]
    assert workers_in_words(found) == "all workers"


@pytest.mark.parametrize("more", [{"system": "zero"}, {"kind": "degraded"}])
def test_the_degraded_chatbot_is_known_by_the_kind_or_by_the_ratings(more) -> None:
    groups = summary([*EVERYONE, chat("pia", 2, **more)])["groups"]
    assert (groups["passed"]["chats"], groups["passed"]["chats_not_degraded"]) == (3, 2)


def test_lengths_per_input_say_what_they_are_over() -> None:
    def lengths(*of_chats: tuple[int, ...], are_known: bool) -> tuple[str, dict[str, float]]:
        lists = [{"words_by_input": each, "chars_by_input": each} if are_known else {} for each in of_chats]
        sums = [{"n_inputs": len(each), "n_words": sum(each), "n_characters": sum(each)} for each in of_chats]
        chats = [chat("pia", k, **(known | more)) for k, (known, more) in enumerate(zip(sums, lists, strict=True))]
        found = summary(chats, group_of={"pia": "passed"})
        assert found["notices"] == []
        return found["per_input_over"], found["groups"]["passed"]["lengths"]["words_per_input"]

    chats = ((1, 1, 1, 1, 7), (8,), (9,))
    over, found = lengths(*chats, are_known=True)
    assert (over, found["n"], found["median"], found["mean"]) == ("inputs", 7, 1, 4)
    over, found = lengths(*chats, are_known=False)
    assert (over, found["n"], found["median"], found["mean"]) == ("chats", 3, 8, 4)


def test_whether_the_topic_was_sent_is_counted_without_the_degraded_chatbot() -> None:
    sent = [chat("pia", 2, topic_sent="yes"), chat("fay", 2, topic_sent="yes")]
    found = summary([*sent, chat("pia", 3, topic_sent="no", kind="degraded")])
    assert (found["topic_sent"], found["notices"]) == ({"yes": 2, "no": 0}, ["1 worker of the ratings without a chat."])
    assert summary(EVERYONE)["topic_sent"] == {"yes": 0, "no": 0}


def test_the_kind_of_a_chat_comes_before_what_the_ratings_say() -> None:
    assert summary([chat("pia", kind="ordinary", system="zero")])["groups"]["all"]["chats_not_degraded"] == 1


def test_without_chats_all_is_undefined() -> None:
    found = summary([])
    assert found["groups"]["all"]["opinions"]["like"] == {"n": 0, "share": None}
    assert found["groups"]["all"]["minutes_per_chat"] is None
    assert (found["topics"], found["words"], found["histogram"]["edges"], found["notices"]) == ([], [], [], [])


@pytest.mark.parametrize(
    ("chats", "work", "says"),
    [
        ([*EVERYONE, chat("bob")], [], "1 worker without ratings"),
        ([*EVERYONE, chat("ann")], [], "1 worker untested or excluded"),
        (EVERYONE[1:], [], "1 worker of the ratings without a chat"),
        (EVERYONE, [Work("pia", "pia-1", 60.0)], "2 chats of assignments whose time is not given"),
        (EVERYONE, [*ON_TIME, Work("pia", "x", 5.0)], "1 assignment without a chat"),
        ([*EVERYONE, chat("pia", 2, opinion="")], [], "1 chat without an opinion"),
        ([*EVERYONE, chat("pia", 2, topic="")], [], "1 chat without a topic"),
        (
            [*EVERYONE, chat("pia", 2, topic_sent="yes"), chat("pia", 3, topic_sent="no")],
            [],
            "The topic was sent to the chatbot in 1 chat, and not in 1.",
        ),
        ([*EVERYONE, chat("pia", 2, n_inputs=0, n_words=0, n_characters=0)], [], "1 chat without an input"),
        (
            [*EVERYONE, chat("pia", 2, n_inputs=1, n_words=2, words_by_input=(2,), chars_by_input=(9,))],
            [],
            "3 chats without the words of each input: quartiles per input are of each chat's mean.",
        ),
        ([*EVERYONE, chat("pia", 2, system="C")], [], "1 chat with a chatbot that is not in the ratings"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_reported(chats, work, says: str) -> None:
    (notice,) = summary(chats, work, GROUP_OF | ({"ann": ""} if "untested" in says else {}))["notices"]
    assert notice.startswith(says)
    assert not any(name in notice for name in ("pia", "pam", "fay", "bob", "ann"))


def test_whoever_neither_passed_nor_failed_is_among_all_only() -> None:
    groups = summary([*EVERYONE, chat("bob", topic="rain")])["groups"]
    assert [groups[name]["workers"] for name in ("passed", "failed", "all")] == [2, 1, 4]


def test_the_order_of_rows_changes_nothing() -> None:
    work = [Work(worker, f"{worker}-1", seconds) for worker, seconds in zip(GROUP_OF, (0.1, 0.2, 0.3), strict=True)]
    assert summary(EVERYONE, work) == summary(EVERYONE[::-1], work[::-1])


def test_of_many_topics_the_most_frequent_are_listed() -> None:
    chats = [chat("pia", k, topic=f"word{k:03}") for k in range(120)] + [chat("pia", 200, topic="WORD007")]
    found = summary(chats)
    assert (len(found["topics"]), len(found["words"]), found["n_topics"]) == (N_TOPICS, N_WORDS, 120)
    assert found["topics"][0] == {"topic": "word007", "passed": 2, "failed": 0, "all": 2}


@pytest.mark.parametrize("n_words", [[0], [1], [5, 5, 5], [10, 20, 100_000], list(range(2000)), [10**12]])
def test_every_chat_is_in_a_bin(n_words: list[int]) -> None:
    chats = [chat("pia", k, n_words=n) for k, n in enumerate(n_words)]
    histogram = summary(chats)["histogram"]
    assert sum(histogram["passed"]) == len(n_words)
    assert len(histogram["edges"]) == len(histogram["passed"]) == len(histogram["failed"]) <= 24
    if len(histogram["edges"]) > 1:
        assert histogram["passed"][0] == sum(n < histogram["edges"][1] for n in n_words)
