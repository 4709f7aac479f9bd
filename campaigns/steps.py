"""Steps of an agent, in every form that collections have, and as they are kept.

Read are lists of steps, whatever their parts are called (SWE-agent's trajectories, ATIF, smolagents, LangChain's pairs
of an action and an observation), events of OpenHands, messages with calls of tools (`campaigns.messages`), spans of
OpenTelemetry, and transcripts of ReAct.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from campaigns.messages import (
    LIST_KEYS,
    Call,
    Message,
    UnreadableError,
    call_of,
    json_text,
    listed,
    load,
    messages_of,
    text_of,
)

MOST_STEPS = 400
_LISTS = ("steps", "trajectory", "traj", "intermediate_steps", "trace", "spans", "resourceSpans", *LIST_KEYS)
_OF_STEPS = {"thought", "action", "observation", "observations", "result", "tool", "tool_name"}
_THOUGHTS = (
    *("thought", "thoughts", "reasoning", "reasoning_content", "thinking", "plan", "rationale", "log", "message"),
    "model_output",
)
_TOOLS = ("tool", "tool_name", "function_name", "name")
_ARGUMENTS = (
    *("arguments", "args", "tool_input", "action_input", "action_args", "input", "inputs", "parameters", "command"),
    "code_action",
)  # fmt: skip
_BEFORE_STEPS = {"system_prompt", "task", "task_images"}
_OBSERVATIONS = ("observation", "observations")
_RESULTS = ("result", *_OBSERVATIONS, "output", "outputs", "tool_output", "tool_response", "content")
_ERRORS = ("error", "exception", "is_error")
_ANSWERS = ("answer", "final_answer")
_TASKS = ("task", "question", "query", "problem_statement", "instruction", "goal", "input")
_SECONDS = ("seconds", "time", "duration", "duration_s", "execution_time", "elapsed", "latency", "total_time")
_MILLISECONDS = ("ms", "duration_ms", "latency_ms")
_COSTS = ("cost", "cost_usd", "total_cost", "total_cost_usd", "instance_cost", "accumulated_cost")
# Objects in which a trace, or a step, has its numbers and its answer.
_INNER = ("info", "metrics", "final_metrics", "model_stats", "timing")
# Events of OpenHands that are no steps, and arguments that are not the agent's.
_NO_STEPS = ("system", "recall", "change_agent_state", "condensation", "null")
_NOT_GIVEN = ("thought", "confirmation_state", "security_risk", "cwd")
# What begins a part of a step in a transcript of ReAct, such as “Thought 1: …”, and what that part is.
_PARTS = {
    "question": "user",
    "thought": "thought",
    "action input": "arguments",
    "action": "action",
    "observation": "result",
    "final answer": "answer",
    "answer": "answer",
}
_PART = re.compile(rf"^\s*({'|'.join(_PARTS)})(?: \d+)?:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """What an agent did at once: what it thought, the call of a tool, and what came of it, or its answer.

    `user`: what a person said before it. `arguments`: without a tool, the action itself. None: not known.
    """

    user: str = ""
    thought: str = ""
    tool: str = ""
    arguments: str = ""
    result: str = ""
    error: str = ""
    answer: str = ""
    seconds: float | None = None
    cost: float | None = None

    @property
    def is_call(self) -> bool:
        """Whether it did something."""
        return bool(self.tool or self.arguments)


@dataclass(frozen=True)
class Trace:
    """The steps of an agent on its task. `seconds`, `cost`: of all of them, None where that is not known."""

    steps: tuple[Step, ...]
    task: str = ""
    seconds: float | None = None
    cost: float | None = None


def read_trace(text: str) -> Trace:
    """Return the trace of a cell; raise UnreadableError."""
    data = load(text)
    if data is None and not (data := _of_transcript(text)):
        raise UnreadableError(
            "it is no JSON. Write a list of steps: [{“thought”: …, “tool”: …, “arguments”: …, “result”: …}, …]"
        )
    entries = listed(data, _LISTS)
    if len(entries) > MOST_STEPS:
        raise UnreadableError(f"it has {len(entries):,} steps, and at most {MOST_STEPS} are shown")
    about = data if isinstance(data, Mapping) else {}
    task, steps = _steps_of(entries)
    task = text_of(_first(about, _TASKS, str) or "") or task
    answer = text_of(_first_within(about, (*_ANSWERS, "output", "submission"), str) or "")
    if answer and not any(each.answer for each in steps):
        steps = [*steps, Step(answer=answer)]
    if not steps:
        raise UnreadableError("it has no step. Write a list of them, or of messages with calls of tools")
    seconds = _seconds(about) if all(each.seconds is None for each in steps) else None
    cost = _number(_first_within(about, _COSTS)) if all(each.cost is None for each in steps) else None
    return Trace(tuple(steps), task, seconds, cost)


def kept_trace(text: str) -> Trace:
    """Return a trace as it is kept, sooner than `read_trace` does; raise UnreadableError for what no import takes."""
    try:
        about = json.loads(text)
        return Trace(**about | {"steps": tuple(Step(**each) for each in about["steps"])})
    except (ValueError, TypeError, KeyError, RecursionError):
        return read_trace(text)


def write_trace(trace: Trace) -> str:
    """Return a trace as it is kept: a JSON object; `read_trace` reads it."""
    about = {"task": trace.task, "seconds": trace.seconds, "cost": trace.cost}
    return json.dumps(_known(about) | {"steps": [step_json(each) for each in trace.steps]}, ensure_ascii=False)


def step_json(step: Step) -> dict[str, Any]:
    """Return what is known of a step."""
    return _known(vars(step))


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", None)}


def _steps_of(entries: Sequence[Any]) -> tuple[str, list[Step]]:
    """Return the task, if messages begin with it, and the steps of a list's entries."""
    objects = [each for each in entries if isinstance(each, Mapping)]
    if objects and not any(_OF_STEPS & each.keys() for each in objects):
        spans = [span for each in objects for span in _spans_in(each)]
        if spans:
            return "", _of_spans(spans)
        if messages := messages_of(entries):
            return _of_messages(messages)
    if any("attributes" in each for each in objects):
        return "", _of_spans(objects)
    return "", list(_of_entries(_of_events(entries)))


