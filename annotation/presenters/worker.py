"""What the worker pages show, in the shapes of templates/rate. Nothing here may tell items of one kind from others'."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from annotation.queries import ShownItem
from annotation.text_images import LETTERS, SCALES, WIDTHS, Part, Stem, Variant, blocks_with_parts, size_of
from campaigns.blocks import Block
from campaigns.contracts.platform import Handover
from campaigns.design.composition import Layout
from campaigns.dialogues import SPEAKERS
from campaigns.models import Campaign, Criterion
from evalsite.lib.markdown import render_contact, render_markdown

LONGEST_FEEDBACK = 10_000

# Why a worker cannot go on, by code: the status of the answer, the title, the text.
STOPS: dict[str, tuple[int, str, str]] = {
    "bad_link": (404, "This link does not work", "Copy it whole, or ask whoever sent it for another."),
    "bad_token": (404, "This address does not work", "Open the link that you were sent again: your work is kept."),
    "old_token": (409, "Another page has taken over", "Go on in the page that you opened last."),
    "other_worker": (403, "This is somebody else's", "Open the HIT from the platform, signed in as yourself."),
    "other_hit": (409, "One HIT at a time", "Finish or return the HIT of this study that you have begun."),
    "bad_form": (400, "This was not understood", "What was sent is too long or not whole. Go back and send it again."),
    "draft": (404, "Not open yet", "This study has not begun. Try this link again later."),
    "ready": (404, "Not open yet", "This study has not begun. Try this link again later."),
    "paused": (503, "Paused", "This study is paused at the moment. Try this link again later."),
    "closed": (410, "Closed", "This study has ended. Thank you for your interest."),
    "no_work": (
        409,
        "Nothing left to rate",
        "All that is left is taken or done. Somebody may return a HIT: you can try this link again later.",
    ),
    "enough_workers": (409, "Enough people take part", "This study has all the raters it needs. Thank you."),
    "enough_hits": (409, "You have done your share", "You have done as many HITs as one person may. Thank you."),
    "returned": (410, "You have returned this HIT", "It is offered to somebody else. What you rated is kept."),
    "expired": (
        409,
        "This HIT was offered to others",
        "Nothing was sent for some time. What you sent is kept. Go on with it if it is still free, or with another.",
    ),
    "too_many": (429, "Many people at once", "Many people have come from your network. Try again in a minute."),
}
_OTHER_STOP = (409, "That is not possible", "Open the link that you were sent again: your work is kept.")


def stop(code: str, text: str = "") -> tuple[int, dict[str, Any]]:
    """Return the status of the answer and what the page says; `text` says more than we do by ourselves."""
    status, title, standard = STOPS.get(code, _OTHER_STOP)
    return status, {"title": title, "text": text or standard}


@lru_cache(maxsize=256)
def _as_html(text: str) -> SafeString:
    """Return a text in Markdown as HTML: every item's page has the same instructions."""
    return render_markdown(text)


def handover(given: Handover) -> dict[str, Any]:
    """Return where a worker goes who has finished: a code to copy, a form to send, or a link."""
    return {
        "code": given.code,
        "handover": {"url": given.form_url or given.link_url, "is_form": bool(given.form_url), "fields": given.fields}
        if given.form_url or given.link_url
        else None,
    }


def study_of(campaign: Campaign | None) -> dict[str, Any]:
    """Return which study a page belongs to and whom to ask, in rate/study.html; empty where neither is given."""
    if campaign is None:
        return {}
    return {"name": campaign.study_name, "contact": campaign.contact and render_contact(campaign.contact)}


def instructions_of(campaign: Campaign) -> SafeString:
    """Return a campaign's instructions as HTML."""
    return _as_html(campaign.instructions)


class _Statement(NamedTuple):
    """What a worker's page shows of a criterion: never its name."""

    pk: int
    statement: str
    left_label: str
    right_label: str

    @classmethod
    def of(cls, criterion: Criterion) -> "_Statement":
        return cls(criterion.pk, criterion.statement, criterion.left_label, criterion.right_label)


@lru_cache(maxsize=256)
def _statements(criteria: tuple[_Statement, ...]) -> SafeString:
    """Return the statements with their sliders: the same on every item's page."""
    return render_to_string("rate/statements.html", {"criteria": criteria})


def period(minutes: int) -> str:
    """Return a time in words, to the minute below two hours and to the hour above."""
    if minutes < 120:
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return f"{minutes // 60} hours"


