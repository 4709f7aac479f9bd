"""What was answered, one answer a row: from a campaign, a file or another tool."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.data.coding import combined, used_codes
from analysis.data.notices import ResponsesWarning
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats, Mask, Ratings
from campaigns.design.composition import Kind
from evalsite.lib.tables import TextColumn

LABELS = {
    "worker": "workers",
    "system": "systems",
    "source": "sources",
    "document": "documents",
    "criterion": "criteria",
}
"""The columns of labels, and the names of their labels."""
_CODES = (*LABELS, "kind", "assignment")


class AnsweredBy(NamedTuple):
    """Who gave each answer: labels and codes, (n,); and the columns by whose groups answers are compared, (n,) each."""

    workers: Sequence[str]
    worker: Codes
    attributes: Mapping[str, TextColumn]


@dataclass(frozen=True)
class Responses:
    """Answers, one worker's about one output on one criterion each, in the order of the file.

    `workers`, `systems`, `sources`, `documents`, `criteria`: labels by code, sorted; of what is not known, one. Of each
    answer, (n,): `worker`, `system`, `source`, `document`, `criterion`; `kind`, a `Kind`; `assignment`, a code of what
    a worker did at one go, or all. `numbers`: `score`, `seconds` and whatever else a method reads, as far as files have
    it, NaN where a cell is empty. `text`: answers that are words, and texts that were judged. `attributes`: columns by
    whose groups scores are compared, as far as they were asked for. `has_turns`: documents are sources and their
    sources replies or steps of outputs; with `has_chats`, documents are chats.
    """

    workers: list[str]
    systems: list[str]
    sources: list[str]
    criteria: list[str]
    worker: Codes
    system: Codes
    source: Codes
    criterion: Codes
    kind: Codes
    assignment: Codes
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    text: Mapping[str, TextColumn] = field(default_factory=dict)
    attributes: Mapping[str, TextColumn] = field(default_factory=dict)
    documents: list[str] = field(default_factory=lambda: [""])
    document: Codes = field(default_factory=lambda: np.empty(0, np.int32))
    warnings: list[ResponsesWarning] = field(default_factory=list)
    fingerprint: str = ""
    has_chats: bool = False
    has_turns: bool = False

    def __post_init__(self) -> None:
        if not self.document.size:  # not known: all are of one
            object.__setattr__(self, "document", np.zeros(self.system.size, np.int32))

    @property
    def n(self) -> int:
        """Number of answers."""
        return int(self.system.size)

    @property
    def score(self) -> Floats:
        """The scores, (n,), of kinds of responses that have them."""
        return self.numbers["score"]

    @property
    def segment(self) -> NDArray[np.int64]:
        """A code of each answer's source in its document, (n,): sources of different documents may share a name."""
        return self.document.astype(np.int64) * len(self.sources) + self.source

    @property
    def judgement(self) -> NDArray[np.int64]:
        """A code of each answer's worker and segment, (n,), without gaps."""
        return self.codes_of("worker", "document", "source")[0]

    @property
    def groups(self) -> dict[str, Codes]:
        """By what answers may depend on each other, by name: int, (n,), codes of workers, and of chats or segments."""
        if self.has_chats:
            return {"worker": self.worker, "chat": self.document}
        return {"worker": self.worker, "source": self.document if self.has_turns else self.segment}

    def codes_of(self, *names: str) -> tuple[NDArray[np.int64], int]:
        """Return codes of what answers have in these columns together, (n,), without gaps, and how many there are."""
        sizes = {name: len(getattr(self, labels)) for name, labels in LABELS.items()}
        sizes |= {"kind": len(Kind), "assignment": int(self.assignment.max(initial=-1)) + 1}
        return dense_ranks(*combined([(getattr(self, name), sizes[name]) for name in names]))

    def labelled(self, *names: str) -> list[list[str] | Codes]:
        """Return labels and codes of these columns, for fingerprints."""
        return [part for name in names for part in (getattr(self, LABELS[name]), getattr(self, name))]

    def take(self, rows: Mask | Codes) -> "Responses":
        """Return some of the answers, in the order of `rows`; labels stay as they are."""
        if rows.dtype == bool and rows.all():
            return self
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in _CODES},
            numbers={name: values[rows] for name, values in self.numbers.items()},
            text=rows_of(self.text, rows),
            attributes=rows_of(self.attributes, rows),
        )

    def with_used_labels(self) -> "Responses":
        """Return the same answers without workers, systems, sources and criteria that none of them has."""
        changed: dict[str, Any] = {}
        for name, names in LABELS.items():
            changed[name], changed[names] = used_codes(getattr(self, name), getattr(self, names))
        return replace(self, **changed)

    def without_repeats(self) -> "Responses":
        """Return the answers that are no repeats, with the labels that a file without repeats would have."""
        is_once = self.kind != Kind.REPEAT
        if is_once.all():
            return self
        rows = self.take(is_once).with_used_labels()
        there = int(rows.assignment.max(initial=-1)) + 1
        return replace(rows, assignment=dense_ranks(rows.assignment, there)[0].astype(np.int32))

    @cached_property
    def twins(self) -> NDArray[np.int64]:
        """For each answer to a degraded item or a repeat the row of its twin, (n,); −1 for others.

        That is the first answer to an ordinary item of the same assignment, source and system, on the same criterion
        (METHOD §1, quality-control items).
        """
        if not any(self.sources) and not any(self.documents):
            return np.full(self.n, -1, np.int64)
        return find_twins(*self.codes_of("assignment", "document", "source", "system", "criterion"), self.kind)

    def as_ratings(self, score: Floats) -> Ratings:
        """Return the answers as items on one criterion, for worker tests; `score`: float64, (n,)."""
        return Ratings(
            scores=score[:, None],
            worker=self.worker,
            system=self.system,
            assignment=self.assignment,
            source=self.segment,
            kind=self.kind,
            n_workers=len(self.workers),
            n_systems=len(self.systems),
        )