# --- Steps, one by one


def _of_entries(entries: Iterable[Any]) -> Iterator[Step]:
    user = ""
    for number, entry in enumerate(entries, 1):
        try:
            if isinstance(entry, list) and len(entry) == 2:  # an action and its observation
                entry = {"action": entry[0], "observation": entry[1]}
            if not isinstance(entry, Mapping):
                raise UnreadableError("is not an object with parts such as “tool” and “result”")
            if entry.get("source") in ("user", "system") or set() < entry.keys() <= _BEFORE_STEPS:
                said = entry.get("task") or entry.get("message") if entry.get("source") != "system" else ""
                user = text_of(said) or user
                continue
            found = _of_entry(entry)
            if found == [Step()]:
                raise UnreadableError("says nothing. Write what was done, or leave it out")
        except UnreadableError as error:
            raise UnreadableError(f"step {number} {error.message}") from None
        yield replace(found[0], user=found[0].user or user)
        yield from found[1:]
        user = ""


def _of_entry(entry: Mapping[str, Any]) -> list[Step]:
    """Return the steps of one entry: one, or one for each of its calls."""
    action = entry.get("action")
    for name in ("action", "call"):
        if isinstance(called := entry.get(name), Mapping):
            entry = {key: value for key, value in entry.items() if key != name} | {**called}
    thoughts = dict.fromkeys(text_of(entry[key]) for key in _THOUGHTS if entry.get(key))
    about = Step(
        user=text_of(entry.get("user")),
        thought="\n\n".join(filter(None, thoughts)),
        answer=text_of(_first(entry, _ANSWERS)),
        seconds=_seconds(entry),
        cost=_number(_first_within(entry, _COSTS)),
    )
    if isinstance(entry.get("tool_calls"), list) and entry["tool_calls"]:
        calls = [call_of(each) for each in entry["tool_calls"]]
        return _with_results(about, calls, _results_of(_first(entry, _OBSERVATIONS)))
    tool = _first(entry, _TOOLS, str) or ""
    arguments = json_text(_first(entry, _ARGUMENTS))
    if isinstance(action, str) and not tool:
        tool, arguments = (action, arguments) if arguments else ("", text_of(action))
    result, error = json_text(_first(entry, _RESULTS)), _first(entry, _ERRORS) or False
    said = "" if isinstance(error, bool) else json_text(error)
    if error is True:
        said, result = result or "It failed.", ""
    return [replace(about, tool=text_of(tool), arguments=arguments, result=result, error=said)]


