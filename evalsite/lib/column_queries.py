"""Querysets read as columns: as lists, of which Django converts each value once, or as arrays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connections, models

from evalsite.lib.tables.blocks import spread


class UtcText(models.Func):
    """A time in UTC as text, such as 2026-11-28 16:30:00.25, which costs a fraction of a `datetime`."""

    output_field = models.TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return the text that Django stores there."""
        return self.as_sql(compiler, connection, template="CAST(%(expressions)s AS text)", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return the time without its zone."""
        return self.as_sql(compiler, connection, template="CAST(%(expressions)s AT TIME ZONE 'UTC' AS text)", **context)


_ROWS_AT_ONCE = 500  # as tuples: so few that Python does not search for garbage among them


def read_columns(queryset: "models.QuerySet[Any]", *names: str) -> list[Sequence[Any]]:
    """Return the columns of `queryset.values_list(*names)`, all rows of it; lists of one length. One query.

    Values that are equal in the database are one object: do not change it.
    """
    compiler, database = _compiler(queryset, names), connections[queryset.db]
    columns: list[Any] = [[] for _ in names]
    for chunk in _chunks(compiler):
        for column, cells in zip(columns, chunk, strict=True):
            column += cells
    for place, (converters, expression) in compiler.get_converters(
        [each for each, *_ in compiler.select or []]
    ).items():

        def converted(value: Any, converters: Any = converters, expression: Any = expression) -> Any:
            for convert in converters:
                value = convert(value, expression, database)
            return value

        columns[place] = spread(columns[place], converted)
    return columns


def read_arrays(queryset: "models.QuerySet[Any]", kinds: Mapping[str, npt.DTypeLike]) -> list[npt.NDArray[Any]]:
    """Return the columns of these names as arrays of these kinds, (n,) each. One query.

    They hold what the database gives, which Django does not convert: numbers, or times as `UtcText`.
    """
    parts: list[list[npt.NDArray[Any]]] = [[np.empty(0, kind)] for kind in kinds.values()]
    for chunk in _chunks(_compiler(queryset, tuple(kinds))):
        for column, cells, kind in zip(parts, chunk, kinds.values(), strict=True):
            column.append(np.array(cells, kind))
    return [np.concatenate(column) for column in parts]


def _compiler(queryset: "models.QuerySet[Any]", names: Sequence[str]) -> Any:
    return queryset.values_list(*names).query.get_compiler(using=queryset.db)


def _chunks(compiler: Any) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the columns of some rows at a time."""
    for rows in compiler.execute_sql(chunked_fetch=True, chunk_size=_ROWS_AT_ONCE):
        yield zip(*rows, strict=True)
