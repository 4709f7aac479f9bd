"""Rows of one table, in bulk.

A write lock stops everybody else on SQLite, and a campaign has 100,000 outputs and items and more. So here, and only
here, rows pass the models by: the items of 100,000 outputs take half a second instead of the four of `bulk_create`
(benchmarks/build_hits.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from django.db import connection, models

from campaigns.models import Campaign, Hit, HitItem


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


def insert_few(model: type[models.Model], columns: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> None:
    """Store some rows of values, keys of related ones, in one statement: half the time of `bulk_create`.

    A saved page waits for it. Columns that are left out have the defaults of the database, not of the model.
    """
    fields, statement = _insert_statement(model, columns, len(rows))
    with connection.cursor() as cursor:
        cursor.execute(statement, [value for row in rows for value in _stored(fields, row)])


def update_one(model: type[models.Model], changes: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Set fields of the row that is as expected; return False if there is none.

    `update` makes its statement anew each time, which takes longer than the database does.
    """
    columns, statement = _update_statement(model, tuple(changes), tuple(expected))
    with connection.cursor() as cursor:
        cursor.execute(statement, _stored(columns, (*changes.values(), *expected.values())))
        return cursor.rowcount == 1


def _stored(fields: Iterable["models.Field[Any, Any]"], values: Sequence[Any]) -> list[Any]:
    """Return values as the database takes them: whole numbers and texts as they are, which are most."""
    return [
        value
        if type(value) in (int, str) and not isinstance(field, models.JSONField)
        else field.get_db_prep_save(value, connection)
        for field, value in zip(fields, values, strict=True)
    ]


@lru_cache(maxsize=64)
def _update_statement(
    model: type[models.Model], changed: tuple[str, ...], expected: tuple[str, ...]
) -> tuple[list["models.Field[Any, Any]"], str]:
    """Return the fields that are changed, then those that are expected, and the statement."""
    fields = [cast("models.Field[Any, Any]", model._meta.get_field(name)) for name in (*changed, *expected)]
    named = [f"{field.column} = %s" for field in fields]
    setting, where = ", ".join(named[: len(changed)]), " AND ".join(named[len(changed) :])
    return fields, f"UPDATE {model._meta.db_table} SET {setting} WHERE {where}"


@lru_cache(maxsize=256)
def _insert_statement(
    model: type[models.Model], columns: tuple[str, ...], n_rows: int
) -> tuple[list["models.Field[Any, Any]"], str]:
    """Return the fields of the columns, and the statement that stores so many rows."""
    fields = [cast("models.Field[Any, Any]", model._meta.get_field(name)) for name in columns]
    names, places = ", ".join(str(field.column) for field in fields), ", ".join(["%s"] * len(fields))
    return fields, f"INSERT INTO {model._meta.db_table} ({names}) VALUES {', '.join([f'({places})'] * n_rows)}"


def refresh_statistics(*changed: type[models.Model]) -> None:
    """Let PostgreSQL's planner know of rows that came in bulk, which it else takes for none until a vacuum comes by.

    It then walks through every pair of rows: a join of two thousand items has taken a quarter of an hour.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in changed:
                cursor.execute(f"ANALYZE {model._meta.db_table}")


_HITS, _ITEMS = Hit._meta.db_table, HitItem._meta.db_table
_COLUMNS = ("hit_id", "position", "kind", "output_id", "twin_position", "text", "page")

ItemRow = tuple[int, int, int, int, int | None, str, int | None]


def insert_items(rows: Iterable[ItemRow]) -> None:
    """Store items: key of the HIT, position, kind, key of the output, position of the twin, text as shown, page."""
    insert_rows(HitItem, _COLUMNS, rows)


def delete_hits(campaign: Campaign) -> None:
    """Delete, inside a transaction, all HITs of a campaign that was never launched: nobody has worked at them.

    The database does not lose a rating: IntegrityError at the end of the transaction if an item was rated.
    """
    of_campaign = f"SELECT id FROM {_HITS} WHERE campaign_id = %s"
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_ITEMS} WHERE hit_id IN ({of_campaign})", [campaign.pk])
        cursor.execute(f"DELETE FROM {_HITS} WHERE campaign_id = %s", [campaign.pk])
