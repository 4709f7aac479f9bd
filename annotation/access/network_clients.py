"""Which assignments and HITs were given to one client, as far as its network address shows.

No address is stored. The cache has a keyed hash of it, for a day: its key is random and of that day, so afterwards
nobody can say which address it was. Without an answer of the cache no client is known, which nothing depends on.
"""

import secrets
from collections.abc import Collection
from datetime import datetime

from django.core.cache import caches
from django.utils.crypto import salted_hmac

from evalsite.lib.rate_limits import without_cache

_CACHE, _PREFIX = "rate_limits", "annotation.clients"  # the cache that all processes share
_HOUR_S, _DAY_S = 3_600, 86_400
_MOST_HITS = 1_000
_UNKNOWN = "Clients cannot be distinguished"


def name_client(address: str, now: datetime) -> str:
    """Return the day's name of the client at this address; "" if the cache does not answer."""
    day = f"{_PREFIX}.key.{now.date().isoformat()}"
    with without_cache(_UNKNOWN):
        caches[_CACHE].add(day, secrets.token_hex(16), _DAY_S)  # of processes that begin the day at once, one sets it
        return salted_hmac(caches[_CACHE].get(day, ""), address, algorithm="sha256").hexdigest()
    return ""


def remember(client: str, *, assignment_id: int, hit_id: int) -> None:
    """Keep that an assignment of a HIT was given to a client."""
    if client:
        with without_cache(_UNKNOWN):
            caches[_CACHE].set(f"{_PREFIX}.assignment.{assignment_id}", client, _DAY_S)
            n_hits = _add_one(f"{_PREFIX}.count.{client}", _DAY_S)
            caches[_CACHE].set(f"{_PREFIX}.hit.{client}.{n_hits}", hit_id, _DAY_S)


def remember_refusal(client: str, campaign_id: int) -> None:
    """Count that a newcomer from a client found no place in a campaign."""
    if client:
        with without_cache(_UNKNOWN):
            _add_one(f"{_PREFIX}.refused.{campaign_id}.{client}", _HOUR_S)


def _add_one(key: str, lasts_s: int) -> int:
    """Return the next number of a counter, which begins at 1, also when it has just been evicted."""
    try:
        caches[_CACHE].add(key, 0, lasts_s)
        return caches[_CACHE].incr(key)
    except ValueError:
        return 1


def count_refusals(clients: Collection[str], campaign_id: int) -> dict[str, int]:
    """Return how often newcomers from clients found no place in a campaign, in the hour since the first of them."""
    keys = {f"{_PREFIX}.refused.{campaign_id}.{client}": client for client in clients}
    with without_cache(_UNKNOWN):
        return {keys[key]: n for key, n in caches[_CACHE].get_many(keys).items()}
    return {}


def clients_of(assignment_ids: Collection[int]) -> dict[int, str]:
    """Return to which clients assignments were given; those that are not known are left out."""
    keys = {f"{_PREFIX}.assignment.{pk}": pk for pk in assignment_ids}
    with without_cache(_UNKNOWN):
        return {keys[key]: client for key, client in caches[_CACHE].get_many(keys).items()}
    return {}


def hits_of(client: str) -> list[int]:
    """Return the ids of the HITs that were given to a client, of the first 1,000."""
    with without_cache(_UNKNOWN):
        n_hits = min(caches[_CACHE].get(f"{_PREFIX}.count.{client}", 0), _MOST_HITS) if client else 0
        keys = [f"{_PREFIX}.hit.{client}.{k}" for k in range(1, n_hits + 1)]
        return list(caches[_CACHE].get_many(keys).values()) if keys else []
    return []
