"""Files of plain scores to arrays: everything wrong is said at once, and nothing is half read."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analysis.ratings.coding import sorted_codes
from analysis.ratings.columns import guess_mapping
from analysis.ratings.loading import refuse_many_systems
from analysis.ratings.notices import RatingsWarning
from analysis.stats.ratings import Codes, Floats, Mask
from evalsite.lib.tables import CellProblems, Problem, Table, TableError, TextColumn, if_windows, preview, read_columns
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.table import missing_column, refuse_empty

_REQUIRED = ("worker", "system", "score")
_WANTED = (*_REQUIRED, "source", "criterion", "kind")
_COUNTED = ("ordinary", "repeat")
_SEGMENTS = ("seg_id", "segment", "segment_id")
_DOCUMENTS = ("doc", "document", "doc_id", "document_id")
ReadScore = Callable[[str], float]
"""The number of a cell; NaN where it has none."""


@dataclass(frozen=True)
class PlainScores:
    """Scores, one worker's of one output on one criterion, in the order of the file.

    `worker`, `system`, `source`, `document`, `criterion`: int, (n,), codes of sorted labels; sources and documents that
    are not known are one. `score`: float64, (n,), no NaN.
    """

    workers: list[str]
    systems: list[str]
    sources: list[str]
    documents: list[str]
    criteria: list[str]
    worker: Codes
    system: Codes
    source: Codes
    document: Codes
    criterion: Codes
    score: Floats
    warnings: list[RatingsWarning] = field(default_factory=list)
    fingerprint: str = ""

    @property
    def segment(self) -> Codes:
        """A code of each score's source in its document, (n,): sources of different documents may share a name."""
        return self.document * len(self.sources) + self.source


def load_plain_scores(
    path: Path, read_score: ReadScore, allowed: str, *, criterion: str, encoding: str | None = None
) -> PlainScores:
    """Return the scores of a file in any format that `evalsite.lib.tables` reads, one score a row.

    Parameters
    ----------
    path : path of the file.
    read_score : the number of a cell, NaN where it is not allowed.
    allowed : what a cell may hold, for the message.
    criterion : name of the criterion where the file names none.
    encoding : that of a CSV file that is not UTF-8.

    Notes
    -----
    Columns are `worker`, `system`, `score` and, if there are any, `source` (or `seg_id`), `doc`, `criterion` and
    `kind`, or have usual other names of these. Degraded and reference items are left out, and counted in a warning.

    Raises
    ------
    TableError
        Up to 50 problems: a column that is missing, an empty label, a score that is not allowed.
    """
    encoding = if_windows(path, encoding)
    there = preview(path, n_rows=0, encoding=encoding).columns
    called = _find(there)
    if missing := [name for name in _REQUIRED if name not in called]:
        raise TableError(path.name, [missing_column(name, there) for name in missing])
    problems = CellProblems()
    table = read_columns(path, list(dict.fromkeys(called.values())), encoding=encoding, problems=problems)
    columns = {name: table.text[own] for name, own in called.items()}
    for name in called:
        if name != "kind":
            refuse_empty(columns[name], called[name], problems)
    given = columns["score"]
    values = np.array([read_score(label) for label in given.labels])
    is_bad = np.isnan(values) & np.array([bool(label) for label in given.labels])
    problems.add(
        np.flatnonzero(is_bad[given.codes]),
        called["score"],
        "bad_score",
        lambda row, other: f"“{shorten(given.labels[given.codes[row]])}” is no score here. It must be {allowed}.",
    )
    problems.raise_for(table)
    used = _used(columns)
    if not used.any():
        message = "every score is of a degraded or reference item: there is nothing to analyse."
        raise TableError(table.file, [Problem(None, called["kind"], message, "no_ordinary")])
    coded = {name: _coded(columns, name, used, criterion if name == "criterion" else "") for name in _LABELS}
    refuse_many_systems(table.file, called["system"], len(coded["system"][1]))
    score = values[given.codes][used]
    labels = {name: each for name, (_, each) in coded.items()}
    codes = {name: each for name, (each, _) in coded.items()}
    return PlainScores(
        workers=labels["worker"],
        systems=labels["system"],
        sources=labels["source"],
        documents=labels["document"],
        criteria=labels["criterion"],
        **codes,
        score=score,
        warnings=_warnings(table, used),
        fingerprint=_fingerprint(coded, score),
    )


_LABELS = ("worker", "system", "source", "document", "criterion")


def _find(there: Sequence[str]) -> dict[str, str]:
    """Return the file's column of each that is known. A segment is the source, a document beside it is one."""
    plain = {name: name.strip().casefold() for name in there}
    own = {
        column: next((name for name in there if plain[name] in names), None)
        for column, names in (("source", ("source", "source_id", *_SEGMENTS)), ("document", _DOCUMENTS))
    }
    if own["source"] is None:
        own["source"], own["document"] = own["document"], None
    taken = {name for name in own.values() if name}
    guessed = guess_mapping([name for name in there if name not in taken])
    found = {name: guessed[name] for name in _WANTED if name in guessed and name not in own}
    return found | {column: name for column, name in own.items() if name}


def _used(columns: Mapping[str, TextColumn]) -> Mask:
    """Return which rows are of ordinary items or repeats."""
    n = columns["score"].codes.size
    if "kind" not in columns:
        return np.ones(n, bool)
    kind = columns["kind"]
    counts = np.array([not label or label.casefold() in _COUNTED for label in kind.labels])
    used: Mask = counts[kind.codes]
    return used


def _coded(columns: Mapping[str, TextColumn], name: str, used: Mask, default: str) -> tuple[Codes, list[str]]:
    """Return codes and labels of the rows that are used."""
    if name not in columns:
        return np.zeros(int(used.sum()), np.int64), [default]
    codes, labels = sorted_codes(columns[name])
    there, dense = np.unique(codes[used], return_inverse=True)
    return dense.astype(np.int64), [labels[code] for code in there]


def _warnings(table: Table, used: Mask) -> list[RatingsWarning]:
    found = [RatingsWarning(warning.code, 1, warning.message) for warning in table.warnings]
    if n_left_out := int(np.count_nonzero(~used)):
        message = f"Scores of degraded and reference items, which are left out: {n_left_out:,}."
        found.append(RatingsWarning("quality_control", n_left_out, message))
    return found


def _fingerprint(coded: Mapping[str, tuple[Codes, list[str]]], score: Floats) -> str:
    digest = hashlib.sha256(b"evalsite plain scores 1\n")
    for codes, labels in coded.values():
        digest.update(json.dumps(labels).encode() + b"\n" + codes.astype("<i8").tobytes())
    digest.update((score + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()
