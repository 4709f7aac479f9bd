"""The table of a file of ratings, and which of its columns is which: of another tool, of any shape, or as it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from analysis.data.choices import GUESSED, Choices
from analysis.data.layout import Shape
from analysis.data.reading import Scores, beginning_of, look_at, read_layout, relabel
from analysis.data.tools import Wanted, only_criteria, read_made
from analysis.data.values import is_number
from analysis.ratings.columns import (
    NAMES,
    REQUIRED,
    ColumnMapping,
    chosen_mapping,
    columns_of,
    guess_mapping,
    score_columns,
)
from analysis.ratings.finding import check_chosen
from analysis.ratings.rows import Criteria
from evalsite.lib.tables import (
    CellProblems,
    Preview,
    Problem,
    Table,
    TableError,
    TableWarning,
    TextColumn,
    read_columns,
)
from evalsite.lib.tables.errors import listing
from evalsite.lib.tables.table import numbers_of


@dataclass(frozen=True)
class RatingsSource:
    """The file that is read, and what somebody said about it."""

    path: Path
    name: str | None
    max_bytes: int | None
    encoding: str | None
    choices: Choices


def read_other(
    file: RatingsSource, criteria: Criteria, problems: CellProblems
) -> tuple[Table, ColumnMapping, Shape] | None:
    """Return the ratings of a file of another tool, or of a shape that is not the usual one; None for others."""
    known = [*criteria.names, *criteria.statements]
    choices = file.choices
    made = read_made(
        file.path,
        Wanted.SCORES,
        name=file.name,
        encoding=file.encoding,
        max_bytes=file.max_bytes,
        columns=choices.columns,
        items=choices.items,
        more=choices.more,
        criteria=known,
    )
    if made is not None:
        return made, _as_made(made, {each: each for each in NAMES}, criteria, choices, problems), Shape.LONG
    beginning, nested = beginning_of(file.path, is_number, file.encoding, file.name, file.max_bytes)
    layout = look_at(beginning, NAMES, choices, Scores(is_number, known))
    names = [each.column for each in layout.answers]
    is_usual = layout.shape is Shape.LONG or any(criteria.code_of(own) is not None for own in names)
    is_known = "system" in layout.roles or "worker" not in layout.roles
    if is_usual and nested is None and layout.shape in (Shape.LONG, Shape.CRITERIA) and is_known:
        return None
    called, table, _ = read_layout(file.path, layout, beginning, NAMES, problems, nested=nested, encoding=file.encoding)
    table = only_criteria(table, known, called.get("criterion", ""))
    return table, _as_made(table, called, criteria, choices, problems), layout.shape


def read_usual(
    file: RatingsSource,
    criteria: Criteria,
    mapping: ColumnMapping | None,
    wide: Sequence[str],
    on_progress: Callable[[float], None] | None,
    problems: CellProblems,
) -> tuple[Table, ColumnMapping]:
    """Return the columns of the file and which is which."""
    path, name = file.path, file.name
    known, choices = [*criteria.names, *criteria.statements], file.choices

    def guess(sample: Preview) -> ColumnMapping:
        if wide:
            found = guess_mapping([column for column in sample.columns if column not in wide], named=choices.columns)
            return {column: found[column] for column in found if column not in ("score", "criterion")} | {
                "scores": [*wide]
            }
        roles = look_at(sample, NAMES, choices, Scores(is_number, known)).roles
        return guess_mapping(sample.columns, known, named=roles)

    if mapping is not None:
        chosen = chosen_mapping(mapping)
        _require(name or path.name, chosen, criteria, columns_of(chosen))
    else:
        sample, _ = beginning_of(path, is_number, file.encoding, name, file.max_bytes)
        check_chosen(choices.columns, NAMES, sample.columns)
        chosen = guess(sample)
        _require(name or path.name, chosen, criteria, sample.columns)
    said: list[TableWarning] = []

    def convert(columns: Mapping[str, TextColumn]) -> Mapping[str, TextColumn]:
        read, more = relabel(columns, choices, is_number)
        said.extend(more)
        return read

    def read() -> Table:
        said.clear()
        table = read_columns(
            path,
            columns_of(chosen),
            name,
            score_columns(chosen),
            on_progress,
            blank=chosen.get("scores", ()),
            max_bytes=file.max_bytes,
            encoding=file.encoding,
            problems=problems,
            convert=convert,
        )
        return replace(table, warnings=[*table.warnings, *said])

    table = read()
    if mapping is None and set(table.columns) - set(sample.columns):
        # In JSON a column may first occur far down; leaving out, say, the kinds would be silent and wrong.
        better = guess(Preview(table.format, table.columns, sample.rows))
        if better != chosen:
            chosen = better
            problems.clear()
            table = read()
    return table, chosen


def read_converted(
    path: str | Path, mapping: ColumnMapping, criteria: Criteria, name: str | None, problems: CellProblems
) -> tuple[Table, ColumnMapping]:
    """Return a table that was made from a file of another tool, and which of its columns is which."""
    chosen = chosen_mapping(mapping)
    wanted = [*criteria.names, *criteria.statements]
    table = only_criteria(read_columns(path, columns_of(chosen), name), wanted, chosen.get("criterion", ""))
    return table, _as_made(table, chosen, criteria, GUESSED, problems)


def _as_made(
    made: Table, called: ColumnMapping, criteria: Criteria, choices: Choices, problems: CellProblems
) -> ColumnMapping:
    """Return the columns of a table made of another tool's file, and turn its scores into numbers."""
    mapping = {name: column for name, column in called.items() if column in made.text}
    rated = made.text.get(mapping.get("criterion", ""), _NOTHING)
    if len(criteria.names) == 1 and len(rated.labels) == 1:
        del mapping["criterion"]  # one criterion is rated, whatever its name
    _require(made.file, mapping, criteria, made.columns)
    column = mapping["score"]
    read, said = relabel({column: made.text.pop(column)}, choices, is_number)
    made.warnings.extend(said)
    made.numbers[column] = numbers_of(read[column], column, problems)
    return mapping


_NOTHING = TextColumn(np.empty(0, np.int32), [])


def _require(file: str, mapping: ColumnMapping, criteria: Criteria, columns: Sequence[str]) -> None:
    if "scores" in mapping:
        needed = tuple(column for column in REQUIRED if column != "score")
    else:
        needed = REQUIRED if len(criteria.names) == 1 else (*REQUIRED, "criterion")
    there = listing(column for column in columns if column)
    problems = [
        Problem(
            1,
            column,
            f"no column is known to hold the {column}. The columns are {there}: rename one of them “{column}”, or "
            "choose which one is meant.",
            "missing_column",
        )
        for column in needed
        if column not in mapping
    ]
    if problems:
        raise TableError(file, problems)
