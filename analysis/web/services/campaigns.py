"""Analysing what a campaign's workers have rated so far."""

import hashlib
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO

from django.db import transaction
from django.utils.text import slugify

from analysis.models import AnalysisRun, RatingsFile
from analysis.web.queries.campaigns import (
    ANALYSE,
    find_waiting_job,
    get_rating_progress,
    newest_snapshot_of,
    settings_at,
)
from analysis.web.queries.finished_work import write_responses
from analysis.web.queries.ratings_files import OWN_LARGE
from analysis.web.services.ratings_files import keep_file
from analysis.web.services.runs import start_run
from annotation.export.tables import ResponseTable, table_of
from annotation.models import Invitation, Worker
from annotation.worker_names import real_name
from campaigns.contracts.attributes import DRAW_WEIGHT, OF_RATERS, TAKEN_ATTRIBUTES, plain_attribute
from campaigns.methods import methods
from campaigns.models import Campaign, Membership
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError

_CHUNK = 1 << 20
_ENDED_WELL = (Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.SUCCEEDED)


@transaction.atomic
def request_analysis(*, campaign: Campaign, user: User) -> Job:
    """Queue the analysis of the ratings so far; of two clicks on one button, the second gets the first one's job.

    Raises DomainError `no_ratings`, `bad_settings`, or `nothing_new` if the last snapshot holds the same ratings and
    was analysed by the same settings.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if job := find_waiting_job(locked):
        return job
    n_finished = get_rating_progress(locked).n_finished
    if not n_finished:
        raise _no_ratings()
    settings = settings_at(locked, n_finished)
    snapshot = newest_snapshot_of(locked)
    is_same = snapshot and snapshot.n_assignments == n_finished and not _is_outdated(snapshot)
    if is_same and snapshot and _same_run(snapshot, settings.to_json()):
        raise DomainError("nothing_new", "Nothing was rated after the latest analysis, and the settings are the same.")
    return enqueue(ANALYSE, owner=user, args={"campaign": campaign.pk, "user": user.pk})


def analyse_campaign(
    *,
    campaign: Campaign,
    user: User | None = None,
    saving: Callable[[], AbstractContextManager[None]] = transaction.atomic,
) -> AnalysisRun:
    """Take a snapshot of the ratings of finished assignments and start its analysis by the campaign's settings.

    Ratings that the last snapshot holds already, and settings by which it was analysed, give the run that there is.
    `saving` opens the transaction that stores both. Without a user, the run is the campaign owner's.
    Raises DomainError `no_ratings` or `bad_settings`.
    """
    with tempfile.NamedTemporaryFile(prefix="snapshot-") as copy:
        table = table_of(campaign, methods[campaign.method].table)
        n_assignments = write_responses(copy, campaign, table, names=real_name)
        if not n_assignments:
            raise _no_ratings()
        settings = settings_at(campaign, n_assignments)
        with saving():
            Campaign.objects.select_for_update().get(pk=campaign.pk)  # of two jobs at once, one makes the snapshot
            snapshot = _keep_snapshot(campaign, copy, table, n_assignments)
            same = _same_run(snapshot, settings.to_json())
            return same or start_run(ratings_file=snapshot, user=user or snapshot.owner, settings=settings)


def _is_outdated(snapshot: RatingsFile) -> bool:
    """Tell whether a snapshot names somebody whose personal data were erased since, or attributes changed since."""
    erased = Worker.objects.filter(assignments__campaign=snapshot.campaign_id, erased_at__gt=snapshot.uploaded_at)
    changed = Invitation.objects.filter(campaign=snapshot.campaign_id, attributes_at__gt=snapshot.uploaded_at)
    return erased.exists() or changed.exists()


def _no_ratings() -> DomainError:
    return DomainError("no_ratings", "No HIT is finished yet, so there is nothing to analyse.")


def _same_run(snapshot: RatingsFile, settings: dict[str, object]) -> AnalysisRun | None:
    """Return the run of a snapshot, made from no other, that had these settings and did not fail."""
    runs = snapshot.runs.filter(parent=None, settings=settings, job__status__in=_ENDED_WELL)
    return runs.defer(*OWN_LARGE).first()


def _keep_snapshot(campaign: Campaign, copy: IO[bytes], table: ResponseTable, n_assignments: int) -> RatingsFile:
    """Return the last snapshot if its bytes are these, else a new one."""
    copy.seek(0)
    digest = hashlib.sha256()
    while chunk := copy.read(_CHUNK):
        digest.update(chunk)
    sha256 = digest.hexdigest()
    last = newest_snapshot_of(campaign)
    if last and last.sha256 == sha256:
        return last
    size = copy.tell()
    copy.seek(0)
    members = campaign.memberships.order_by("pk")
    keeper = members.filter(role=Membership.Role.OWNER).first() or members.first()
    if keeper is None:
        raise DomainError(
            "no_owner",
            f"Nobody is a member of “{campaign.name}” any more. An administrator can add an owner (Admin → Database).",
        )
    snapshot = RatingsFile(
        campaign=campaign,
        owner=keeper.user,
        title=campaign.name,
        name=f"{slugify(campaign.name)[:50] or 'campaign'}-{n_assignments}-assignments.csv",
        size=size,
        sha256=sha256,
        columns=list(table.columns),
        mapping={
            (OF_RATERS if column.casefold() == OF_RATERS else column): column
            for column in table.columns
            if (plain_attribute(column) in TAKEN_ATTRIBUTES and column != DRAW_WEIGHT) or column.casefold() == OF_RATERS
        },
        n_assignments=n_assignments,
    )
    return keep_file(snapshot, copy)
