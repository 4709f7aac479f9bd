"""MQM files to arrays: everything wrong is said at once, and nothing is half read."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import GUESSED, Choices
from analysis.data.coding import combined, first_rows, sorted_codes
from analysis.data.finding import SYSTEM, WORKER
from analysis.data.loading import read_kinds, refuse_many_systems
from analysis.data.notices import N_EXAMPLES, ResponsesWarning
from analysis.data.reading import read_found
from analysis.data.responses import rows_of
from analysis.data.spans.plain_tsv import read_plain
from analysis.data.spans.rows import Side, SpanData, plain_texts, read_marks
from analysis.data.spans.weights import NO_ERROR, knows, plain
from analysis.data.tools import Wanted, read_made
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes
from campaigns.design.composition import Kind
from evalsite.lib.tables import CellProblems, Table, TableError, TableWarning, TextColumn
from evalsite.lib.tables.errors import listing, shorten
from evalsite.lib.tables.table import refuse_empty

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
"""The columns of an MQM file, one error a row; `doc` and `doc_id` may be missing."""
NAMES = {
    "system": SYSTEM,
    "doc": ("document",),
    "doc_id": ("document_id",),
    "seg_id": ("segment_id", "segment", "globalSegId", "docSegId"),
    "rater": ("rater_id", "worker", *(name for name in WORKER if not name.startswith("rater"))),
    "source": ("source_text", "src"),
    "target": ("target_text", "output", "translation", "hypothesis"),
    "category": ("error_category", "error_type"),
    "severity": ("error_severity",),
    "kind": (),
    "assignment": (),
    "position": (),
    "criterion": (),
    "side": (),
    "start": (),
    "end": (),
}
"""What files call the columns of marked errors; `side`, `start` and `end`, if there are all three, are their places."""
Places = tuple[NDArray[np.int64], NDArray[np.int64]]
_OPTIONAL = {"doc", "doc_id"}
_PLACE = ("assignment", "position", "criterion")
_PLACES = ("side", "start", "end")
_EMPTY = -1
_TEXTS = ("target", "source")
_SIDES = (*_TEXTS, "")
_LABELS = ("system", "seg_id", "rater", "category", "severity")


def load_spans_beside(path: Path, encoding: str | None = None) -> SpanData | None:
    """Return the errors that another tool's file has beside scores, whatever their severity; None if it has none."""
    try:
        has_any = read_made(path, Wanted.SPANS, encoding=encoding) is not None
    except TableError:
        return None
    return load_spans(path, None, Choices(encoding=encoding)) if has_any else None


def load_spans(
    path: Path,
    weights: Mapping[str, float] | None,
    choices: Choices = GUESSED,
) -> SpanData:
    """Return the annotations of an MQM file (`COLUMNS`; TSV, or any format that `evalsite.lib.tables` reads).

    The error stands between `<v>` and `</v>`, in `target` or in `source`; or columns say where it is: `side`, which of
    the two, "" for neither, and the characters from `start` to before `end`. An output without an error has one row
    with the severity `No-error`. An error without a mark is of the output as a whole. Files of the tools in
    `analysis.data.tools` are read as they are. An error that is marked twice counts twice, as everywhere in this field.

    Raises TableError with up to 50 problems: a column that is missing, an empty label, a mark that cannot be read, an
    error whose severity and category have no weight, unless `weights` is None.
    """
    problems = CellProblems()
    called, table = read_found(
        path,
        NAMES,
        [name for name in COLUMNS if name not in _OPTIONAL],
        problems,
        wanted=Wanted.SPANS,
        answers=(),
        choices=choices,
        read=_read_file,
    )
    problems.raise_for(table)  # of cells that are no text, before their marks are read
    if not called.keys() >= set(_PLACES):
        called = {name: own for name, own in called.items() if name not in _PLACES}
    cells = {name: table.text[own] for name, own in called.items() if own in table.text}
    for name in _LABELS:
        refuse_empty(cells[name], called[name], problems)
    if weights is not None:
        _refuse_unweighted(cells["severity"], cells["category"], called, weights, problems)
    if "side" in cells:
        _refuse_places(cells, called, problems)
        problems.raise_for(table)  # or they cannot be read as numbers
    marks = {side: _Marks(table, called[side], _places(cells, side)) for side in _TEXTS}
    severity = cells["severity"]
    is_error = np.array([plain(label) != NO_ERROR for label in severity.labels])[severity.codes]
    _refuse_marks(marks, called, is_error, problems)
    kind = read_kinds(table, called, problems)
    problems.raise_for(table)
    refuse_many_systems(table.file, called["system"], len(cells["system"].labels))
    attributes = {name: table.text[name] for name in choices.groups}
    return _span_data(cells, marks, is_error, kind, table.warnings, attributes)


