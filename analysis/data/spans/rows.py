"""Annotations and the errors marked in them, as arrays; where a marked text has its mark."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.data.notices import ResponsesWarning
from analysis.data.responses import rows_of
from analysis.stats.ratings import Codes, Mask
from evalsite.lib.tables import TextColumn

if TYPE_CHECKING:
    from pyarrow import LargeStringArray

_MARK = re.compile(r"</?v>")
OPEN, CLOSE = "<v>", "</v>"


class Side(IntEnum):
    """Where an error is marked; `NONE`: it is of the output as a whole."""

    NONE = -1
    TARGET = 0
    SOURCE = 1


@dataclass(frozen=True)
class SpanData:
    """Annotations, one rater's of one output each, and the errors that were marked in them.

    `systems`, `documents`, `raters`, `categories`, `severities`: labels by code, sorted; so are `segments`, (document,
    segment), as those of different documents may have the same name. `document_ids`: what else a file says of a
    segment's document, "" if nothing; `document_of`: its code, −1 where documents are not known, (n_segments,).
    `source_texts`, `target_texts`: the texts without marks, each once, by code; `target_length`: their characters.

    Of each annotation, (n_annotations,), in the order of the file: `system`, `segment`, `rater`, codes of its `source`
    and `target` texts, `kind` (a `Kind`; ordinary where a file says nothing) and `assignment`, a code of what a rater
    did at one go, or all. No rater has two of an output, unless they are at different places of assignments.
    `attributes`: columns by whose groups scores are compared, as far as they were asked for; of the first row of each.

    Of each error, (n_errors,), in the order of the file: `annotation`, `category`, `severity`, and `side`, `start` and
    `end`: characters (Unicode code points) of the text of that side, from start to before end.
    """

    systems: list[str]
    segments: list[tuple[str, str]]
    documents: list[str]
    document_ids: list[str]
    raters: list[str]
    categories: list[str]
    severities: list[str]
    system: Codes
    segment: Codes
    rater: Codes
    document_of: Codes
    source_texts: list[str]
    target_texts: list[str]
    target_length: Codes
    source: Codes
    target: Codes
    annotation: Codes
    side: Codes
    start: Codes
    end: Codes
    category: Codes
    severity: Codes
    kind: Codes
    assignment: Codes
    attributes: Mapping[str, TextColumn] = field(default_factory=dict)
    warnings: list[ResponsesWarning] = field(default_factory=list)
    fingerprint: str = ""

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return len(self.system)

    @property
    def worker(self) -> Codes:
        """The rater of each annotation, as other responses call it."""
        return self.rater

    @property
    def output(self) -> NDArray[np.int64]:
        """A code of each annotation's output, (n_annotations,)."""
        return self.segment.astype(np.int64) * len(self.systems) + self.system


def take(data: SpanData, rows: Mask) -> SpanData:
    """Return some of the annotations, bool (n_annotations,), with their errors; labels stay as they are."""
    if rows.all():
        return data
    place = np.cumsum(rows) - 1
    errors = rows[data.annotation]
    of_annotations = ("system", "segment", "rater", "source", "target", "kind", "assignment")
    of_errors = ("side", "start", "end", "category", "severity")
    return replace(
        data,
        **{name: getattr(data, name)[rows] for name in of_annotations},
        **{name: getattr(data, name)[errors] for name in of_errors},
        annotation=place[data.annotation[errors]],
        attributes=rows_of(data.attributes, rows),
    )


class Marked(NamedTuple):
    """A text without its mark, and where it was; `fault` is why the mark cannot be read, "" if it can.

    Without a mark, `start` is −1. `is_closed`: the mark has its end; one that has none reaches to the end of the text.
    """

    text: str
    start: int = -1
    end: int = -1
    is_closed: bool = True
    fault: str = ""


