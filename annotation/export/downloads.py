"""The files of the export page, by name: what each is made of, streamed."""

import csv
import io
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from annotation.chat.exports import DIALOGUE_COLUMNS, iter_dialogues, iter_transcripts
from annotation.export.attributes import attributes_of
from annotation.export.encoding import csv_pieces, json_pieces, parquet_pieces, tsv_pieces
from annotation.export.marked_errors import SPAN_COLUMNS, span_blocks
from annotation.export.rows import (
    ASSIGNMENT_COLUMNS,
    CODE_COLUMN,
    EVENT_COLUMNS,
    FINISHED,
    ITEM_COLUMNS,
    RATING_COLUMNS,
    event_blocks,
    item_blocks,
    iter_assignments,
    rating_blocks,
)
from annotation.export.tables import TABLES, list_tables, table_of
from annotation.models import Response
from annotation.monitoring.progress import get_totals
from annotation.worker_names import NameWorker, hashed_name, real_name
from campaigns.contracts.attributes import DRAW_WEIGHT
from campaigns.contracts.columns import column
from campaigns.contracts.protocol import Scope
from campaigns.methods import methods
from campaigns.models import Campaign
from evalsite.lib.tables import croissant
from evalsite.lib.tables.blocks import Block, in_blocks

_CSV, _JSON_LINES = "text/csv; charset=utf-8", "application/jsonl; charset=utf-8"
_TSV = "text/tab-separated-values; charset=utf-8"
_PARQUET, _MARKDOWN = "application/vnd.apache.parquet", "text/markdown; charset=utf-8"
_JSON = "application/json"
MEDIA_TYPES = tuple(each.partition(";")[0] for each in (_CSV, _TSV, _JSON_LINES, _PARQUET, _MARKDOWN, _JSON))
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
    """A kind of file: its media type and what yields its bytes.

    Campaigns have it whose criteria fill `table`, if there is one, and whose workers chat, if it `is_of_chats`.
    """

    content_type: str
    pieces: Callable[[Campaign, ExportChoice], Iterator[bytes]]
    table: str = ""
    is_of_chats: bool = False


def _with_attributes(
    campaign: Campaign, choice: ExportChoice, columns: tuple[str, ...], blocks: Iterator[Block]
) -> tuple[tuple[str, ...], Iterator[Block]]:
    """Return a table with the style of outputs, and the attributes of invited raters and sources."""
    known = attributes_of(campaign)
    return known.columns(columns), known.beside(columns, blocks, choice.names)


def _ratings(campaign: Campaign, choice: ExportChoice) -> tuple[tuple[str, ...], Iterator[Block]]:
    blocks = rating_blocks(campaign, states=choice.states, names=choice.names)
    return _with_attributes(campaign, choice, RATING_COLUMNS, blocks)


def _ratings_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return csv_pieces(*_ratings(campaign, choice))


