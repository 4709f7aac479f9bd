"""Formulas in LaTeX as MathML."""

import re
from html import escape, unescape
from typing import TYPE_CHECKING

from evalsite.lib.markup.cleaning import ATTRIBUTES, TAGS, VALUES

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST_FORMULA = 1_000
_DEEPEST = 24
# A definition can name itself, or double at each step.
_DEFINES = re.compile(r"\\(?:def|gdef|edef|xdef|let|\w*newcommand|\w*newenvironment|DeclareMathOperator)(?![a-z])")
_ROWS, _SPACE = {"mrow", "mstyle", "mtd"}, '<mspace width="0.167em"></mspace>'
_FUNCTION = re.compile("[a-zA-Z]{2,9}")
# Those with a star have no numbers, which a single formula does not need.
_NUMBERED = re.compile(r"\\(begin|end)\s*\{(align|equation|gather|multline)\}")


def to_mathml(latex: str, *, is_block: bool) -> str:
    """Return a formula as MathML; "" if it is too long, too deep, defines commands or cannot be read."""
    if len(latex) > LONGEST_FORMULA or not latex.strip() or _DEFINES.search(latex) or _depth(latex) > _DEEPEST:
        return ""
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(_NUMBERED.sub(r"\\\1{\2*}", latex), display="block" if is_block else "inline")
        return _written(root, 0)
    except Exception:  # it raises whatever its tables and iterators do: such a formula is shown as it is written
        return ""


def _depth(latex: str) -> int:
    """Return how deep a formula is at most: braces, and commands whose argument needs none."""
    deepest = depth = 0
    for found in re.finditer(r"[{}]|\\(?:begin|left|sqrt|end|right)(?![a-zA-Z])", latex):
        depth += -1 if found[0] in ("}", r"\end", r"\right") else 1
        deepest = max(deepest, depth)
    return deepest


def _written(element: "Element", depth: int) -> str:
    """Return an element as HTML. The converter's texts have entities, and it escapes nothing."""
    if element.tag not in TAGS or depth > 2 * _DEEPEST:
        raise ValueError(element.tag)
    allowed, values = ATTRIBUTES[element.tag], VALUES.get(element.tag, {})
    attributes = "".join(
        f' {name}="{escape(value)}"'
        for name, value in element.attrib.items()
        if name in allowed or value in values.get(name, ())
    )
    inner = escape(unescape(element.text or ""), quote=False)
    before: Element | None = None
    for each in element:
        inner += _SPACE * (element.tag in _ROWS and before is not None and _are_apart(before, each))
        inner += _written(each, depth + 1)
        before = each
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _are_apart(one: "Element", other: "Element") -> bool:
    """Return whether a space is between two parts of a row: a function such as log is beside what is no operator."""
    return (_is_function(one) or _is_function(other)) and "mo" not in (one.tag, other.tag)


def _is_function(element: "Element") -> bool:
    while element.tag in ("msub", "msup", "msubsup") and len(element):
        element = element[0]
    return element.tag == "mi" and bool(_FUNCTION.fullmatch(element.text or ""))
