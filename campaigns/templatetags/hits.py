"""`{% load hits %}`: HITs in words and drawings, for researchers."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from campaigns.building.estimate import RATINGS_WANTED
from campaigns.building.proposals import certainty_words
from campaigns.design.certainty import Certainty
from campaigns.design.composition import KINDS, Kind
from campaigns.design.words import Unit, segment, unit_of
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.hit_queries import Cell
from campaigns.models import Campaign, HitItem

register = template.Library()


class _Words(NamedTuple):
    singular: str
    plural: str
    letter: str  # in a drawing
    meaning: str  # "{}" is what the format of outputs does to degraded ones


_KINDS = {
    Kind.ORDINARY: _Words("ordinary", "ordinary", "", "outputs as they are"),
    Kind.DEGRADED: _Words("degraded", "degraded", "D", "{}: careful workers rate them lower"),
    Kind.REPEAT: _Words("repeat", "repeats", "=", "shown twice: is the worker consistent?"),
    Kind.REFERENCE: _Words("reference", "references", "R", "the reference instead of the output"),
    Kind.TUTORIAL: _Words("tutorial", "tutorial", "T", "for practice: rated, never analysed"),
}
_LIVE_KINDS = _KINDS | {
    Kind.ORDINARY: _Words("chatbot", "chatbots", "", "each of another family"),
    Kind.DEGRADED: _Words(
        "degraded chatbot",
        "degraded chatbots",
        "D",
        "answers with random replies: careful workers rate it lower",
    ),
}


_COMPARED_KINDS = _KINDS | {
    Kind.ORDINARY: _Words("ordinary", "ordinary", "", "chatbots of the campaign, two at once"),
    Kind.DEGRADED: _Words(
        "degraded", "degraded", "D", "one of two answers with random replies: careful workers prefer the other"
    ),
    Kind.REPEAT: _Words("beside it", "beside it", "=", "what the degraded chatbot is compared with"),
}


def _kinds(campaign: Campaign) -> Mapping[Kind, _Words]:
    if campaign.compares_chats:
        return _COMPARED_KINDS
    return _LIVE_KINDS if campaign.is_live else _KINDS


@register.simple_tag
def ratings_wanted() -> int:
    """Return the studies' rule of thumb for telling systems apart."""
    return RATINGS_WANTED


@register.filter
def counts_words(campaign: Campaign, fields: Mapping[str, Any]) -> str:
    """Return the mix of a design's fields in words."""
    kinds, counts = _kinds(campaign), {kind: fields.get(f"n_{name}", 0) for name, kind in KINDS.items()}
    return ", ".join(f"{n} {kinds[kind][n != 1]}" for kind, n in counts.items() if n)


@register.inclusion_tag("components/hit_mix.html")
def hit_mix(cells: Sequence[Cell], campaign: Campaign, caption: str = "") -> dict[str, Any]:
    """Draw a HIT: how many items of each kind, and its items in order."""
    kinds = _kinds(campaign)
    counts = {kind: sum(kind == cell.kind for cell in cells) for kind in Kind}
    degraded = campaign.format_of_outputs.degraded
    return {
        "caption": caption,
        "legend": [
            (kind.name.lower(), kinds[kind].letter, f"{n} {kinds[kind][n != 1]}", kinds[kind].meaning.format(degraded))
            for kind, n in counts.items()
            if n
        ],
        "cells": [
            (
                cell.kind.name.lower(),
                kinds[cell.kind].letter,
                f"{cell.position}: {kinds[cell.kind].singular}{f', twin of {cell.twin}' if cell.twin else ''}",
            )
            for cell in cells
        ],
    }


@register.filter
def half_width(certainty: Certainty | None) -> str:
    """Return half the width of an interval; an en dash for none."""
    return f"± {certainty.half_width:.2f}" if certainty else "–"


@register.filter
def certainty_sentence(certainty: Certainty | None, campaign: Campaign) -> str:
    """Return what the results of a design will tell, in one sentence."""
    return certainty_words(certainty, "chatbots" if campaign.is_live else "systems")


@register.filter
def test_name(slug: str) -> str:
    """Return what people call a worker test."""
    return "none" if slug == NO_TEST else WORKER_TESTS[slug].name


@register.filter
def kind_name(item: HitItem) -> str:
    """Return the kind of an item: ordinary, degraded, repeat, reference or tutorial."""
    return Kind(item.kind).name.lower()


@register.filter
def shown_text(item: HitItem) -> SafeString:
    """Return an item's text as shown, with words of another text marked: in degraded ones, in one run a line."""
    if item.kind != Kind.DEGRADED or not item.text or item.output is None:
        return format_html("{}", item.text)
    unit = unit_of(item.output.text)
    # A dialogue has words of others in each of the chatbot's turns.
    lines = zip_longest(*(text.splitlines(keepends=True) for text in (item.output.text, item.text)), fillvalue="")
    return format_html_join("", "{}{}{}", (_marked(*_changed(was, now, unit)) for was, now in lines))


def _marked(before: str, other: str, after: str) -> tuple[str, str, str]:
    return before, format_html("<mark>{}</mark>", other) if other else "", after


def _changed(was: str, now: str, unit: Unit) -> tuple[str, str, str]:
    """Return what is before the first changed word of a line, from it to the last one, and after that."""
    old, new = segment(was, unit).units, segment(now, unit)
    changed = [k for k in range(len(new.units)) if old[k : k + 1] != new.units[k : k + 1]]
    if not changed:
        return now, "", ""
    begin, end = changed[0], changed[-1] + 1
    pieces = [piece + gap for piece, gap in zip(new.units, new.gaps[1:], strict=True)]
    return new.gaps[0] + "".join(pieces[:begin]), "".join(pieces[begin:end]), "".join(pieces[end:])