def _ratings_json(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return json_pieces(*_ratings(campaign, choice))


def _ratings_parquet(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    import pyarrow as pa

    whole = {"assignment": pa.int64(), "hit": pa.int64(), "position": pa.int32()}
    whole |= {"page": pa.int32(), "turn": pa.int32()}
    numbers = {**whole, "score": pa.float64()}
    numbers[DRAW_WEIGHT] = pa.float64()
    times = {"rated_at": pa.timestamp("ms", tz="UTC"), "seconds": pa.float64()}
    columns, blocks = _ratings(campaign, choice)
    schema = pa.schema([(name, (numbers | times).get(name, pa.string())) for name in columns])
    return parquet_pieces(schema, blocks)


def _assignments_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    """Completion codes prove that somebody worked, so they go where the real ids go."""
    columns = (*ASSIGNMENT_COLUMNS, CODE_COLUMN) if choice.has_real_ids else ASSIGNMENT_COLUMNS
    rows = iter_assignments(campaign, names=choice.names, with_codes=choice.has_real_ids)
    return csv_pieces(columns, in_blocks(rows))


def _items_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return csv_pieces(ITEM_COLUMNS, item_blocks(campaign))


def _events_json(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return json_pieces(EVENT_COLUMNS, event_blocks(campaign, names=choice.names, with_ids=choice.has_real_ids))


def _dialogues_csv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    return csv_pieces(DIALOGUE_COLUMNS, in_blocks(iter_dialogues(campaign, states=choice.states, names=choice.names)))


def _transcripts_json(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    """Chats are long: each is sent by itself."""
    for transcript in iter_transcripts(campaign, states=choice.states, names=choice.names):
        yield from json_pieces(tuple(transcript), in_blocks([tuple(transcript.values())]))


def _mqm_tsv(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    blocks = span_blocks(campaign, states=choice.states, names=choice.names)
    return tsv_pieces(*_with_attributes(campaign, choice, SPAN_COLUMNS, blocks))


def _table(name: str) -> Download:
    """Return the file of a table of responses, as analyses read it."""

    def pieces(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
        table = table_of(campaign, name)
        return csv_pieces(table.columns, table.blocks(campaign, states=choice.states, names=choice.names))

    return Download(_CSV, pieces, name)


def _consent_text(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    """The text byte for byte, so that `sha256sum` gives its version."""
    yield campaign.consent.encode()


def _croissant_json(campaign: Campaign, choice: ExportChoice) -> Iterator[bytes]:
    """Yield what the tables of finished HITs are, by the columns that they would have now."""
    tables = [
        croissant.DescribedFile(name, [column(each) for each in _header(campaign, name)])
        for name in list_files(campaign)
        if name.endswith((".csv", ".tsv"))
    ]
    closed = campaign.closed_at.date().isoformat() if campaign.closed_at else ""
    about = croissant.About(campaign.name, f"What workers answered in “{campaign.name}”.", published=closed)
    yield json.dumps(croissant.describe(about, tables), ensure_ascii=False, indent=2).encode()


def _header(campaign: Campaign, name: str) -> list[str]:
    """Return the columns of a table, made of no assignments: so no answers and no texts are read for them."""
    download = find_download(campaign, name)
    assert download is not None
    first = next(download.pieces(campaign, ExportChoice(states=()))).decode()
    return next(csv.reader(io.StringIO(first, newline=""), delimiter="\t" if name.endswith(".tsv") else ","))


_IN_OTHER_FILES = {"scores": "ratings.csv", "spans": "mqm.tsv"}  # which have more
_CONSENT = Download(_MARKDOWN, _consent_text)
_DOWNLOADS = {
    "ratings.csv": Download(_CSV, _ratings_csv),
    "ratings.jsonl": Download(_JSON_LINES, _ratings_json),
    "ratings.parquet": Download(_PARQUET, _ratings_parquet),
    "assignments.csv": Download(_CSV, _assignments_csv),
    "items.csv": Download(_CSV, _items_csv),
    "events.jsonl": Download(_JSON_LINES, _events_json),
    "dialogues.csv": Download(_CSV, _dialogues_csv, is_of_chats=True),
    "transcripts.jsonl": Download(_JSON_LINES, _transcripts_json, is_of_chats=True),
    "mqm.tsv": Download(_TSV, _mqm_tsv, "spans"),
    croissant.FILE: Download(_JSON, _croissant_json),
}
_TABLES = {f"{name}.csv": _table(name) for name in TABLES if name not in _IN_OTHER_FILES}


def consent_file(campaign: Campaign) -> str:
    """Return the name of the file with the consent text, which has its version."""
    return f"consent-{campaign.consent_version}.md"


def responses_file(campaign: Campaign) -> str:
    """Return the name of the file with the responses that a campaign's response method reads."""
    table = methods[campaign.method].table
    return _IN_OTHER_FILES.get(table, f"{table}.csv")


def list_files(campaign: Campaign) -> list[str]:
    """Return the names of the files that a campaign has. One query."""
    tables = list_tables(campaign)
    names = [name for name, file in (_DOWNLOADS | _TABLES).items() if _has(campaign, file, tables)]
    return [*names, consent_file(campaign)] if campaign.consent_version else names


def find_download(campaign: Campaign, name: str) -> Download | None:
    """Return what a file of the campaign is made of; None if it has no such file. One query."""
    if campaign.consent_version and name == consent_file(campaign):
        return _CONSENT
    download = (_DOWNLOADS | _TABLES).get(name)
    return download if download and _has(campaign, download, list_tables(campaign)) else None


def _has(campaign: Campaign, file: Download, tables: Collection[str]) -> bool:
    return file.table in ("", *tables) and (campaign.is_live or not file.is_of_chats)


class FileSizes(NamedTuple):
    """How many rows the files of a campaign have, the name of its consent text’s file, whether errors are marked, and
    the files of other responses: what each is called, by its name.
    """

    n_ratings: int
    n_assignments: int
    n_items: int
    consent_file: str
    has_spans: bool
    tables: dict[str, str]


def _count_ratings(campaign: Campaign, n_items: int) -> int:
    """Return how many ratings finished HITs have; they are counted only where not all are of every item."""
    criteria = campaign.criteria.all()
    if all(each.is_required and each.scope == Scope.OUTPUT and not each.shown_on_id for each in criteria):
        return n_items * len(criteria)
    return Response.objects.filter(assignment__campaign=campaign, assignment__state__in=FINISHED).count()


def count_rows(campaign: Campaign, now: datetime) -> FileSizes:
    """Return how many rows the files of a campaign have. Seven queries at most."""
    totals, files = get_totals(campaign, now), list_files(campaign)
    return FileSizes(
        n_ratings=_count_ratings(campaign, totals.n_items_finished),
        n_assignments=totals.n_assignments,
        n_items=totals.n_items_wanted // max(campaign.workers_per_hit, 1),
        consent_file=consent_file(campaign),
        has_spans="mqm.tsv" in files,
        tables={name: _TABLES[name].table.replace("_", " ").capitalize() for name in files if name in _TABLES},
    )
