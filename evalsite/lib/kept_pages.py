"""Pages that are rendered once a process, but for parts that differ: for those that are asked for most."""

import secrets
from collections.abc import Hashable, Mapping
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

# No text can have it, so none can be taken for the place of a part.
_MARK = f"part{secrets.token_hex(16)}"


def render_parts(template: str, context: Mapping[str, Hashable], parts: Mapping[str, str]) -> SafeString:
    """Return a template rendered with a context and with parts, each of which it shows as it is, or not at all.

    It is kept for all equal contexts and the same parts: so it may ask only whether there is a part, which is so unless
    it is empty. What is no SafeString is escaped.
    """
    shown = {name: conditional_escape(part) for name, part in parts.items() if part}
    pieces = _pieces(template, tuple(context.items()), tuple(shown))
    return mark_safe("".join(shown[piece] if place % 2 else piece for place, piece in enumerate(pieces)))


@lru_cache(maxsize=1024)  # of some 6 kB
def _pieces(template: str, context: tuple[tuple[str, Hashable], ...], names: tuple[str, ...]) -> list[str]:
    """Return what comes before, between and after the parts; at odd places the names of the parts."""
    marks = {name: f"{_MARK}{name}{_MARK}" for name in names}
    return render_to_string(template, {**dict(context), **marks}).split(_MARK)
