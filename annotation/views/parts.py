"""The parts of a page of items that differ from page to page, as HTML: `rate/item.html` has the rest."""

from typing import NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from annotation.pages.contents import ItemPage
from annotation.templatetags.rating import answers, as_json, files_html, pictures_html


class Refused(NamedTuple):
    """An answer that is to be corrected: the number of its question on the page, and what its inputs are called."""

    number: int
    name: str


def parts_of(item: ItemPage) -> dict[str, str]:
    """Return the parts of a page, by name; those that it does not have are empty."""
    parts = {
        "position": str(item.position),
        "saved": as_json(item.saved) if item.saved else "",
        "answers": answers(item.questions),
        "ahead": mark_safe(pictures_html(item.ahead) + files_html(item.files_ahead)),
        "sections": render_to_string(
            "rate/sections.html", {"sections": item.sections, "is_source_known": item.is_source_known}
        ),
    }
    if item.outputs:
        parts["outputs"] = render_to_string("rate/outputs.html", {"outputs": item.outputs, "is_beside": item.is_beside})
    if item.asks_of_replies:
        parts["replies"] = render_to_string("rate/replies.html", {"turns": item.turns})
    elif item.turns:
        turns = {"turns": item.turns, "is_compared": item.compares_chats}
        parts["transcript"] = render_to_string("rate/turns.html", turns)
    return parts
