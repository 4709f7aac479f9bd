"""Ratings to items: which rows rate the same thing, and whether they agree about what it is."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.data.coding import combined, first_rows
from analysis.data.ratings.rows import Criteria, RatingRows
from analysis.stats.codes import dense_ranks
from campaigns.design.composition import Kind
from evalsite.lib.tables import CellProblems

Rows = NDArray[np.int64]
REPEATED = "duplicate_rating"
"""The code of ratings that stand twice."""


@dataclass(frozen=True)
class Items:
    """The item of each rating, (n_rows,), and the first rating of each item, (n_items,).

    Items are numbered by worker, assignment and position; without positions by source, system and kind.
    """

    item: Rows
    first: Rows

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.first.size


def find_items(rows: RatingRows) -> Items:
    """Return the items that the ratings belong to.

    An item is one position of an assignment; without positions, one source, system and kind of an assignment.
    """
    parts = [(rows.assignment, len(rows.assignments))]
    if rows.position is not None:
        parts.append((rows.position, rows.n_positions))
    else:
        if rows.source is not None:
            parts.append((rows.source + 1, len(rows.sources) + 1))
        parts += [(rows.system, len(rows.systems)), (rows.kind, len(Kind))]
    item, n_items = dense_ranks(*combined(parts))
    return Items(item, first_rows(item, n_items))


def check_items(
    rows: RatingRows, items: Items, criteria: Criteria, called: Mapping[str, str], problems: CellProblems
) -> None:
    """Add a problem for each rating that contradicts an earlier one of its assignment or item, or
    repeats one."""
    if "assignment" in called:
        _check_assignments(rows, called, problems)
    if items.n_items == rows.row.size:  # each rates an item of its own: none can contradict or repeat another
        return
    if rows.position is not None:
        earlier = items.first[items.item]
        for column, values in (("system", rows.system), ("source", rows.source), ("kind", rows.kind)):
            if values is not None and column in called:
                _disagree(rows, values != values[earlier], earlier, called[column], "contradiction", _ITEM, problems)
    parts: list[tuple[NDArray[np.integer], int]] = [(items.item, items.n_items), (rows.criterion, len(criteria.names))]
    if rows.turn is not None:
        parts.append((rows.turn + 1, len(rows.turns) + 1))
    key, size = combined(parts)
    if np.bincount(key, minlength=1).max(initial=0) > 1:
        cell, n_cells = dense_ranks(key, size)
        earlier = first_rows(cell, n_cells)[cell]
        message = _DUPLICATE if "position" in called else _DUPLICATE + _NO_POSITION
        _disagree(rows, earlier != np.arange(earlier.size), earlier, called["score"], REPEATED, message, problems)


_ITEM = "row {row} says something else of the same assignment and position. Make them agree."
_DUPLICATE = (
    "row {row} rates the same item on the same criterion already. Delete one of the two rows, or say which counts: the "
    "first, the last or their mean (--twice on the command line)."
)
_NO_POSITION = " If they are different items, add a column position that distinguishes them."
_WORKER = "row {row} gives this assignment to another worker. Make its label unique."
_HIT = "row {row} says that this assignment is of another HIT. Make the assignment’s label unique."


def _check_assignments(rows: RatingRows, called: Mapping[str, str], problems: CellProblems) -> None:
    # Assignments are numbered by worker and label, so a shared one shows as the same label twice.
    code_of: dict[str, int] = {}
    by_label = np.array([code_of.setdefault(label, len(code_of)) for label in rows.assignments], np.int64)
    if len(code_of) < len(rows.assignments):
        codes = by_label[rows.assignment]
        used, n_used = dense_ranks(codes, len(code_of))
        earlier = first_rows(used, n_used)[used]
        differs = rows.worker != rows.worker[earlier]
        _disagree(rows, differs, earlier, called["assignment"], "shared_assignment", _WORKER, problems)
    if rows.hit is not None:
        used, n_used = dense_ranks(rows.assignment.astype(np.int64), len(rows.assignments))
        earlier = first_rows(used, n_used)[used]
        differs = rows.hit != rows.hit[earlier]
        _disagree(rows, differs, earlier, called["hit"], "contradiction", _HIT, problems)


def _disagree(
    rows: RatingRows,
    differs: NDArray[np.bool_],
    earlier: Rows,
    name: str,
    code: str,
    message: str,
    problems: CellProblems,
) -> None:
    bad = np.flatnonzero(differs)
    others = rows.row[earlier[bad]].astype(np.int64)
    problems.add(rows.row[bad], name, code, lambda row, other: message.format(row=other), others)