def _results_of(observation: object) -> list[tuple[str, str]]:
    """Return the results of several calls, each with the id of its own."""
    found = listed(observation, ("results",))
    results = [each for each in found if isinstance(each, Mapping)]
    if not results:
        return [("", json_text(observation))] if observation else []
    return [(str(each.get("source_call_id") or ""), json_text(each.get("content"))) for each in results]


def _with_results(about: Step, calls: Sequence[Call], results: Sequence[tuple[str, str]]) -> list[Step]:
    """Return a step for each call, with its result by its id or else by its place; the first says what was thought."""
    by_id = {id: text for id, text in results if id}
    steps = [
        Step(
            tool=call.name,
            arguments=call.arguments,
            result=by_id.get(call.id, "") or (results[n][1] if n < len(results) and not results[n][0] else ""),
        )
        for n, call in enumerate(calls)
    ]
    first = replace(about, tool=steps[0].tool, arguments=steps[0].arguments, result=steps[0].result)
    return [first, *steps[1:]]


def _of_events(entries: Sequence[Any]) -> Sequence[Any]:
    """Return events of OpenHands as steps, what was done with what was observed of it; other entries as they are."""
    events = [event for each in entries for event in (each if isinstance(each, list) else [each])]
    if not any(isinstance(each, Mapping) and each.keys() >= {"observation", "content"} for each in events):
        return entries
    steps: list[dict[str, Any]] = []
    place: dict[str, int] = {}
    for each in events:
        if not isinstance(each, Mapping) or not each.keys() & {"action", "observation"}:
            raise UnreadableError(f"event {events.index(each) + 1} has no “action” and no “observation”")
        if "observation" in each:
            of = place.get(str(each.get("cause")), len(steps) - 1)
            if steps and each["observation"] not in _NO_STEPS and each.get("content"):
                steps[of] |= {"error" if each["observation"] == "error" else "observation": each["content"]}
        elif each["action"] not in _NO_STEPS:
            place[str(each.get("id"))] = len(steps)
            steps.append(_of_event(each))
    return steps


