"""Texts as words, or as character clusters where a language is written without spaces."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from evalsite.lib.clusters import split_clusters

# Silent reading of English (Brysbaert 2019, 190 studies). A cluster of a language without spaces is half a word.
_WORDS_PER_MINUTE, _CLUSTERS_PER_WORD = 238, 2


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
    if text.isascii() or not _SPACELESS_CHAR.search(text):
        return Unit.WORD
    n_spaceless = sum(unicodedata.category(char)[0] in "LMN" for char in _SPACELESS_CHAR.findall(text))
    n_words = len(_OTHER_WORD.findall(_SPACELESS_CHAR.sub(" ", text)))
    return Unit.CLUSTER if n_spaceless > n_words else Unit.WORD


def seconds_to_read(text: str) -> float:
    """Return the seconds in which an adult reads a text silently (Brysbaert 2019: 238 words of English a minute).

    Examples
    --------
    >>> round(seconds_to_read("It is a house, and " * 8), 2)
    10.08
    """
    unit = unit_of(text)
    n = len(segment(text, unit).units)
    return (n / _CLUSTERS_PER_WORD if unit == Unit.CLUSTER else n) * 60 / _WORDS_PER_MINUTE