def _read_file(path: Path, called: Mapping[str, str], encoding: str | None, problems: CellProblems) -> Table:
    """Return the columns of an ordinary file; marked texts, of which hardly two are the same, without codes."""
    columns = list(dict.fromkeys(called.values()))
    others = {own for name, own in called.items() if name not in _TEXTS}
    return read_plain(path, columns, encoding, problems, without_codes={called[name] for name in _TEXTS} - others)


class _Marks:
    """The marks of a column of texts: where each row has one, and its text without it, as codes."""

    def __init__(self, table: Table, name: str, places: Places | None = None) -> None:
        from evalsite.lib.tables.arrow_arrays import texts_to_arrow

        if name in table.cells:
            cells = table.cells[name]
            self.codes = np.arange(len(cells), dtype=np.int32)
        else:
            cells, self.codes = texts_to_arrow(table.text[name].labels), table.text[name].codes
        found = plain_texts(cells) if places else read_marks(cells)
        self.text, self.texts = found.text[self.codes], found.texts
        self.is_open = ~found.is_closed[self.codes]
        self.faults = found.faults
        self.start, self.end = places or (found.start[self.codes], found.end[self.codes])

    def faulty(self) -> NDArray[np.intp]:
        """Return the rows whose mark cannot be read."""
        return np.flatnonzero(np.isin(self.codes, list(self.faults))) if self.faults else np.empty(0, np.intp)

    def fault_of(self, row: int) -> str:
        """Return why the mark of a row cannot be read."""
        return self.faults[int(self.codes[row])]


def _places(cells: Mapping[str, TextColumn], side: str) -> Places | None:
    """Return where each row marks this side, −1 for nowhere; None where texts have their marks in them."""
    if "side" not in cells:
        return None
    is_here = np.array([label == side for label in cells["side"].labels])[cells["side"].codes]
    start, end = (
        np.array([int(label or -1) for label in cells[name].labels], np.int64)[cells[name].codes]
        for name in ("start", "end")
    )
    return np.where(is_here, start, -1), np.where(is_here, end, -1)


def _refuse_places(cells: Mapping[str, TextColumn], called: Mapping[str, str], problems: CellProblems) -> None:
    """Add a problem for each row whose side, start and end are not those of an error."""
    side, start, end = (cells[name] for name in _PLACES)
    is_side = np.array([label in _SIDES for label in side.labels])[side.codes]
    is_none = np.array([not label for label in side.labels])[side.codes]
    first, last = (np.array([_character(each) for each in column.labels])[column.codes] for column in (start, end))
    is_bad = ~is_side | (is_none & ((first != _EMPTY) | (last != _EMPTY)))
    is_bad |= is_side & ~is_none & ((first < 0) | (last <= first))
    problems.add(
        np.flatnonzero(is_bad),
        called["side"],
        "bad_place",
        lambda row, other: (
            f"“{shorten(side.labels[side.codes[row]])}”, from “{shorten(start.labels[start.codes[row]])}” to "
            f"“{shorten(end.labels[end.codes[row]])}”, is no place of an error. Write target or source, the number of "
            "its first character, counted from 0, and of the one after its last; or leave all three empty."
        ),
    )


