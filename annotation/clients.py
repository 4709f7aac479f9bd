"""Which assignments and HITs were given to one client, as far as its network address shows.

No address is stored. The cache has a keyed hash of it, for a day: its key is random and of that day, so afterwards
nobody can say which address it was. Without an answer of the cache no client is known, which nothing depends on.
"""

import logging
import secrets
from collections.abc import Callable, Collection
from datetime import datetime
from typing import TypeVar

from django.core.cache import BaseCache, caches
from django.utils.crypto import salted_hmac

from evalsite.lib.rate_limits import cache_errors

logger = logging.getLogger(__name__)
T = TypeVar("T")
_CACHE, _PREFIX = "rate_limits", "annotation.clients"  # the cache that all processes share
_HOUR_S, _DAY_S = 3_600, 86_400
_MOST_HITS = 1_000


def name_client(address: str, now: datetime) -> str:
    """Return the day's name of the client at this address; "" if the cache does not answer."""
    return _ask(lambda cache: _name(cache, address, now), "")


def remember(client: str, *, assignment_id: int, hit_id: int) -> None:
    """Keep that an assignment of a HIT was given to a client."""
    if client:
        _ask(lambda cache: _remember(cache, client, assignment_id, hit_id), None)


def remember_refusal(client: str, campaign_id: int) -> None:
    """Count that a newcomer from a client found no place in a campaign."""
    if client:
        _ask(lambda cache: _count_refusal(cache, f"{_PREFIX}.refused.{campaign_id}.{client}"), None)


def count_refusals(clients: Collection[str], campaign_id: int) -> dict[str, int]:
    """Return how often newcomers from clients found no place in a campaign, in the hour since the first of them."""
    keys = {f"{_PREFIX}.refused.{campaign_id}.{client}": client for client in clients}
    found: dict[str, int] = _ask(lambda cache: cache.get_many(keys), {})
    return {keys[key]: n for key, n in found.items()}


def clients_of(assignment_ids: Collection[int]) -> dict[int, str]:
    """Return to which clients assignments were given; those that are not known are left out."""
    keys = {f"{_PREFIX}.assignment.{pk}": pk for pk in assignment_ids}
    found: dict[str, str] = _ask(lambda cache: cache.get_many(keys), {})
    return {keys[key]: client for key, client in found.items()}


def hits_of(client: str) -> list[int]:
    """Return the ids of the HITs that were given to a client, of the first 1,000."""
    return _ask(lambda cache: _hits(cache, client), []) if client else []


def _name(cache: BaseCache, address: str, now: datetime) -> str:
    day = f"{_PREFIX}.key.{now.date().isoformat()}"
    cache.add(day, secrets.token_hex(16), _DAY_S)  # of processes that begin the day at once, one sets the key
    return salted_hmac(cache.get(day, ""), address, algorithm="sha256").hexdigest()


def _remember(cache: BaseCache, client: str, assignment_id: int, hit_id: int) -> None:
    cache.set(f"{_PREFIX}.assignment.{assignment_id}", client, _DAY_S)
    count = f"{_PREFIX}.count.{client}"
    cache.add(count, 0, _DAY_S)
    cache.set(f"{_PREFIX}.hit.{client}.{cache.incr(count)}", hit_id, _DAY_S)


def _count_refusal(cache: BaseCache, key: str) -> None:
    cache.add(key, 0, _HOUR_S)
    cache.incr(key)


def _hits(cache: BaseCache, client: str) -> list[int]:
    n = min(cache.get(f"{_PREFIX}.count.{client}", 0), _MOST_HITS)
    return list(cache.get_many([f"{_PREFIX}.hit.{client}.{k}" for k in range(1, n + 1)]).values()) if n else []


def _ask(call: Callable[[BaseCache], T], otherwise: T) -> T:
    try:
        return call(caches[_CACHE])
    except cache_errors(ValueError) as error:  # ValueError: a counter was evicted
        logger.warning("Clients cannot be distinguished, the cache does not answer: %s", error)
        return otherwise
