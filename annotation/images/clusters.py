"""Cutting a text into clusters, which are never split, and finding where a line may end.

A cluster is a letter with its marks, a flag, a joined emoji, a syllable block. The rules are those of UAX #29 as far as
`unicodedata` goes. Lines break as in UAX #14 for spaces, hyphens and East Asian text. Thai and Lao words, which need a
dictionary, may be broken before a leading vowel, where a syllable begins, and Khmer ones between clusters.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

TAB_WIDTH = 4
# No real cluster is longer; a thousand marks on one letter are cut up, so that lines can be broken.
LONGEST = 12
ZWJ = "\u200d"
_BIDI_MARKS = "\u200e\u200f\u061c"
_LEADING_VOWELS = frozenset("เแโใไເແໂໃໄ")
_NOT_BEFORE = frozenset(
    "!),.:;?]}%»’”…‥·、。，．：；？！）］｝〉》」』】〕〗〙〛ー々〻ゝゞヽヾぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ％℃๏ฯๆ។៕ៗ"
)
_NOT_AFTER = frozenset("([{«‘“（［｛〈《「『【〔〖〘〚$£¥€＄￥￡")
_HYPHENS = frozenset("-‐–—/")


# What a cluster says about ending a line beside it; plain integers, as they are asked for each cluster.
SPACE, HYPHEN, BREAK_BEFORE, BREAK_AFTER, NOT_BEFORE, NOT_AFTER, JOIN = (1 << k for k in range(7))


def is_extending(character: str) -> bool:
    """Tell whether `character` belongs to the cluster before it whatever that is."""
    code = ord(character)
    return (
        unicodedata.category(character) in {"Mn", "Mc", "Me"}
        or character in "\u200c\u200d\u2060\u0e33\u0eb3"
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags of regional flags
    )


@lru_cache(maxsize=1 << 14)
def _kind(character: str) -> str:
    """Return what `character` is to a cluster."""
    code = ord(character)
    if is_extending(character):
        if unicodedata.combining(character) == 9 and code not in {0xE3A, 0xEBA}:
            return "virama"
        return "joiner" if character == ZWJ else "extend"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "flag"
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "lead"
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FB:
        return "trail"
    if 0xAC00 <= code <= 0xD7A3:
        return "block"
    category = unicodedata.category(character)
    if category in {"Cc", "Cf", "Zl", "Zp"} and character not in _BIDI_MARKS:
        return "skip"
    if category == "So":
        return "picture"
    return "letter" if category == "Lo" else "other"


def _joins(before: str, kind: str, n_flags: int) -> bool:
    """Tell whether a character of `kind` goes on with the cluster whose last character is of kind `before`."""
    if kind in {"extend", "joiner", "virama"}:
        return True
    if kind == "flag":
        return before == "flag" and n_flags % 2 == 1
    if kind == "picture":
        return before == "joiner"
    if kind == "letter":
        return before == "virama"
    return (kind == "trail" and before in {"lead", "trail", "block"}) or (
        kind in {"lead", "block"} and before == "lead"
    )


def find_clusters(text: str) -> list[tuple[int, int]]:
    """Return start and end of each cluster of `text`; control characters lie in none."""
    if text.isascii():
        return [(k, k + 1) for k, character in enumerate(text) if character == "\t" or character.isprintable()]
    found: list[tuple[int, int]] = []
    before, base, start, end, n_flags = "none", "none", 0, 0, 0
    for k, character in enumerate(text):
        kind = "other" if character == "\t" else _kind(character)
        if kind == "skip":
            if before != "none":
                found.append((start, end))
            before = "none"
            continue
        joins = before != "none" and k - start < LONGEST and _joins(base if kind == "letter" else before, kind, n_flags)
        if not joins:
            if before != "none":
                found.append((start, end))
            start, n_flags = k, 0
        n_flags += kind == "flag"
        # A joiner between virama and letter (क्‍ष) does not end the conjunct.
        base = base if kind == "joiner" and before == "virama" else kind
        before, end = kind, k + 1
    if before != "none":
        found.append((start, end))
    return found


@lru_cache(maxsize=1 << 14)
def break_class(cluster: str) -> int:
    """Return what `cluster` says about ending a line beside it, as flags."""
    first = cluster[0]
    code = ord(first)
    if first in " \t\u1680\u3000" or 0x2000 <= code <= 0x2006 or 0x2008 <= code <= 0x200A:
        return SPACE
    if first in "\u00a0\u202f\u2007":
        return JOIN
    is_wide = unicodedata.east_asian_width(first) in "WF"
    if first in _NOT_BEFORE:
        return NOT_BEFORE | (BREAK_AFTER if is_wide else 0)
    if first in _NOT_AFTER:
        return NOT_AFTER | (BREAK_BEFORE if is_wide else 0)
    if is_wide or 0x1780 <= code < 0x17B4:
        return BREAK_BEFORE | BREAK_AFTER
    if first in _LEADING_VOWELS:
        return BREAK_BEFORE | NOT_AFTER
    return HYPHEN if first in _HYPHENS else 0


def _may_break(before: int, after: int, is_between_words: bool) -> bool:
    """Tell whether a line may end between two clusters; a hyphen only lets it between two words."""
    if after & SPACE or (before | after) & JOIN:
        return False
    if before & SPACE:
        return True
    if before & NOT_AFTER or after & NOT_BEFORE:
        return False
    return bool(before & BREAK_AFTER or after & BREAK_BEFORE) or bool(before & HYPHEN and is_between_words)


def find_pieces(clusters: Sequence[str]) -> list[tuple[int, int]]:
    """Return start and end of the pieces between which a line may end, spaces at the end of the piece before."""
    pieces: list[tuple[int, int]] = []
    start = 0
    classes = [break_class(cluster) for cluster in clusters]
    for k in range(1, len(clusters)):
        before, after = classes[k - 1], classes[k]
        if not (before or after):
            continue
        is_between_words = k > 1 and clusters[k - 2][0].isalnum() and clusters[k][0].isalpha()
        if _may_break(before, after, is_between_words):
            pieces.append((start, k))
            start = k
    if clusters:
        pieces.append((start, len(clusters)))
    return pieces
