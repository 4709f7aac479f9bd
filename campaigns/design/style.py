"""How long an output is and how it is set: counts of Markdown, by which votes are adjusted for style."""

import re

from campaigns.design.words import Unit, segment, unit_of

STYLE_FEATURES = ("words", "headings", "list_items", "bold", "code_blocks", "tables")
"""What is counted, the length first."""
_NO_MARK = re.compile(r"[^\W_]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}([ \t]|$)")
_LIST_ITEM = re.compile(r"[ \t]*([-*+]|\d{1,9}[.)])[ \t]+\S")
_BOLD = re.compile(r"(?<![\w*])__(?=\S)|(?<!\*)\*\*(?=[^\s*])")
_BOLD_END = re.compile(r"(?<=\S)__(?![\w*])|(?<=[^\s*])\*\*(?!\*)")
_TABLE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


def count_words(text: str) -> int:
    """Return how many words a text has, or clusters of a language without spaces; marks alone are no words.

    >>> count_words("## Two words\\n\\n- and – three more")
    5
    """
    units = text.split() if unit_of(text) == Unit.WORD else segment(text, Unit.CLUSTER).units
    return sum(1 for unit in units if _NO_MARK.search(unit))


def count_style(text: str) -> dict[str, float]:
    """Return how often a text in Markdown has each of `STYLE_FEATURES`; in code only words are counted.

    Lists are counted by items, code by fenced blocks, tables by the lines below their heads. As Chatbot Arena counts
    (Li, Angelopoulos & Chiang 2024), with code blocks and tables besides.

    >>> count_style("# A head\\n\\n1. **Bold** words\\n2. more\\n\\n```\\n# code\\n```")
    {'words': 8.0, 'headings': 1.0, 'list_items': 2.0, 'bold': 1.0, 'code_blocks': 1.0, 'tables': 0.0}
    """
    found = dict.fromkeys(STYLE_FEATURES, 0.0) | {"words": float(count_words(text))}
    fence = ""
    for line in text.splitlines():
        marks = _FENCE.match(line)
        if fence:
            is_end = marks and marks[1].startswith(fence) and not line[marks.end() :].strip()
            fence = "" if is_end else fence
            continue
        if marks:
            fence = marks[1]
            found["code_blocks"] += 1
            continue
        found["headings"] += bool(_HEADING.match(line))
        found["list_items"] += bool(_LIST_ITEM.match(line))
        found["tables"] += "|" in line and bool(_TABLE.fullmatch(line))
        found["bold"] += min(len(_BOLD.findall(line)), len(_BOLD_END.findall(line)))
    return found
