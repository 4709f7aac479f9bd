"""Erasing the personal data of one worker of a campaign; the scores stay, under a label."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Worker
from campaigns.contracts.records import Erasure, Held
from campaigns.models import Campaign, Deletion
from campaigns.services.deletion import list_records
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import forget_acts

CHOICES = ("feedback", "telemetry", "chats", "results")
"""What may be erased besides the name and ids."""


@dataclass(frozen=True)
class ErasurePlan:
    """What erasing a worker would do: what stands in its way, what is kept and why, which results hold the name."""

    refusals: list[str]
    kept: list[str]
    held: list[Held]


def plan_erasure(*, campaign: Campaign, worker: Worker) -> ErasurePlan:
    """Return what erasing a worker's personal data would do."""
    erasure, apps = Erasure(campaign.pk, worker.pk, 0, worker.name), list_records()
    return ErasurePlan(
        _refusals(erasure),
        [text for app in reversed(apps) for text in app.kept(erasure)],
        [held for app in apps for held in app.list_held(erasure)],
    )


def _refusals(erasure: Erasure) -> list[str]:
    return [text for app in list_records() for text in app.erasure_refusals(erasure)]


def stored_data(*, campaign: Campaign, worker: Worker) -> dict[str, Any]:
    """Return what the installation stores on a worker in a campaign, by app; `results` that hold the name by title."""
    erasure, apps = Erasure(campaign.pk, worker.pk, 0, worker.name), list_records()
    found = {name: value for app in reversed(apps) for name, value in app.stored(erasure).items()}
    return found | {"results": [held.title for app in apps for held in app.list_held(erasure)]}


@transaction.atomic
def erase_worker(*, campaign: Campaign, worker: Worker, wants: Collection[str], user: User | None) -> Worker | None:
    """Erase a worker's personal data in a campaign, and what was chosen of CHOICES; return who stands in their place.

    That is nobody where the worker was invited only. In other campaigns the worker stays as they are. `user` is None
    where the time has come to erase them. Raises DomainError `not_now` with all that stands in the way, or `erased` if
    it was done before.
    """
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if worker.erased_at:
        raise DomainError("erased", "The personal data of this worker were erased before.")
    if refusals := _refusals(Erasure(campaign.pk, worker.pk, 0, worker.name)):
        raise DomainError("not_now", " ".join(refusals))
    now = timezone.now()
    # Its key follows from its number, which is the same in every file.
    erased = Worker.objects.create(platform=worker.platform, key=f"{campaign.public_id}:{uuid4()}", erased_at=now)
    erased.key = f"{campaign.public_id}:erased-{erased.pk}"
    erased.save(update_fields=["key"])
    erasure = Erasure(campaign.pk, worker.pk, erased.pk, worker.name, frozenset(wants))
    n_assignments = Assignment.objects.filter(campaign=campaign, worker=worker).count()
    forget_acts(campaign.public_id)
    for app in list_records():
        app.erase(erasure)
    is_used = any(
        relation.related_model._base_manager.filter(**{relation.field.name: erased.pk}).exists()
        for relation in Worker._meta.related_objects
    )
    if not is_used:
        erased.delete()
    Deletion.objects.create(
        kind=Deletion.Kind.WORKER,
        name=f"{erased.name} of {campaign.name}"[:255] if is_used else f"invited rater of {campaign.name}"[:255],
        object_id=campaign.public_id,
        contents=[[n_assignments, "assignment", ", ".join(sorted(wants))]],
        done_by=user,
        done_at=now,
    )
    return erased if is_used else None
