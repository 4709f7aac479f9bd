"""Texts as words, or as character clusters where a language is written without spaces."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Unit(StrEnum):
    """What a text is counted and degraded in."""

    WORD = "word"
    CLUSTER = "cluster"


@dataclass(frozen=True)
class Segments:
    """A text as units and what lies between them.

    Attributes
    ----------
    units : tuple of str, (n,)
        Words with their punctuation, or clusters.
    gaps : tuple of str, (n + 1,)
        The spacing before, between and after the units, as it was.
    """

    units: tuple[str, ...]
    gaps: tuple[str, ...]

    def replaced(self, start: int, run: tuple[str, ...]) -> str:
        """Return the text with `run` in place of as many units from `start` on, the spacing kept."""
        units = [*self.units[:start], *run, *self.units[start + len(run) :]]
        return self.gaps[0] + "".join(unit + gap for unit, gap in zip(units, self.gaps[1:], strict=True))


def segment(text: str, unit: Unit) -> Segments:
    """Divide a text into words (split at white space) or extended grapheme clusters (white space left out).

    Parameters
    ----------
    text : str
    unit : Unit

    Returns
    -------
    Segments
        No units for a text that is empty or all white space.

    Examples
    --------
    >>> segment("Yes,  she did. ", Unit.WORD)
    Segments(units=('Yes,', 'she', 'did.'), gaps=('', '  ', ' ', ' '))
    >>> segment("什么 时候？", Unit.CLUSTER).units
    ('什', '么', '时', '候', '？')
    """
    if unit == Unit.WORD:
        parts = re.split(r"(\S+)", text)
        return Segments(tuple(parts[1::2]), tuple(parts[::2]))
    units, gaps = [], [""]
    for cluster in split_clusters(text):
        if _is_spacing(cluster):
            gaps[-1] += cluster
        else:
            units.append(cluster)
            gaps.append("")
    return Segments(tuple(units), tuple(gaps))


def _is_spacing(cluster: str) -> bool:
    """Whether nothing of the cluster is seen: white space and format characters such as the zero-width space."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in cluster)


# First and last code points of the scripts that are written without spaces between words: Unicode's line breaking
# classes ID and SA (UAX #14) as far as they are letters. Korean is not among them: it is written with spaces.
_SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x109F),  # Tibetan, Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue, Khmer symbols
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # Han iteration mark and zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x3035),  # kana repeat marks
    (0x303B, 0x303C),
    (0x3040, 0x312F),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0xA4CF),  # Han, Yi
    (0xA980, 0xA9FF),  # Javanese, Myanmar
    (0xAA60, 0xAADF),  # Myanmar, Tai Viet
    (0xF900, 0xFAFF),  # Han
    (0xFF66, 0xFF9D),  # halfwidth Katakana
    (0x11700, 0x1174F),  # Ahom
    (0x1AFF0, 0x1B16F),  # kana
    (0x20000, 0x3FFFF),  # Han
)
_SPACELESS_CHAR = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _SPACELESS) + "]")
_OTHER_WORD = re.compile(r"[^\W_]+")


def unit_of(text: str) -> Unit:
    """Return what a text is to be counted in: clusters where most of it is written without spaces.

    Parameters
    ----------
    text : str

    Returns
    -------
    Unit
        `CLUSTER` if letters of scripts written without spaces outnumber the words of other scripts.

    Examples
    --------
    >>> unit_of("她在iPhone上看书"), unit_of("The sign 猫 means cat")
    (<Unit.CLUSTER: 'cluster'>, <Unit.WORD: 'word'>)
    """
    if not _SPACELESS_CHAR.search(text):
        return Unit.WORD
    n_spaceless = sum(unicodedata.category(char)[0] in "LMN" for char in _SPACELESS_CHAR.findall(text))
    n_words = len(_OTHER_WORD.findall(_SPACELESS_CHAR.sub(" ", text)))
    return Unit.CLUSTER if n_spaceless > n_words else Unit.WORD


# --- Extended grapheme clusters (UAX #29, table 1c), as a regular expression over one letter a character:
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
