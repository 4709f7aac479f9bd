"""What agents did, step by step."""

import json
from collections.abc import Iterator
from dataclasses import replace

from campaigns.contracts.format import Block, ContentFormat, Degradation, Place
from campaigns.dialogues import SPEAKERS
from campaigns.formats import first_of
from campaigns.messages import UnreadableError, arguments_shown
from campaigns.steps import Step, Trace, kept_trace, read_trace, write_trace
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_LONGEST_OPEN, _MOST_LINES_OPEN = 600, 8
"""Characters and lines of a text that is not folded."""
_WORDS_OF_FOLDED = 40
_CODE, _PROSE = ("text",), ("markdown", "text")
_EXCHANGED = ("tool", "arguments", "result", "error")


class AgentTrace(ContentFormat):
    """The steps of an agent, each with what it thought, called and got, and a summary above them.

    It is shown as text, as a conversation is. The final answer is the last step.
    """

    slug = "trace"
    title = "Trace of an agent"
    summary = "What an agent thought, called and got, step by step."
    is_one_text = False
    has_lists = True
    has_parts = True
    turn = "Step"
    times_as_long = 10
    n_words = 400
    degraded = "one step in three, at least one, with the call and the result of a step of another trace"
    style = "css/rate_conversation.css"
    hint = (
        'A trace is a list of steps: <code>[{"thought": "…", "tool": "…", "arguments": {}, "result": "…"}, …]</code>, '
        "with <code>error</code>, <code>seconds</code>, <code>cost</code> and, in the end, <code>answer</code>. Or it "
        "is a list of messages with calls of tools, a trajectory of SWE-agent, smolagents or ATIF, a history of "
        "OpenHands, LangChain’s <code>intermediate_steps</code>, spans of OpenTelemetry, or a transcript of ReAct."
    )

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return a trace as JSON, without ids; raise DomainError `bad_trace`."""
        try:
            return write_trace(read_trace(text))
        except UnreadableError as error:
            raise DomainError("bad_trace", error.message) from None

    @classmethod
    def blocks(cls, value: str, place: Place) -> list[Block]:
        """Return the summary and the steps, what is long of them folded."""
        trace = kept_trace(value)
        blocks = list(_blocks(trace, first_of(*_PROSE), first_of(*_CODE)))
        return [
            replace(each, name=f"{place.name} {n}", is_output=place.is_output, dialogue=place.label, is_drawn=False)
            for n, each in enumerate(blocks, 1)
        ]

    @classmethod
    def turns(cls, value: str) -> list[str]:
        """Return the steps, as text."""
        return ["\n".join(filter(None, _texts(each))) for each in kept_trace(value).steps]

    @classmethod
    def words(cls, value: str) -> str:
        """Return what is thought and answered, and the beginnings of what was called and came of it."""
        trace = kept_trace(value)
        of_steps = [(each.user, each.thought, each.answer) for each in trace.steps]
        folded = [text for each in trace.steps for text in (each.arguments, each.result, each.error)]
        begun = [" ".join(text.split()[:_WORDS_OF_FOLDED]) for text in (trace.task, *folded)]
        return "\n".join(filter(None, [*begun, *(text for texts in of_steps for text in texts)]))

    @classmethod
    def parts(cls, value: str) -> list[str]:
        """Return the calls and results of the steps, each as JSON."""
        return [_part(each) for each in kept_trace(value).steps if each.is_call]

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return the trace with calls and results of others in the place of some."""
        trace = kept_trace(value)
        places = [place for place, each in enumerate(trace.steps) if each.is_call]
        return write_trace(replace(trace, steps=tuple(by.exchanged(trace.steps, places, _exchanged))))

    @classmethod
    def example(cls, text: str) -> str:
        """Return a trace of two steps."""
        looked = Step(thought="I look it up.", tool="search", arguments='{"query": "…"}', result=f"This is: {text}")
        return write_trace(Trace((looked, Step(answer=text)), "Find it."))


def _part(step: Step) -> str:
    return json.dumps({name: getattr(step, name) for name in _EXCHANGED}, ensure_ascii=False)


def _exchanged(step: Step, donor: str) -> Step | None:
    """Return a step with the call and result of another one; None if it has the same.

    A donor that is a text, of a field, is the result.
    """
    try:
        part = json.loads(donor)
    except (ValueError, RecursionError):
        part = None
    if not isinstance(part, dict) or part.keys() != {*_EXCHANGED}:
        part = {"result": donor, "error": ""}
    changed = replace(step, **part)
    return None if changed == step else changed


def _blocks(trace: Trace, prose: str, code: str) -> Iterator[Block]:
    """Yield what is shown; the last block of a step has its number."""
    if trace.task:
        yield _folded("Task", trace.task, prose)
    yield Block("", "Summary", _summary(trace), format="text")
    for number, step in enumerate(trace.steps, 1):
        if step.user:
            yield Block("", SPEAKERS["worker"], step.user, speaker="worker", format=prose)
        *before, last = _of_step(number, step, prose, code)
        yield from before
        yield replace(last, turn=number)


def _of_step(number: int, step: Step, prose: str, code: str) -> Iterator[Block]:
    measures = (_time(step.seconds), _cost(step.cost))
    label = " · ".join(filter(None, (f"Step {number}", "final answer" if step.answer else "", *measures)))
    is_open = _is_short(step.thought)
    if step.answer and not step.thought:
        yield Block("", label, step.answer, format=prose)
    else:
        yield Block("", label, step.thought if is_open else "", format=prose)
    if not is_open:
        yield _folded("Thought", step.thought, prose)
    if step.is_call:
        said = f"Call of {step.tool}" if step.tool else "Action"
        yield _folded(said, arguments_shown(step.arguments) or "(no arguments)", code)
    if step.error:
        yield _folded("Error", step.error, code)
    if step.result or (step.is_call and not step.error):
        yield _folded("Result", step.result or "(empty)", code)
    if step.answer and step.thought:
        yield _folded("Answer", step.answer, prose, is_open=True)


def _folded(label: str, text: str, format: str, *, is_open: bool = False) -> Block:
    """Return a text that is folded if it is long: then as high as every other one."""
    is_short = is_open or _is_short(text)
    fold = label if is_short else f"{label} · {len(text):,} characters"
    return Block("", label, text, format=format, fold=fold, is_open=is_short)


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST_OPEN and text.count("\n") < _MOST_LINES_OPEN


def _texts(step: Step) -> tuple[str, ...]:
    return step.thought, step.tool, arguments_shown(step.arguments), step.result, step.error, step.answer


def _summary(trace: Trace) -> str:
    """Return how many steps, calls and errors there are, time and cost, and the answer."""
    steps = trace.steps
    n_errors = sum(bool(each.error) for each in steps)
    seconds = [each.seconds for each in steps if each.seconds is not None]
    costs = [each.cost for each in steps if each.cost is not None]
    counts = (
        counted(len(steps), "step"),
        counted(sum(each.is_call for each in steps), "call"),
        counted(n_errors, "error") if n_errors else "no error",
        _time(sum(seconds) if seconds else trace.seconds),
        _cost(sum(costs) if costs else trace.cost),
    )
    answer = next((each.answer for each in reversed(steps) if each.answer), "")
    shown = answer if len(answer) <= _LONGEST_OPEN else f"{answer[:_LONGEST_OPEN]} …"
    return ", ".join(filter(None, counts)) + (f".\nFinal answer: {shown}" if answer else ".\nThere is no final answer.")


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:,.1f} s"


def _cost(cost: float | None) -> str:
    return "" if cost is None else f"cost {round(cost, 4):g}"
