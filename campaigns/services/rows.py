"""Rows of one table, in bulk.

A write lock stops everybody else on SQLite, and a campaign has 100,000 outputs and items and more. So here, and only
here, rows pass the models by: the items of 100,000 outputs take half a second instead of the four of `bulk_create`
(benchmarks/build_hits.py).
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from django.db import connection, models


def insert_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Store rows of plain values; the columns go by their names in the database."""
    table, names = model._meta.db_table, ", ".join(columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            refresh_statistics(model)
        else:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", cast(Any, rows))


def refresh_statistics(*changed: type[models.Model]) -> None:
    """Let PostgreSQL's planner know of rows that came in bulk, which it else takes for none until a vacuum comes by.

    It then walks through every pair of rows: a join of two thousand items has taken a quarter of an hour.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in changed:
                cursor.execute(f"ANALYZE {model._meta.db_table}")
