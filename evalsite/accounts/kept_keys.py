"""The stored keys of names that stay the same (`evalsite.lib.kept_keys`). A process reads them once."""

from collections.abc import Mapping

from django.db import transaction

from evalsite.accounts.models import KeptKey
from evalsite.lib.kept_keys import PURPOSES, derive_key

_read: dict[str, str] = {}


def stored_keys() -> Mapping[str, str]:
    """Return the stored keys by purpose. One query, and none once there are any."""
    if not _read:
        _read.update(KeptKey.objects.values_list("purpose", "key"))
    return _read


@transaction.atomic
def store_keys(secret: str, *, replace: bool = False) -> None:
    """Store the keys that follow from a SECRET_KEY; those that are stored already stay, unless `replace` says so."""
    if replace:
        KeptKey.objects.all().delete()
    rows = [KeptKey(purpose=purpose, key=derive_key(purpose, secret)) for purpose in PURPOSES]
    KeptKey.objects.bulk_create(rows, ignore_conflicts=True)
    _read.clear()
