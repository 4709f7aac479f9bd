"""The files of the export page, by name: what each is made of, streamed."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from annotation.chat.exports import DIALOGUE_COLUMNS, iter_dialogues, iter_transcripts
from annotation.encoding import as_records, csv_pieces, json_pieces, parquet_pieces
from annotation.exports import (
    ASSIGNMENT_COLUMNS,
    CODE_COLUMN,
    FINISHED,
    ITEM_COLUMNS,
    RATING_COLUMNS,
    iter_assignments,
    iter_events,
    iter_items,
    iter_ratings,
)
from annotation.models import Response
from annotation.progress import get_totals
from annotation.worker_names import NameWorker, hashed_name, real_name
from campaigns.models import Campaign

_CSV, _JSON_LINES = "text/csv; charset=utf-8", "application/jsonl; charset=utf-8"
_PARQUET, _MARKDOWN = "application/vnd.apache.parquet", "text/markdown; charset=utf-8"
MEDIA_TYPES = tuple(each.partition(";")[0] for each in (_CSV, _JSON_LINES, _PARQUET, _MARKDOWN))
"""What the files of a campaign are."""


@dataclass(frozen=True)
class ExportChoice:
    """What somebody asked for: assignments in which states, workers by their own ids or by keyed hashes."""

    states: Collection[str] = FINISHED
    has_real_ids: bool = False

    @property
    def names(self) -> NameWorker:
        """How workers are named."""
        return real_name if self.has_real_ids else hashed_name


@dataclass(frozen=True)
class Download:
    """A kind of file: its media type, what yields its bytes, and whether only live campaigns have it."""

    content_type: str
    pieces: Callable[[Campaign, ExportChoice], Iterator[bytes]]
    is_live_only: bool = False


def _ratings(campaign: Campaign, choice: ExportChoice) -> Iterator[tuple]:
    return iter_ratings(campaign, states=choice.states, names=choice.names)


def _ratings_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return csv_pieces(RATING_COLUMNS, _ratings(campaign, choice))


def _ratings_json(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return json_pieces(as_records(RATING_COLUMNS, _ratings(campaign, choice)))


def _ratings_parquet(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    import pyarrow as pa

    numbers = {"assignment": pa.int64(), "hit": pa.int64(), "position": pa.int32(), "score": pa.float64()}
    times = {"rated_at": pa.timestamp("ms", tz="UTC"), "seconds": pa.float64()}
    schema = pa.schema([(name, (numbers | times).get(name, pa.string())) for name in RATING_COLUMNS])
    return parquet_pieces(schema, _ratings(campaign, choice))


def _assignments_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    """Completion codes prove that somebody worked, so they go where the real ids go."""
    columns = (*ASSIGNMENT_COLUMNS, CODE_COLUMN) if choice.has_real_ids else ASSIGNMENT_COLUMNS
    return csv_pieces(columns, iter_assignments(campaign, names=choice.names, with_codes=choice.has_real_ids))


def _items_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return csv_pieces(ITEM_COLUMNS, iter_items(campaign))


def _events_json(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return json_pieces(iter_events(campaign, names=choice.names, with_ids=choice.has_real_ids))


def _dialogues_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return csv_pieces(DIALOGUE_COLUMNS, iter_dialogues(campaign, states=choice.states, names=choice.names))


def _transcripts_json(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    """Chats are long: each is sent by itself."""
    for transcript in iter_transcripts(campaign, states=choice.states, names=choice.names):
        yield from json_pieces([transcript])


def _consent_text(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    """The text byte for byte, so that `sha256sum` gives its version."""
    yield campaign.consent.encode()


_CONSENT = Download(_MARKDOWN, _consent_text)
_DOWNLOADS = {
    "ratings.csv": Download(_CSV, _ratings_csv),
    "ratings.jsonl": Download(_JSON_LINES, _ratings_json),
    "ratings.parquet": Download(_PARQUET, _ratings_parquet),
    "assignments.csv": Download(_CSV, _assignments_csv),
    "items.csv": Download(_CSV, _items_csv),
    "events.jsonl": Download(_JSON_LINES, _events_json),
    "dialogues.csv": Download(_CSV, _dialogues_csv, is_live_only=True),
    "transcripts.jsonl": Download(_JSON_LINES, _transcripts_json, is_live_only=True),
}


def consent_file(campaign: Campaign) -> str:
    """Return the name of the file with the consent text, which has its version."""
    return f"consent-{campaign.consent_version}.md"


def list_files(campaign: Campaign) -> list[str]:
    """Return the names of the files that a campaign has."""
    names = [name for name, file in _DOWNLOADS.items() if campaign.is_live or not file.is_live_only]
    return [*names, consent_file(campaign)] if campaign.consent_version else names


def find_download(campaign: Campaign, name: str) -> Download | None:
    """Return what a file of the campaign is made of; None if it has no such file."""
    if campaign.consent_version and name == consent_file(campaign):
        return _CONSENT
    download = _DOWNLOADS.get(name)
    return download if download and (campaign.is_live or not download.is_live_only) else None


class FileSizes(NamedTuple):
    """How many rows the files of a campaign have, and the name of the file with its consent text."""

    n_ratings: int
    n_assignments: int
    n_items: int
    consent_file: str


def _count_ratings(campaign: Campaign, n_items: int) -> int:
    """Return how many ratings finished HITs have; they are counted only where a criterion need not be answered."""
    is_required = campaign.criteria.values_list("is_required", flat=True)
    if all(is_required):
        return n_items * len(is_required)
    return Response.objects.filter(assignment__campaign=campaign, assignment__state__in=FINISHED).count()


def count_rows(campaign: Campaign, now: datetime) -> FileSizes:
    """Return how many rows the files of a campaign have. Six queries at most."""
    totals = get_totals(campaign, now)
    return FileSizes(
        n_ratings=_count_ratings(campaign, totals.n_items_finished),
        n_assignments=totals.n_assignments,
        n_items=totals.n_items_wanted // max(campaign.workers_per_hit, 1),
        consent_file=consent_file(campaign),
    )
