"""How long a worker takes for one item, as its content suggests."""

from collections.abc import Sequence

from campaigns.contracts.protocol import Format, Protocol, Scope
from campaigns.design.composition import Layout
from campaigns.design.paging import PageKind
from campaigns.design.words import Unit, segment, unit_of

# Silent reading of English (Brysbaert 2019, 190 studies). A cluster of a language without spaces is half a word.
_WORDS_PER_MINUTE, _CLUSTERS_PER_WORD = 238, 2
_SECONDS_PER_STATEMENT = 4
# A chat of at least 10 messages and 7 statements took 6.7 minutes (Ji et al. 2022).
_SECONDS_PER_MESSAGE = 37


def seconds_to_rate(texts: Sequence[Sequence[str]], n_criteria: int) -> int:
    """Return the seconds of an average item: its texts are read, and each statement gets a rating.

    `texts` has the texts of some items.

    >>> seconds_to_rate([["What is it?", "It is a house, and " * 8]], 1)
    15
    """
    n_words = sum(_n_words(text) for item in texts for text in item) / max(len(texts), 1)
    return max(1, round(n_words * 60 / _WORDS_PER_MINUTE + n_criteria * _SECONDS_PER_STATEMENT))


def seconds_to_chat(n_messages: int, n_criteria: int) -> int:
    """Return the seconds of a chat with so many messages of the worker, and its ratings.

    >>> seconds_to_chat(10, 7)
    398
    """
    return n_messages * _SECONDS_PER_MESSAGE + n_criteria * _SECONDS_PER_STATEMENT


WORDS: dict[Format, int] = {"text": 50, "reply": 15, "dialogue": 150}
"""How long texts are taken to be that nobody has seen yet."""


def seconds_per_output(protocol: type[Protocol], items: Sequence[tuple[Sequence[str], str]] = ()) -> float:
    """Return the seconds that one output takes, or one chat, in a campaign as the protocol presets it.

    `items`: the shown fields and the output of some items; else texts have as many words as `WORDS` says. What several
    outputs of a page or a HIT have in common is read once.
    """
    asked = [each.scope for each in protocol.criteria]
    if protocol.chat:
        n_inputs = protocol.chat.min_inputs
        return seconds_to_chat(n_inputs, sum(n_inputs if scope == Scope.TURN else 1 for scope in asked))
    screen, is_compared = protocol.screen, protocol.page_kind == PageKind.COMPARISON
    if not items:
        shown = [each.format for each in screen.fields if each.is_shown]
        items = [([_words(each) for each in shown], _words(screen.output_format))]
    n_alike = protocol.mix.size if protocol.mix.layout == Layout.BY_SOURCE else 1
    n_alike = protocol.outputs_per_page if is_compared else n_alike
    n_asked = asked.count(Scope.OUTPUT) + (asked.count(Scope.PAGE) / n_alike if is_compared else 0)
    reading = seconds_to_rate([fields for fields, _ in items], 0) if any(fields for fields, _ in items) else 0
    return reading / n_alike + seconds_to_rate([[text] for _, text in items], 0) + n_asked * _SECONDS_PER_STATEMENT


def _words(format: Format) -> str:
    return "word " * WORDS[format]


def _n_words(text: str) -> float:
    unit = unit_of(text)
    n = len(segment(text, unit).units)
    return n / _CLUSTERS_PER_WORD if unit == Unit.CLUSTER else n