def wait(seconds: int) -> str:
    """Return a time to wait in words, in whole minutes."""
    return period(-(-seconds // 60))


def terms(campaign: Campaign, n_items: int) -> dict[str, Any]:
    """Return what a worker is told of a HIT before it, and what it asks of them."""
    return {
        "is_live": campaign.is_live,
        "n_items": n_items,
        "minutes": campaign.minutes_per_hit,
        "reward": campaign.reward,
        "currency": campaign.currency,
        "instructions": instructions_of(campaign),
        "consent": _as_html(campaign.consent),
        "lease": period(campaign.lease_minutes),
    }


def item(
    campaign: Campaign,
    shown: ShownItem,
    following: ShownItem | None,
    criteria: list[Criterion],
    *,
    n_items: int,
    stem_of: Stem,
    is_text: bool,
) -> dict[str, Any]:
    """Return one item: its blocks as images or, if `is_text`, as text; its statements; how far the HIT is.

    `ahead` are the images of the item after it that it has not itself, for the browser to load meanwhile.
    """
    is_by_source = campaign.layout == Layout.BY_SOURCE
    blocks = blocks_with_parts(campaign, shown)
    title = f"{'Chat' if campaign.is_live else 'Item'} {shown.position} of {n_items}"
    return {
        "title": f"{title}: rating" if campaign.is_live else title,
        "position": shown.position,
        "n_items": n_items,
        "n_done": shown.position - 1,
        "instructions": instructions_of(campaign),
        "n_criteria": len(criteria),
        "statements": _statements(tuple(_Statement.of(criterion) for criterion in criteria)),
        "is_source_known": is_by_source and shown.position > 1,
        "blocks": _sections([_shown(block, parts, None if is_text else stem_of) for block, parts in blocks]),
        "ahead": [] if is_text else _ahead(campaign, blocks, following, stem_of),
    }


def _shown(block: Block, parts: list[Part], stem_of: Stem | None) -> dict[str, Any]:
    """Return what rate/text.html shows of a block: images or, without any or names for them, text."""
    stem_of = stem_of if parts else None
    return {
        "label": block.label,
        "is_output": block.is_output,
        "pictures": [_picture(part, block.label, stem_of) for part in parts] if stem_of else [],
        "runs": [] if stem_of else _runs(block),
        "speaker": block.speaker,
        "dialogue": block.dialogue,
    }


def _sections(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks, the turns of one dialogue as one of them.

    Of a dialogue that is not rated as a whole the rated turn says so in a note.
    """
    sections: list[dict[str, Any]] = []
    for heading, group in groupby(blocks, key=itemgetter("dialogue")):
        members = list(group)
        if not heading:
            sections += members
            continue
        is_whole = all(member["is_output"] for member in members)
        for member in members:
            member["by"] = SPEAKERS[member["speaker"]]
            member["note"] = member["label"] if member["is_output"] and not is_whole else ""
        sections.append({"label": heading, "is_output": is_whole, "turns": members})
    return sections


def _ahead(
    campaign: Campaign, blocks: list[tuple[Block, list[Part]]], following: ShownItem | None, stem_of: Stem
) -> list[SafeString]:
    if following is None:
        return []
    here = {part.key for _, parts in blocks for part in parts}
    ahead = (part for _, parts in blocks_with_parts(campaign, following) for part in parts)
    return [_picture(part, "", stem_of) for part in ahead if part.key not in here]


def rating_form(position: int, telemetry: Iterable[str]) -> dict[str, Any]:
    """Return what an item's form sends besides its sliders; the script fills in all but the position."""
    filled_in = dict.fromkeys(("redirect", *telemetry), "")
    return {"method": "post", "action": "", "hidden": {"position": position, **filled_in}}


def _looks() -> Iterator[str]:
    """Yield the elements of a text's image, each with its place-holders; the widest light one is the `img`."""
    for width, widest_screen in reversed(WIDTHS):
        for theme in ("dark", "light"):
            conditions = [f"(max-width: {widest_screen}px)"] if widest_screen else []
            if theme == "dark":
                conditions.append("(prefers-color-scheme: dark)")
            once, twice = (f"%(stem)s{LETTERS[Variant(width, theme, scale)]}.png" for scale in SCALES)
            size = f'width="%(width_{width})d" height="%(height_{width})d"'
            if conditions:
                yield f'<source media="{" and ".join(conditions)}" srcset="{once}, {twice} 2x" {size}>'
            else:
                yield f'<img src="{once}" srcset="{twice} 2x" {size} alt="%(alt)s" draggable="false">'


# Filled in as it is, without a template: there are up to four on each of a worker's pages, and one a turn of dialogues.
_PICTURE = f"<picture>{''.join(_looks())}</picture>"


def _picture(part: Part, label: str, stem_of: Stem) -> SafeString:
    """Return a text's image for all screens: narrow and wide, dark and light, 1× and 2×."""
    sizes = {}
    for width, _ in WIDTHS:
        sizes[f"width_{width}"], sizes[f"height_{width}"] = size_of(part.text, part.width_on(width))
    return mark_safe(_PICTURE % {"stem": stem_of(part), "alt": escape(label), **sizes})


def _runs(block: Block) -> list[dict[str, Any]]:
    """Return a block's text in stretches that are marked or not."""
    runs, end = [], 0
    for first, last in block.highlights:
        runs += [{"text": block.text[end:first], "is_marked": False}]
        runs += [{"text": block.text[first:last], "is_marked": True}]
        end = last
    runs.append({"text": block.text[end:], "is_marked": False})
    return [run for run in runs if run["text"]]
