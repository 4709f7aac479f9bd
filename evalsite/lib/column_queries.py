"""Querysets read as columns, of which Django converts each value once, however many rows have it."""

from collections.abc import Sequence
from typing import Any

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
    query, database = queryset.values_list(*names).query, connections[queryset.db]
    compiler = query.get_compiler(using=queryset.db)
    columns: list[Any] = [[] for _ in names]
    for rows in compiler.execute_sql(chunked_fetch=True, chunk_size=_ROWS_AT_ONCE):
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
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