def read_mark(text: str) -> Marked:
    """Return where the error is that stands between `<v>` and `</v>`.

    >>> read_mark("a <v>bad</v> word")
    Marked(text='a bad word', start=2, end=5, is_closed=True, fault='')
    >>> read_mark("a bad</v> word").fault
    'it has </v> without <v> before it'
    """
    if "v>" not in text:
        return Marked(text)
    n = Counter(_MARK.findall(text))
    start, end = text.find(OPEN), text.find(CLOSE)
    plain = _MARK.sub("", text)
    if n[OPEN] > 1 or n[CLOSE] > 1:
        return Marked(plain, fault=f"it has {n[OPEN]} times <v> and {n[CLOSE]} times </v>, and a row is of one error")
    if end >= 0 and (start < 0 or end < start):
        return Marked(plain, fault="it has </v> without <v> before it")
    if start < 0:
        return Marked(text)
    if end < 0:
        return Marked(plain, start, len(plain), is_closed=False)
    return Marked(plain, start, end - len(OPEN))


class Marks(NamedTuple):
    """Where texts have their marks, as `Marked` says it: `start`, `end` and `is_closed`, arrays by text.

    `texts`: the texts without marks, each once; `text`: the code of each text without its mark. `faults`: {place in
    the list: why its mark cannot be read}.
    """

    texts: list[str]
    text: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    is_closed: Mask
    faults: dict[int, str]


def plain_texts(texts: "LargeStringArray") -> Marks:
    """Return texts without marks as `read_marks` does, whatever they look like."""
    from evalsite.lib.tables.arrow_arrays import from_arrow  # it imports Arrow

    nowhere, encoded = np.full(len(texts), -1, np.int64), texts.dictionary_encode()
    labels, text = encoded.dictionary.to_pylist(), from_arrow(encoded.indices).astype(np.int64)
    return Marks(labels, text, nowhere, nowhere, np.ones(len(texts), bool), {})


def read_marks(texts: "LargeStringArray") -> Marks:
    """Return what `read_mark` reads in each text, as quick as a million texts need it.

    Arrow reads marks that are whole, in texts whose characters are bytes; `read_mark` reads the others.
    """
    from pyarrow import compute

    from evalsite.lib.tables.arrow_arrays import from_arrow

    first, last = (from_arrow(compute.find_substring(texts, tag)).astype(np.int64) for tag in (OPEN, CLOSE))
    cells = texts
    for tag in (OPEN, CLOSE):
        cells = compute.replace_substring(cells, tag, "", max_replacements=1)
    encoded = cells.dictionary_encode()
    plain, text = encoded.dictionary, from_arrow(encoded.indices).astype(np.int64)
    has_more = from_arrow(compute.match_substring(plain, "v>"))
    is_bytes = from_arrow(compute.utf8_length(plain)) == from_arrow(compute.binary_length(plain))
    is_marked, is_whole = (first >= 0) | (last >= 0), (first >= 0) & (last > first)
    others = np.flatnonzero(has_more[text] | (is_marked & ~(is_whole & is_bytes[text])))
    labels, start, end = plain.to_pylist(), np.where(is_whole, first, -1), np.where(is_whole, last - len(OPEN), -1)
    is_closed = np.ones(len(texts), bool)
    code_of = {label: code for code, label in enumerate(labels)}
    faults: dict[int, str] = {}
    for k in others.tolist():
        mark = read_mark(texts[k].as_py())
        text[k], start[k], end[k] = code_of.setdefault(mark.text, len(code_of)), mark.start, mark.end
        is_closed[k] = mark.is_closed
        if mark.fault:
            faults[k] = mark.fault
    known, is_used = list(code_of), np.bincount(text, minlength=len(code_of)) > 0
    if not is_used.all():  # Arrow reads something else in a faulty text than there is
        known, text = [known[code] for code in np.flatnonzero(is_used)], (np.cumsum(is_used) - 1)[text]
    return Marks(known, text, start, end, is_closed, faults)


def with_mark(text: str, start: int, end: int) -> str:
    """Return a text with a mark, as `read_mark` reads it.

    >>> with_mark("a bad word", 2, 5)
    'a <v>bad</v> word'
    """
    return f"{text[:start]}{OPEN}{text[start:end]}{CLOSE}{text[end:]}"
