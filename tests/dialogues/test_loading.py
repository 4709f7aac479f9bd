"""Files of chats and assignments: every format and column, and what is refused by row and column."""

from pathlib import Path

import pytest

from analysis.data.dialogues.loading import load_dialogues
from analysis.data.dialogues.rows import Chat, Work
from annotation.chat.exports import measure
from evalsite.lib.tables import TableError
from tests.ratings.conftest import FORMATS, write_rows

CHAT = {
    "worker": "w1", "assignment": "a1", "position": 1, "system": "A", "kind": "ordinary", "topic": "Food",
    "opinion": "like", "worker_inputs": 10, "worker_words": 40, "worker_chars": 178, "changes_by_chatbot": 2,
    "changes_by_worker": 0, "topic_sent": "no", "words_by_input": "4 5 4 3 4 5 4 3 4 4",
    "chars_by_input": "20 10 18 20 20 20 20 20 20 10",
}  # fmt: skip

WORDS, CHARS = (tuple(map(int, str(CHAT[f"{what}_by_input"]).split())) for what in ("words", "chars"))


def load(tmp_path: Path, chats, work=None):
    path = write_rows(chats, tmp_path / "dialogues.csv")
    return load_dialogues(path, write_rows(work, tmp_path / "assignments.csv") if work is not None else None)


def codes_of(tmp_path: Path, chats, work=None) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(TableError) as refused:
        load(tmp_path, chats, work)
    return [(problem.row, problem.column, problem.code) for problem in refused.value.problems]


@pytest.mark.parametrize("suffix", FORMATS)
def test_any_format_gives_the_same_rows(tmp_path: Path, suffix: str) -> None:
    chats = write_rows([CHAT], tmp_path / f"dialogues.{suffix}")
    work = write_rows([{"worker": "w1", "assignment": "a1", "work_seconds": 2095.5}], tmp_path / f"work.{suffix}")
    found = load_dialogues(chats, work)
    assert found.chats == (Chat("w1", "a1", 1, "A", "ordinary", "Food", "like", 10, 40, 178, 2, 0, "no", WORDS, CHARS),)
    assert found.work == (Work("w1", "a1", 2095.5),)
    assert found.notices == ()


def test_rows_may_come_in_any_order(tmp_path: Path) -> None:
    rows = [CHAT | {"worker": worker, "position": position} for worker in "vw" for position in (1, 2)]
    assert load(tmp_path, rows) == load(tmp_path, rows[::-1])


def test_the_public_chats_need_no_other_names(shared_data: Path) -> None:
    folder = shared_data / "dialogue-run1"
    found = load_dialogues(folder / "dialogues.csv", folder / "assignments.csv")
    assert (len(found.chats), len(found.work), len(found.workers)) == (1824, 304, 248)
    assert found.notices == ()


def test_worker_and_assignment_are_enough_and_the_rest_is_reported(tmp_path: Path) -> None:
    found = load(tmp_path, [{"Worker": "w1", "ASSIGNMENT": "a1"}])
    assert found.chats == (Chat("w1", "a1"),)
    assert [name in notice for name, notice in zip(
        ("system", "topic", "opinion", "worker_inputs", "worker_words", "worker_chars"), found.notices, strict=True
    )] == [True] * 6  # fmt: skip


def test_a_file_without_a_chat_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dialogues.csv"
    path.write_text("worker,assignment,opinion\n")
    with pytest.raises(TableError) as refused:
        load_dialogues(path)
    assert refused.value.code == "no_rows"


def test_an_empty_cell_is_not_known(tmp_path: Path) -> None:
    found = load(tmp_path, [CHAT | {"opinion": "", "worker_words": "", "position": "", "topic": ""}])
    chat = found.chats[0]
    assert (chat.opinion, chat.n_words, chat.position, chat.topic) == ("", None, None, "")


def test_the_words_of_each_input_need_nothing_else(tmp_path: Path) -> None:
    alone = {"worker": "w1", "assignment": "a1", "words_by_input": "3", "chars_by_input": " 14 "}
    chat = load(tmp_path, [alone]).chats[0]
    assert (chat.words_by_input, chat.chars_by_input, chat.n_words) == ((3,), (14,), None)
    silent = CHAT | {"worker_inputs": 0, "worker_words": 0, "worker_chars": 0}
    chat = load(tmp_path, [silent | {"words_by_input": "", "chars_by_input": ""}]).chats[0]
    assert (chat.words_by_input, chat.chars_by_input) == ((), ())
    chat = load(tmp_path, [CHAT | {"words_by_input": ""}]).chats[0]
    assert (chat.words_by_input, chat.chars_by_input) == (None, CHARS)


