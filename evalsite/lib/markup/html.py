"""HTML from outside, sanitised: text in elements that have a meaning, and nothing that acts."""

import re
from collections.abc import Iterator, Mapping
from html import escape, unescape
from typing import NamedTuple

from evalsite.lib.markup.cleaning import DEEPEST, LONGEST, TEXT_TAGS, as_written, clean, dead_link, no_image, scrolling

# Read in one pass, in linear time: html.parser takes minutes for a text of some ten thousand unfinished tags.
_TAG = re.compile(r"""<(/?)([a-zA-Z][a-zA-Z0-9]{0,30})((?:[\s/](?:[^>"']|"[^"]*+"|'[^']*+'){0,500}+)?+)>""")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)""")
_LEFT_OUT = {"script", "style", "svg", "template", "iframe", "object", "noscript", "head", "math", "textarea", "title"}
_HEADINGS = {f"h{level}": f"h{min(6, level + 2)}" for level in range(1, 7)}
_KEPT = {*TEXT_TAGS, *_HEADINGS, "a"} - {"br", "hr"}
_SAME_LINE = set(str.split("a b code del em i ins kbd mark q s small span strong sub sup u"))
_FRAMED = {"table": "Table", "pre": "Code"}


def to_html(text: str) -> str:
    """Return HTML that cannot do harm; a very long text, or one without anything to show, is shown as it is written."""
    html = "" if len(text) > LONGEST else clean("".join(_rewritten(text)))
    return html if html.strip() else as_written(text)


def words_of(text: str) -> str:
    """Return what is read, a line for each block; a very long text is read up to `LONGEST`."""
    lines = "".join(
        text[each.start : each.end] if not each.name else "" if each.name in _SAME_LINE else "\n"
        for each in _read(text[:LONGEST])
    )
    return re.sub(r"\n\s+", "\n", unescape(lines)).strip()


def prose_in(text: str) -> list[tuple[int, int]]:
    """Return starts and ends of what is between tags, in order."""
    return [(each.start, each.end) for each in _read(text[:LONGEST]) if not each.name]


def structure_of(text: str) -> list[str]:
    """Return all but the prose."""
    return [text[each.start : each.end] for each in _read(text[:LONGEST]) if each.name]


class _Piece(NamedTuple):
    """A part of the source: a tag with its name, or a text without one."""

    start: int
    end: int
    name: str = ""
    is_end: bool = False
    attributes: str = ""


def _read(text: str) -> Iterator[_Piece]:
    """Yield tags and texts in order; comments, and elements that are left out with all in them, are in neither."""
    written = at = 0
    while (at := text.find("<", at)) >= 0:
        tag = _TAG.match(text, at)
        if tag:
            name = tag[2].lower()
            end = _end_of(text, name, tag.end()) if name in _LEFT_OUT and not tag[1] else tag.end()
        else:
            end = _end_of_comment(text, at)
            if end < 0:
                at += 1
                continue
        if at > written:
            yield _Piece(written, at)
        if tag and name not in _LEFT_OUT:
            yield _Piece(at, end, name, bool(tag[1]), tag[3])
        at = written = end
    if len(text) > written:
        yield _Piece(written, len(text))


def _end_of(text: str, name: str, at: int) -> int:
    """Return where an element that is left out ends: that of the text if it is not closed."""
    found = re.compile(rf"</{name}[^>]*>", re.IGNORECASE).search(text, at)
    return found.end() if found else len(text)


def _end_of_comment(text: str, at: int) -> int:
    """Return where a comment or declaration ends, -1 if there is none: then its beginning is text."""
    if text.startswith("<!--", at):
        end = text.find("-->", at + 2)
        return end + 3 if end >= 0 else len(text)
    if text.startswith(("<!", "<?"), at):
        end = text.find(">", at)
        return end + 1 if end >= 0 else len(text)
    return -1


def _rewritten(text: str) -> Iterator[str]:
    """Yield elements that are closed in order and not too deep, so that no parser sees others in them."""
    opened: list[tuple[str, str]] = []
    for each in _read(text):
        if not each.name:
            yield escape(unescape(text[each.start : each.end]), quote=False).replace("\0", "\ufffd")
        elif each.is_end:
            if any(each.name == name for name, _ in opened):
                name = ""
                while name != each.name:
                    name, ends = opened.pop()
                    yield ends
        elif each.name in ("br", "hr"):
            yield f"<{each.name}>"
        elif each.name == "img":
            yield no_image(_attributes(each.attributes).get("alt", ""))
        elif each.name in _KEPT and len(opened) < DEEPEST:
            begins, ends = _tags(each)
            yield begins
            opened.append((each.name, ends))
    for _, ends in reversed(opened):
        yield ends


def _tags(piece: _Piece) -> tuple[str, str]:
    """Return how an element is written here, before and after what is in it."""
    name, values = _HEADINGS.get(piece.name, piece.name), _attributes(piece.attributes)
    if name == "a":
        begins, _, ends = dead_link("\0", values.get("href", "").strip()).partition("\0")
    elif name in _FRAMED:
        begins, _, ends = scrolling(f"<{name}>\0</{name}>", _FRAMED[name]).partition("\0")
    else:
        spans = (each for each in ("colspan", "rowspan") if name in ("td", "th") and _is_small(values.get(each, "")))
        written = "".join(f' {each}="{values[each]}"' for each in spans)
        begins, ends = f"<{name}{written}>", f"</{name}>"
    return begins, ends


def _attributes(written: str) -> Mapping[str, str]:
    return {name.lower(): unescape(value.strip("\"'")) for name, value in reversed(_ATTRIBUTE.findall(written))}


def _is_small(span: str) -> bool:
    return span.isascii() and span.isdigit() and len(span) <= 2
