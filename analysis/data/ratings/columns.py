"""The long table's columns and the names that other tools give them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from analysis.data.finding import NAMES, find_columns, plain_name, without_prefix
from analysis.data.layout import answer_columns
from evalsite.lib.tables import Preview

COLUMNS = (
    *("worker", "assignment", "hit", "position", "source", "system", "kind", "criterion", "score"),
    *("pool", "turn"),
)
"""The columns of a ratings file, one row a rating."""

REQUIRED = ("worker", "system", "score")
"""`criterion` is required as well where a protocol has several.

In a wide file an item is a row, and `scores`, instead of `criterion` and `score`, are columns that hold the scores
of a criterion each and have its name.
"""

ColumnMapping = Mapping[str, Any]
"""The file's column for each canonical one; for `scores` a list of columns."""


def guess_mapping(
    column_names: Sequence[str], criteria: Collection[str] = (), *, named: Mapping[str, str] | None = None
) -> ColumnMapping:
    """Return which column of a file holds each canonical column, {canonical name: the file's name}.

    Capitals, spaces and punctuation do not matter; a column's own name wins over a synonym, an earlier
    synonym over a later one, an earlier column over a later one. No column is used twice; what cannot be
    guessed is left out. Without a column of criteria, those named like one of `criteria` are `scores`: even a
    single one without a column of scores, and beside one if they are several. `named` are columns that somebody named.
    """
    mapping: dict[str, Any] = {**find_columns(column_names, NAMES, named)}
    known = {plain_name(name) for name in criteria if plain_name(name)}
    wide = [name for name in column_names if plain_name(name) in known and name not in mapping.values()]
    if wide and "criterion" not in mapping and ("score" not in mapping or len(wide) > 1):
        mapping["scores"] = wide
        mapping.pop("score", None)
    return _in_order(mapping)


def guess_scores(sample: Preview, mapping: ColumnMapping) -> list[str]:
    """Return the columns of a file's first rows that may each hold the scores of a criterion: numbers, nothing else.

    None if it has a column of scores or criteria, or none of workers or systems.
    """
    if {"score", "scores", "criterion"} & set(mapping) or not {"worker", "system"} <= set(mapping):
        return []
    return _unused_numbers(sample, mapping)


def further_scores(sample: Preview, mapping: ColumnMapping) -> list[str]:
    """Return the unused columns that may hold scores of further criteria beside those that were recognised."""
    if "criterion" in mapping or not {"score", "scores"} & set(mapping):
        return []
    return _unused_numbers(sample, mapping)


def _unused_numbers(sample: Preview, mapping: ColumnMapping) -> list[str]:
    return answer_columns(sample.columns, sample.rows, columns_of(mapping))


def score_columns(mapping: ColumnMapping) -> list[str]:
    """Return the columns of a file that hold scores: one, or one for each criterion."""
    return list(mapping.get("scores") or [mapping[name] for name in ("score",) if name in mapping])


def columns_of(mapping: ColumnMapping) -> list[str]:
    """Return the columns of a file that a mapping uses."""
    return [*(name for column, name in mapping.items() if column not in ("score", "scores")), *score_columns(mapping)]


def criterion_of(column: str) -> str:
    """Return the criterion whose scores a column holds, by its name."""
    return without_prefix(column.strip())


def is_called(column: str, name: str) -> bool:
    """Return whether a column's name is this one; capitals, spaces and punctuation do not matter."""
    return bool(plain_name(name)) and plain_name(column) == plain_name(name)


def chosen_mapping(mapping: ColumnMapping) -> ColumnMapping:
    """Return a mapping that a person chose, without its blanks, in the order of COLUMNS.

    Raises ValueError for a name that is not canonical and for a column that is used twice: forms prevent
    both.
    """
    chosen = {column: name for column, name in mapping.items() if name}
    unknown = set(chosen) - {*COLUMNS, "scores"}
    if unknown:
        raise ValueError(f"no such column of a ratings file: {sorted(unknown)}")
    if "scores" in chosen and {"score", "criterion"} & set(chosen):
        raise ValueError("scores are in one column, or in a column for each criterion")
    if len(set(columns_of(chosen))) < len(columns_of(chosen)):
        raise ValueError("one column of the file is chosen twice")
    return _in_order(chosen)


def _in_order(mapping: ColumnMapping) -> dict[str, Any]:
    return {column: mapping[column] for column in (*COLUMNS, "scores") if column in mapping}
