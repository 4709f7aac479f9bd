"""Traces of agents: every form they are read in, what is kept and shown of them, and how they are degraded."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics.judges.prompt import Statement, make_prompt
from campaigns.contracts.format import Degradation, Place
from campaigns.contracts.protocol import Field, Screen
from campaigns.design.errors import DesignError
from campaigns.formats import get_format
from campaigns.importing.layout import FileLayout
from campaigns.importing.nested import find_list
from campaigns.importing.tables import read_contents
from campaigns.steps import MOST_STEPS
from evalsite.lib.errors import DomainError
from tests.campaigns.formats.test_conversation import ANTHROPIC, CALLS, JSON, MESSAGE, OPENAI

TRACE = get_format("trace")
PLACE = Place("output", "Trace", is_output=True)

# One trace, as several collections write it.
CITY = '{"city": "Turku"}'
LOOKED = {"thought": "I look it up.", "tool": "look_up", "arguments": CITY, "result": "rain at 4"}
WENT = {"tool": "go", "arguments": '{"to": "home"}', "error": "no bus"}
KEPT = {"task": "Will it rain?", "steps": [LOOKED, WENT, {"answer": "Yes, at four."}]}
SWE_AGENT = {
    "environment": "main",
    "trajectory": [
        {
            "thought": "I look it up.",
            "action": "look_up Turku",
            "observation": "rain at 4",
            "response": "I look it up.\n```\nlook_up Turku\n```",
            "state": {"working_dir": "/"},
            "execution_time": 0.25,
            "query": [{"role": "user", "content": "Will it rain?"}],
        },
        {"thought": "", "action": "submit", "observation": "", "execution_time": 1},
    ],
    "history": [{"role": "system", "content": "You are an agent."}],
    "info": {"exit_status": "submitted", "submission": "Yes, at four.", "model_stats": {"instance_cost": 0.5}},
}
ATIF = {
    "schema_version": "ATIF-v1.4",
    "agent": {"name": "alder", "model_name": "alder-7b"},
    "steps": [
        {"step_id": 1, "timestamp": "2025-01-15T10:30:00Z", "source": "system", "message": "You are an agent."},
        {"step_id": 2, "source": "user", "message": "Will it rain?"},
        {
            "step_id": 3,
            "source": "agent",
            "message": "I look it up.",
            "tool_calls": [
                {"tool_call_id": "a", "function_name": "look_up", "arguments": {"city": "Turku"}},
                {"tool_call_id": "b", "function_name": "go", "arguments": {"to": "home"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "b", "content": "no bus"},
                    {"source_call_id": "a", "content": "rain at 4"},
                ]
            },
            "metrics": {"cost_usd": 0.25, "prompt_tokens": 9},
        },
    ],
    "final_metrics": {"total_cost_usd": 0.25},
}
LANGCHAIN = {
    "input": "Will it rain?",
    "output": "Yes, at four.",
    "intermediate_steps": [
        [
            {"tool": "look_up", "tool_input": {"city": "Turku"}, "log": "I look it up.", "type": "AgentAction"},
            "rain at 4",
        ]
    ],
}
SMOLAGENTS = [
    {"system_prompt": "You are an agent."},
    {"task": "Will it rain?", "task_images": None},
    {
        "step_number": 1,
        "timing": {"start_time": 10.0, "end_time": 10.5, "duration": 0.5},
        "model_output": "I look it up.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": {"city": "Turku"}}}
        ],
        "code_action": "look_up(city='Turku')",
        "observations": "rain at 4",
        "token_usage": {"input_tokens": 9, "output_tokens": 2},
    },
]
OPENHANDS = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "Will it rain?"}},
    {"id": 1, "source": "agent", "action": "recall", "args": {"query": "Will it rain?"}},
    {"id": 2, "source": "agent", "observation": "recall", "content": "Added", "cause": 1},
    {
        "id": 3,
        "source": "agent",
        "action": "look_up",
        "args": {"city": "Turku", "thought": "I look it up.", "hidden": False},
    },
    {"id": 4, "source": "agent", "action": "go", "args": {"to": "home", "confirmation_state": "confirmed"}},
    {"id": 5, "source": "agent", "observation": "look_up", "content": "rain at 4", "cause": 3},
    {"id": 6, "source": "agent", "observation": "error", "content": "no bus", "cause": 4},
    {"id": 7, "source": "agent", "action": "finish", "args": {"final_thought": "Yes, at four."}},
]
REACT = """Question: Will it rain?
Thought 1: I look it up,
  to be sure.
