"""`{% load rating %}`: images, answers and words of the workers' pages. Nothing here may tell kinds of items."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Any, NamedTuple

from django import template
from django.template.loader import render_to_string
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from annotation.models import NO_REASON
from annotation.pages.contents import ABSTAINED, ANSWER, Picture, Question, ShownText
from annotation.pages.questions import AnswerKey, Asked
from annotation.pages.text_images import BESIDE, LETTERS, SCALES, WIDTHS, Sizes, Variant
from campaigns.contracts.chat import Speaker
from campaigns.contracts.response import NOTHING, Subject
from campaigns.dialogues import SPEAKERS
from campaigns.responses import get_response_kind
from evalsite.lib.words import counted

register = template.Library()
# A browser's usual size of text, in CSS pixels.
_EM_PX = 16
_DARK = "(prefers-color-scheme: dark)"
_STEM = "\0"  # no label can have it


def _variants(is_beside: bool) -> Iterator[str]:
    """Yield the elements of a text's image, each with its place-holders; the widest light one is the `img`."""
    for width, below in reversed(WIDTHS):
        windows = [below, BESIDE[1]] if is_beside and width == BESIDE[0] else [below] if below else []
        for theme in ("dark", "light"):
            # In em and rem, so that images are larger where the browser's text is, and in more pixels.
            conditions = windows
            if theme == "dark":
                conditions = [f"{each} and {_DARK}" for each in windows] or [_DARK]
            files = [
                f"%(stem)s{LETTERS[Variant(width, theme, scale)]}.img %(width_{width}_{scale})dw" for scale in SCALES
            ]
            size = f'sizes="%(sizes_{width})s" width="%(width_{width}_1)d" height="%(height_{width})d"'
            if conditions:
                yield f'<source media="{", ".join(conditions)}" srcset="{", ".join(files)}" {size}>'
            else:
                source = files[0].partition(" ")[0]
                yield f'<img src="{source}" srcset="{", ".join(files)}" {size} alt="%(alt)s" draggable="false">'


# Filled in as it is, without a template: there are up to four on each of a worker's pages, and one a turn of dialogues.
_PICTURES = {is_beside: f"<picture>{''.join(_variants(is_beside))}</picture>" for is_beside in (False, True)}


@register.filter
def text_html(text: ShownText) -> SafeString:
    """Return a text as its images or, without any, as its format renders it or as words with those that are marked."""
    if text.html:
        return format_html('<div class="rich-text" dir="auto">{}</div>', mark_safe(text.html))
    if not text.runs:
        return pictures_html(text.pictures)
    runs = (f"<mark>{escape(run.text)}</mark>" if run.is_marked else escape(run.text) for run in text.runs)
    name = format_html(' data-text="{}"', text.name) if text.name else ""
    return mark_safe(f'<p class="real-text" dir="auto"{name}>{"".join(runs)}</p>')


@register.filter
def pictures_html(pictures: Iterable[Picture]) -> SafeString:
    """Return images of texts for all windows: narrow and wide, dark and light, 1× and 2×."""
    return mark_safe("".join(map(_picture_html, pictures)))


@register.filter
def files_html(files: Iterable[str]) -> SafeString:
    """Return what formats show of files."""
    return mark_safe("".join(files))


def _picture_html(picture: Picture) -> str:
    return picture.stem.join(_around_stems(picture.sizes, picture.label, picture.is_beside))


@lru_cache(maxsize=1024)  # of some 3 kB
def _around_stems(sizes: Sizes, label: str, is_beside: bool) -> list[str]:
    """Return what is before, between and after the names of an image's files: the same for all texts of a size."""
    values: dict[str, object] = {"stem": _STEM, "alt": escape(label)}
    for width, (own_width, height) in sizes:
        values |= {f"width_{width}_{scale}": own_width * scale for scale in SCALES}
        values |= {f"height_{width}": height, f"sizes_{width}": f"min({own_width / _EM_PX}rem, 100vw)"}
    return (_PICTURES[is_beside] % values).split(_STEM)


