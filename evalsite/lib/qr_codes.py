"""QR codes as SVG, drawn on this machine."""

import io
from typing import Any

_QUIET_ZONE = 4
"""Modules of white around a code, as its standard asks for (ISO/IEC 18004)."""
# Readers need dark on light, also where the page around the code is dark.
_DARK, _LIGHT = "#000", "#fff"


def draw_inline(text: str) -> str:
    """Return a code for a page: an `<svg>` without a size of its own."""
    svg: str = _encode(text).svg_inline(border=_QUIET_ZONE, dark=_DARK, light=_LIGHT, omitsize=True, svgclass="qr-code")
    return svg


def draw_file(text: str, *, title: str) -> bytes:
    """Return a code as a file of its own; `title` is what programs that show it say it is."""
    stream = io.BytesIO()
    _encode(text).save(stream, kind="svg", border=_QUIET_ZONE, scale=8, dark=_DARK, light=_LIGHT, title=title)
    return stream.getvalue()


def _encode(text: str) -> Any:
    import segno  # sign-in pages, which start with the site, seldom draw one

    # Level M restores 15 % of the code: enough for print, and smaller modules would be harder to scan.
    return segno.make_qr(text, error="m", boost_error=False)
