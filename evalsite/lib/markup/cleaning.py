"""What every text with markup goes through on its way to a page: the elements that are allowed, and no others.

Nothing of a text runs, is fetched, leads anywhere or brings its own style: there is no attribute whose value is an
address, and each class and label is one of ours.
"""

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from evalsite.lib.errors import DomainError

if TYPE_CHECKING:
    import nh3

LONGEST = 50_000
"""Characters of a text that is shown with its markup; a longer one is shown as it is written."""
DEEPEST = 40
"""Elements in one another; those further in are shown without theirs. A cleaner takes quadratic time in the depth."""
_HALVES = re.compile("[\ud800-\udfff]")  # of surrogate pairs, which no page can be encoded with
_FOLDED_LINES, _NARROW, _WIDE = 24, 36, 50

TEXT_TAGS = frozenset(
    str.split(
        "p br hr h3 h4 h5 h6 ul ol li blockquote pre code em strong b i u s del ins sub sup kbd mark small q "
        "table caption thead tbody tfoot tr th td dl dt dd div span details summary"
    )
)
_MATH_TAGS = str.split(
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle msub "
    "msubsup msup mtable mtd mtext mtr munder munderover none"
)
_MATH_ATTRIBUTES = set(
    str.split(
        "accent accentunder columnalign display displaystyle fence form largeop mathvariant movablelimits "
        "notation scriptlevel separator stretchy symmetric"
    )
)
TAGS = frozenset({*TEXT_TAGS, *_MATH_TAGS})
ATTRIBUTES = {
    **dict.fromkeys(_MATH_TAGS, _MATH_ATTRIBUTES),
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
# Wider spaces would lay a formula over what is beside it.
_SPACES = {"-0.167em", "0.167em", "0.222em", "0.278em", "0.333em", "0.5em", "1em", "2em"}
VALUES = {
    "div": {"tabindex": {"0"}, "role": {"group"}, "aria-label": {"Table", "Code", "Formula"}},
    "mspace": {"width": _SPACES},
    "mfrac": {"linethickness": {"0"}},
    "details": {"open": {""}},
}
CLASSES = {
    "div": {"scrolls", "code", "formula"},
    "span": {"k", "s", "c", "m", "n", "line", "link", "link-address", "no-image", "key"},
    "ins": {"line"},
    "del": {"line"},
    "p": {"code-language"},
    "pre": {"numbered", "as-written"},
    "td": {"center", "right"},
    "th": {"center", "right"},
}


def with_line_feeds(text: str, error_code: str) -> str:
    """Return a text whose lines end in line feeds alone; raise DomainError with this code if it is too long."""
    if len(text) > LONGEST:
        raise DomainError(error_code, f"it has {len(text):,} characters, and more than {LONGEST:,} are not shown")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean(html: str) -> str:
    """Return HTML with what is allowed alone; the text of other elements stays, but for scripts and styles.

    Elements must not be more than some `DEEPEST` deep. Halves of surrogate pairs become U+FFFD.
    """
    return _cleaner().clean(_HALVES.sub("\ufffd", html))


@cache
def _cleaner() -> "nh3.Cleaner":
    import nh3

    return nh3.Cleaner(
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        tag_attribute_values=VALUES,
        allowed_classes=CLASSES,
        url_schemes=set(),
        link_rel=None,
    )


def as_written(text: str) -> str:
    """Return a text as HTML that shows it character by character."""
    written = escape(_HALVES.sub("\ufffd", text))
    return f'<pre class="as-written">{written}</pre>'


def scrolling(html: str, label: str) -> str:
    """Return what may be wider than the page, in a frame that scrolls, by keyboard as well."""
    return f'<div class="scrolls" role="group" aria-label="{label}" tabindex="0">{html}</div>'


def dead_link(html: str, address: str, longest: int = 200) -> str:
    """Return a link that leads nowhere: what it says, and its address unless it says just that."""
    shown = address if len(address) <= longest else f"{address[:longest]}…"
    beside = "" if html == escape(address) or not shown else f' <span class="link-address">({escape(shown)})</span>'
    return f'<span class="link">{html}</span>{beside}'


def no_image(alternative: str) -> str:
    """Return a box with what an image says to those who cannot see it."""
    return f'<span class="no-image">Image: {escape(alternative or "without a description")}</span>'


def folded(html: str, text: str) -> str:
    """Return clean HTML that shows its beginning, of one height for all, where it is long; a box shows the rest.

    Whether a box is needed is guessed from the text; the style sheet hides one that turns out not to be.
    """
    if _count_lines(text, _NARROW) <= _FOLDED_LINES:
        return html
    narrow = "" if _count_lines(text, _WIDE) > _FOLDED_LINES else " fold-narrow"
    switch = '<label class="fold-switch"><input type="checkbox" autocomplete="off"> <span>Show all of it</span></label>'
    return f'<div class="fold{narrow}"><div class="fold-body">{html}</div>{switch}</div>'


def _count_lines(text: str, width: int) -> int:
    return sum(-(-len(line) // width) or 1 for line in text.splitlines())
