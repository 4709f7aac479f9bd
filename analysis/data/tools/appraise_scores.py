"""Appraise's exported scores of segments, documents and error spans (ExportSystemScoresToCSV): CSV without a header.

A row is `login, system, itemID, itemType, source language, target language, score`, of document and ESA tasks then
`documentID, isCompleteDocument` and the error spans as JSON, and at last `startTime, endTime` and the batch. In
contrastive campaigns (WMT25) the sourceID stands before the system. `itemType` is TGT, BAD, CHK or REF.

A span of MQM has the parts of its category as a list in `error_type`; one of ESA has none. Items of documents called
`document#system…` are numbered within a task, so a segment is known by its place in its document. Spans have no text;
`end_i` is their last character.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.data.tools.about import NO_CATEGORY
from analysis.data.tools.made import NO_ERROR, Beginning, Made, Wanted
from analysis.data.tools.records import as_list
from campaigns.importing.appraise import document_name
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.formats import open_source
from evalsite.lib.tables.table import check_text

TOOL = "Appraise"
READS_SEVERAL = False
_KINDS = {"TGT": "ordinary", "BAD": "degraded", "CHK": "repeat", "REF": "reference"}
_LOGIN, _TYPES, _FEWEST = 0, (3, 4), 7
_TRUTH = {"true": True, "false": False}
_SEGMENT = "_#_"
_HEADER = ("login", "system", "itemtype", "score")


@dataclass(frozen=True)
class _Score:
    """A row: an item that was scored."""

    number: int
    login: str
    system: str
    item: str
    kind: str
    score: str
    source: str = ""
    document: str = ""
    is_document: bool = False
    spans: str = ""
    end: float = 0.0
    batch: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What the row is of; a later one of the same is a revision."""
        return self.login, self.batch, self.document, self.source, self.item, self.kind, self.system

    @property
    def name(self) -> str:
        """The document, whatever its system."""
        return document_name(self.document)


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like Appraise's scores."""
    return any(_type_place(row) for row in beginning.rows[:1]) or (
        len(beginning.rows) > 1 and _is_header(beginning.rows[0]) and bool(_type_place(beginning.rows[1]))
    )


def read(beginning: Beginning) -> Made:
    """Return the scores and the marked errors of a file."""
    made = Made(beginning.file, TOOL)
    rows = list(_rows(beginning, made))
    last = {row.key: row for row in sorted(rows, key=lambda row: row.end)}
    kept = [row for row in rows if last[row.key] is row]
    _count(made, "revised", len(rows) - len(kept), "Scores that were revised later, of which the last counts")
    of_segments = [row for row in kept if not row.is_document]
    _count(made, "whole_documents", len(kept) - len(of_segments), "Scores of whole documents, which are left out")
    scored = [row for row in of_segments if not _is_tutorial(row)]
    _count(made, "tutorial", len(of_segments) - len(scored), "Scores of the tutorial, which are left out")
    segments = _segments(scored)
    _add_scores(made, scored, segments)
    _add_spans(made, scored, segments)
    return made


def _count(made: Made, code: str, n: int, what: str, wanted: Wanted | None = None) -> None:
    if n:
        made.warn(code, f"{what}: {n:,}.", wanted)


def _is_tutorial(row: _Score) -> bool:
    return any("tutorial" in text.casefold() for text in (row.document, row.source, row.system))


def _is_header(row: Sequence[str]) -> bool:
    plain = {re.sub(r"[\W_]", "", cell).casefold() for cell in row}
    return plain >= set(_HEADER)


def _type_place(row: Sequence[str]) -> int:
    """Return where a row has its itemType, 0 if it has none."""
    return next((place for place in _TYPES if len(row) >= place + 4 and row[place].strip() in _KINDS), 0)


def _rows(beginning: Beginning, made: Made) -> Iterator[_Score]:
    source = open_source(beginning.path, beginning.file, beginning.max_bytes, beginning.encoding)
    width = 0
    with source.open_text() as handle:
        reader = csv.reader(handle, delimiter="\t" if "\t" in (beginning.rows[0] or [""])[0] else ",")
        number = 1
        try:
            for row in reader:
                first, number = number, reader.line_num + 1
                if not any(row) or (first == 1 and _is_header(row)):
                    continue
                width = width or len(row)
                if found := _score(first, [cell.strip() for cell in row], width, made):
                    yield found
        except csv.Error as error:
            made.refuse(number, None, "bad_csv", f"this is no CSV ({error}). Export the scores again.")


def _score(number: int, row: list[str], width: int, made: Made) -> _Score | None:
    """Return what a row says; add a problem if it is not of the layout."""
    place = _type_place(row)
    if not place or len(row) != width:
        shown = shorten(row[_TYPES[0]]) if len(row) > _TYPES[0] else ""
        message = (
            f"the row has {len(row)} cells, and the first row {width}."
            if len(row) != width
            else f"“{shown}” is no type of item. It must be {', '.join(_KINDS)}."
        )
        made.refuse(number, "itemType (column 4)", "bad_layout", f"{message} Export the scores again.")
        return None
    if problem := check_text(row):
        made.refuse(number, None, "encoding", problem)
        return None
    rest = row[place + 4 :]
    source = row[1] if place == _TYPES[1] else ""
    document, is_document, spans = "", False, ""
    if len(rest) > 1 and rest[1].casefold() in _TRUTH:
        document, is_document, rest = rest[0], _TRUTH[rest[1].casefold()], rest[2:]
        if rest and not _is_number(rest[0]):
            spans, rest = rest[0], rest[1:]
    return _Score(
        number,
        row[_LOGIN],
        row[place - 2],
        row[place - 1],
        _KINDS[row[place]],
        row[place + 3],
        source,
        document,
        is_document,
        spans,
        float(rest[1]) if len(rest) > 1 and _is_number(rest[1]) else 0.0,
        rest[2] if len(rest) > 2 else "",
    )


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"\d{1,15}(\.\d{1,15})?", text, re.ASCII))


