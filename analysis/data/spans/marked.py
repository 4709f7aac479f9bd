"""How many errors of each severity were marked in outputs that were scored, too."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.data.spans.loading import load_spans_beside
from analysis.data.spans.rows import SpanData
from analysis.data.spans.weights import NO_ERROR, plain
from analysis.data.tools.converting import ERRORS
from campaigns.design.composition import Kind
from evalsite.lib.tables import preview, read_columns

_NEEDED = ("worker", "system", ERRORS)
_PLACE = ("worker", "system", "assignment", "position", "document", "source")
_KIND = "kind"


@dataclass(frozen=True)
class MarkedErrors:
    """Outputs in which errors were marked, one rater's each; degraded and reference items are none of them.

    `rater`, `system`: lists of str, (n,). `counts`: int64, (n, n_severities), of `severities`.
    """

    severities: list[str]
    rater: list[str]
    system: list[str]
    counts: NDArray[np.int64]

    @cached_property
    def rows_of(self) -> dict[str, NDArray[np.int64]]:
        """The places of each system's outputs, found once: answers are analysed many times over."""
        found: dict[str, list[int]] = {}
        for row, name in enumerate(self.system):
            found.setdefault(name, []).append(row)
        return {name: np.array(rows, np.int64) for name, rows in found.items()}


def load_marked(path: Path, encoding: str | None = None) -> MarkedErrors | None:
    """Return the errors that a file has beside scores: another tool's, or a campaign's; None if it has none."""
    if spans := load_spans_beside(path, encoding):
        return _of_spans(spans)
    there = preview(path, n_rows=0, encoding=encoding).columns
    return _of_column(path, encoding, there) if set(_NEEDED) <= set(there) else None


def _of_spans(spans: SpanData) -> MarkedErrors:
    used = [k for k, label in enumerate(spans.severities) if plain(label) != NO_ERROR]
    counts = np.zeros((spans.n_annotations, len(spans.severities)), np.int64)
    np.add.at(counts, (spans.annotation, spans.severity), 1)
    rater, system = [spans.raters[code] for code in spans.rater], [spans.systems[code] for code in spans.system]
    return MarkedErrors([spans.severities[k] for k in used], rater, system, counts[:, used])


def _of_column(path: Path, encoding: str | None, there: Sequence[str]) -> MarkedErrors | None:
    """Return the errors of a column beside scores, as a campaign's table has them (`RATED_SPAN_COLUMNS`).

    Rows of one worker about one output, by the columns that say so, have the same errors.
    """
    place_columns = [name for name in _PLACE if name in there]
    wanted = [*place_columns, ERRORS, *([_KIND] if _KIND in there else [])]
    text = read_columns(path, wanted, encoding=encoding).text
    try:
        errors = [json.loads(label or "[]") for label in text[ERRORS].labels]
        of_cell = [Counter(str(error["severity"]) for error in each) for each in errors]
    except (ValueError, TypeError, KeyError):
        return None  # a column of something else
    cells = {name: [column.labels[code] for code in column.codes] for name, column in text.items()}
    kinds = cells.get(_KIND, [Kind.ORDINARY.name] * len(cells[ERRORS]))
    rows: dict[tuple[str, ...], int] = {}
    places = zip(*(cells[name] for name in place_columns), strict=True)
    for row, (place, kind, label) in enumerate(zip(places, kinds, cells[ERRORS], strict=True)):
        if label and kind.upper() in (Kind.ORDINARY.name, Kind.REPEAT.name, ""):
            rows.setdefault(place, row)
    codes = text[ERRORS].codes
    severities = sorted({severity for row in rows.values() for severity in of_cell[codes[row]]})
    counts = [[of_cell[codes[row]][severity] for severity in severities] for row in rows.values()]
    shape = len(rows), len(severities)
    rater, system = ([cells[name][row] for row in rows.values()] for name in ("worker", "system"))
    return MarkedErrors(severities, rater, system, np.array(counts, np.int64).reshape(shape))
