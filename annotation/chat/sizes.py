"""How large a chat is and how long it took, the same in files as in results. No database."""

from collections.abc import Iterable
from datetime import datetime

_S_PER_MIN = 60


def measure_each(inputs: Iterable[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many words, and how many characters, each input of a chat has, as `measure` counts them.

    >>> measure_each(["I like  tea. ", "Ça va?"])
    ((3, 2), (11, 6))
    """
    words = [text.split() for text in inputs]
    return tuple(map(len, words)), tuple(len(" ".join(of_input)) for of_input in words)


def measure(inputs: Iterable[str]) -> tuple[int, int, int]:
    """Return how many inputs, words and characters a worker's side of a chat has.

    Words are divided by white space; characters are Unicode code points, white space between two words counted as one.

    >>> measure(["I like  tea. ", "Ça va?"])
    (2, 5, 17)
    """
    words, characters = measure_each(inputs)
    return len(words), sum(words), sum(characters)


def minutes_between(started_at: datetime, ended_at: datetime | None) -> float | None:
    """Return the minutes of a chat with two decimals; None of one that goes on."""
    return round((ended_at - started_at).total_seconds() / _S_PER_MIN, 2) if ended_at else None
