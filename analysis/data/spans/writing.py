"""Annotations as an MQM file."""

from collections.abc import Iterator

import numpy as np

from analysis.data.spans.loading import COLUMNS
from analysis.data.spans.rows import Side, SpanData, with_mark

_NOTHING = "No-error"


def to_mqm_tsv(data: SpanData) -> str:
    """Return annotations as tab-separated text without quoting, one error a row, an output without one in one row.

    Tabs and line breaks of texts become spaces.
    """
    rows = ["\t".join(COLUMNS), *("\t".join(map(_on_one_line, row)) for row in _rows(data))]
    return "\n".join(rows) + "\n"


def _rows(data: SpanData) -> Iterator[list[str]]:
    by_annotation = np.argsort(data.annotation, kind="stable")
    ends = np.searchsorted(data.annotation[by_annotation], np.arange(data.n_annotations + 1))
    for k in range(data.n_annotations):
        segment = int(data.segment[k])
        document, name = data.segments[segment]
        about = [data.systems[data.system[k]], document, data.document_ids[segment], name, data.raters[data.rater[k]]]
        source, target = data.source_texts[data.source[k]], data.target_texts[data.target[k]]
        errors = by_annotation[ends[k] : ends[k + 1]].tolist()
        if not errors:
            yield [*about, source, target, _NOTHING, _NOTHING]
        for error in errors:
            side, place = data.side[error], (int(data.start[error]), int(data.end[error]))
            yield [
                *about,
                with_mark(source, *place) if side == Side.SOURCE else source,
                with_mark(target, *place) if side == Side.TARGET else target,
                data.categories[data.category[error]],
                data.severities[data.severity[error]],
            ]


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines()).replace("\t", " ") if "\t" in text or len(text.splitlines()) > 1 else text
