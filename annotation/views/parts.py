"""The parts of a page of items that differ from page to page, as HTML: `rate/item.html` has the rest."""

from collections.abc import Iterable
from typing import NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from annotation.pages.contents import ItemPage, Section, ShownOutput, ShownText
from annotation.templatetags.rating import answers, as_json, files_html, pictures_html, text_html
from evalsite.lib.kept_pages import render_parts


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
        "sections": _sections_html(item.sections, is_source_known=item.is_source_known),
        "outputs": _join(_output_html(output, is_beside=item.is_beside) for output in item.outputs),
    }
    if item.asks_of_replies:
        parts["replies"] = render_to_string("rate/replies.html", {"turns": item.turns})
    elif item.turns:
        turns = {"turns": item.turns, "is_compared": item.compares_chats}
        parts["transcript"] = render_to_string("rate/turns.html", turns)
    return parts


def _output_html(output: ShownOutput, *, is_beside: bool) -> SafeString:
    """Return one of several outputs of a page; `is_beside`: it is beside its source."""
    parts = {
        "sections": _sections_html(output.sections, prefix=f"{output.label}-"),
        "questions": answers(output.questions) if output.questions else "",
    }
    return render_parts("rate/output.html", {"label": output.label, "is_beside": is_beside}, parts)


def _sections_html(sections: Iterable[Section], *, prefix: str = "", is_source_known: bool = False) -> SafeString:
    """Return texts under their headings, whose ids begin with `prefix`."""
    shown = []
    for number, section in enumerate(sections, start=1):
        context = {
            "number": f"{prefix}{number}",
            "is_output": section.is_output,
            "is_source_known": is_source_known,
        }
        parts: dict[str, str] = {"label": section.label}
        if section.text:
            parts["text"] = text_html(section.text)
        else:
            is_rated_alone = not section.is_output
            parts["turns"] = _join(_spoken_html(turn, is_rated_alone, is_source_known) for turn in section.turns)
        shown.append(render_parts("rate/section.html", context, parts))
    return _join(shown)


def _spoken_html(turn: ShownText, is_rated_alone: bool, is_source_known: bool) -> SafeString:
    """Return a turn of a dialogue; `is_rated_alone`: if it is rated, the turns before it are not."""
    context = {
        "speaker": turn.speaker,
        "is_open": turn.is_open,
        "turn": turn.turn,
        "is_rated": turn.is_output and is_rated_alone,
        "is_source_known": is_source_known,
    }
    questions = answers(turn.questions) if turn.questions else ""
    parts = {"label": turn.label, "fold": turn.fold, "text": text_html(turn), "questions": questions}
    return render_parts("rate/spoken.html", context, parts)


def _join(parts: Iterable[str]) -> SafeString:
    return mark_safe("".join(parts))
