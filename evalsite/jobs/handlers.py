"""What apps use of jobs: enqueue one, register what runs it, in their own `tasks.py`, and what every sweep does."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction

from evalsite.accounts.models import User
from evalsite.jobs.discovery import load_handlers
from evalsite.jobs.models import STAGE_LENGTH, Job
from evalsite.jobs.services import hand_over
from evalsite.lib.memory import keep_for_good
from evalsite.lib.plugins import place_of

logger = logging.getLogger(__name__)

Handler = Callable[..., None]
PeriodicTask = Callable[[], object]
Subject = Callable[[Job], int | None]
_handlers: dict[str, Handler] = {}
_titles: dict[str, str] = {}
_subjects: dict[str, Subject] = {}
_late_imports: set[str] = set()
_periodic_tasks: list[PeriodicTask] = []


class LeaseLostError(Exception):
    """Another worker owns this job now; what this one does no longer counts."""


class Progress(NamedTuple):
    """How far a job is; a total of 0 is not known."""

    done: int = 0
    total: int = 0
    stage: str = ""


class JobContext:
    """What a handler reports of its job. `JobContext()` has no job behind it: for unit tests of handlers."""

    def __init__(self, hold_lease: Callable[[], None] = lambda: None) -> None:
        self.reported = Progress()
        self.lease_lost = False
        self._hold_lease = hold_lease

    def progress(self, done: int, total: int, stage: str = "") -> None:
        """Say how far the work is; an empty `stage` leaves the text as it was.

        Cheap in an inner loop and safe in a transaction: a thread of its own writes the latest report a few
        times a second. Raises LeaseLostError if the job was taken away: let it pass.
        """
        if self.lease_lost:
            raise LeaseLostError
        self.reported = Progress(min(done, total), total, stage[:STAGE_LENGTH] or self.reported.stage)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Open the transaction that stores the handler's result; it commits only under a valid lease.

        Raises LeaseLostError, before anything is written, if another worker owns the job now.
        """
        with transaction.atomic():
            self._hold_lease()
            yield


def job_handler(kind: str, title: str = "", imports: Sequence[str] = ()) -> Callable[[Handler], Handler]:
    """Register the decorated function `handler(ctx, **args)` for jobs of `kind`, which lists call `title`.

    A handler may run more than once for one job, and must leave the same state as if it had run once. `imports` names
    the large modules that its work imports where it uses them: job workers import them when they start.
    """

    def register(handler: Handler) -> Handler:
        if kind in _handlers:
            raise ValueError(f"two handlers for jobs of kind {kind!r}")
        _handlers[kind] = handler
        _titles[kind] = title or kind
        _late_imports.update(imports)
        return handler

    return register


def import_for_jobs() -> None:
    """Import handlers and the large modules that they name, so that the first job of a process does not wait."""
    load_handlers()
    for name in sorted(_late_imports):
        import_module(place_of(name))
    keep_for_good()


def job_subject(kind: str) -> Callable[[Subject], Subject]:
    """Have the decorated function asked for the key of what a job of `kind` is about; None if that is gone."""

    def register(subject: Subject) -> Subject:
        if kind in _subjects:
            raise ValueError(f"two subjects of jobs of kind {kind!r}")
        _subjects[kind] = subject
        return subject

    return register


def subject_of(job: Job) -> int | None:
    """Return the key of what a job is about; None if that is gone, or it is about nothing in particular."""
    load_handlers()
    try:
        return _subjects[job.kind](job) if job.kind in _subjects else None
    except (ObjectDoesNotExist, KeyError):  # a job of a version before may have other arguments
        return None


def list_kinds() -> dict[str, str]:
    """Return the title of each kind of jobs, by title."""
    load_handlers()
    return dict(sorted(_titles.items(), key=lambda item: item[1]))


def get_handler(kind: str) -> Handler:
    """Return the handler of `kind`; raise LookupError naming the known kinds."""
    load_handlers()
    try:
        return _handlers[kind]
    except KeyError:
        raise _unknown(kind) from None


def _unknown(kind: str) -> LookupError:
    return LookupError(f"no handler for jobs of kind {kind!r}; known: {sorted(_handlers)}")


def enqueue(kind: str, *, owner: User | None = None, args: dict[str, Any] | None = None) -> Job:
    """Write a job in the caller's transaction; a worker hears of it once that has committed.

    `args` hold ids only. Raises LookupError if no handler is registered for `kind`. A broker that does not
    answer is logged, not raised: the sweeper hands the job on later.
    """
    load_handlers()
    if kind not in _handlers:
        raise _unknown(kind)
    job = Job.objects.create(kind=kind, owner=owner, args=args or {})
    transaction.on_commit(partial(hand_over, job.pk))
    return job


def periodic_task(work: PeriodicTask) -> PeriodicTask:
    """Have the decorated function called at every sweep: it must be quick, and safe to run twice at once."""
    _periodic_tasks.append(work)
    return work


def run_periodic_tasks() -> None:
    """Call every periodic task; what one raises is logged and does not keep the next from its turn."""
    load_handlers()
    for work in _periodic_tasks:
        try:
            work()
        except Exception:
            logger.exception("the periodic task %s failed; next try at the next sweep", getattr(work, "__name__", work))