def test_words_are_taken_in_any_case(tmp_path: Path) -> None:
    chat = load(tmp_path, [CHAT | {"opinion": "LIKE", "kind": "Degraded"}]).chats[0]
    assert (chat.opinion, chat.kind) == ("like", "degraded")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"worker": ""}, "empty_label"),
        ({"assignment": ""}, "empty_label"),
        ({"opinion": "love"}, "unknown_opinion"),
        ({"kind": "odd"}, "unknown_kind"),
        ({"topic_sent": "perhaps"}, "unknown_topic_sent"),
        ({"worker_inputs": -1}, "bad_number"),
        ({"worker_words": 2.5}, "bad_number"),
        ({"worker_chars": "many"}, "bad_number"),
        ({"changes_by_worker": "nan"}, "bad_number"),
        ({"position": "1e999"}, "bad_number"),
        ({"words_by_input": "4, 5"}, "bad_numbers"),
        ({"words_by_input": "4 -5"}, "bad_numbers"),
        ({"chars_by_input": "17.5"}, "bad_numbers"),
        ({"words_by_input": "40"}, "bad_sum"),
        ({"words_by_input": "5 5 4 3 4 5 4 3 4 4"}, "bad_sum"),
        ({"chars_by_input": "178 0"}, "bad_sum"),
    ],
)
def test_what_a_cell_cannot_be_is_refused(tmp_path: Path, change, code: str) -> None:
    assert codes_of(tmp_path, [CHAT | {"position": 2}, CHAT | change]) == [(3, next(iter(change)), code)]


def test_a_chat_or_an_assignment_that_comes_twice_is_refused(tmp_path: Path) -> None:
    work = {"worker": "w1", "assignment": "a1", "work_seconds": 5}
    assert codes_of(tmp_path, [CHAT, CHAT]) == [(3, "position", "row_twice")]
    assert codes_of(tmp_path, [CHAT], [work, work]) == [(3, "assignment", "row_twice")]
    assert len(load(tmp_path, [CHAT | {"position": ""}] * 2).chats) == 2


@pytest.mark.parametrize("seconds", [-1, "soon", "inf"])
def test_a_time_is_a_number_from_0_on(tmp_path: Path, seconds) -> None:
    row = {"worker": "w1", "assignment": "a1", "work_seconds": seconds}
    assert codes_of(tmp_path, [CHAT], [row]) == [(2, "work_seconds", "bad_number")]


def test_a_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    assert codes_of(tmp_path, [{"rater": "w1"}]) == [
        (1, "worker", "missing_column"),
        (1, "assignment", "missing_column"),
    ]
    assert codes_of(tmp_path, [CHAT], [{"worker": "w1", "assignment": "a1"}]) == [(1, "work_seconds", "missing_column")]


def test_a_column_that_comes_late_in_json_lines_is_found(tmp_path: Path) -> None:
    rows = [{"worker": f"w{k}", "assignment": "a"} for k in range(300)] + [CHAT]
    found = load_dialogues(write_rows(rows, tmp_path / "dialogues.jsonl"))
    assert sum(chat.opinion == "like" for chat in found.chats) == 1


def test_inputs_are_measured_as_the_public_chats_are() -> None:
    assert measure([]) == (0, 0, 0)
    assert measure(["I  like\ntea ", "ok"]) == (2, 4, len("I like tea") + len("ok"))


def test_chats_that_died_or_go_on_are_left_out_and_reported(tmp_path: Path) -> None:
    states = ("ended", "dead", "Open", "", "Ohio")
    found = load(tmp_path, [CHAT | {"position": k, "state": state} for k, state in enumerate(states)])
    assert [chat.position for chat in found.chats] == [0, 3, 4]
    assert ["1 chat" in notice for notice in found.notices] == [True, True]


def test_the_times_of_a_campaigns_export_are_those_of_finished_assignments(tmp_path: Path) -> None:
    states = ("finished", "active", "returned", "expired")
    work = [{"worker": "w1", "assignment": f"a{k}", "seconds": 60, "state": each} for k, each in enumerate(states)]
    assert load(tmp_path, [CHAT], work).work == (Work("w1", "a0", 60.0),)


def test_the_time_of_dead_chats_is_taken_off_that_of_their_assignment(tmp_path: Path) -> None:
    lasted = (("ended", 10), ("dead", 20), ("dead", 0.5), ("dead", ""))
    chats = [CHAT | {"position": k, "state": state, "minutes": minutes} for k, (state, minutes) in enumerate(lasted)]
    work = [{"worker": "w1", "assignment": name, "work_seconds": 3600} for name in ("a1", "a2")]
    assert load(tmp_path, chats, work).work == (Work("w1", "a1", 2370.0), Work("w1", "a2", 3600.0))


def test_a_dead_chat_that_lasted_longer_than_its_assignment_leaves_no_time(tmp_path: Path) -> None:
    dead = CHAT | {"state": "dead", "minutes": 20}
    assert load(tmp_path, [dead], [{"worker": "w1", "assignment": "a1", "work_seconds": 60}]).work[0].seconds == 0


def test_chats_of_unfinished_assignments_are_left_out_and_reported(tmp_path: Path) -> None:
    states = ("finished", "active", "Returned", "expired", "")
    chats = [CHAT | {"assignment": f"a{k}", "state": "ended", "assignment_state": s} for k, s in enumerate(states)]
    found = load(tmp_path, [*chats, chats[2] | {"position": 2, "state": "dead"}])
    assert [chat.assignment for chat in found.chats] == ["a0", "a4"]
    assert found.notices == ("Chats that are left out because their assignment was not finished: 4 chats.",)


def test_a_problem_is_named_by_the_column_of_the_file(tmp_path: Path) -> None:
    work = [{"worker": "w1", "assignment": "a1", "Seconds": "long"}]
    assert codes_of(tmp_path, [CHAT], work) == [(2, "Seconds", "bad_number")]
