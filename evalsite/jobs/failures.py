"""What follows when a job fails, written in one transaction with the failure; and who may have it done again."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from evalsite.jobs.discovery import load_handlers
from evalsite.jobs.models import Job

logger = logging.getLogger(__name__)
Reaction = Callable[[Job], object]
_reactions: dict[str, Reaction] = {}
Guard = Callable[[Job], bool]
_guards: dict[str, Guard] = {}


def on_failure(kind: str) -> Callable[[Reaction], Reaction]:
    """Have the decorated function called with each job of `kind` that has failed, in the transaction that says so.

    A retry that fails as well is another failure. What the function raises is logged, and undone without the failure.
    """

    def register(reaction: Reaction) -> Reaction:
        if kind in _reactions:
            raise ValueError(f"two reactions to failed jobs of kind {kind!r}")
        _reactions[kind] = reaction
        return reaction

    return register


def may_retry(kind: str) -> Callable[[Guard], Guard]:
    """Have the decorated function asked whether the owner of a failed job of `kind` may still have it done again."""

    def register(guard: Guard) -> Guard:
        if kind in _guards:
            raise ValueError(f"two guards of failed jobs of kind {kind!r}")
        _guards[kind] = guard
        return guard

    return register


def is_retry_allowed(job: Job) -> bool:
    """Return whether the owner of a failed job may have it done again; of kinds without a guard, always."""
    load_handlers()
    guard = _guards.get(job.kind)
    return guard is None or guard(job)


def record_failure(job: Job, still: QuerySet[Job], now: datetime, **fields: Any) -> bool:
    """Write down that a job has failed, with its error, if it is `still` as expected; return whether it was."""
    load_handlers()
    ended = {"status": Job.Status.FAILED, "lease_token": None, "lease_until": None, "finished_at": now}
    with transaction.atomic():
        is_recorded = bool(still.update(**ended, **fields))
        if is_recorded and (reaction := _reactions.get(job.kind)):
            job.refresh_from_db()
            try:
                with transaction.atomic():
                    reaction(job)
            except Exception:
                logger.exception("nothing follows from the failure of %s", job)
    return is_recorded
