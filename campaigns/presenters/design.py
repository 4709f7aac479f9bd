"""The page of a campaign's HIT design: one HIT as a drawing, what HITs come to, and HITs as tables."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from campaigns.building.outlook import RATINGS_WANTED, Outlook
from campaigns.design.composition import Kind, Layout, Mix
from campaigns.design.plan import plan_hits
from campaigns.design.words import segment, unit_of
from campaigns.hit_queries import first_hit, list_items, mix_of, preview_totals
from campaigns.models import Campaign, HitItem
from campaigns.navigation import campaign_context, url_of
from campaigns.presenters.jobs import job_shown
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

Cell = tuple[int, Kind, int | None]  # position, kind, position of the twin


def design_page(campaign: Campaign) -> dict[str, Any]:
    """Return what the design page shows apart from its form. At most eight queries, however many the HITs."""
    context = campaign_context(campaign, "design")
    n_hits = count_hits(campaign)
    return (
        context
        | _outlook(campaign)
        | {
            "mix": _drawing(campaign),
            "preset": _preset(campaign) if context["can_change"] else None,
            "n_hits": n_hits,
            "is_stale": bool(n_hits) and campaign.status == Campaign.Status.DRAFT,
            "data_url": url_of(campaign, "campaigns:data"),
            "build": _build(campaign),
        }
    )


def _outlook(campaign: Campaign) -> dict[str, Any]:
    """Return the totals, or why there can be none."""
    try:
        outlook = preview_totals(campaign)
    except DomainError as error:
        return {"problem": error}
    few = [name for name, n in outlook.ratings if n < RATINGS_WANTED]
    return {
        "totals": _totals(campaign, outlook),
        "ratings": outlook.ratings,
        "few_ratings": {"n": len(few), "fewest": outlook.fewest_ratings, "wanted": RATINGS_WANTED} if few else None,
    }


def _totals(campaign: Campaign, outlook: Outlook) -> list[dict[str, str]]:
    """Return the totals, each with what it is made of."""
    fewest, most, workers = outlook.fewest_ratings, outlook.most_ratings, campaign.workers_per_hit
    outputs = [f"{outlook.n_outputs_left_out:,} left out"] if outlook.n_outputs_left_out else []
    outputs += [f"{outlook.n_reuses:,} again in another HIT"] if outlook.n_reuses else []
    outputs += [f"{outlook.n_sources_left_out:,} sources left out"] if outlook.n_sources_left_out else []
    return [
        {"label": "HITs", "value": f"{outlook.n_hits:,}", "note": f"{outlook.n_items:,} items"},
        {"label": "Outputs rated", "value": f"{outlook.n_outputs_used:,}", "note": ", ".join(outputs)},
        {
            "label": "Ratings per system",
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
    words = [f"{n} {_KINDS[kind][1]}" for kind, n in zip(Kind, counts, strict=True) if n]
    return {"title": get_protocol(campaign.protocol).title, "words": ", ".join(words)}


def _build(campaign: Campaign) -> dict[str, Any] | None:
    """Return how the last build goes, or went wrong."""
    job = campaign.build_job
    if job is None or campaign.is_launched or job.status == job.Status.SUCCEEDED:
        return None
    return {
        "is_running": not job.is_finished,
        "state": None if job.is_finished else job_shown(campaign, job),
        "error": job.error_message,
        "at": job.finished_at or job.created_at,
    }


# --- One HIT as a drawing


def _drawing(campaign: Campaign) -> dict[str, Any] | None:
    """Return what components/hit_mix.html draws: the first of given HITs, else an example; None if there is none."""
    if campaign.has_given_hits:
        items = first_hit(campaign)
        cells = [(item.position, Kind(item.kind), item.twin_position) for item in items]
        return hit_mix(cells) | {"caption": "The first HIT of the file."} if cells else None
    try:
        mix = mix_of(campaign)
    except DomainError:
        return None
    if mix.layout == Layout.BY_SYSTEM:
        return None
    caption = "An example. Every HIT has an order of its own, and twins are never neighbours."
    return hit_mix(_example(mix, campaign.seed)) | {"caption": caption}


def _example(mix: Mix, seed: int) -> list[Cell]:
    """Return the items of a HIT of this mix, in an order that it could have."""
    n = mix.n_ordinary
    one_source, anchor = np.zeros(n, dtype=np.int64), 0 if mix.has_anchor else None
    hits = plan_hits(mix, source=one_source, system=np.arange(n), seed=seed, n_hits=1, anchor=anchor).hits
    rows = zip(hits.position.tolist(), hits.kind.tolist(), hits.twin_position.tolist(), strict=True)
    return [(position, Kind(kind), twin if twin > 0 else None) for position, kind, twin in rows]


def hit_mix(cells: Iterable[Cell]) -> dict[str, Any]:
    """Return what components/hit_mix.html draws of a HIT."""
    cells = sorted(cells)
    counts = {kind: sum(kind == each for _, each, _ in cells) for kind in Kind}
    return {
        "size": len(cells),
        "legend": [
            {"kind": kind.name.lower(), "name": _count(n, kind), "mark": _KINDS[kind][2], "meaning": _KINDS[kind][3]}
            for kind, n in counts.items()
            if n
        ],
        "cells": [
            {"kind": kind.name.lower(), "mark": _KINDS[kind][2], "text": _in_words(position, kind, twin)}
            for position, kind, twin in cells
        ],
    }


def _count(n: int, kind: Kind) -> str:
    return f"{n} {_KINDS[kind][n != 1]}"


def _in_words(position: int, kind: Kind, twin: int | None) -> str:
    of_twin = f", twin of {twin}" if twin else ""
    return f"{position}: {_KINDS[kind][0]}{of_twin}"


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
        "mix": hit_mix((item.position, Kind(item.kind), item.twin_position) for item in items),
        "rows": [_row(item) for item in items],
        "is_stale": campaign.status == Campaign.Status.DRAFT,
    }


def _row(item: HitItem) -> dict[str, Any]:
    return {
        "position": item.position,
        "kind": Kind(item.kind).name.lower(),
        "twin": item.twin_position,
        "system": item.output.system.name,
        "source": item.output.source.name,
        "parts": _parts(item),
    }


def _parts(item: HitItem) -> tuple[str, str, str]:
    """Return the text before the words that are another text's, these words, and the text after them."""
    if item.kind != Kind.DEGRADED:
        return item.text, "", ""
    unit = unit_of(item.output.text)
    was, now = segment(item.output.text, unit).units, segment(item.text, unit)
    other = [k for k in range(len(now.units)) if was[k : k + 1] != now.units[k : k + 1]]
    begin, end = (other[0], other[-1] + 1) if other else (0, 0)
    pieces = [piece + gap for piece, gap in zip(now.units, now.gaps[1:], strict=True)]
    return now.gaps[0] + "".join(pieces[:begin]), "".join(pieces[begin:end]), "".join(pieces[end:])
