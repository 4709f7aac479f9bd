"""HITs and their items as rows, in bulk.

A write lock stops everybody else on SQLite, and a campaign has 100,000 items and more. So here, and only here, rows
pass the models by: the items of 100,000 outputs take half a second instead of four (benchmarks/build_hits.py).
"""

from collections.abc import Iterable
from typing import Any, cast

from django.db import connection, transaction

from campaigns.models import Campaign, Hit, HitItem

_HITS, _ITEMS = Hit._meta.db_table, HitItem._meta.db_table
_COLUMNS = "hit_id, position, kind, output_id, twin_position, text"

ItemRow = tuple[int, int, int, int, int | None, str]


def insert_items(rows: Iterable[ItemRow]) -> None:
    """Store items: key of the HIT, position, kind, key of the output, position of the twin, text as shown."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {_ITEMS} ({_COLUMNS}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            insert = f"INSERT INTO {_ITEMS} ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s)"
            cursor.executemany(insert, cast(Any, rows))


@transaction.atomic
def delete_hits(campaign: Campaign) -> None:
    """Delete all HITs of a campaign that was never launched, so that nobody has worked at them.

    The database does not lose a rating: IntegrityError at the end of the transaction if an item was rated.
    """
    of_campaign = f"SELECT id FROM {_HITS} WHERE campaign_id = %s"
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_ITEMS} WHERE hit_id IN ({of_campaign})", [campaign.pk])
        cursor.execute(f"DELETE FROM {_HITS} WHERE campaign_id = %s", [campaign.pk])
