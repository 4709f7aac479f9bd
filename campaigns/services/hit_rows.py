"""HITs and their items as rows, in bulk."""

from collections.abc import Iterable

from django.db import connection, transaction

from campaigns.models import Campaign, Hit, HitItem
from campaigns.services.rows import insert_rows

_HITS, _ITEMS = Hit._meta.db_table, HitItem._meta.db_table
_COLUMNS = ("hit_id", "position", "kind", "output_id", "twin_position", "text")

ItemRow = tuple[int, int, int, int, int | None, str]


def insert_items(rows: Iterable[ItemRow]) -> None:
    """Store items: key of the HIT, position, kind, key of the output, position of the twin, text as shown."""
    insert_rows(HitItem, _COLUMNS, rows)


@transaction.atomic
def delete_hits(campaign: Campaign) -> None:
    """Delete all HITs of a campaign that was never launched, so that nobody has worked at them.

    The database does not lose a rating: IntegrityError at the end of the transaction if an item was rated.
    """
    of_campaign = f"SELECT id FROM {_HITS} WHERE campaign_id = %s"
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_ITEMS} WHERE hit_id IN ({of_campaign})", [campaign.pk])
        cursor.execute(f"DELETE FROM {_HITS} WHERE campaign_id = %s", [campaign.pk])
