"""The export page: which files there are, and what is in each."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from annotation.downloads import consent_file
from annotation.progress import Totals
from campaigns.models import Campaign, Membership

Role = Membership.Role


_FORMATS = {"csv": "CSV", "jsonl": "JSON Lines", "parquet": "Parquet", "md": "Markdown"}
_TABLES = ("csv", "jsonl", "parquet")
_REAL = "?ids=real"
_RATINGS = (
    "One row a rating, in the columns that “manage.py analyse” and the analysis pages read: worker, assignment, HIT, "
    "position, source, system, kind, criterion, score as the worker gave it; then the assignment’s state, the time of "
    "rating (UTC) and the seconds on the item."
)
_ITEMS = "Every item of every HIT with kind, twin and the text as shown: what a replication needs."
_CHATBOTS_MET = "Every item of every HIT: which chatbot, and whether it is the degraded one. What a replication needs."
_SAID = (
    "Transcripts have every turn with its times, changes of topic, flags and ratings; the table has topic, opinion, "
    "state, whether the topic was sent to the chatbot, and the worker’s inputs, words and characters of each chat, as "
    "“manage.py analyse --dialogues” reads them. "
    "Dead chats, whose chatbot did not answer, are there too: results leave them out. "
    "Workers write what they like: look for names and addresses before you publish any of it."
)
_CONSENT = (
    "The text that workers agreed to. The table of assignments has its version, {version}, and when each worker "
    "agreed. The version is the beginning of the file’s SHA-256."
)


def downloads(campaign: Campaign, totals: Totals, n_criteria: int) -> list[dict[str, Any]]:
    """Return the files of the export page in groups: what is in each, how many rows, and their addresses."""
    n_items = totals.n_items_wanted // max(campaign.workers_per_hit, 1)
    n_ratings = f"{totals.n_items_finished * n_criteria:,} ratings"
    n_assignments = f"{totals.n_assignments:,} rows"
    all_text = "active, returned, expired and rejected ones too: filter by state"
    assignments = "Assignments: state, times, feedback, consent"
    unanswered = ", tries without a reply" if campaign.is_live else ""
    events = f"Events: start, each item (time shown, first touch, moves){unanswered}, end"
    groups: list[dict[str, Any]] = [
        {
            "title": "Ratings",
            "text": _RATINGS,
            "rows": [
                _row(campaign, "Of finished HITs", n_ratings, "ratings", _TABLES),
                _row(campaign, "Of all assignments", all_text, "ratings", _TABLES, "?states=all"),
            ],
        },
        {
            "title": "What else happened",
            "text": "",
            "rows": [
                _row(campaign, assignments, n_assignments, "assignments", ["csv"]),
                _row(campaign, events, "one JSON object a line", "events", ["jsonl"]),
            ],
        },
        {
            "title": "Whom workers met" if campaign.is_live else "What workers were shown",
            "text": _CHATBOTS_MET if campaign.is_live else _ITEMS,
            "rows": [_row(campaign, "Items of all HITs", f"{n_items:,} rows", "items", ["csv"])],
        },
    ]
    if campaign.is_live:
        said = _chats(campaign, "finished HITs", "") + _chats(campaign, "all assignments", "?states=all")
        groups.insert(1, {"title": "What was said", "text": _SAID, "rows": said})
    if campaign.consent_version:
        groups.append(_consent(campaign))
    if campaign.my_role == Role.OWNER:
        rows = [
            _row(campaign, "Ratings of finished HITs", n_ratings, "ratings", _TABLES, _REAL),
            _row(campaign, f"{assignments}, completion code", n_assignments, "assignments", ["csv"], _REAL),
        ]
        if campaign.is_live:
            rows += _chats(campaign, "finished HITs", _REAL)
        text = "Everywhere else a worker is a keyed hash. These files may name people: not for publication."
        groups.append({"title": "Workers by their own ids", "text": text, "rows": rows})
    return groups


def _consent(campaign: Campaign) -> dict[str, Any]:
    stem, _, suffix = consent_file(campaign).rpartition(".")
    text = _CONSENT.format(version=campaign.consent_version)
    rows = [_row(campaign, "Consent text", f"version {campaign.consent_version}", stem, [suffix])]
    return {"title": "Consent", "text": text, "rows": rows}


def _chats(campaign: Campaign, of_whom: str, query: str) -> list[dict[str, Any]]:
    return [
        _row(campaign, f"Transcripts of {of_whom}", "one chat a line", "transcripts", ["jsonl"], query),
        _row(campaign, f"Chats of {of_whom}", "one row a chat", "dialogues", ["csv"], query),
    ]


def _row(
    campaign: Campaign, title: str, note: str, name: str, suffixes: Iterable[str], query: str = ""
) -> dict[str, Any]:
    links = [
        {
            "format": _FORMATS[suffix],
            "url": reverse("monitoring:export_file", args=[campaign.public_id, f"{name}.{suffix}"]) + query,
        }
        for suffix in suffixes
    ]
    return {"title": title, "note": note, "links": links}