def _of_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an agent did, or what a person said to it."""
    args = event["args"] if isinstance(event.get("args"), Mapping) else {}
    said = args.get("content") or args.get("thought") or ""
    if event["action"] == "message" and event.get("source") == "user":
        return {"source": "user", "message": said}
    if event["action"] in ("message", "think"):
        return {"thought": said}
    if event["action"] == "finish":
        return {"answer": args.get("final_thought") or said or "Finished."}
    given = {name: value for name, value in args.items() if name not in _NOT_GIVEN and _is_said(value)}
    return {"thought": args.get("thought") or "", "tool": event["action"], "arguments": given}


def _is_said(value: object) -> bool:
    return isinstance(value, str | list | dict) and bool(value)


def _of_transcript(text: str) -> list[dict[str, str]]:
    """Return the steps of a transcript of ReAct, each ended by its observation; [] if the text is none."""
    steps: list[dict[str, str]] = [{}]
    above, *parts = _PART.split(text)
    for name, said in zip(parts[::2], parts[1::2], strict=True):
        part = _PARTS[name.casefold()]
        if part in steps[-1] or "result" in steps[-1]:
            steps.append({})
        steps[-1][part] = said.strip()
    return steps if parts and not above.strip() else []


# --- Messages and spans


def _of_messages(messages: Sequence[Message]) -> tuple[str, list[Step]]:
    """Return what a person asked for first, and a step for each call of a tool, or reply without one."""
    steps: list[Step] = []
    waiting: list[tuple[str, int]] = []
    task, user = "", ""
    for each in messages:
        if each.role == "user":
            user = "\n\n".join(filter(None, (user, each.text)))
        elif each.role == "assistant":
            task, user = (user, "") if not steps else (task, user)
            said = Step(user=user, thought="\n\n".join(filter(None, (each.thought, each.text))))
            made = _with_results(said, each.calls, ()) if each.calls else [said]
            waiting = [(call.id, len(steps) + n) for n, call in enumerate(each.calls)]
            steps += made
            user = ""
        elif each.role == "tool" and waiting:
            place = next((place for place in waiting if place[0] and place[0] == each.call), waiting[0])
            waiting.remove(place)
            step = steps[place[1]]
            failed = replace(step, error=each.text or "It failed.")
            steps[place[1]] = failed if each.is_error else replace(step, result=each.text)
    if steps and not steps[-1].is_call:
        steps[-1] = replace(steps[-1], thought="", answer=steps[-1].thought)
    return task, steps


def _spans_in(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the spans of an entry of `resourceSpans`."""
    scopes = [each for each in listed(entry, ("scopeSpans",)) if isinstance(each, Mapping)]
    return [span for scope in scopes for span in listed(scope, ("spans",)) if isinstance(span, Mapping)]


def _of_spans(spans: Iterable[Mapping[str, Any]]) -> list[Step]:
    """Return a step for each execution of a tool, in the order in which they began."""
    found = []
    for span in spans:
        attributes = _attributes(span.get("attributes"))
        begun, ended = (_number(span.get(f"{end}TimeUnixNano", span.get(f"{end}_time"))) for end in ("start", "end"))
        if tool := attributes.get("gen_ai.tool.name"):
            step = Step(
                tool=text_of(tool),
                arguments=json_text(attributes.get("gen_ai.tool.call.arguments")),
                result=json_text(attributes.get("gen_ai.tool.call.result")),
                error=text_of(attributes.get("error.type")),
                seconds=None if begun is None or ended is None else _number((ended - begun) / 1e9),
            )
            found.append((begun or 0.0, step))
    return [step for _, step in sorted(found, key=lambda each: each[0])]


def _attributes(given: object) -> Mapping[str, Any]:
    """Return attributes by name: of an object, or of a list of names and typed values."""
    if isinstance(given, Mapping):
        return given
    pairs = [each for each in listed(given, ()) if isinstance(each, Mapping) and isinstance(each.get("value"), Mapping)]
    return {str(each.get("key")): next(iter(each["value"].values()), None) for each in pairs}


# --- Parts


def _first(entry: Mapping[str, Any], keys: Sequence[str], kind: type = object) -> Any:
    """Return the first of these that an entry has, of this type."""
    return next((entry[key] for key in keys if entry.get(key) is not None and isinstance(entry[key], kind)), None)


def _first_within(entry: Mapping[str, Any], keys: Sequence[str], kind: type = object) -> Any:
    """Return what `_first` does of an entry, or of the objects in it that tell more."""
    found = _first(entry, keys, kind)
    inner = (entry[name] for name in _INNER if isinstance(entry.get(name), Mapping)) if found is None else ()
    return next((value for each in inner if (value := _first_within(each, keys, kind)) is not None), found)


def _seconds(entry: Mapping[str, Any]) -> float | None:
    found = _number(_first_within(entry, _SECONDS))
    if found is not None:
        return found
    ms = _number(_first_within(entry, _MILLISECONDS))
    return None if ms is None else _number(ms / 1000)


def _number(value: object) -> float | None:
    """Return a number that is not below 0, to six digits; None for anything else, as a point in time."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return round(number, 6) if math.isfinite(number) and number >= 0 else None
