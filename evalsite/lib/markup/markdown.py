"""Markdown as chatbots write it: CommonMark with tables, struck words and formulas, as HTML; its words; its prose."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from evalsite.lib.markup.cleaning import DEEPEST, LONGEST, as_written, clean, dead_link, no_image, scrolling
from evalsite.lib.markup.code import mark_code
from evalsite.lib.markup.formulas import LONGEST_FORMULA, to_mathml

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# Characters of code that are marked in one text, and of formulas that are converted.
_MOST_CODE, _MOST_FORMULAS = 12_000, 20_000
_LONGEST_BLOCK = 60  # lines of a formula
_BREAK = re.compile(r"<br\s{0,9}/?>", re.IGNORECASE)
_CLOSED_BY = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_FIRST_LEVEL = 3  # the page around it has headings of levels 1 and 2
_CONTENTS = {"code_inline", "fence", "code_block", "formula", "image"}


def to_html(text: str) -> str:
    """Return Markdown as HTML that cannot do harm; raw HTML is shown as it is written, and so is a very long text."""
    tokens = parse(text)
    return clean("".join(_Writer().written(tokens))) if tokens else as_written(text)


def words_of(text: str) -> str:
    """Return what is read, without markup and addresses: prose, code and formulas, a line for each block."""
    return _words_of(parse(text)) or text


def _words_of(tokens: "Sequence[Token]") -> str:
    lines: list[str] = []
    for token in tokens:
        if token.type == "inline":
            lines.append("".join(map(_read, token.children or ())))
        elif token.type in _CONTENTS:
            lines.append(token.content.rstrip("\n"))
    return "\n".join(lines)


def lines_of_code(text: str) -> list[int]:
    """Return which lines, from 0, are in fences."""
    fences = (token.map for token in parse(text) if token.type == "fence" and token.map)
    return [line for first, last in fences for line in range(first + 1, last - 1)]


def structure_of(text: str) -> list[tuple[str, ...]]:
    """Return all but the prose: which markup follows which, with code, formulas and addresses.

    Texts of the same structure differ in words alone.
    """
    found: list[tuple[str, ...]] = []
    for token in parse(text):
        for each in (token, *(token.children or ())):
            if each.type not in ("text", "inline"):
                content = each.content if each.type in _CONTENTS or each.type == "text_special" else ""
                found.append((each.type, each.tag, each.info, str(each.attrs), content))
    return found


def prose_in(text: str) -> list[tuple[int, int]]:
    """Return starts and ends of stretches of prose in the source, in order: no code, formula, address or markup.

    Lines must end in a line feed alone. A stretch that is not found where it should be is left out.
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[tuple[int, int]] = []
    at = 0
    for token in parse(text):
        if token.type == "inline" and token.map:
            at, end = max(at, starts[min(token.map[0], len(starts) - 1)]), starts[min(token.map[1], len(starts) - 1)]
            at = _find_prose(text, token.children or [], at, end, found)
    return found


def _find_prose(text: str, children: "Sequence[Token]", at: int, end: int, found: list[tuple[int, int]]) -> int:
    """Add the prose of a block that is between two places of the source; return where the last of it ends."""
    is_address = False
    for each in children:
        if each.type in ("link_open", "link_close"):
            is_address = each.type == "link_open" and each.markup == "autolink"
        sought = str(each.attrs.get("href", "")) if each.type == "link_close" else each.content
        if each.type == "link_close" and not text.startswith("](", at):
            continue
        place = text.find(sought, at, end) if sought else -1
        if place >= 0:
            at = place + len(sought)
            if each.type == "text" and not is_address:
                found.append((place, at))
    return at


def parse(text: str) -> "list[Token]":
    """Return the tokens of a text; parts of lines that are very deep have lost theirs.

    None for a text that is too long, or whose blocks are so deep that the parser leaves out what is in them.
    """
    markdown = _parser()
    tokens = markdown.parse(text) if len(text) <= LONGEST else []
    if any(token.level >= markdown.options["maxNesting"] - 1 for token in tokens):
        return []
    for token in tokens:
        if token.children:
            _flatten(token.children, DEEPEST - token.level)
    return tokens


def _flatten(tokens: "list[Token]", deepest: int) -> None:
    """Take the tags from inline elements deeper than allowed."""
    depth = 0
    for token in tokens:
        depth += token.nesting if token.nesting > 0 else 0
        if token.nesting and depth > deepest:
            token.hidden = True
        depth += token.nesting if token.nesting < 0 else 0


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    markdown.disable("text_join")  # what was escaped stays apart: a text token has the characters of the source
    markdown.inline.ruler.before("escape", "formula", _inline_formula)
    markdown.inline.ruler.before("autolink", "line_break", _line_break)
    markdown.block.ruler.before("fence", "formula", _block_formula, {"alt": ["paragraph", "blockquote", "list"]})
    return markdown


