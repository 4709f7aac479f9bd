"""What the pages of sources, outputs and uploaded files show."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from campaigns.blocks import find_highlights
from campaigns.contracts.protocol import Screen
from campaigns.importing.layout import FileLayout
from campaigns.models import Campaign, Source, Upload
from campaigns.queries import Contents
from evalsite.jobs.models import Job
from evalsite.lib.words import counted

# Of an uploaded file: its state as the style sheets know it, and in words.
_STATES = {
    "new": ("unused", "not imported"),
    "importing": ("untested", "being imported"),
    "problems": ("failed", "has problems"),
    "failed": ("failed", "import failed"),
    "imported": ("passed", "imported"),
}


def state_of(upload: Upload) -> str:
    """Return how far an uploaded file is: new, importing, problems, failed or imported."""
    if upload.job and not upload.job.is_finished:
        return "importing"
    if upload.problems:
        return "problems"
    if upload.imported_at:
        return "imported"
    return "failed" if upload.job and upload.job.status == Job.Status.FAILED else "new"


def uploads_listed(campaign: Campaign, uploads: Iterable[Upload]) -> list[dict[str, Any]]:
    """Return the rows of the table of uploaded files."""
    rows = []
    for upload in uploads:
        badge, words = _STATES[state_of(upload)]
        url = reverse("campaigns:columns", args=[campaign.public_id, upload.pk])
        rows.append({"upload": upload, "badge": badge, "words": words, "url": url})
    return rows


def counts_shown(contents: Contents, *, has_given_hits: bool) -> list[dict[str, Any]]:
    """Return the numbers above the sources."""
    stats = [
        {"label": "Sources", "value": f"{contents.n_sources:,}"},
        {"label": "Systems", "value": f"{contents.n_systems:,}"},
        {"label": "Outputs", "value": f"{contents.n_outputs:,}"},
    ]
    if has_given_hits:
        stats.append({"label": "HITs", "value": f"{contents.n_hits:,}", "note": "came with the file"})
    return stats


def systems_shown(systems: Iterable[Any], n_sources: int, screen: Screen) -> list[dict[str, Any]]:
    """Return a row for each system of `list_systems`: its outputs, and for how many sources it has none.

    Nobody has one dialogue with several systems: of dialogues none is missing.
    """
    n_wanted = 0 if screen.output_format == "dialogue" else n_sources
    return [
        {"system": system, "n_outputs": system.n_outputs, "n_missing": max(0, n_wanted - system.n_outputs)}
        for system in systems
    ]


def sources_shown(sources: Iterable[Source], screen: Screen) -> list[dict[str, Any]]:
    """Return sources with their fields, in the order of the screen, and their outputs by system."""
    shown = []
    for source in sources:
        fields = [
            {
                "label": field.label,
                "parts": _parts(source.fields[field.name], source.fields.get(field.marks, "")),
                "is_shown": field.is_shown,
            }
            for field in screen.fields
            if source.fields.get(field.name)
        ]
        excerpt = next((source.fields[name] for name in screen.field_names if source.fields.get(name)), "")
        shown.append({"source": source, "excerpt": excerpt[:300], "fields": fields, "outputs": source.outputs.all()})
    return shown


def _parts(text: str, marked: str) -> list[tuple[str, bool]]:
    """Return a text in parts, each with whether it is highlighted for workers."""
    parts, end = [], 0
    for begin, stop in find_highlights(text, marked):
        parts += [(text[end:begin], False), (text[begin:stop], True)]
        end = stop
    return [*parts, (text[end:], False)]


def problems_shown(upload: Upload) -> dict[str, Any]:
    """Return what components/problems.html needs of an upload's problems."""
    kept = upload.problems or {"rows": [], "n_more": 0}
    rows = [{"row": row, "column": column, "message": text} for row, column, text in kept["rows"]]
    return {"problems": rows, "n_problems": len(rows) + kept["n_more"]}


def summary_shown(upload: Upload) -> dict[str, Any]:
    """Return what an import, or the look at a batch, found: numbers and notices."""
    summary = upload.summary
    if not summary:
        return {}
    names = [("Sources", "n_sources"), ("Systems", "n_systems"), ("Outputs", "n_outputs"), ("HITs", "n_hits")]
    stats = [{"label": label, "value": f"{summary[key]:,}"} for label, key in names if summary.get(key)]
    return {"stats": stats, "notices": [notice["message"] for notice in summary["notices"]]}


def shape_words(layout: FileLayout) -> str:
    """Return in words what a file looks like as its columns are taken."""
    if layout.has_hits:
        return "batches of Appraise, HITs included"
    if layout.shape == "wide":
        return f"one source a row, with outputs of {counted(len(layout.systems), 'system')}"
    return "one output a row"
