"""How long a worker takes for one item, as its content suggests."""

from collections.abc import Sequence

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


def _n_words(text: str) -> float:
    unit = unit_of(text)
    n = len(segment(text, unit).units)
    return n / _CLUSTERS_PER_WORD if unit == Unit.CLUSTER else n