def _character(label: str) -> int:
    if not label:
        return _EMPTY
    return int(label) if label.isascii() and label.isdigit() and len(label) < len("1000000000") else _EMPTY - 1


def _refuse_unweighted(
    severity: TextColumn,
    category: TextColumn,
    called: Mapping[str, str],
    weights: Mapping[str, float],
    problems: CellProblems,
) -> None:
    """Add a problem for each row whose error has no weight."""
    known = np.array([[knows(weights, s, c) or not (s and c) for c in category.labels] for s in severity.labels])
    severities = sorted(key for key in weights if ":" not in key)

    def describe(row: int, other: int | None) -> str:
        label = severity.labels[severity.codes[row]]
        return (
            f"“{shorten(label)}” is no known severity. It may be {listing(severities)}. Correct it, or give it a "
            f'weight in the protocol’s file: "options": {{"weights": {{"{shorten(plain(label))}": 1}}}}.'
        )

    problems.add(
        np.flatnonzero(~known[severity.codes, category.codes]), called["severity"], "unknown_severity", describe
    )


def _refuse_marks(
    marks: Mapping[str, _Marks], called: Mapping[str, str], is_error: Any, problems: CellProblems
) -> None:
    for side, found in marks.items():
        problems.add(
            found.faulty(),
            called[side],
            "malformed_mark",
            lambda row, other, found=found: (  # type: ignore[misc]
                f"the mark cannot be read: {found.fault_of(row)}. Put one <v> before the error and one </v> after it."
            ),
        )
        problems.add(
            np.flatnonzero((found.start >= 0) & ~is_error),
            called[side],
            "marked_no_error",
            lambda row, other: "a row without an error has a mark. Remove <v> and </v>, or correct the severity.",
        )
    problems.add(
        np.flatnonzero((marks["target"].start >= 0) & (marks["source"].start >= 0)),
        called["source"],
        "marked_twice",
        lambda row, other: "source and target both have a mark, and a row is of one error. Remove one.",
    )


def _span_data(
    columns: Mapping[str, TextColumn],
    marks: Mapping[str, _Marks],
    is_error: Any,
    kind: Codes,
    notices: Sequence[TableWarning],
    attributes: Mapping[str, TextColumn],
) -> SpanData:
    system, systems = sorted_codes(columns["system"])
    rater, raters = sorted_codes(columns["rater"])
    category, categories = sorted_codes(columns["category"])
    severity, severities = sorted_codes(columns["severity"])
    document, documents = _coded(columns, "doc", system)
    name, names = sorted_codes(columns["seg_id"])
    segment, n_segments = dense_ranks(*combined([(document, len(documents)), (name, len(names))]))
    first_of_segment = first_rows(segment, n_segments)
    place_of = [_coded(columns, name, system) for name in _PLACE]
    own: list[tuple[Codes, int]] = [
        (segment, n_segments),
        (system, len(systems)),
        (rater, len(raters)),
        (kind, len(Kind)),
    ]
    key, n = dense_ranks(*combined([*own, *((codes, len(labels)) for codes, labels in place_of)]))
    first = first_rows(key, n)
    in_order = np.argsort(first, kind="stable")
    place = np.empty(n, np.int64)
    place[in_order] = np.arange(n)
    first, annotation = first[in_order], place[key]
    target, source = marks["target"], marks["source"]
    errors = np.flatnonzero(is_error)
    side = np.where(target.start >= 0, Side.TARGET, np.where(source.start >= 0, Side.SOURCE, Side.NONE))
    on_source = side == Side.SOURCE
    ids, labels = _coded(columns, "doc_id", system)
    return SpanData(
        systems=systems,
        segments=[(documents[document[row]], names[name[row]]) for row in first_of_segment],
        documents=documents if "doc" in columns else [],
        document_ids=[labels[ids[row]] for row in first_of_segment],
        raters=raters,
        categories=categories,
        severities=severities,
        system=system[first],
        segment=segment[first],
        rater=rater[first],
        document_of=document[first_of_segment] if "doc" in columns else np.full(n_segments, -1),
        source_texts=source.texts,
        target_texts=target.texts,
        target_length=np.fromiter(map(len, target.texts), np.int64, len(target.texts)),
        source=source.text[first],
        target=target.text[first],
        annotation=annotation[errors],
        side=side[errors],
        start=np.where(on_source, source.start, target.start)[errors],
        end=np.where(on_source, source.end, target.end)[errors],
        category=category[errors],
        severity=severity[errors],
        kind=kind[first],
        assignment=_assignments(place_of[0], rater, len(raters))[first],
        attributes=rows_of(attributes, first),
        warnings=[
            *(ResponsesWarning(each.code, 1, each.message) for each in notices),
            *_warnings(marks, annotation, is_error, side),
        ],
        fingerprint=_fingerprint(columns, marks),
    )


