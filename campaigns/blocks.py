"""What a worker is shown of a source and an output, block by block."""

import sys
from collections.abc import Mapping, Sequence

from campaigns.contracts.format import Block, Place, ShownFile
from campaigns.contracts.protocol import Screen
from campaigns.formats import get_file_format, get_format, has_file_format
from evalsite.lib.caches import byte_cache


def blocks_of(screen: Screen, fields: Mapping[str, str], text: str) -> list[Block]:
    """Return what a worker is shown of a source and of an output, its text as shown; empty fields are left out.

    Raises DomainError for what no import takes.
    """
    blocks: list[Block] = []
    for each in screen.fields:
        value = fields.get(each.name) if each.is_shown else ""
        if value:
            highlights = find_highlights(value, fields.get(each.marks, ""))
            place = Place(each.name, each.label, is_drawn=each.is_drawn, highlights=highlights)
            blocks += get_format(each.format).blocks(value, place)
    place = Place("output", screen.output_label, is_output=True, is_drawn=screen.is_output_drawn, before=blocks)
    return [*blocks, *get_format(screen.output_format).blocks(text, place)]


def file_of(format: str, value: str) -> ShownFile | None:
    """Return the file that a value names; None for texts."""
    return get_format(format).blocks(value, Place("", ""))[0].file if value and has_file_format([format]) else None


def html_of(block: Block) -> str:
    """Return a block as its format renders it; "" where it is shown as it is written."""
    return _html(block.format, block.text, block.key)


def file_html(block: Block, addresses: Sequence[tuple[int, str]], *, is_text: bool = False) -> str:
    """Return a block's file as its format shows it, from its addresses by width; `is_text`: what describes it, too."""
    return get_file_format(block.format).file_html(block, addresses, is_text=is_text)


@byte_cache(16 * 2**20, lambda made, format, text, place: sys.getsizeof(made) + sys.getsizeof(text))
def _html(format: str, text: str, place: str) -> str:
    """Render a text, and keep that for its place in the HIT: the page of a repeat would else be there sooner."""
    return get_format(format).html(text)


def find_highlights(text: str, marked: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of the first place of `marked` in `text`, whole words if possible; or none.

    An answer of yes or no is in no text, or by chance: it is not highlighted (METHOD §2).
    """
    marked = marked.strip()
    if not marked or marked.casefold() in {"yes", "no"}:
        return ()
    first = start = text.find(marked)
    while start >= 0 and not _is_whole(text, start, start + len(marked)):
        start = text.find(marked, start + 1)
    if start < 0:
        start = first
    return ((start, start + len(marked)),) if start >= 0 else ()


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether neither end of a stretch cuts a word."""
    return not (start and text[start - 1].isalnum()) and not text[end : end + 1].isalnum()
