"""Building a campaign's HITs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import repeat
from typing import Any

import numpy as np
from django.db import transaction

from campaigns.building.inputs import BuildInputs
from campaigns.building.planning import make_plan
from campaigns.building.texts import write_texts
from campaigns.design.plan import Hits
from campaigns.hit_queries import get_estimate, read_build_inputs
from campaigns.models import Campaign, Hit
from campaigns.queries import BUILD
from campaigns.services.campaigns import lock_for_change
from campaigns.services.rows import ItemRow, delete_hits, insert_items
from campaigns.stored_files import CampaignFiles, drop_files, store_files
from evalsite.accounts.models import User
from evalsite.jobs.files import delete_on_commit
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError

OnProgress = Callable[[int, int, str], None]

# How often building starts over when somebody changes the campaign meanwhile.
_ATTEMPTS = 3
_REPORT_EVERY = 1000


@transaction.atomic
def build_hits(*, campaign: Campaign, user: User) -> Job:
    """Queue the building of a campaign's HITs; of two clicks, the second gets the first one's job.

    Raises DomainError: `frozen` after the launch, `given_hits` if they came with a file, or, with the numbers, why
    the design cannot be built.
    """
    locked = lock_for_change(campaign)
    _check_own(locked)
    get_estimate(locked)
    if locked.build_job and not locked.build_job.is_finished:
        return locked.build_job
    locked.build_job = enqueue(BUILD, owner=user, args={"campaign": locked.pk})
    locked.save(update_fields=["build_job"])
    return locked.build_job


@transaction.atomic
def use_own_hits(*, campaign: Campaign) -> dict[str, Any]:
    """Let the design decide instead of the HITs that came with a file; they stay until new ones are built.

    Returns what was before, for `keep_given_hits`; nothing where none came with a file. Raises DomainError `frozen`.
    """
    locked = lock_for_change(campaign)
    if not locked.has_given_hits:
        return {}
    before = {"n_tutorial": locked.n_tutorial, "status": locked.status, "first_hit": _first_hit(locked)}
    locked.has_given_hits, locked.n_tutorial = False, 0
    locked.status = Campaign.Status.DRAFT
    locked.save(update_fields=["has_given_hits", "n_tutorial", "status"])
    return before


@transaction.atomic
def keep_given_hits(*, campaign: Campaign, before: Mapping[str, Any]) -> None:
    """Take `use_own_hits` back; raise DomainError `rebuilt` once other HITs were built, or `frozen`."""
    locked = lock_for_change(campaign)
    if locked.has_given_hits or before["first_hit"] != _first_hit(locked):
        raise DomainError("rebuilt", "The HITs of the file were replaced meanwhile. Upload the file again.")
    locked.has_given_hits, locked.n_tutorial, locked.status = True, before["n_tutorial"], before["status"]
    locked.save(update_fields=["has_given_hits", "n_tutorial", "status"])


def _first_hit(campaign: Campaign) -> int | None:
    return campaign.hits.order_by("pk").values_list("pk", flat=True).first()


def execute_build(
    *, campaign: Campaign, on_progress: OnProgress, saving: Callable[[], AbstractContextManager[None]]
) -> None:
    """Build the HITs from what the campaign holds and replace those it has.

    `saving` opens the transaction that stores them. They are made before it and stored only if nothing has changed
    meanwhile; else building starts over. A campaign that has been launched is left as it is. Raises DomainError if
    they cannot be built, or `changing` if the campaign is changed again and again.
    """
    for _ in range(_ATTEMPTS):
        current = Campaign.objects.get(pk=campaign.pk)
        if current.is_launched:  # an earlier attempt of this job has built them
            return
        _check_own(current)
        on_progress(0, 0, "Reading the outputs")
        inputs = read_build_inputs(current)
        plan = make_plan(inputs)
        with CampaignFiles(current) as files:
            texts = write_texts(inputs, plan, lambda done, total: on_progress(done, total, "Degrading texts"), files)
            with files.written(is_made=True) as rows, saving():
                locked = lock_for_change(current)
                _check_own(locked)
                if read_build_inputs(locked).is_same(inputs):
                    _replace_hits(locked, inputs, plan.hits, texts, on_progress)
                    drop_files(locked, only_made=True)
                    store_files(locked, rows)
                    return
                delete_on_commit(*(row.file.name or "" for row in rows))
    raise DomainError("changing", "The campaign was changed while its HITs were being built. Build them again.")


def _check_own(campaign: Campaign) -> None:
    if campaign.has_given_hits:
        raise DomainError("given_hits", "These HITs came with the file. Choose to build new ones first.")


def _replace_hits(
    campaign: Campaign, inputs: BuildInputs, hits: Hits, texts: list[str], on_progress: OnProgress
) -> None:
    """Store the HITs, all their places free, which replace the campaign's former ones; it is ready then."""
    delete_hits(campaign)
    n_hits = int(hits.hit[-1]) + 1
    stored = Hit.objects.bulk_create(
        Hit(campaign=campaign, number=number, n_places_left=campaign.workers_per_hit) for number in range(1, n_hits + 1)
    )
    insert_items(_item_rows(inputs, hits, texts, np.array([hit.pk for hit in stored]), on_progress))
    campaign.status = Campaign.Status.READY
    campaign.save(update_fields=["status"])


def _item_rows(
    inputs: BuildInputs, hits: Hits, texts: list[str], hit_ids: np.ndarray, on_progress: OnProgress
) -> Iterator[ItemRow]:
    """Yield the items' rows, in order of HIT and position."""
    outputs = np.append(inputs.output_ids, inputs.degraded_id or 0)  # −1 is the degraded chatbot
    columns = (hit_ids[hits.hit], hits.position, hits.kind, outputs[hits.output], hits.twin_position)
    pages = repeat(None) if hits.page is None else hits.page.tolist()
    rows = zip(*(column.tolist() for column in columns), texts, pages, strict=False)
    for n_done, (hit, position, kind, output, twin, text, page) in enumerate(rows):
        if n_done % _REPORT_EVERY == 0:
            on_progress(n_done, len(texts), "Storing the HITs")
        yield hit, position, kind, output, twin if twin > 0 else None, text, page