def _line_break(state: "StateInline", silent: bool) -> bool:
    """Read `<br>`, the one way to have two lines in a cell of a table."""
    found = _BREAK.match(state.src, state.pos) if state.src[state.pos] == "<" else None
    if not found:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _inline_formula(state: "StateInline", silent: bool) -> bool:
    r"""Read `$…$`, `$$…$$`, `\(…\)` and `\[…\]`; a `$` before a space or, at the end, after one is an amount's."""
    source, start = state.src, state.pos
    if source[start] not in "$\\":
        return False
    mark = source[start : start + 2]
    opening = mark if mark in _CLOSED_BY else "$" if mark[:1] == "$" else ""
    if not opening:
        return False
    closing = _CLOSED_BY.get(opening, "$")
    first = start + len(opening)
    last = _find_end(source, closing, first, min(first + LONGEST_FORMULA, state.posMax))
    if last <= first:
        return False
    if opening == "$" and not _is_formula(source, first, last):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = source[first:last], opening
    state.pos = last + len(closing)
    return True


def _find_end(source: str, closing: str, first: int, end: int) -> int:
    r"""Return where a formula is closed, -1 if nowhere; `\$` does not close one."""
    last = source.find(closing, first, end)
    while closing == "$" and last > first and source[last - 1] == "\\":
        last = source.find(closing, last + 1, end)
    return last


def _is_formula(source: str, first: int, last: int) -> bool:
    after = source[last + 1 : last + 2]
    return not source[first].isspace() and not source[last - 1].isspace() and not after.isdigit()


def _block_formula(state: "StateBlock", first: int, end: int, silent: bool) -> bool:
    """Read a formula that begins a line and ends one, however many lines are between them."""
    if state.is_code_block(first):
        return False
    at = state.bMarks[first] + state.tShift[first]
    opening = state.src[at : at + 2]
    if opening not in ("$$", "\\["):
        return False
    closing = _CLOSED_BY[opening]
    for line in range(first, min(end, first + _LONGEST_BLOCK)):
        if line > first and state.sCount[line] < state.blkIndent:
            return False
        begins = at + 2 if line == first else state.bMarks[line] + state.tShift[line]
        written = state.src[begins : state.eMarks[line]].rstrip()
        if closing in written:
            break
    else:
        return False
    if not written.endswith(closing) or written.find(closing) != len(written) - 2:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content = state.src[at + 2 : begins + len(written) - 2].strip()
        token.markup, token.map, token.block = opening, [first, line + 1], True
        state.line = line + 1
    return True


def _read(token: "Token") -> str:
    """Return what is read of a part of a line."""
    return "\n" if token.type in ("softbreak", "hardbreak") else token.content


class _Writer:
    """Writes the HTML of one text: how much code and how many formulas are marked is counted over all of it."""

    def __init__(self) -> None:
        self._code = self._formulas = 0

    def written(self, tokens: "Sequence[Token]") -> Iterator[str]:
        """Yield the HTML of blocks."""
        for token in tokens:
            if token.hidden:
                continue
            if token.type == "inline":
                yield from self._line(token.children or [])
            elif token.type in ("fence", "code_block"):
                yield self._block_of_code(token)
            elif token.type == "formula":
                yield self._formula(token)
            else:
                yield _tag(token)

    def _line(self, tokens: "Sequence[Token]") -> Iterator[str]:
        """Yield the HTML of what is in a block; links wait for what they say."""
        waiting: list[tuple[str, list[str]]] = []
        for token in tokens:
            if token.type == "link_open":
                waiting.append((str(token.attrs.get("href", "")), []))
                continue
            if token.type == "link_close":
                address, said = waiting.pop()
                html = dead_link("".join(said), address)
            else:
                html = self._part(token)
            if waiting:
                waiting[-1][1].append(html)
            else:
                yield html

    def _part(self, token: "Token") -> str:
        if token.hidden:
            return ""
        match token.type:
            case "code_inline":
                return f"<code>{escape(token.content)}</code>"
            case "formula":
                return self._formula(token)
            case "image":
                return no_image("".join(map(_read, token.children or ())))
            case "softbreak":
                return "\n"
            case "hardbreak":
                return "<br>"
        return _tag(token) if token.nesting else escape(token.content, quote=False)

    def _block_of_code(self, token: "Token") -> str:
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
        self._code += len(token.content)
        code = token.content.removesuffix("\n")
        lines = mark_code(code, language if self._code <= _MOST_CODE else "")
        return scrolling(f"<pre><code>{chr(10).join(lines)}</code></pre>", "Code")

    def _formula(self, token: "Token") -> str:
        self._formulas += len(token.content)
        is_block = token.markup in ("$$", "\\[")
        mathml = to_mathml(token.content, is_block=is_block) if self._formulas <= _MOST_FORMULAS else ""
        html = mathml or f"<code>{escape(token.content)}</code>"
        return scrolling(html, "Formula") if token.block and token.map else html


def _tag(token: "Token") -> str:
    """Return the tag of a token, with the attributes that mean something here."""
    tag, attributes = token.tag, ""
    if token.type.startswith("heading_"):
        tag = f"h{min(6, int(tag[1]) + _FIRST_LEVEL - 1)}"
    if not token.tag:
        return ""
    if token.nesting < 0:
        return f"</{tag}></div>" if tag == "table" else f"</{tag}>"
    values: dict[str, Any] = token.attrs
    if tag == "ol" and "start" in values:
        attributes = f' start="{values["start"]}"'
    aligned = str(values.get("style", "")).rpartition(":")[2]
    if aligned in ("center", "right"):
        attributes = f' class="{aligned}"'
    html = f"<{tag}{attributes}>"
    return scrolling(html, "Table").removesuffix("</div>") if tag == "table" else html
