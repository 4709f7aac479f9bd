"""MQM files to arrays: everything wrong is said at once, and nothing is half read."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analysis.ratings.coding import combined, dense, first_rows, sorted_codes
from analysis.ratings.notices import N_EXAMPLES, RatingsWarning
from analysis.spans.plain_tsv import read_plain
from analysis.spans.rows import Marked, Side, SpanData, read_mark
from analysis.spans.weights import NO_ERROR, knows, plain
from analysis.stats.ratings import Codes
from evalsite.lib.tables import CellProblems, TableError, TextColumn, preview
from evalsite.lib.tables.errors import listing, shorten
from evalsite.lib.tables.table import missing_column, refuse_empty

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
"""The columns of an MQM file, one error a row; `doc` and `doc_id` may be missing."""
_OPTIONAL = {"doc", "doc_id"}
_LABELS = ("system", "seg_id", "rater", "category", "severity")


def load_spans(path: Path, weights: Mapping[str, float], encoding: str | None = None) -> SpanData:
    """Return the annotations of an MQM file (`COLUMNS`; TSV, or any format that `evalsite.lib.tables` reads).

    The error stands between `<v>` and `</v>`, in `target` or in `source`. An output without an error has one row with
    the severity `No-error`. An error without a mark is of the output as a whole.

    Raises TableError with up to 50 problems: a column that is missing, an empty label, a mark that cannot be read, an
    error whose severity and category have no weight.
    """
    there = preview(path, n_rows=0, encoding=encoding).columns
    names = {name.casefold(): name for name in reversed(there)}
    if missing := [name for name in COLUMNS if name not in names and name not in _OPTIONAL]:
        raise TableError(path.name, [missing_column(name, there) for name in missing])
    called = {name: names[name] for name in COLUMNS if name in names}
    problems = CellProblems()
    table = read_plain(path, list(called.values()), encoding, problems)
    columns = {name: table.text[own] for name, own in called.items()}
    for name in _LABELS:
        refuse_empty(columns[name], called[name], problems)
    _refuse_unweighted(columns["severity"], columns["category"], called, weights, problems)
    marks = {side: _Marks(columns[side]) for side in ("target", "source")}
    is_error = ~_is_no_error(columns["severity"])
    _refuse_marks(marks, called, is_error, problems)
    problems.raise_for(table)
    return _span_data(columns, marks, is_error)


class _Marks:
    """The marks of a column of texts: where each row has one, and its text without it, as codes."""

    def __init__(self, column: TextColumn) -> None:
        self.labels = [read_mark(label) for label in column.labels]
        self.codes = column.codes
        code_of: dict[str, int] = {}
        plain_code = np.array([code_of.setdefault(label.text, len(code_of)) for label in self.labels], np.int64)
        self.text, self.texts = plain_code[column.codes], list(code_of)
        self.start, self.end, closed = (
            np.array(values, np.int64)[column.codes]
            for values in zip(*((label.start, label.end, label.is_closed) for label in self.labels), strict=True)
        )
        self.is_open = closed == 0

    def of(self, row: int) -> Marked:
        """Return the mark of a row."""
        return self.labels[self.codes[row]]


def _is_no_error(severity: TextColumn) -> Any:
    return np.array([plain(label) == NO_ERROR for label in severity.labels])[severity.codes]


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
        faulty = np.array([bool(label.fault) for label in found.labels])[found.codes]
        problems.add(
            np.flatnonzero(faulty),
            called[side],
            "malformed_mark",
            lambda row, other, found=found: (  # type: ignore[misc]
                f"the mark cannot be read: {found.of(row).fault}. Put one <v> before the error and one </v> after it."
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


def _span_data(columns: Mapping[str, TextColumn], marks: Mapping[str, _Marks], is_error: Any) -> SpanData:
    system, systems = sorted_codes(columns["system"])
    rater, raters = sorted_codes(columns["rater"])
    category, categories = sorted_codes(columns["category"])
    severity, severities = sorted_codes(columns["severity"])
    document, documents = _coded(columns, "doc", system)
    name, names = sorted_codes(columns["seg_id"])
    segment, n_segments = dense(*combined([(document, len(documents)), (name, len(names))]))
    first_of_segment = first_rows(segment, n_segments)
    key, n = dense(*combined([(segment, n_segments), (system, len(systems)), (rater, len(raters))]))
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
        sources=[source.texts[code] for code in source.text[first]],
        targets=[target.texts[code] for code in target.text[first]],
        annotation=annotation[errors],
        side=side[errors],
        start=np.where(on_source, source.start, target.start)[errors],
        end=np.where(on_source, source.end, target.end)[errors],
        category=category[errors],
        severity=severity[errors],
        warnings=_warnings(marks, annotation, is_error, side),
        fingerprint=_fingerprint(columns),
    )


def _coded(columns: Mapping[str, TextColumn], name: str, like: Codes) -> tuple[Codes, list[str]]:
    return sorted_codes(columns[name]) if name in columns else (np.zeros(like.size, np.int32), [""])


def _warnings(marks: Mapping[str, _Marks], annotation: Codes, is_error: Any, side: Any) -> list[RatingsWarning]:
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
        RatingsWarning(code, int(rows.size), f"{message}: {rows.size:,}.", _shown(marks, rows))
        for code, (rows, message) in counted.items()
        if rows.size
    ]


def _shown(marks: Mapping[str, _Marks], rows: Codes) -> tuple[str, ...]:
    return tuple(shorten(marks["target"].of(int(row)).text) for row in rows[:N_EXAMPLES])


def _fingerprint(columns: Mapping[str, TextColumn]) -> str:
    """Return a hash of the cells, whatever format they came in."""
    digest = hashlib.sha256(b"evalsite spans 1\n")
    for name, column in columns.items():
        codes, labels = sorted_codes(column)
        digest.update(json.dumps([name, *labels]).encode() + b"\n" + codes.astype("<i8").tobytes())
    return digest.hexdigest()
