"""How long a worker takes for one item, as its content suggests."""

from collections.abc import Mapping, Sequence

from campaigns.contracts.protocol import Protocol, Scope, Screen
from campaigns.design.composition import Layout
from campaigns.design.paging import PageKind
from campaigns.design.words import seconds_to_read
from campaigns.formats import get_format
from evalsite.lib.errors import DomainError

_SECONDS_PER_STATEMENT = 4
_USUAL_TURNS = 5
"""Replies or steps that an output is assumed to have before data are there."""
# A chat of at least 10 messages and 7 statements took 6.7 minutes (Ji et al. 2022).
_SECONDS_PER_MESSAGE = 37


def seconds_to_rate(seconds: Sequence[float], n_criteria: float) -> int:
    """Return the seconds of an average item: it is read, and each statement gets a rating.

    `seconds`: how long it takes to read each of some items.

    >>> seconds_to_rate([11], 1)
    15
    """
    return max(1, round(sum(seconds) / max(len(seconds), 1) + n_criteria * _SECONDS_PER_STATEMENT))


def seconds_to_chat(n_messages: int, n_criteria: int) -> int:
    """Return the seconds of a chat with so many messages of the worker, and its ratings.

    >>> seconds_to_chat(10, 7)
    398
    """
    return n_messages * _SECONDS_PER_MESSAGE + n_criteria * _SECONDS_PER_STATEMENT


def seconds_of_fields(screen: Screen, fields: Mapping[str, str]) -> float:
    """Return how many seconds it takes to read what is shown of a source."""
    shown = ((each.format, str(fields.get(each.name) or "")) for each in screen.fields if each.is_shown)
    return sum(_seconds(format, value, is_output=False) for format, value in shown)


def seconds_of_output(screen: Screen, text: str) -> float:
    """Return how many seconds it takes to read an output."""
    return _seconds(screen.output_format, text, is_output=True)


def _seconds(format: str, value: str, *, is_output: bool) -> float:
    """Return how long a value takes, of a campaign or of a file; as a text, if the format cannot read it."""
    try:
        return get_format(format).seconds(get_format(format).read(value, is_output=is_output)) if value else 0.0
    except DomainError:
        return seconds_to_read(value)


def count_turns(screen: Screen, text: str) -> int:
    """Return how many replies or steps an output has; 0 of a format without, and of what it cannot read."""
    format = get_format(screen.output_format)
    try:
        return len(format.turns(format.read(text, is_output=True))) if format.turn and text else 0
    except DomainError:
        return 0


def seconds_per_output(protocol: type[Protocol], items: Sequence[tuple[Mapping[str, str], str]] = ()) -> float:
    """Return the seconds that one output takes, or one chat, in a campaign as the protocol presets it.

    `items`: the fields and the output of some items; else they have as many words as their formats say. What several
    outputs of a page or a HIT have in common is read once.
    """
    asked = [each.scope for each in protocol.criteria]
    if protocol.chat:
        n_inputs = protocol.chat.min_inputs
        return seconds_to_chat(n_inputs, sum(n_inputs if scope == Scope.TURN else 1 for scope in asked))
    screen, is_compared = protocol.screen, protocol.page_kind == PageKind.COMPARISON
    n_alike = protocol.mix.size if protocol.mix.layout == Layout.BY_SOURCE else 1
    n_alike = protocol.outputs_per_page if is_compared else n_alike
    n_asked = asked.count(Scope.OUTPUT) + (asked.count(Scope.PAGE) / n_alike if is_compared else 0)
    n_turns = sum(count_turns(screen, text) for _, text in items) / len(items) if items else _USUAL_TURNS
    n_asked += asked.count(Scope.TURN) * n_turns
    if items:
        of_sources = [seconds_of_fields(screen, fields) for fields, _ in items]
        of_outputs = [seconds_of_output(screen, text) for _, text in items]
    else:
        of_sources = [sum(_usual_seconds(each.format) for each in screen.fields if each.is_shown)]
        of_outputs = [_usual_seconds(screen.output_format)]
    reading = seconds_to_rate(of_sources, 0) if any(of_sources) else 0
    return reading / n_alike + seconds_to_rate(of_outputs, 0) + n_asked * _SECONDS_PER_STATEMENT


def _usual_seconds(format: str) -> float:
    """Return how many seconds a value of a format is assumed to take before data are there."""
    return seconds_to_read("word " * get_format(format).n_words)
