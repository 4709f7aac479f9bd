"""Deleting a campaign: at once if no worker has seen it and it is small, else by a job."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from campaigns.contracts.records import Counted, Records, Rows
from campaigns.models import (
    Campaign,
    Chatbot,
    Criterion,
    Deletion,
    Delivery,
    Hit,
    HitItem,
    Output,
    Source,
    StoredFile,
    System,
    Upload,
    Webhook,
)
from campaigns.queries import of_set_up
from campaigns.services.campaigns import lock_for_change
from campaigns.services.chatbots import drop_dialogues
from campaigns.services.rows import delete_hits
from campaigns.stored_files import drop_files, own_names
from evalsite.accounts.models import User
from evalsite.jobs.files import delete_files, delete_on_commit
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry
from evalsite.lib.words import counted
from evalsite.undo.acts import forget_acts

logger = logging.getLogger(__name__)
DELETE = "campaigns.delete"
"""The kind of job that deletes a campaign."""
Status = Campaign.Status
_STOPPED = (Status.DRAFT, Status.READY, Status.CLOSED)
_AT_ONCE = 2000  # a transaction of so many rows takes tens of milliseconds, and nobody waits longer for the lock
_MOST_OUTPUTS = 50_000  # of what is deleted while somebody waits
_TRIES = 3
_records: Registry[type[Records]] = Registry("app", "EVALSITE_RECORDS")


def list_records() -> list[Records]:
    """Return what each app keeps of a campaign, those that refer to rows of others first."""
    return [records() for records in _records.all().values()]


def count_contents(campaign: Campaign) -> list[Counted]:
    """Return what goes with a campaign, as far as there is any of it."""
    return [each for app in reversed(list_records()) for each in app.count(campaign.pk) if each.n]


def warnings_of(campaign: Campaign) -> list[str]:
    """Return what a person has to know before a campaign is deleted."""
    return [text for app in list_records() for text in app.warnings(campaign.pk)]


def refusals_of(campaign: Campaign) -> list[str]:
    """Return why a campaign must not be deleted now, each with what to do; nothing if it may be."""
    status = [] if campaign.status in _STOPPED else [f"The campaign is {campaign.status}. Close it first."]
    return status + [text for app in list_records() for text in app.refusals(campaign.pk)]


def request_deletion(*, campaign: Campaign, user: User, name: str = "") -> Job | None:
    """Delete a campaign: at once and return None, or begin a job and return that. Once begun, it only goes on.

    Of a launched campaign its `name` has to be given. Raises DomainError `wrong_name`, or `not_now` with all that
    stands in the way.
    """
    if not campaign.is_launched and _is_small(campaign):
        delete_campaign(campaign=campaign, user=user)
        return None
    return _begin_deletion(campaign=campaign, user=user, name=name)


def _is_small(campaign: Campaign) -> bool:
    others = (app for app in list_records() if app.slug != CampaignRecords.slug)
    if any(each.n for app in others for each in app.count(campaign.pk)):
        return False
    return not Output.objects.filter(source__campaign=campaign)[_MOST_OUTPUTS:].exists()


@transaction.atomic
def _begin_deletion(*, campaign: Campaign, user: User, name: str) -> Job:
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.is_being_deleted and locked.deletion_job:
        return locked.deletion_job
    if refusals := refusals_of(locked):
        raise DomainError("not_now", " ".join(refusals))
    if locked.is_launched and " ".join(name.split()) != " ".join(locked.name.split()):
        raise DomainError("wrong_name", f"Type the campaign’s name as it is: {locked.name}")
    _note(locked, user)
    forget_acts(locked.public_id)
    for app in list_records():
        app.stop(locked.pk)
    locked.hits.update(n_places_left=0)  # nobody resumes
    locked.status = Status.DELETING
    locked.deletion_job = enqueue(DELETE, owner=user, args={"campaign": locked.pk})
    locked.save(update_fields=["status", "deletion_job"])
    return locked.deletion_job


def _note(campaign: Campaign, user: User | None) -> Deletion:
    """Write down who deletes the campaign and what goes: this is kept."""
    contents = [[each.n, each.noun, each.note] for each in count_contents(campaign)]
    logger.info("campaign %s is deleted by user %s", campaign.public_id, user.pk if user else None)
    return Deletion.objects.create(
        kind=Deletion.Kind.CAMPAIGN, name=campaign.name, object_id=campaign.public_id, done_by=user, contents=contents
    )


@transaction.atomic
def delete_campaign(*, campaign: Campaign, user: User | None = None) -> None:
    """Delete a campaign that no worker has seen, with all that it holds; raise DomainError `frozen` for others."""
    locked = lock_for_change(campaign)
    Deletion.objects.filter(pk=_note(locked, user).pk).update(done_at=timezone.now())
    forget_acts(locked.public_id)
    files = [name for both in locked.uploads.values_list("file", "packed") for name in both]
    dialogues = list(Chatbot.objects.filter(system__campaign=locked).values_list("dialogues", flat=True))
    delete_hits(locked)
    drop_files(locked)
    Output.objects.filter(source__campaign=locked)._raw_delete(using=connection.alias)
    Source.objects.filter(campaign=locked)._raw_delete(using=connection.alias)
    locked.delete()
    delete_on_commit(*files)
    drop_dialogues(dialogues)


def execute_deletion(
    *,
    campaign: Campaign,
    on_progress: Callable[[int, int, str], None],
    saving: Callable[[], AbstractContextManager[None]] = transaction.atomic,
) -> None:
    """Delete everything of a campaign that is being deleted, some rows at a time.

    Files go before the rows that name them, the campaign goes last. What is deleted stays deleted: after a crash the
    next try goes on with the rest. `saving` opens each transaction.
    """
    if not campaign.is_being_deleted:
        return
    on_progress(0, 0, "Deleting files")
    for app in list_records():
        app.delete_files(campaign.pk)
    total = sum(rows.found.count() for app in list_records() for rows in app.rows(campaign.pk))
    done = 0

    def note(n: int) -> None:
        nonlocal done
        done += n
        on_progress(done, max(total, done), "Deleting rows")

    for k in range(_TRIES):
        try:
            for app in list_records():
                for rows in app.rows(campaign.pk):
                    _delete_rows(rows, saving, note)
            with saving():
                Deletion.objects.filter(object_id=campaign.public_id, done_at=None).update(done_at=timezone.now())
                Campaign.objects.filter(pk=campaign.pk).delete()
                Job.objects.filter(args__campaign=campaign.pk).exclude(kind=DELETE).delete()
            return
        except IntegrityError:  # what had begun before has still written something
            if k == _TRIES - 1:
                raise


def _delete_rows(rows: Rows, saving: Callable[[], AbstractContextManager[None]], note: Callable[[int], None]) -> None:
    """Delete rows, some in each transaction."""
    model: Any = rows.found.model
    rest = rows.found.order_by("pk").values_list("pk", *([rows.of] if rows.of else []))
    last: Any = None
    while True:
        with saving():
            # From the last key on: else each lot would walk again through the rows of other campaigns before it.
            lot = list((rest.filter(pk__gt=last) if last else rest)[:_AT_ONCE])
            found: QuerySet[Any] = model._base_manager.filter(pk__in=[each[0] for each in lot])
            found._raw_delete(using=connection.alias)
            if rows.follow:
                rows.follow({each[1] for each in lot if each[1] is not None})
        note(len(lot))
        if len(lot) < _AT_ONCE:
            return
        last = lot[-1][0]


def _delete_jobs(jobs: set[Any]) -> None:
    Job.objects.filter(pk__in=jobs).delete()


class CampaignRecords(Records):
    """What a researcher configured."""

    slug = "campaigns"

    def count(self, campaign_id: int) -> list[Counted]:
        """Return the numbers of systems, outputs, HITs, and files."""
        return [
            Counted(System.objects.filter(campaign=campaign_id).count(), "system"),
            Counted(Source.objects.filter(campaign=campaign_id).count(), "source"),
            Counted(Output.objects.filter(source__campaign=campaign_id).count(), "output"),
            Counted(Hit.objects.filter(campaign=campaign_id).count(), "HIT"),
            Counted(StoredFile.objects.filter(campaign=campaign_id).count(), "picture"),
            Counted(Upload.objects.filter(campaign=campaign_id).count(), "uploaded file"),
            Counted(Webhook.objects.filter(campaign=campaign_id).count(), "webhook"),
        ]

    def refusals(self, campaign_id: int) -> list[str]:
        """Return that a file is being imported, or HITs are built."""
        unfinished = self._jobs(campaign_id).filter(status__in=[Job.Status.QUEUED, Job.Status.RUNNING])
        if n := unfinished.count():
            return [f"{counted(n, 'job')} of the campaign {'is' if n == 1 else 'are'} not finished. Wait for the end."]
        return []

    def _jobs(self, campaign_id: int) -> QuerySet[Job]:
        campaign = Campaign.objects.get(pk=campaign_id)
        return Job.objects.filter(of_set_up(campaign) | Q(args__campaign=campaign_id)).exclude(kind=DELETE)

    def delete_files(self, campaign_id: int) -> None:
        """Delete uploads, files that no other campaign has, and dialogues that no other chatbot speaks from."""
        uploads = Upload.objects.filter(campaign=campaign_id).values_list("file", "packed")
        delete_files([name for both in uploads for name in both if name], [])
        for campaign in Campaign.objects.filter(pk=campaign_id):  # none, if it went before
            delete_files(own_names(campaign), [])
        own = Chatbot.objects.filter(system__campaign=campaign_id)
        others = Chatbot.objects.exclude(system__campaign=campaign_id)
        names = set(own.exclude(dialogues="").values_list("dialogues", flat=True))
        delete_files([name for name in names if not others.filter(dialogues=name).exists()], [])

    def rows(self, campaign_id: int) -> list[Rows]:
        """Return the tables; the campaign itself and its members come last, apart."""
        of = {"campaign": campaign_id}
        return [
            Rows(Delivery.objects.filter(webhook__campaign=campaign_id)),
            Rows(Webhook.objects.filter(**of)),
            Rows(HitItem.objects.filter(hit__campaign=campaign_id)),
            Rows(Hit.objects.filter(**of)),
            Rows(Output.objects.filter(source__campaign=campaign_id)),
            Rows(Source.objects.filter(**of)),
            Rows(StoredFile.objects.filter(**of)),
            Rows(Chatbot.objects.filter(system__campaign=campaign_id)),
            Rows(System.objects.filter(**of)),
            Rows(Criterion.objects.filter(**of)),
            Rows(Upload.objects.filter(**of), "job", _delete_jobs),
        ]
