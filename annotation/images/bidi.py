"""The order in which a line of mixed directions is read: the Unicode Bidirectional Algorithm (UAX #9) over clusters.

Embeddings, overrides and isolates are left out (their control characters are dropped before): text from systems hardly
holds them, and an override could only make a worker read something that is not there.
"""

import unicodedata
from collections.abc import Sequence
from typing import TypeVar

RTL = frozenset({"R", "AL"})
_NEUTRAL = frozenset({"B", "S", "WS", "ON"})
_CLOSING = {
    chr(code): chr(code + (2 if code in {0x5B, 0x7B} else 1))
    for code in (
        0x28, 0x5B, 0x7B, 0x2045, 0x207D, 0x208D, 0x2329, *range(0x2768, 0x2775, 2), *range(0x27E6, 0x27EF, 2),
        *range(0x2983, 0x2998, 2), *range(0x3008, 0x3011, 2), *range(0x3014, 0x301B, 2), 0xFF5F, 0xFF62,
    )
}  # fmt: skip
_CLOSING |= {"（": "）", "［": "］", "｛": "｝"}
MIRRORED = (
    _CLOSING | {closing: opening for opening, closing in _CLOSING.items()} | {"<": ">", ">": "<", "«": "»", "»": "«"}
)

Run = TypeVar("Run")


def class_of(cluster: str) -> str:
    """Return the bidirectional class of a cluster: that of its first character."""
    return unicodedata.bidirectional(cluster[0]) or "L"


def is_rtl(classes: Sequence[str], default: bool) -> bool:
    """Tell whether a paragraph runs from right to left, by its first strong character (P2, P3)."""
    return next((name in RTL for name in classes if name == "L" or name in RTL), default)


def find_levels(clusters: Sequence[str], classes: Sequence[str], base: int) -> list[int]:
    """Return the embedding level of each cluster of a paragraph whose own level is `base`."""
    if base == 0 and not any(name in {"R", "AL", "AN"} for name in classes):
        return [0] * len(classes)
    own = "R" if base else "L"
    types = _resolve_weak(classes, own)
    _resolve_brackets(clusters, types, own)
    _resolve_neutral(types, own)
    if base:
        return [1 if name == "R" else 2 for name in types]
    return [{"L": 0, "R": 1}.get(name, 2) for name in types]


def _resolve_weak(classes: Sequence[str], own: str) -> list[str]:
    """Resolve marks, numbers and their separators (W1 to W7)."""
    types: list[str] = []
    strong = own
    for name in classes:
        if name in {"NSM", "BN"}:
            name = types[-1] if types else own
        if name == "L" or name in RTL:
            strong = name
        types.append("AN" if name == "EN" and strong == "AL" else name)
    types = ["R" if name == "AL" else name for name in types]
    for k in range(1, len(types) - 1):
        before, after = types[k - 1], types[k + 1]
        if before == after and ((types[k] == "CS" and before in {"EN", "AN"}) or (types[k] == "ES" and before == "EN")):
            types[k] = before
    start = 0
    while start < len(types):
        end = start
        while end < len(types) and types[end] == "ET":
            end += 1
        if end > start and "EN" in {types[start - 1] if start else "", types[end] if end < len(types) else ""}:
            types[start:end] = ["EN"] * (end - start)
        start = max(end, start + 1)
    types = ["ON" if name in {"ES", "ET", "CS"} else name for name in types]
    strong = own
    for k, name in enumerate(types):
        if name in {"L", "R"}:
            strong = name
        elif name == "EN" and strong == "L":
            types[k] = "L"
    return types


def _side(name: str) -> str:
    """Return the direction that `name` stands for beside neutrals: numbers count as right to left."""
    return {"L": "L", "R": "R", "EN": "R", "AN": "R"}.get(name, "")


def _resolve_brackets(clusters: Sequence[str], types: list[str], own: str) -> None:
    """Give both brackets of a pair the same direction (N0)."""
    waiting: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for k, cluster in enumerate(clusters):
        if types[k] != "ON":
            continue
        if cluster[0] in _CLOSING:
            waiting.append((_CLOSING[cluster[0]], k))
            continue
        place = next((n for n in range(len(waiting) - 1, -1, -1) if waiting[n][0] == cluster[0]), None)
        if place is not None:
            pairs.append((waiting[place][1], k))
            del waiting[place:]
        if len(waiting) > 63:
            break
    for start, end in sorted(pairs):
        inside = {_side(name) for name in types[start + 1 : end]} - {""}
        if own in inside:
            types[start] = types[end] = own
        elif inside:
            before = next((side for name in reversed(types[:start]) if (side := _side(name))), own)
            types[start] = types[end] = before


def _resolve_neutral(types: list[str], own: str) -> None:
    """Give neutrals the direction on both their sides, or the paragraph's (N1, N2)."""
    start, before = 0, own
    while start < len(types):
        if types[start] not in _NEUTRAL:
            before = _side(types[start])
            start += 1
            continue
        end = start
        while end < len(types) and types[end] in _NEUTRAL:
            end += 1
        after = _side(types[end]) if end < len(types) else own
        types[start:end] = [before if before == after else own] * (end - start)
        start = end


def reorder(runs: Sequence[Run], levels: Sequence[int]) -> list[Run]:
    """Return the runs of one line from left to right (L2)."""
    ordered, by_level = list(runs), list(levels)
    for level in range(max(by_level, default=0), 0, -1):
        start = 0
        while start < len(ordered):
            end = start
            while end < len(ordered) and by_level[end] >= level:
                end += 1
            ordered[start:end] = ordered[start:end][::-1]
            by_level[start:end] = by_level[start:end][::-1]
            start = max(end, start + 1)
    return ordered
