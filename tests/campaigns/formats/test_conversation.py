"""Conversations: every form they are read in, what is kept and shown of them, and how they are degraded."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from analysis.metrics.judges.prompt import Statement, make_prompt
from campaigns.contracts.format import Degradation, Place
from campaigns.contracts.protocol import Field, Screen
from campaigns.design.errors import DesignError
from campaigns.formats import get_format
from campaigns.importing.layout import FileLayout
from campaigns.importing.nested import find_list
from campaigns.importing.tables import read_contents
from campaigns.messages import MOST_MESSAGES
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError

CONVERSATION = get_format("conversation")
PLACE = Place("output", "Conversation", is_output=True)

# One conversation, as several collections write it.
CALL = {"name": "look_up", "arguments": '{"city": "Turku", "days": 2}'}
KEPT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Will it rain?"},
    {"role": "assistant", "content": "I look it up.", "tool_calls": [CALL]},
    {"role": "tool", "content": "rain at 4", "name": "look_up"},
    {"role": "assistant", "content": "Yes, from four o'clock on."},
]
OPENAI = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Will it rain?"}]},
    {
        "role": "assistant",
        "content": "I look it up.",
        "refusal": None,
        "tool_calls": [{"id": "call_7", "type": "function", "function": CALL}],
    },
    {"role": "tool", "tool_call_id": "call_7", "content": "rain at 4"},
    {"role": "assistant", "content": "Yes, from four o'clock on.", "name": "alder-7b"},
]
ANTHROPIC = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Will it rain?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "They want the weather.", "signature": "x"},
            {"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"city": "Turku", "days": 2}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "rain at 4"}]}
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Yes, from four o'clock on."}]},
]
SHAREGPT = {
    "conversations": [
        {"from": "system", "value": "Be brief."},
        {"from": "human", "value": "Will it rain?"},
        {"from": "gpt", "value": "I look it up."},
        {"from": "function_call", "value": json.dumps({"name": "look_up", "arguments": {"city": "Turku", "days": 2}})},
        {"from": "observation", "value": "rain at 4"},
        {"from": "gpt", "value": "Yes, from four o'clock on."},
    ]
}
RESPONSES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Will it rain?"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "They want the weather."}]},
    {"type": "reasoning", "id": "rs_2", "summary": []},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look it up."}]},
    {"type": "function_call", "call_id": "c", "id": "fc_1", **CALL},
    {"type": "function_call_output", "call_id": "c", "output": "rain at 4"},
    {"role": "assistant", "content": "Yes, from four o'clock on."},
]
LANGCHAIN = [
    {"type": "system", "data": {"content": "Be brief."}},
    {"type": "human", "data": {"content": "Will it rain?"}},
    {
        "type": "ai",
        "data": {
            "content": "I look it up.",
            "tool_calls": [{"name": "look_up", "args": {"city": "Turku", "days": 2}, "id": "c", "type": "tool_call"}],
        },
    },
    {"type": "tool", "data": {"content": "rain at 4", "tool_call_id": "c"}},
    {"type": "ai", "data": {"content": "Yes, from four o'clock on."}},
]

GEMINI = {
    "contents": [
        {"role": "system", "parts": [{"text": "Be brief."}]},
        {"role": "user", "parts": [{"text": "Will it rain?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "They want the weather.", "thought": True},
                {"text": "I look it up."},
                {"functionCall": {"name": "look_up", "args": {"city": "Turku", "days": 2}}},
            ],
        },
        {"role": "function", "parts": [{"functionResponse": {"name": "look_up", "response": "rain at 4"}}]},
        {"role": "model", "parts": [{"text": "Yes, from four o'clock on."}]},
    ]
}
# Of a folder of logs, in which each message is held by an event.
HELD = [{"type": "system" if each["role"] == "developer" else each["role"], "message": each} for each in OPENAI]


def read(data: Any, *, is_output: bool = True) -> Any:
    text = data if isinstance(data, str) else json.dumps(data)
    return json.loads(CONVERSATION.read(text, is_output=is_output))


@pytest.mark.parametrize("data", [KEPT, OPENAI, ANTHROPIC, LANGCHAIN, GEMINI, HELD, {"id": 3, "messages": OPENAI}])
def test_messages_are_read_in_every_form_and_kept_in_one(data: Any) -> None:
    assert read(data) == KEPT


@pytest.mark.parametrize("data", [SHAREGPT, RESPONSES])
def test_where_calls_are_messages_of_their_own_they_stay_so(data: Any) -> None:
    said = [
        {"role": "assistant", "content": "I look it up."},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
    ]
    assert read(data) == [*KEPT[:2], *said, *KEPT[3:]]


@pytest.mark.parametrize(
    "text",
    [
        "Person: Hello.\nChatbot: Good day.\n  How are you?",
        json.dumps([{"speaker": "Ann", "text": "Hello."}, {"speaker": "alder-7b", "text": "Good day.\nHow are you?"}]),
        json.dumps([{"role": "user", "content": "Hello."}, {"role": "alder", "content": "Good day.\nHow are you?"}]),
        json.dumps([{"speaker": "User", "text": "Hello."}, {"speaker": "System", "text": "Good day.\nHow are you?"}]),
        json.dumps(["Hello.", "Good day.\nHow are you?"]),
        json.dumps({"id": 7, "turns": ["Hello.", "Good day.\nHow are you?"]}),
    ],
)
def test_transcripts_are_read_as_conversations(text: str) -> None:
    assert read(text) == [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Good day.\nHow are you?"},
    ]


def test_nothing_is_kept_that_tells_the_system() -> None:
    for data in (OPENAI, ANTHROPIC, RESPONSES, LANGCHAIN):
        kept = json.dumps(read(data))
        assert not [word for word in ("alder", "call_7", "toolu", "fc_1", "They want") if word in kept]


USER, REPLY = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([USER], "nobody in it is the assistant"),
        ([USER, {"role": "assistant", "content": ""}], "message 2 says nothing"),
        ([USER, {"role": "assistant", "content": None, "tool_calls": None}], "message 2 says nothing"),
        ([USER, REPLY, "what"], "message 3 is not an object"),
        ([USER, {"role": "moderator", "content": [{"text": "Hi"}]}], "message 2 has the role “moderator”"),
        ([USER, REPLY, {"role": "mod", "content": "Hi"}], "3 speakers"),
        ([USER, {"role": "assistant", "content": [{"type": "image_url"}]}], "message 2 holds “image_url”"),
        ([USER, {"role": "assistant", "tool_calls": [{"id": "x"}]}], "message 2 calls a tool without a name"),
        ([USER, {"role": "assistant", "tool_calls": ["x"]}], "message 2 calls a tool without a name"),
        ([USER, {"role": "assistant", "tool_calls": "x"}], "message 2 has “tool_calls” that are no list"),
        ([USER, {"role": "assistant", "content": "a\0b"}], "message 2 holds characters that are not text"),
        ([USER, {"role": "assistant", "content": "\ud800"}], "message 2 holds characters that are not text"),
        ([USER, {"role": "assistant", "tool_calls": [{"name": "x", "args": {"a": "\ud800"}}]}], "message 2 holds"),
        ([USER, REPLY] * MOST_MESSAGES, f"800 messages, and at most {MOST_MESSAGES}"),
        ({"steps": [{"what": 1}]}, "it has no message"),
        ([], "it has no message"),
        ([{"type": "reasoning", "summary": ["They greet."]}], "it holds only what a model wrote for itself"),
        ("[{", "it begins like JSON and is none"),
        ("What is this?", "does not begin with who speaks"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_message(data: Any, said: str) -> None:
    with pytest.raises(DomainError, match=said) as error:
        read(data)
    assert error.value.code == "bad_conversation"
    assert not error.value.message.endswith(".")


@pytest.mark.parametrize("opening", ["[", '[{"role":', '{"messages":[', '[{"role":"user","content":[{"a":'])
def test_no_depth_of_nesting_does_harm(opening: str) -> None:
    for n in (70, 500, 100_000):
        with pytest.raises(DomainError, match=r"nested too deep|within each other|begins like JSON|begin with"):
            read(opening * n)
        with pytest.raises(DomainError):
            read(json.dumps([USER, REPLY])[:-1] + ', {"role": "tool", "content": ' + "[" * n + "]" * n + "}]")


def test_arguments_that_are_no_json_stay_as_they_are() -> None:
    for arguments in ("[" * 100_000, '{"a": ', "ls -l", "9" * 5000, '{"n": ' + "9" * 5000 + "}"):
        found = read([USER, {"role": "assistant", "tool_calls": [{"name": "run", "arguments": arguments}]}, REPLY])
        assert found[1]["tool_calls"] == [{"name": "run", "arguments": arguments.rstrip()}]
        shown = CONVERSATION.blocks(json.dumps(found), PLACE)[1]
        assert shown.text == arguments.rstrip()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "human", "gpt", "function"])
KINDS = st.sampled_from(["text", "thinking", "tool_use", "tool_result", "function_response", "summary_text"])
PARTS = ("text", "thought", "functionCall", "function_response", "content", "name", "input")
PART = st.fixed_dictionaries({}, optional={"type": KINDS, **dict.fromkeys(PARTS, JSON)})
TEXT = st.fixed_dictionaries({"type": st.just("text"), "text": st.text()})
CONTENT = st.text() | st.lists(TEXT | PART, max_size=3)
CALLS = st.lists(st.fixed_dictionaries({"name": st.text(min_size=1), "arguments": JSON, "id": st.text()}), max_size=2)
MESSAGE = st.fixed_dictionaries(
    {"role": ROLES, "content": CONTENT},
    optional={
        "tool_calls": CALLS,
        "name": st.text(),
        "parts": st.lists(PART, max_size=2),
        "message": JSON,
        "type": st.sampled_from(["reasoning", "message"]),
        "summary": JSON,
    },
)


@given(st.lists(MESSAGE, max_size=6) | st.lists(JSON, max_size=3) | st.text())
@example([{"role": "user", "type": "reasoning", "content": "", "summary": ["They greet."]}])
def test_what_is_kept_is_read_as_it_is(data: Any) -> None:
    try:
        once = CONVERSATION.read(data if isinstance(data, str) else json.dumps(data), is_output=False)
    except DomainError:
        return
    assert CONVERSATION.read(once, is_output=False) == once
    once.encode()
    texts = [each.text for each in CONVERSATION.blocks(once, PLACE)]
    assert "\0" not in "".join(texts)
    assert all(texts)


# --- What is shown


def test_messages_are_turns_and_what_is_not_said_is_folded() -> None:
    blocks = CONVERSATION.blocks(json.dumps(KEPT), PLACE)
    assert [(each.speaker, each.fold, each.turn) for each in blocks] == [
        (None, "System prompt", 0),
        ("worker", "", 0),
        ("chatbot", "", 1),
        (None, "Call of look_up", 0),
        (None, "Result of look_up", 0),
        ("chatbot", "", 2),
    ]
    assert blocks[3].text == "city: Turku\ndays: 2"
    assert {each.dialogue for each in blocks} == {"Conversation"}
    assert not any(each.is_drawn or each.is_open for each in blocks)
    assert len({each.name for each in blocks}) == len(blocks)
    assert CONVERSATION.turns(json.dumps(KEPT)) == ["I look it up.", "Yes, from four o'clock on."]


def test_an_error_of_a_tool_is_called_so() -> None:
    data = [USER, {"role": "tool", "name": "run", "content": "", "is_error": True}, REPLY]
    [_, shown, _] = CONVERSATION.blocks(json.dumps(read(data)), PLACE)
    assert (shown.fold, shown.text) == ("Error of run", "(empty)")


def test_longer_conversations_take_longer_and_what_is_folded_hardly_counts() -> None:
    reply = {"role": "assistant", "content": "word " * 100}
    short, long = (json.dumps([USER, *[reply] * n]) for n in (1, 3))
    folded = json.dumps([{"role": "system", "content": "word " * 1000}, USER, reply])
    assert CONVERSATION.seconds(short) < CONVERSATION.seconds(folded) < CONVERSATION.seconds(long)


def test_a_judge_is_given_roles_and_calls_as_text() -> None:
    blocks = CONVERSATION.blocks(json.dumps(KEPT), PLACE)
    shown = make_prompt("Rate it.", [Statement("It is right.", "no", "yes")], blocks)
    assert (
        "Conversation (rate this):\nSystem prompt: Be brief.\nPerson: Will it rain?\nChatbot: I look it up.\n"
        "Call of look_up: city: Turku\ndays: 2\nResult of look_up: rain at 4\nChatbot: Yes, from four o'clock on."
    ) in shown


# --- Degraded


def talk(*replies: str) -> str:
    return json.dumps([each for text in replies for each in (USER, {"role": "assistant", "content": text})])


def degraded(value: str, donors: list[str], seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return CONVERSATION.turns(CONVERSATION.degrade(value, Degradation(rng, lambda: donors)))


def test_one_reply_in_three_is_that_of_another() -> None:
    own = [f"my own reply number {n}" for n in range(7)]
    donors = [f"another reply of number {n}" for n in range(9)]
    places = set()
    for seed in range(40):
        found = degraded(talk(*own), donors, seed)
        changed = [place for place, text in enumerate(found) if text != own[place]]
        assert len(changed) == 3 and {found[place] for place in changed} <= {*donors}
        assert len({*found}) == 7
        places |= {*changed}
    assert places == {*range(7)}


def test_a_reply_never_takes_the_place_of_one_like_it() -> None:
    assert degraded(talk("I like the sea."), ["i LIKE  the sea.", "Bread is baked."]) == ["Bread is baked."]
    with pytest.raises(DesignError):
        degraded(talk("I like the sea."), ["i like the sea."])


def test_only_replies_of_several_words_are_replaced_or_taken() -> None:
    value = talk("Yes.", "It is so, I think.")
    assert CONVERSATION.parts(value) == ["It is so, I think."]
    assert degraded(value, ["Bread is baked at night."]) == ["Yes.", "Bread is baked at night."]


# --- Files

SCREEN = Screen((Field("task", "Task"),), output_label="Conversation", output_format="conversation")
ROWS = [
    {
        "id": str(n),
        "task": f"task {n}",
        "model": system,
        "messages": [*OPENAI[:-1], {"role": "assistant", "content": f"{system} {n}"}],
    }
    for n, system in product(range(3), "ab")
]
LAYOUT = FileLayout(
    "jsonl",
    ("id", "task", "model", "messages"),
    {"id": "source", "task": "field:task", "model": "system", "messages": "output"},
)


def contents(path: Path, layout: FileLayout = LAYOUT, **options: Any) -> list[Any]:
    return [json.loads(text) for text in read_contents(path, layout, SCREEN, **options).texts]


def test_lists_of_messages_are_read_from_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    assert find_list(path) == ""
    found = contents(path)
    assert [each[-1]["content"] for each in found] == ["a 0", "b 0", "a 1", "b 1", "a 2", "b 2"]
    assert found[0][:-1] == KEPT[:-1]


def test_numbers_in_arguments_stay_numbers_and_ids_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    call = {"name": "run", "args": {"n": 2, "x": 1.5, "y": 1e999, "z": int("9" * 400)}}
    rows = [
        {"id": n, "task": 1.0, "model": "a", "messages": [{"role": "assistant", "tool_calls": [call]}, REPLY]}
        for n in (1, 2)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_contents(path, LAYOUT, SCREEN)
    assert [(each.name, each.fields) for each in found.sources] == [("1", {"task": "1"}), ("2", {"task": "1"})]
    [called, _] = json.loads(found.texts[0])
    assert json.loads(called["tool_calls"][0]["arguments"]) == {"n": 2, "x": 1.5, "y": "Infinity", "z": "9" * 400}


def test_objects_with_messages_are_read_one_system_a_column(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [
        {"task": f"task {n}", "outputs": {"a": {"messages": OPENAI}, "b": {"messages": [USER, REPLY]}}} for n in (1, 2)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    columns = ("task", "outputs.a", "outputs.b")
    layout = FileLayout(
        "jsonl", columns, {"task": "field:task", "outputs.a": "system-output", "outputs.b": "system-output"}
    )
    found = contents(path, layout)
    assert sorted(map(len, found)) == [2, 2, 5, 5]


@pytest.mark.parametrize("is_object", [False, True])
def test_lists_and_records_are_read_from_parquet(tmp_path: Path, is_object: bool) -> None:
    path = tmp_path / "rows.parquet"
    rows = [{**each, "messages": {"messages": each["messages"]} if is_object else each["messages"]} for each in PLAIN]
    parquet.write_table(pa.Table.from_pylist(rows), path)
    found = contents(path)
    assert [each[-1]["content"] for each in found] == ["a 0", "b 0", "a 1", "b 1", "a 2", "b 2"]
    assert found[0][1:-1] == [KEPT[1], KEPT[2], KEPT[3]]


# Parquet has one type for all records of a list.
PLAIN = [
    {
        **row,
        "messages": [
            {**each, "content": "Will it rain?"} if each["role"] == "user" else each for each in row["messages"]
        ],
    }
    for row in ROWS
]


def test_one_that_is_too_long_is_refused_at_ten_times_a_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    assert len(contents(path, longest_text=60)) == 6
    with pytest.raises(TableError, match="at most 100 are shown"):
        contents(path, longest_text=10)