Action 1: look_up[Turku]
Observation 1: rain at 4
Thought: I go home.
Action: go
Action Input: {"to": "home"}
Observation: no bus
Final Answer: Yes, at four."""
MESSAGES = [
    {"role": "user", "content": "Will it rain?"},
    {
        "role": "assistant",
        "content": "I look it up.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": CITY}},
            {"id": "b", "type": "function", "function": {"name": "go", "arguments": '{"to": "home"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "b", "content": "no bus", "is_error": True},
    {"role": "tool", "tool_call_id": "a", "content": "rain at 4"},
    {"role": "assistant", "content": "Yes, at four."},
]


def span(at: int, values: dict[str, Any], *, is_typed: bool) -> dict[str, Any]:
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
    times = {"startTimeUnixNano": str(at * 10**9), "endTimeUnixNano": str(at * 10**9 + 5 * 10**8)}
    return {"name": "execute_tool", "attributes": attributes if is_typed else values, **times}


TOOL, CHAT = "gen_ai.tool.name", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "alder-7b"}
OF_SPANS = [
    (1_700_000_002, {TOOL: "go", "gen_ai.tool.call.arguments": '{"to":"home"}', "error.type": "no bus"}),
    (1_700_000_001, {TOOL: "look_up", "gen_ai.tool.call.arguments": CITY, "gen_ai.tool.call.result": "rain at 4"}),
    (1_700_000_000, CHAT),
]


def read(data: Any) -> Any:
    text = data if isinstance(data, str) else json.dumps(data)
    return json.loads(TRACE.read(text, is_output=True))


def test_what_is_kept_has_only_what_is_known() -> None:
    assert read(KEPT) == KEPT
    assert read(MESSAGES) == KEPT
    assert read([LOOKED | {"cost": 0.5, "seconds": "1.5"}]) == {"steps": [LOOKED | {"seconds": 1.5, "cost": 0.5}]}


def test_trajectories_of_swe_agent_are_read() -> None:
    steps = [
        {"thought": "I look it up.", "arguments": "look_up Turku", "result": "rain at 4", "seconds": 0.25},
        {"arguments": "submit", "seconds": 1.0},
        {"answer": "Yes, at four."},
    ]
    assert read(SWE_AGENT) == {"cost": 0.5, "steps": steps}


def test_steps_of_atif_are_read_one_for_each_call() -> None:
    first = {"user": "Will it rain?", **LOOKED, "cost": 0.25}
    assert read(ATIF) == {"steps": [first, {"tool": "go", "arguments": '{"to": "home"}', "result": "no bus"}]}


def test_pairs_of_langchain_are_read() -> None:
    assert read(LANGCHAIN) == {"task": "Will it rain?", "steps": [LOOKED, {"answer": "Yes, at four."}]}


def test_steps_of_smolagents_are_read() -> None:
    assert read(SMOLAGENTS) == {"steps": [{"user": "Will it rain?", **LOOKED, "seconds": 0.5}]}


@pytest.mark.parametrize("events", [OPENHANDS, [OPENHANDS[:3:2], OPENHANDS[3:6:2], OPENHANDS[4:8:2], OPENHANDS[7:]]])
def test_events_of_openhands_are_steps_with_what_was_observed(events: Any) -> None:
    assert read({"history": events})["steps"] == [
        {"user": "Will it rain?", **LOOKED},
        WENT,
        {"answer": "Yes, at four."},
    ]


def test_transcripts_of_react_are_read() -> None:
    assert read(REACT)["steps"] == [
        {
            "user": "Will it rain?",
            "thought": "I look it up,\n  to be sure.",
            "arguments": "look_up[Turku]",
            "result": "rain at 4",
        },
        {"thought": "I go home.", "tool": "go", "arguments": '{"to": "home"}', "result": "no bus"},
        {"answer": "Yes, at four."},
    ]


@pytest.mark.parametrize("is_typed", [False, True])
def test_spans_of_opentelemetry_are_read_in_the_order_of_their_beginnings(is_typed: bool) -> None:
    spans = [span(at, values, is_typed=is_typed) for at, values in OF_SPANS]
    looked = {name: value for name, value in LOOKED.items() if name != "thought"} | {"seconds": 0.5}
    expected = {"steps": [looked, WENT | {"seconds": 0.5}]}
    assert read(spans) == read({"spans": spans}) == expected
    assert read({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) == expected


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC])
def test_messages_with_calls_are_steps(messages: Any) -> None:
    found = read(messages)
    assert found["task"] == "Will it rain?"
    call, answer = found["steps"]
    assert (call["tool"], call["result"]) == ("look_up", "rain at 4")
    assert call["thought"].endswith("I look it up.") and answer == {"answer": "Yes, from four o'clock on."}


def test_what_a_person_says_between_steps_stays_before_the_next_one() -> None:
    more = [{"role": "user", "content": "And tomorrow?"}, {"role": "assistant", "content": "No."}]
    found = read(MESSAGES + more)["steps"]
    assert found[2:] == [{"thought": "Yes, at four."}, {"user": "And tomorrow?", "answer": "No."}]
    shown = TRACE.blocks(json.dumps({"steps": found}), PLACE)
    assert [(each.label, each.speaker) for each in shown][-2:] == [
        ("Person", "worker"),
        ("Step 4 · final answer", None),
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("It looked it up.", "it is no JSON"),
        ("[]", "it has no step"),
        ({"steps": []}, "it has no step"),
        ([LOOKED, {}], "step 2 says nothing"),
        ([LOOKED, {"state": "x"}], "step 2 says nothing"),
        ([LOOKED, "go"], "step 2 is not an object"),
        ([LOOKED, {"thought": "a\0b"}], "step 2 holds characters that are not text"),
        ([LOOKED, {"tool_calls": [{"id": 1}]}], "step 2 calls a tool without a name"),
        ([LOOKED] * (MOST_STEPS + 1), f"401 steps, and at most {MOST_STEPS}"),
        ([{"role": "user", "content": [{"type": "image"}]}], "message 1 holds “image”"),
        ("[{", "it begins like JSON and is none"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_step(data: Any, said: str) -> None:
    with pytest.raises(DomainError, match=said) as error:
        read(data)
    assert error.value.code == "bad_trace"
    assert not error.value.message.endswith(".")


@pytest.mark.parametrize("slug", ["trace", "conversation"])
@pytest.mark.parametrize("value", ["It looked it up.", "[{", "{}", '{"steps": [{"what": 1}]}', "[" * 100_000])
def test_what_no_import_took_is_refused_where_it_is_shown(slug: str, value: str) -> None:
    with pytest.raises(DomainError):
        get_format(slug).blocks(value, PLACE)


@pytest.mark.parametrize("opening", ["[", '[{"tool":', '{"steps":[', '[{"thought":"a","result":{"a":'])
def test_no_depth_of_nesting_does_harm(opening: str) -> None:
    for n in (70, 500, 100_000):
        with pytest.raises(DomainError):
            read(opening * n)
        with pytest.raises(DomainError, match=r"nested too deep|within each other"):
            read('[{"thought": "a", "result": ' + "[" * n + "]" * n + "}]")
        assert read([{"thought": "a", "result": "[" * n}])["steps"][0]["result"] == "[" * n


STEP = st.dictionaries(
    st.sampled_from(
        [
            *("thought", "action", "observation", "tool", "tool_input", "result", "error", "time", "cost", "answer"),
            *(
                "user",
                "name",
                "input",
                "output",
                "message",
                "source",
                "attributes",
                "metrics",
                "log",
                "role",
                "content",
            ),
            *("is_error", "tool_calls", "args", "id", "cause", "observations", "timing", "task", "parts", "type"),
        ]
    ),
    JSON,
)
ABOUT = st.fixed_dictionaries(
    {"steps": st.lists(STEP, max_size=4)}, optional={"task": JSON, "output": JSON, "cost": JSON, "info": STEP}
)
CALLING = st.fixed_dictionaries({"message": st.text(), "tool_calls": CALLS, "observation": JSON})


@given(ABOUT | st.lists(STEP | CALLING, max_size=4) | st.lists(MESSAGE, max_size=6) | JSON | st.text())
def test_what_is_kept_is_read_as_it_is(data: Any) -> None:
    try:
        once = TRACE.read(data if isinstance(data, str) else json.dumps(data), is_output=True)
    except DomainError:
        return
    assert TRACE.read(once, is_output=True) == once
    once.encode()
    blocks = TRACE.blocks(once, PLACE)
    assert "\0" not in "".join(each.text for each in blocks)
    n = len(TRACE.turns(once))
    assert [each.turn for each in blocks if each.turn] == list(range(1, n + 1))


# --- What is shown


def test_a_summary_is_above_the_steps() -> None:
    steps = [LOOKED | {"seconds": 1.25, "cost": 0.00125}, WENT | {"seconds": 10}, {"answer": "Yes, at four."}]
    task, summary, *_ = TRACE.blocks(json.dumps({"task": "Will it rain?", "steps": steps}), PLACE)
    assert (task.fold, task.is_open, task.text) == ("Task", True, "Will it rain?")
    assert summary.text == "3 steps, 2 calls, 1 error, 11.2 s, cost 0.0013.\nFinal answer: Yes, at four."
    [summary, *_] = TRACE.blocks(json.dumps({"seconds": 3, "steps": [LOOKED]}), PLACE)
    assert summary.text == "1 step, 1 call, no error, 3.0 s.\nThere is no final answer."


def test_steps_have_their_parts_and_what_is_long_is_folded() -> None:
    long = "word " * 200
    steps = [LOOKED | {"result": long, "seconds": 2}, {"thought": long, "arguments": "ls"}, {"answer": "Done."}]
    _, *blocks = TRACE.blocks(json.dumps(read(steps)), PLACE)
    assert [(each.label, each.fold, each.is_open, each.turn) for each in blocks] == [
        ("Step 1 · 2.0 s", "", False, 0),
        ("Call of look_up", "Call of look_up", True, 0),
        ("Result", "Result · 999 characters", False, 1),
        ("Step 2", "", False, 0),
        ("Thought", "Thought · 999 characters", False, 0),
        ("Action", "Action", True, 0),
        ("Result", "Result", True, 2),
        ("Step 3 · final answer", "", False, 3),
    ]
    assert blocks[1].text == "city: Turku"
    assert not any(each.is_drawn for each in blocks)
    assert TRACE.turns(json.dumps(KEPT))[0] == "I look it up.\nlook_up\ncity: Turku\nrain at 4"


def test_a_judge_is_given_the_steps_as_text() -> None:
    prompt = make_prompt("Rate it.", [Statement("It is right.", "no", "yes")], TRACE.blocks(json.dumps(KEPT), PLACE))
    shown = prompt.partition("what a participant sees")[2]
    assert "Trace (rate this):\nTask: Will it rain?\nSummary: 3 steps, 2 calls, 1 error." in shown
    assert (
        "Step 1: I look it up.\nCall of look_up: city: Turku\nResult: rain at 4\nStep 2: \nCall of go: to: home"
        in shown
    )


# --- Degraded


def other(n: int) -> str:
    part = {"tool": f"tool {n}", "arguments": "", "result": f"other result {n}", "error": ""}
    return json.dumps(part)


def test_one_call_in_three_is_that_of_another() -> None:
    own = [LOOKED | {"result": f"result {n}", "seconds": float(n)} for n in range(4)]
    value = TRACE.read(json.dumps({"steps": [*own, {"answer": "Yes."}]}), is_output=True)
    assert len(TRACE.parts(value)) == 4
    places = set()
    for seed in range(30):
        by = Degradation(np.random.default_rng(seed), lambda: [other(n) for n in range(5)])
        found = json.loads(TRACE.degrade(value, by))["steps"]
        changed = [place for place, each in enumerate(own) if each != found[place]]
        assert len(changed) == 2 and found[-1] == {"answer": "Yes."}
        for place in changed:
            assert found[place]["tool"].startswith("tool ") and "arguments" not in found[place]
            assert (found[place]["thought"], found[place]["seconds"]) == ("I look it up.", float(place))
        places |= {*changed}
    assert places == {*range(4)}


def test_a_call_never_takes_the_place_of_one_like_it() -> None:
    value = TRACE.read(json.dumps([LOOKED]), is_output=True)
    [own] = TRACE.parts(value)
    rng = np.random.default_rng(1)
    assert "tool 7" in TRACE.degrade(value, Degradation(rng, lambda: [own, other(7)]))
    with pytest.raises(DesignError):
        TRACE.degrade(value, Degradation(rng, lambda: [own]))


@pytest.mark.parametrize("donor", ["A text of a field.", "[", "{}", "3", '{"tool": "x"}'])
def test_a_donor_that_is_no_step_is_the_result(donor: str) -> None:
    value = TRACE.read(json.dumps([WENT]), is_output=True)
    found = json.loads(TRACE.degrade(value, Degradation(np.random.default_rng(1), lambda: [donor])))
    assert found == {"steps": [{"tool": "go", "arguments": '{"to": "home"}', "result": donor}]}


def test_a_trace_without_calls_cannot_be_degraded() -> None:
    assert TRACE.parts(TRACE.read('[{"answer": "Yes."}]', is_output=True)) == []


# --- Files


@pytest.mark.parametrize("trace", [SWE_AGENT["trajectory"], LANGCHAIN["intermediate_steps"], MESSAGES, ATIF["steps"]])
def test_lists_of_steps_are_read_from_json_lines(tmp_path: Path, trace: Any) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"id": n, "task": "t", "model": model, "steps": trace} for n in (1, 2) for model in "ab"]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert find_list(path) == ""
    columns = {"id": "source", "task": "field:task", "model": "system", "steps": "output"}
    screen = Screen((Field("task", "Task"),), output_label="Trace", output_format="trace")
    found = read_contents(path, FileLayout("jsonl", tuple(columns), columns), screen)
    assert [json.loads(text) for text in found.texts] == [read(trace)] * 4
