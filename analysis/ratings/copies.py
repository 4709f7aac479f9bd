"""Columns that say which responses are of copies: degraded outputs and repeats, which campaigns' own files name."""

from collections.abc import Mapping

import numpy as np

from analysis.stats.ratings import Codes
from campaigns.design.composition import Kind
from evalsite.lib.tables import CellProblems, Table
from evalsite.lib.tables.errors import shorten

_KINDS = {"": 0} | {kind.name.lower(): kind.value for kind in (Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT)}


def read_kinds(table: Table, called: Mapping[str, str], problems: CellProblems) -> Codes:
    """Return the `Kind` codes of the column `kind`, int8, (n_rows,); without such a column, or a word, ordinary."""
    return read_words(table, called, "kind", _KINDS, problems)


def read_words(
    table: Table, called: Mapping[str, str], name: str, codes: Mapping[str, int], problems: CellProblems
) -> Codes:
    """Return the codes of a column's words, int8, (n_rows,): that of an empty cell if the file has no such column.

    `called`: the file's name of each column. Words that are not known are added to `problems`.
    """
    if name not in called:
        return np.full(table.n_rows, codes[""], np.int8)
    column = table.text[called[name]]
    found = np.array([codes.get(label.casefold(), -1) for label in column.labels], np.int8)[column.codes]
    words = ", ".join(filter(None, codes))
    problems.add(
        np.flatnonzero(found < 0),
        called[name],
        f"bad_{name}",
        lambda row, other: f"“{shorten(column.labels[column.codes[row]])}” is not known. It must be one of: {words}.",
    )
    return found
