"""Texts as the tokens that metrics of word overlap count: fixed, so that scores can be compared."""

import re
import unicodedata
from functools import cache

from campaigns.design.words import Unit, segment, unit_of

TOKENS = (
    "Texts are lower-cased and divided into words, numbers and single punctuation marks; a language that is written "
    "without spaces is divided into characters."
)
"""What pages and documents say of `tokenise`."""


@cache
def _token() -> re.Pattern[str]:
    """Return the pattern of a token; made when a text is first divided."""
    marks = "".join(chr(code) for code in range(0x10000) if unicodedata.category(chr(code)).startswith("M"))
    # Python's \w has no combining marks, which are a part of words in Hindi, Arabic and others.
    word_char = f"[\\w{re.escape(marks)}]"
    return re.compile(rf"{word_char}+(?:['’]{word_char}+)*|[^\w\s]")


def tokenise(text: str, *, keeps_case: bool = False) -> list[str]:
    """Return a text's tokens, in Unicode's composed form (NFC), lower-cased unless the case is kept.

    Examples
    --------
    >>> tokenise("Who didn't it, in 1999?")
    ['who', "didn't", 'it', ',', 'in', '1999', '?']
    >>> tokenise("什么时候？")
    ['什', '么', '时', '候', '？']
    """
    text = unicodedata.normalize("NFC", text)
    text = text if keeps_case else text.lower()
    return list(segment(text, Unit.CLUSTER).units) if unit_of(text) is Unit.CLUSTER else _token().findall(text)
