"""Extended grapheme clusters: what a reader takes for one character (UAX #29)."""

import re
import unicodedata
from functools import lru_cache

# One letter a character (table 1c of the annex, as a regular expression):
#
# r n x  carriage return, line feed, other control      b        prepended mark
# e z k  combining mark, zero-width joiner, conjoiner   l v t    Hangul jamo; V a syllable without, T one with a tail
# f p c  flag letter, pictograph, consonant             h w .    high and low surrogate, anything else
_CLUSTER = re.compile(
    r"rn|[rnx]|b*(?:l*(?:v+|Vv*|T)t*|l+|t+|ff?|p(?:[ek]*zp)*|c(?:[ezk]*k[ezk]*c)*|hw?|w|\.)[ezk]*|b+[ezk]*|[ezk]+"
)

# Marks that bind the next consonant below them: rule GB9c and, as Unicode 16 has it, South-East Asian scripts
_CONJOINERS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\ua9c0")
_CONJOINING = ((0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1A20, 0x1B7F), (0xA980, 0xAA7F))
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a"
    "\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46"
)
# Not marks by category, yet part of the character before: Thai and Lao am, halfwidth voicing, skin tones, tags
_ALSO_COMBINING = re.compile("[\u0e33\u0eb3\u200c\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_PICTOGRAPH = re.compile(
    "[\u00a9\u00ae\u2000-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff\U0001fc00-\U0001fffd]"
)


def split_clusters(text: str) -> list[str]:
    r"""Divide a text into extended grapheme clusters: what a reader takes for one character.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        Joined, they are the text.

    Notes
    -----
    Unicode's default rules with three differences, all of which keep more together: every combining mark stays with
    its base (the default cuts off a few vowel signs of Myanmar), a conjoining sign binds the next letter in Myanmar,
    Khmer, Tai Tham, Balinese and Javanese in any version of Unicode, and two surrogates that belong together are one
    character. Categories are those of the running Python's `unicodedata`.

    References
    ----------
    Unicode Standard Annex #29, Unicode Text Segmentation, §3.

    Examples
    --------
    >>> [len(cluster) for cluster in split_clusters("e\u0301 กำ 👩‍🚀")]
    [2, 1, 2, 1, 3]
    """
    classes = "".join(map(_class_of, text))
    return [text[match.start() : match.end()] for match in _CLUSTER.finditer(classes)]


@lru_cache(maxsize=8192)
def _class_of(char: str) -> str:
    """Return the character's class, as `_CLUSTER` writes it."""
    code, category = ord(char), unicodedata.category(char)
    if char in _PREPENDED:
        return "b"
    if category[0] == "M":
        return "k" if char in _CONJOINERS else "e"
    if char == "\u200d":
        return "z"
    if _ALSO_COMBINING.match(char):
        return "e"
    if category in ("Cc", "Cf", "Zl", "Zp"):
        return {"\r": "r", "\n": "n"}.get(char, "x")
    if category == "Cs":
        return "h" if code < 0xDC00 else "w"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "f"
    if _PICTOGRAPH.match(char):
        return "p"
    return _hangul_class(code) or ("c" if category == "Lo" and _is_conjoining(code) else ".")


def _hangul_class(code: int) -> str:
    if 0xAC00 <= code <= 0xD7A3:
        return "T" if (code - 0xAC00) % 28 else "V"
    for letter, first, last in (("l", 0x1100, 0x115F), ("v", 0x1160, 0x11A7), ("t", 0x11A8, 0x11FF)):
        if first <= code <= last:
            return letter
    for letter, first, last in (("l", 0xA960, 0xA97C), ("v", 0xD7B0, 0xD7C6), ("t", 0xD7CB, 0xD7FB)):
        if first <= code <= last:
            return letter
    return ""


def _is_conjoining(code: int) -> bool:
    return any(first <= code <= last for first, last in _CONJOINING)
