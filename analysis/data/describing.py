"""How a file was read: one sentence, and the steps that led there, for people to check."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.data.coding import combined
from analysis.stats.codes import dense_ranks
from analysis.stats.scores import are_levels
from evalsite.lib.tables import Table, TextColumn
from evalsite.lib.words import counted

_ITEM = ("document", "doc", "doc_id", "source", "seg_id", "turn")
_SYSTEMS = ("system", "system_a", "system_b")


@dataclass(frozen=True)
class Reading:
    """How a file was read.

    `shape`: what its rows and columns are, in words. `columns`: the file's column of each thing that was found. `said`:
    what was guessed or left out, a sentence each. `sentence`: who judged what, with which scores, and what is missing.
    """

    file: str
    format: str
    shape: str
    columns: Mapping[str, str]
    said: Sequence[str]
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @property
    def steps(self) -> list[str]:
        """What was done, a line each."""
        columns = [f"{name}: {own}" for name, own in self.columns.items()]
        return [f"Format: {self.format}", f"Shape: {self.shape}", *columns, *self.said, self.sentence]


def describe(
    called: Mapping[str, str], answers: Collection[str], table: Table, *, shape: str, n_missing: int = 0
) -> Reading:
    """Return how a table of one answer a row was read.

    `called`: the column of each role; `answers`: the roles of what was answered; `shape`: the file's, in words;
    `n_missing`: cells without an answer, which are no rows of the table.
    """
    return Reading(
        table.file,
        table.format,
        shape,
        {name: table.column_name(0, own) if table.n_rows else own for name, own in called.items()},
        [warning.message for warning in table.warnings],
        _sentence(called, answers, table, n_missing),
    )


def _sentence(called: Mapping[str, str], answers: Collection[str], table: Table, n_missing: int) -> str:
    """Return who judged what, such as: 4 raters judged 36 outputs of 3 systems on 2 criteria with levels 1 to 5."""
    columns = {name: table.text[own] for name, own in called.items() if own in table.text and name not in answers}
    raters = columns.get("worker", columns.get("rater"))
    said = f"{counted(len(raters.labels), 'rater') if raters else 'Raters'} {_judged(columns, table.n_rows)}"
    scores = [own for name, own in called.items() if name in answers and name.startswith("score")]
    if "criterion" in columns or len(scores) > 1:
        n = len(columns["criterion"].labels) if "criterion" in columns else len(scores)
        said += f" on {n} criteria" if n > 1 else " on one criterion"
    said += _range(scores, table)
    if n_missing:
        said += f"; {n_missing:,} answers are missing" if n_missing > 1 else "; one answer is missing"
    return f"{said}."


def _judged(columns: Mapping[str, TextColumn], n_rows: int) -> str:
    systems = {label for name in _SYSTEMS if name in columns for label in columns[name].labels}
    of = counted(len(systems), "system")
    if "system" not in columns or not any(name in columns for name in _ITEM):
        return f"gave {counted(n_rows, 'answer')}" + (f" on outputs of {of}" if systems else "")
    parts = [(columns[name].codes, len(columns[name].labels)) for name in (*_ITEM, "system") if name in columns]
    return f"judged {counted(dense_ranks(*combined(parts))[1], 'output')} of {of}"


def _range(scores: Sequence[str], table: Table) -> str:
    """Return which scores were given; nothing where they are no numbers."""
    try:
        found = [
            table.numbers[own] if own in table.numbers else np.array([float(label) for label in table.text[own].labels])
            for own in scores
        ]
    except ValueError:
        return ""
    values = np.concatenate(found) if found else np.empty(0)
    values = values[np.isfinite(values)]
    if not values.size:
        return ""
    low, high = values.min(), values.max()
    return f" with levels {low:g} to {high:g}" if are_levels(values) else f" with scores from {low:g} to {high:g}"
