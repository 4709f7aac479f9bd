"""Files of votes to arrays: everything wrong is said at once, and nothing is half read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import GUESSED, Choices
from analysis.data.coding import combined, sorted_codes
from analysis.data.finding import ITEM, SEGMENT, WORKER
from analysis.data.loading import read_kinds, read_words, refuse_many_systems
from analysis.data.notices import ResponsesWarning, said_of
from analysis.data.reading import read_found
from analysis.data.responses import fingerprint, rows_of
from analysis.data.style import columns_of, find_style, read_style
from analysis.data.tools import Wanted
from analysis.stats.davidson import Outcome
from analysis.stats.ratings import Codes, Floats, Mask
from evalsite.lib.tables import CellProblems, Table, TextColumn
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.table import refuse_empty

NAMES = {
    "worker": WORKER,
    "source": ("source_id", "prompt", "question_id", *SEGMENT, *ITEM),
    "system_a": ("model_a", "left", "a"),
    "system_b": ("model_b", "right", "b"),
    "winner": ("preference", "vote", "choice"),
    "assignment": (),
    "kind": (),
    "degraded": (),
    "criterion": (),
}
"""What files call the columns of votes."""
_REQUIRED = ("worker", "system_a", "system_b", "winner")
_PUNCTUATION = re.compile(r"[\W_]+")
BOTH_BAD = -1
_WORDS = {
    **dict.fromkeys(("a", "left", "systema", "modela"), int(Outcome.LEFT)),
    **dict.fromkeys(("b", "right", "systemb", "modelb"), int(Outcome.RIGHT)),
    **dict.fromkeys(("tie", "draw", "equal", "both", "bothgood"), int(Outcome.TIE)),
    **dict.fromkeys(("bothbad", "tiebothbad", "neither"), BOTH_BAD),
}


@dataclass(frozen=True)
class VoteData:
    """Votes, in the order of the file.

    `left`, `right`, `worker`: int, (n_votes,), codes of `systems` and `workers`, whose labels are sorted; `left` was
    shown on the left. `outcome`: an `Outcome`; `is_both_bad` marks ties of two that are bad. `kind`: `Kind` codes;
    `degraded`: 1 where the left output is degraded, 2 where the right one is, else 0. `assignment`: codes of what a
    worker did at one go. `question`: codes of source and criterion, source · n_criteria + criterion, of `sources` and
    `criteria`, whose labels are sorted; −1 where the file has no sources. Files without criteria have one without a
    name. `attributes`: columns by whose groups systems are compared, (n_votes,). `style`: how much of each feature,
    such as words, the left and the right output have, float64, (n_votes, 2), NaN where it is not known.
    """

    systems: list[str]
    workers: list[str]
    left: Codes
    right: Codes
    worker: Codes
    outcome: Codes
    is_both_bad: Mask
    kind: Codes
    degraded: Codes
    assignment: Codes
    question: Codes
    fingerprint: str = ""
    warnings: list[ResponsesWarning] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    criteria: list[str] = field(default_factory=lambda: [""])
    attributes: Mapping[str, TextColumn] = field(default_factory=dict)
    style: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def source(self) -> Codes:
        """A code of each vote's source, (n_votes,); −1 where the file has none."""
        return self.question // len(self.criteria)

    def take(self, rows: Mask) -> "VoteData":
        """Return some of the votes."""
        if rows.all():
            return self
        names = ("left", "right", "worker", "outcome", "is_both_bad", "kind", "degraded", "assignment", "question")
        own = {name: getattr(self, name)[rows] for name in names}
        style = {name: values[rows] for name, values in self.style.items()}
        return replace(self, **own, attributes=rows_of(self.attributes, rows), style=style)

    def without_degraded_systems(self) -> "VoteData":
        """Return the votes on systems that were ever shown as they are: a degraded chatbot is not compared."""
        is_shown = np.zeros(len(self.systems), dtype=bool)
        is_shown[self.left[self.degraded != 1]] = True
        is_shown[self.right[self.degraded != 2]] = True
        if is_shown.all():
            return self
        kept, code = self.take(is_shown[self.left] & is_shown[self.right]), np.cumsum(is_shown) - 1
        systems = [name for name, is_kept in zip(self.systems, is_shown.tolist(), strict=True) if is_kept]
        return replace(kept, systems=systems, left=code[kept.left], right=code[kept.right])


