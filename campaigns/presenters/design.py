"""The page of a campaign's HIT design: one HIT as a drawing, what HITs come to, and HITs as tables."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

import numpy as np

from campaigns.building.outlook import RATINGS_WANTED, Outlook
from campaigns.checklist import passing_of
from campaigns.design.composition import Kind, Mix
from campaigns.design.plan import plan_hits
from campaigns.design.words import Unit, segment, unit_of
from campaigns.hit_queries import first_hit, list_items, mix_of, preview_totals
from campaigns.models import Campaign, HitItem
from campaigns.navigation import campaign_context, job_progress, url_of
from campaigns.protocols import get_protocol
from campaigns.queries import count_hits
from campaigns.services.design import preset_of
from evalsite.lib.errors import DomainError

# Singular, plural, letter in the drawing, what it is for.
_KINDS = {
    Kind.ORDINARY: ("ordinary", "ordinary", "", "outputs as they are"),
    Kind.DEGRADED: (
        "degraded",
        "degraded",
        "D",
        "some words are of another text: careful workers rate them lower",
    ),
    Kind.REPEAT: ("repeat", "repeats", "=", "shown twice: is the worker consistent?"),
    Kind.REFERENCE: ("reference", "references", "R", "the reference in the place of the output"),
}
_LIVE_KINDS = {
    Kind.ORDINARY: ("chatbot", "chatbots", "", "each of another family"),
    Kind.DEGRADED: (
        "degraded chatbot",
        "degraded chatbots",
        "D",
        "answers with random replies: careful workers rate it lower",
    ),
}
_Words = dict[Kind, tuple[str, str, str, str]]

Cell = tuple[int, Kind, int | None]  # position, kind, position of the twin


def design_page(campaign: Campaign) -> dict[str, Any]:
    """Return what the design page shows apart from its form. At most nine queries, however many the HITs."""
    context = campaign_context(campaign, "design")
    n_hits, outlook = count_hits(campaign), _outlook(campaign)
    return (
        context
        | outlook
        | {
            "mix": _drawing(campaign),
            "preset": _preset(campaign) if context["can_change"] else None,
            "n_hits": n_hits,
            "is_stale": bool(n_hits) and campaign.status == Campaign.Status.DRAFT,
            "data_url": url_of(campaign, "campaigns:chatbots" if campaign.is_live else "campaigns:data"),
            "build": _build(campaign),
            "unpassable": _unpassable(campaign, outlook.get("n_planned", n_hits)),
        }
    )


def _unpassable(campaign: Campaign, n_hits: int) -> str:
    """Return why no worker can pass the worker test with these HITs, "" if one can, or no criterion is tested yet."""
    n_tested = campaign.criteria.filter(is_in_worker_test=True).count()
    return passing_of(campaign, n_hits=n_hits, n_tested=n_tested).problem if n_tested else ""


def _outlook(campaign: Campaign) -> dict[str, Any]:
    """Return the totals, or why there can be none."""
    try:
        outlook = preview_totals(campaign)
    except DomainError as error:
        return {"problem": error}
    few = [name for name, n in outlook.ratings if n < RATINGS_WANTED]
    return {
        "n_planned": outlook.n_hits,
        "totals": _totals(campaign, outlook),
        "ratings": outlook.ratings,
        "few_ratings": {"n": len(few), "fewest": outlook.fewest_ratings, "wanted": RATINGS_WANTED} if few else None,
    }


def _totals(campaign: Campaign, outlook: Outlook) -> list[dict[str, str]]:
    """Return the totals, each with what it is made of."""
    fewest, most, workers = outlook.fewest_ratings, outlook.most_ratings, campaign.workers_per_hit
    outputs = [f"{outlook.n_outputs_left_out:,} left out"] if outlook.n_outputs_left_out else []
    if not campaign.is_live:  # a chatbot is for many HITs
        outputs += [f"{outlook.n_reuses:,} again in another HIT"] if outlook.n_reuses else []
        outputs += [f"{outlook.n_sources_left_out:,} sources left out"] if outlook.n_sources_left_out else []
    items, rated, system = (
        ("chats", "Chatbots", "chatbot") if campaign.is_live else ("items", "Outputs rated", "system")
    )
    return [
        {"label": "HITs", "value": f"{outlook.n_hits:,}", "note": f"{outlook.n_items:,} {items}"},
        {"label": rated, "value": f"{outlook.n_outputs_used:,}", "note": ", ".join(outputs)},
        {
            "label": f"Ratings per {system}",
            "value": f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}",
            "note": "for each criterion",
        },
        {
            "label": "Assignments",
            "value": f"{outlook.n_assignments:,}",
            "note": f"{workers:,} worker{'' if workers == 1 else 's'} per HIT",
        },
        {
            "label": "Rewards",
            "value": f"{outlook.cost:,.2f} {campaign.currency}" if campaign.reward else "none",
            "note": f"{campaign.reward:,.2f} per HIT, without the platform's fees" if campaign.reward else "",
        },
    ]


def _preset(campaign: Campaign) -> dict[str, Any] | None:
    """Return the protocol's own design, if the campaign's is another."""
    preset = preset_of(campaign)
    if campaign.has_given_hits or all(getattr(campaign, name) == value for name, value in preset.items()):
        return None
    counts = [preset["n_ordinary"], preset["n_degraded"], preset["n_repeat"], preset["n_reference"]]
    kinds = kinds_of(campaign)
    words = [f"{n} {kinds[kind][n != 1]}" for kind, n in zip(Kind, counts, strict=True) if n]
    return {"title": get_protocol(campaign.protocol).title, "words": ", ".join(words)}


def _build(campaign: Campaign) -> dict[str, Any] | None:
    """Return how the last build goes, or went wrong."""
    job = campaign.build_job
    if job is None or campaign.is_launched or job.status == job.Status.SUCCEEDED:
        return None
    return {
        "is_running": not job.is_finished,
        "state": None if job.is_finished else job_progress(campaign, job),
        "error": job.error_message,
        "at": job.finished_at or job.created_at,
    }


# --- One HIT as a drawing


def kinds_of(campaign: Campaign) -> _Words:
    """Return the words for each kind of item: singular, plural, letter in a drawing, what it is for."""
    return _KINDS | _LIVE_KINDS if campaign.is_live else _KINDS


def _drawing(campaign: Campaign) -> dict[str, Any] | None:
    """Return what components/hit_mix.html draws: the first of given HITs, else an example; None if there is none."""
    if campaign.has_given_hits:
        items = first_hit(campaign)
        cells = [(item.position, Kind(item.kind), item.twin_position) for item in items]
        return hit_mix(cells, _KINDS) | {"caption": "The first HIT of the file."} if cells else None
    try:
        mix = mix_of(campaign)
    except DomainError:
        return None
    caption = "An example. Every HIT has an order of its own" + (
        "." if campaign.is_live else ", and twins are never neighbours."
    )
    return hit_mix(_example(mix, campaign.seed), kinds_of(campaign)) | {"caption": caption}


def _example(mix: Mix, seed: int) -> list[Cell]:
    """Return the items of a HIT of this mix, in an order that it could have."""
    n = mix.n_ordinary
    one_source, anchor = np.zeros(n, dtype=np.int64), 0 if mix.has_anchor else None
    hits = plan_hits(mix, source=one_source, system=np.arange(n), seed=seed, n_hits=1, anchor=anchor).hits
    rows = zip(hits.position.tolist(), hits.kind.tolist(), hits.twin_position.tolist(), strict=True)
    return [(position, Kind(kind), twin if twin > 0 else None) for position, kind, twin in rows]


def hit_mix(cells: Iterable[Cell], words: _Words) -> dict[str, Any]:
    """Return what components/hit_mix.html draws of a HIT."""
    cells = sorted(cells)
    counts = {kind: sum(kind == each for _, each, _ in cells) for kind in Kind}
    return {
        "size": len(cells),
        "legend": [
            {
                "kind": kind.name.lower(),
                "name": f"{n} {words[kind][n != 1]}",
                "mark": words[kind][2],
                "meaning": words[kind][3],
            }
            for kind, n in counts.items()
            if n
        ],
        "cells": [
            {"kind": kind.name.lower(), "mark": words[kind][2], "text": _in_words(position, words[kind][0], twin)}
            for position, kind, twin in cells
        ],
    }


def _in_words(position: int, kind: str, twin: int | None) -> str:
    of_twin = f", twin of {twin}" if twin else ""
    return f"{position}: {kind}{of_twin}"


# --- HITs as tables


def hit_page(campaign: Campaign, number: int) -> dict[str, Any]:
    """Return what the page of one HIT shows; raise Http404 if there is none of this number. Two queries."""
    items = list_items(campaign, number)
    n_hits = count_hits(campaign)
    return campaign_context(campaign, "design") | {
        "number": number,
        "n_hits": n_hits,
        "previous": number - 1 if number > 1 else None,
        "next": number + 1 if number < n_hits else None,
        "mix": hit_mix(((item.position, Kind(item.kind), item.twin_position) for item in items), kinds_of(campaign)),
        "rows": [_row(item) for item in items],
        "is_stale": campaign.status == Campaign.Status.DRAFT,
    }


def _row(item: HitItem) -> dict[str, Any]:
    return {
        "position": item.position,
        "kind": Kind(item.kind).name.lower(),
        "twin": item.twin_position,
        "system": item.output.system.name,
        "family": item.output.system.family,
        "source": item.output.source.name,
        "parts": _parts(item),
    }


def _parts(item: HitItem) -> list[str]:
    """Return a text in parts, every other one of them words of another text: none but in degraded ones, one a line."""
    if item.kind != Kind.DEGRADED or not item.text:
        return [item.text, "", ""]
    unit, parts = unit_of(item.output.text), [""]
    # A dialogue has words of others in each of the chatbot's turns.
    for was, now in zip_longest(
        *(text.splitlines(keepends=True) for text in (item.output.text, item.text)), fillvalue=""
    ):
        before, other, after = _changed(was, now, unit)
        parts[-1] += before
        parts += [other, after] if other else []
    return parts


def _changed(was: str, now: str, unit: Unit) -> tuple[str, str, str]:
    """Return what stands before the first changed word of a line, from it to the last one, and after that."""
    old, new = segment(was, unit).units, segment(now, unit)
    changed = [k for k in range(len(new.units)) if old[k : k + 1] != new.units[k : k + 1]]
    if not changed:
        return now, "", ""
    begin, end = changed[0], changed[-1] + 1
    pieces = [piece + gap for piece, gap in zip(new.units, new.gaps[1:], strict=True)]
    return new.gaps[0] + "".join(pieces[:begin]), "".join(pieces[begin:end]), "".join(pieces[end:])