@register.filter
@lru_cache(maxsize=16)
def hidden_inputs(names: tuple[str, ...]) -> SafeString:
    """Return an empty hidden input for each name."""
    return format_html_join("", '<input type="hidden" name="{}" value="">', ((name,) for name in names))


@register.filter
def as_json(value: object) -> str:
    """Return a value as JSON, for an attribute."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def speaker_name(speaker: Speaker) -> str:
    """Return what workers read of who speaks."""
    return SPEAKERS[speaker]


class Statement(NamedTuple):
    """What a worker's page shows of a criterion: never its name. `reasons`: why it could not be judged.

    `shown_on`: the input whose answer shows it, "" if it always is, and `shown_values`, those answers as JSON.
    """

    number: int
    suffix: str
    text: str
    template: str
    shown: Any
    is_required: bool
    may_abstain: bool
    reasons: list[str]
    shown_on: str
    shown_values: str
    labels: Sequence[str]
    subject: Subject | None
    script: str

    @property
    def name(self) -> str:
        """What its inputs are called."""
        return f"{ANSWER}{self.suffix}"

    @property
    def abstain_name(self) -> str:
        """What the input is called that says that it cannot be judged."""
        return f"{ABSTAINED}{self.suffix}"


@register.filter
def answers(questions: Iterable[Question]) -> SafeString:
    """Return what is asked, each with what answers it."""
    return _answers(tuple(_row(each.number, each.asked) for each in questions))


def _row(number: int, asked: Asked) -> tuple[Any, ...]:
    """Return all that what is drawn follows from, hashable."""
    criterion, subject = asked.criterion, asked.subject
    own = criterion.statement, criterion.response, criterion.is_required, criterion.may_abstain
    settings = json.dumps(criterion.settings, sort_keys=True)
    before = criterion.shown_on_id and (criterion.shown_on_id, tuple(criterion.shown_values))
    needs_subject = criterion.response_kind.needs_subject(criterion.settings)
    marked = (subject.outputs, tuple(subject.source.items()), subject.n_turns) if needs_subject else None
    return number, asked.key, *own, criterion.abstain_reasons, settings, before, len(subject.outputs), marked


@lru_cache(maxsize=256)
def _answers(rows: tuple[tuple[Any, ...], ...]) -> SafeString:
    """Return what is the same on every page, but for texts that are marked."""
    criteria = [_statement(*row) for row in rows]
    return render_to_string("rate/statements.html", {"criteria": criteria, "no_reason": NO_REASON})


def _statement(
    number: int,
    key: AnswerKey,
    text: str,
    response: str,
    is_required: bool,
    may_abstain: bool,
    reasons: str,
    settings: str,
    before: tuple[int, tuple[str, ...]] | None,
    n_outputs: int,
    marked: tuple[tuple[str, ...], tuple[tuple[str, str], ...], int] | None,
) -> Statement:
    kind = get_response_kind(response)
    subject = Subject(marked[0], dict(marked[1]), marked[2]) if marked else None
    return Statement(
        number,
        key.suffix,
        text,
        kind.template,
        kind.shown_with(json.loads(settings), subject or NOTHING),
        is_required,
        may_abstain,
        reasons.splitlines(),
        f"{ANSWER}{before[0]}" if before else "",
        json.dumps(before[1], ensure_ascii=False) if before else "",
        ascii_uppercase[:n_outputs],
        subject,
        kind.script,
    )


@register.filter
def period(minutes: int) -> str:
    """Return a time in words, to the minute below two hours and to the hour above.

    >>> period(1), period(119), period(180)
    ('1 minute', '119 minutes', '3 hours')
    """
    return counted(minutes, "minute") if minutes < 120 else counted(minutes // 60, "hour")


@register.filter
def messages_sent(n_inputs: int, min_inputs: int) -> str:
    """Return how far a chat is, in words.

    >>> messages_sent(1, 10)
    '1 message, at least 10'
    """
    return f"{counted(n_inputs, 'message')}, at least {min_inputs}"