def load_votes(path: Path, choices: Choices = GUESSED) -> VoteData:
    """Return the votes of a file in any format that `evalsite.lib.tables` reads, one vote a row.

    Columns are `worker`, `system_a` (shown on the left), `system_b` and `winner`, or have usual other names of these;
    `source` says which votes are of the same outputs; `assignment`, `criterion`, `kind` and `degraded` are those of a
    campaign's own file. The winner is the name of one of the two, `a`, `b`, `left`, `right`, `tie` or `both bad`; a
    name wins over these words. Columns that count the style of both outputs, or have their texts, are read beside
    (`style.find_style`).
    Files of Label Studio, Potato, doccano and Argilla are read as they are.

    Raises TableError with up to 50 problems: a column that is missing, an empty cell, a system compared with itself, a
    winner that was not shown.
    """
    problems = CellProblems()
    called, table = read_found(
        *(path, NAMES, _REQUIRED, problems),
        wanted=Wanted.VOTES,
        answers=("winner",),
        choices=choices,
        beside=lambda there: columns_of(find_style(there)),
    )
    cells = {name: table.text[called[name]] for name in _REQUIRED}
    for name, column in cells.items():
        refuse_empty(column, called[name], problems)
    systems = sorted({*cells["system_a"].labels, *cells["system_b"].labels})
    left, right = (_in(systems, cells[name]) for name in ("system_a", "system_b"))
    winner = cells["winner"]
    outcome, is_both_bad, is_known = _outcomes(winner, systems, left, right)
    problems.add(
        np.flatnonzero(left == right),
        called["system_b"],
        "same_system",
        lambda row, other: f"“{shorten(systems[left[row]])}” is compared with itself. Correct one, or delete the row.",
    )
    bad = problems.without_known(np.flatnonzero(~is_known), called["winner"])
    problems.add(
        bad,
        called["winner"],
        "not_shown",
        lambda row, other: (
            f"“{shorten(winner.labels[winner.codes[row]])}” is not “{shorten(systems[left[row]])}” or "
            f"“{shorten(systems[right[row]])}”. Write one of the two, a, b, tie or both bad."
        ),
    )
    kind = read_kinds(table, called, problems)
    degraded = read_words(table, called, "degraded", {"": 0, "a": 1, "b": 2}, problems)
    problems.raise_for(table)
    refuse_many_systems(table.file, called["system_a"], len(systems))
    worker, workers = sorted_codes(cells["worker"])
    question, sources, criteria = _questions(table, called)
    return VoteData(
        systems,
        workers,
        left,
        right,
        worker,
        outcome,
        is_both_bad,
        kind,
        degraded,
        sorted_codes(table.text[called["assignment"]])[0] if "assignment" in called else worker,
        question,
        fingerprint("votes 1", [systems, workers, left, right, worker, outcome, is_both_bad]),
        said_of(table),
        sources,
        criteria,
        {name: table.text[name] for name in choices.groups},
        read_style(find_style([name for name in table.columns if name not in called.values()]), table.text),
    )


def _questions(table: Table, called: Mapping[str, str]) -> tuple[Codes, list[str], list[str]]:
    """Return the `question` of each vote, the sources and the criteria."""
    if "source" not in called:
        return np.full(table.n_rows, -1, np.int64), [], [""]
    source, sources = sorted_codes(table.text[called["source"]])
    if "criterion" not in called:
        return source.astype(np.int64), sources, [""]
    criterion, criteria = sorted_codes(table.text[called["criterion"]])
    return combined([(source, len(sources)), (criterion, len(criteria))])[0], sources, criteria


def _in(systems: list[str], column: TextColumn) -> NDArray[np.int32]:
    place = {name: k for k, name in enumerate(systems)}
    return np.array([place[label] for label in column.labels], np.int32)[column.codes]


def _outcomes(winner: TextColumn, systems: list[str], left: Codes, right: Codes) -> tuple[Codes, Mask, Mask]:
    """Return the outcome of each vote, whether it is of two that are bad, and whether it could be read."""
    place = {name: k for k, name in enumerate(systems)}
    unknown = len(Outcome)
    named = np.array([place.get(label, -1) for label in winner.labels], np.int32)[winner.codes]
    word = np.array([_WORDS.get(_PUNCTUATION.sub("", label.casefold()), unknown) for label in winner.labels], np.int8)
    meant = word[winner.codes]
    is_both_bad = meant == BOTH_BAD
    meant = np.where(is_both_bad, np.int8(Outcome.TIE), meant)
    of_name = np.where(named == left, np.int8(Outcome.LEFT), np.where(named == right, np.int8(Outcome.RIGHT), unknown))
    outcome = np.where(of_name == unknown, meant, of_name).astype(np.int8)
    return outcome, is_both_bad & (of_name == unknown), outcome != unknown
