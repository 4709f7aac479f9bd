"""How long the texts are that outputs were made from: a file of sources to numbers of words."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from evalsite.lib.tables import CellProblems, Problem, TableError, if_windows, preview, read_columns
from evalsite.lib.tables.errors import listing

SOURCE_COLUMNS = ("source", "reference_words", "input_words")
"""The columns of a file of sources, one row a source."""


class SourceWords(NamedTuple):
    """A source, as a row of SOURCE_COLUMNS: words, by white space, of its reference and of its other texts.

    None: not known.
    """

    source: str
    reference: int | None = None
    input: int | None = None


def load_sources(path: Path, encoding: str | None = None) -> list[SourceWords]:
    """Return the lengths of a file of sources in any format that `evalsite.lib.tables` reads.

    `source` is needed and is that of the ratings; the other columns as far as they are there. An empty cell is not
    known. `encoding` is that of CSV files that are not UTF-8.
    Raises TableError with up to 50 problems of the file.
    """
    encoding = if_windows(path, encoding)
    columns = preview(path, n_rows=0, encoding=encoding).columns
    by_name = {column.strip().casefold(): column for column in reversed(columns)}
    found = {name: by_name[name] for name in SOURCE_COLUMNS if name in by_name}
    if missing := [name for name in SOURCE_COLUMNS[:1] if name not in found] or (
        [] if len(found) > 1 else list(SOURCE_COLUMNS[1:2])
    ):
        there = listing(column for column in columns if column)
        message = f"there is no such column. The columns are {there}."
        raise TableError(path.name, [Problem(1, missing[0], message, "missing_column")])
    numeric = [found[name] for name in SOURCE_COLUMNS[1:] if name in found]
    problems = CellProblems()
    table = read_columns(
        path, list(found.values()), numeric=numeric, blank=numeric, encoding=encoding, problems=problems
    )
    names = table.text[found["source"]]
    for column in numeric:
        values = table.numbers[column]
        bad = np.flatnonzero((values < 0) | (values != np.round(values)) & ~np.isnan(values))
        problems.add(bad, column, "bad_number", lambda *_: "this is not a whole number, 0 or more. Correct it.")
    _, first = np.unique(names.codes, return_index=True)
    twice = np.setdiff1d(np.arange(names.codes.size), first)
    problems.add(twice, found["source"], "row_twice", lambda *_: "this source has a row before. Delete one of the two.")
    problems.raise_for(table)

    def counts(name: str) -> list[int | None]:
        if name not in found:
            return [None] * names.codes.size
        return [None if np.isnan(value) else int(value) for value in table.numbers[found[name]]]

    labels = [names.labels[code] for code in names.codes.tolist()]
    rows = zip(labels, *(counts(name) for name in SOURCE_COLUMNS[1:]), strict=True)
    return sorted(SourceWords(*row) for row in rows)
