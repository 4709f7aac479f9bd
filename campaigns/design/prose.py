"""Texts whose words stand in markup: the words of some stretches are degraded as one text, all else stays."""

import re
from collections.abc import Callable, Sequence

from campaigns.design.words import segment, unit_of

_MARKUP = re.compile(r"[\\`*_\[\]{}<>|~$&#=^+]")
_ALONE = re.compile(r"[-.:)\d]+")


def degrade_stretches(
    text: str, stretches: Sequence[tuple[int, int]], degraded: Callable[[str], str], joined_by: str = "\n"
) -> str:
    """Return a text with the words of its stretches replaced.

    Parameters
    ----------
    text : str
    stretches : sequence of (int, int)
        Starts and ends in `text`, ascending.
    degraded : callable
        Returns a text of as many words as the one it is given: all stretches, each on a line of its own.

    Examples
    --------
    >>> degrade_stretches("<b>He</b> reads <i>it</i>", [(3, 5), (9, 16), (19, 21)], str.upper)
    '<b>HE</b> READS <i>IT</i>'
    """
    prose = joined_by.join(text[start:end] for start, end in stretches)
    unit = unit_of(prose)
    words = iter(segment(degraded(prose), unit).units)
    written, at = [], 0
    for start, end in stretches:
        parts = segment(text[start:end], unit)
        written.append(text[at:start])
        written.append(parts.replaced(0, tuple(next(words) for _ in parts.units)))
        at = end
    return "".join(written) + text[at:]


def without_marks(prose: str) -> str:
    """Return the words of a text without the characters that could be markup where they are put.

    >>> without_marks("1. *Yes*, she <b>did</b> - 2024.")
    'Yes, she bdid/b'
    """
    return " ".join(word for word in _MARKUP.sub("", prose).split() if not _ALONE.fullmatch(word))
