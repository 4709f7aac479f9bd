"""Cutting a text into clusters, which are never split, and finding where a line may end.

A cluster is a letter with its marks, a flag, a joined emoji, a syllable block. The rules are those of UAX #29.
Lines break as in UAX #14 for spaces, hyphens and East Asian text. Thai and Lao words, which need a dictionary, may be
broken before a leading vowel, where a syllable begins, and Khmer ones between clusters.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from evalsite.lib.clusters import split_clusters

TAB_WIDTH = 4
# No real cluster is longer; a thousand marks on one letter are cut up, so that lines can be broken.
LONGEST = 12
_BIDI_MARKS = "\u200e\u200f\u061c"
_LEADING_VOWELS = frozenset("เแโใไເແໂໃໄ")
_NOT_BEFORE = frozenset(
    "!),.:;?]}%»’”…‥·、。，．：；？！）］｝〉》」』】〕〗〙〛ー々〻ゝゞヽヾぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ％℃๏ฯๆ។៕ៗ"
)
_NOT_AFTER = frozenset("([{«‘“（［｛〈《「『【〔〖〘〚$£¥€＄￥￡")
_HYPHENS = frozenset("-‐–—/")


# What a cluster says about ending a line beside it; plain integers, as they are asked for each cluster.
SPACE, HYPHEN, BREAK_BEFORE, BREAK_AFTER, NOT_BEFORE, NOT_AFTER, JOIN = (1 << k for k in range(7))


def find_clusters(text: str) -> list[tuple[int, int]]:
    """Return start and end of each cluster of `text`; control characters lie in none."""
    if text.isascii():
        return [(k, k + 1) for k, character in enumerate(text) if character == "\t" or character.isprintable()]
    found: list[tuple[int, int]] = []
    end = 0
    for cluster in split_clusters(text):
        start, end = end, end + len(cluster)
        if not _is_control(cluster):
            found += [(k, min(k + LONGEST, end)) for k in range(start, end, LONGEST)]
    return found


def _is_control(cluster: str) -> bool:
    """Tell whether nothing of a cluster is seen; a tab and the marks of direction count as seen."""
    first = cluster[0]
    return first not in _BIDI_MARKS and first != "\t" and unicodedata.category(first) in {"Cc", "Cf", "Zl", "Zp"}


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