def _assignments(given: tuple[Codes, list[str]], rater: Codes, n_raters: int) -> Codes:
    """Return a code of each row's assignment: one of its rater's."""
    found, _ = dense_ranks(*combined([(rater, n_raters), (given[0], len(given[1]))]))
    return found


def _coded(columns: Mapping[str, TextColumn], name: str, like: Codes) -> tuple[Codes, list[str]]:
    return sorted_codes(columns[name]) if name in columns else (np.zeros(like.size, np.int32), [""])


def _warnings(marks: Mapping[str, _Marks], annotation: Codes, is_error: Any, side: Any) -> list[ResponsesWarning]:
    has_error = np.bincount(annotation, weights=is_error) > 0
    open_marks = np.flatnonzero(marks["target"].is_open | marks["source"].is_open)
    changed = np.zeros(len(is_error), bool)
    first = first_rows(annotation, int(annotation.max()) + 1)
    for found in marks.values():
        changed |= found.text != found.text[first][annotation]
    counted = {
        "open_mark": (open_marks, "Errors without </v>, taken to reach to the end of the text"),
        "no_mark": (
            np.flatnonzero(is_error & (side == Side.NONE)),
            "Errors without a mark, which count, without a place",
        ),
        "error_beside_no_error": (
            np.flatnonzero(~is_error & has_error[annotation]),
            "Rows without an error beside errors of the same rater and output, which count",
        ),
        "text_changed": (
            np.flatnonzero(changed),
            "Rows that show another text than the first row of the same rater and output",
        ),
    }
    return [
        ResponsesWarning(code, int(rows.size), f"{message}: {rows.size:,}.", _shown(marks, rows))
        for code, (rows, message) in counted.items()
        if rows.size
    ]


def _shown(marks: Mapping[str, _Marks], rows: Codes) -> tuple[str, ...]:
    target = marks["target"]
    return tuple(shorten(target.texts[target.text[row]]) for row in rows[:N_EXAMPLES])


def _fingerprint(columns: Mapping[str, TextColumn], marks: Mapping[str, _Marks]) -> str:
    """Return a hash of the cells, whatever format they came in: of the labels in the order of their first rows.

    Texts are without their marks, and where these are.
    """
    digest = hashlib.sha256(b"evalsite spans 3\n")
    coded: dict[str, tuple[Codes, list[str]]] = {
        name: (column.codes, column.labels) for name, column in columns.items() if name not in marks
    }
    coded |= {name: (each.text, each.texts) for name, each in marks.items()}
    for name, (codes, known) in coded.items():
        in_order = np.argsort(first_rows(codes, len(known)), kind="stable")
        rank = np.empty(in_order.size, "<i8")
        rank[in_order] = np.arange(in_order.size)
        labels = list(map(known.__getitem__, in_order.tolist()))
        lengths = np.fromiter(map(len, labels), "<i8", len(labels))
        digest.update(json.dumps([name, len(labels)]).encode() + b"\n" + lengths.tobytes())
        digest.update("".join(labels).encode())
        digest.update(rank[codes].tobytes())
    for each in marks.values():
        for numbers in (each.start, each.end, each.is_open):
            digest.update(numbers.astype("<i8").tobytes())
    return digest.hexdigest()