def rows_of(columns: Mapping[str, TextColumn], rows: Mask | Codes) -> dict[str, TextColumn]:
    """Return some rows of columns, in the order of `rows`; labels stay as they are."""
    return {name: TextColumn(column.codes[rows], column.labels) for name, column in columns.items()}


def find_twins(key: Codes, n_keys: int, kind: Codes) -> NDArray[np.int64]:
    """Return for each row of a degraded item or a repeat the first row of an ordinary item with the same key, else −1.

    `key`, `kind`: int, (n,), codes below `n_keys`, and of `Kind`.
    """
    ordinary = np.flatnonzero(kind == Kind.ORDINARY)
    first = np.full(n_keys, -1, np.int64)
    first[key[ordinary[::-1]]] = ordinary[::-1]
    copies = np.flatnonzero((kind == Kind.DEGRADED) | (kind == Kind.REPEAT))
    twin = np.full(kind.size, -1, np.int64)
    twin[copies] = first[key[copies]]
    return twin


_PIECE = 1 << 16
"""Rows of which a copy is made at a time."""
Part = Sequence[str] | str | NDArray[Any]
"""Labels, a name, or codes or numbers."""


def fingerprint(kind: str, parts: Iterable[Part]) -> str:
    """Return the SHA-256, hexadecimal, of responses of a kind: of labels, names, codes and numbers, in their order."""
    digest = hashlib.sha256(f"evalsite {kind}\n".encode())
    for part in parts:
        if isinstance(part, np.ndarray):
            for start in range(0, len(part), _PIECE):
                piece = part[start : start + _PIECE]
                # −0.0 and 0.0 are one number and must have one fingerprint.
                numbers = (piece + 0.0).astype("<f8") if part.dtype.kind == "f" else piece.astype("<i8")
                digest.update(numbers.tobytes())
        else:
            digest.update(part.encode() if isinstance(part, str) else json.dumps(list(part)).encode() + b"\n")
    return digest.hexdigest()


def average_repeats(data: Responses, score: Floats, twin: NDArray[np.int64]) -> tuple[Floats, Mask]:
    """Return the scores with those of repeats averaged into their twins, and which rows are left, (n,) each.

    A repeat without a twin stands for itself; degraded items are left out.
    """
    is_repeat = (data.kind == Kind.REPEAT) & (twin >= 0)
    total, n = score.copy(), np.ones(score.size)
    np.add.at(total, twin[is_repeat], score[is_repeat])
    np.add.at(n, twin[is_repeat], 1)
    return total / n, (data.kind != Kind.DEGRADED) & ~is_repeat