def _segments(rows: Sequence[_Score]) -> dict[int, tuple[str, str]]:
    """Return document and segment of each row, by its number and system; numbered where items are those of a task."""
    items: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        items[row.login, row.batch, row.document].add(row.item)
    place = {
        key: {item: n for n, item in enumerate(sorted(of, key=lambda item: (len(item), item)), start=1)}
        for key, of in items.items()
    }
    found = {}
    for row in rows:
        document, segment = row.name, row.item
        if row.source:
            document, _, segment = row.source.rpartition(_SEGMENT)
            document, segment = (document, segment) if document else (row.name, row.source)
        elif row.document != row.name:
            segment = str(place[row.login, row.batch, row.document][row.item])
        found[row.number, row.system] = document, segment
    return found  # type: ignore[return-value]


def _add_scores(made: Made, rows: Sequence[_Score], segments: Any) -> None:
    position: Counter[tuple[str, str]] = Counter()
    for row in rows:
        document, segment = segments[row.number, row.system]
        assignment = f"{row.login} {row.batch}".strip()
        position[row.login, row.batch] += 1
        cells = {
            "worker": row.login,
            "assignment": assignment,
            "position": str(position[row.login, row.batch]),
            "source": f"{document}:{segment}" if document else segment,
            "system": row.system,
            "kind": row.kind,
            "score": row.score,
        }
        made.add(Wanted.SCORES, row.number, cells | ({"document": document} if document else {}), _CALLED)


_CALLED = {"worker": "login (column 1)", "system": "system (column 2)", "source": "itemID (column 3)"}
_CALLED |= {"kind": "itemType (column 4)", "score": "score (column 7)"}


def _add_spans(made: Made, rows: Sequence[_Score], segments: Any) -> None:
    if not any(row.spans for row in rows):
        return
    seen: set[tuple[str, ...]] = set()
    n_others = n_again = 0
    for row in rows:
        document, segment = segments[row.number, row.system]
        key = (row.login, row.system, document, segment)
        if row.kind != "ordinary":
            n_others += 1
            continue
        if key in seen:
            n_again += 1
            continue
        seen.add(key)
        about = {"system": row.system, "doc": document or "-", "seg_id": segment, "rater": row.login}
        about |= {"source": "", "target": ""}
        spans = _spans(row, made)
        for span in spans:
            made.add(Wanted.SPANS, row.number, about | span, _CALLED_SPANS)
        if not spans:
            made.add(Wanted.SPANS, row.number, {**about, **NO_ERROR}, _CALLED_SPANS)
    others = "Items for quality control, whose marks are left out"
    again = "Outputs that a rater marked again, whose first marks count"
    _count(made, "quality_control", n_others, others, Wanted.SPANS)
    _count(made, "marked_again", n_again, again, Wanted.SPANS)


_CALLED_SPANS = {"system": "system (column 2)", "rater": "login (column 1)", "severity": "spans (column 10)"}
_CALLED_SPANS |= dict.fromkeys(("category", "start", "end"), "spans (column 10)")


def _spans(row: _Score, made: Made) -> list[dict[str, str]]:
    """Return the errors that a row marks; add a problem for what cannot be read."""
    try:
        marked = json.loads(row.spans) if row.spans not in ("", "None", "{}") else []
    except (ValueError, RecursionError):
        marked = None
    if not isinstance(marked, list):
        message = "the error spans are no JSON list. Export the scores again."
        made.refuse(row.number, "spans (column 10)", "bad_span", message)
        return []
    found = []
    for span in as_list(marked):
        read = _span(span)
        if read is None:
            message = (
                f"“{shorten(json.dumps(span))}” is no error span. It needs start_i and end_i, whole numbers or "
                "“missing”, with start_i not after end_i, and severity."
            )
            made.refuse(row.number, "spans (column 10)", "bad_span", message)
        else:
            found.append(read)
    return found


def _span(span: Any) -> dict[str, str] | None:
    if not isinstance(span, dict) or not isinstance(span.get("severity"), str) or check_text([span["severity"]]):
        return None
    kinds = span.get("error_type") or []
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds) or check_text(kinds):
        return None
    about = {"severity": span["severity"], "category": "/".join(filter(None, kinds)) or NO_CATEGORY}
    start, end = span.get("start_i", "missing"), span.get("end_i", "missing")
    if start == "missing" and end == "missing":
        return about | {"side": "", "start": "", "end": ""}
    if type(start) is not int or type(end) is not int or not 0 <= start <= end < 2**31:
        return None
    return about | {"side": "target", "start": str(start), "end": str(end + 1)}
