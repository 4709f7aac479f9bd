"""The life of a campaign: draft → ready → running ⇄ paused → closed; its copies, and its archiving."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from campaigns.checklist import checklist, missing, to_confirm
from campaigns.contracts.events import CampaignClosed, CampaignLaunched
from campaigns.models import LONGEST_NAME, Campaign, Chatbot, Hit, HitItem, Membership, Output, Source
from campaigns.queries import proposed_settings
from campaigns.services.campaigns import check_id, link_and_create, new_seed
from campaigns.services.rows import refresh_statistics
from campaigns.services.webhooks import announce
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.lib.errors import DomainError

Status = Campaign.Status
# What a copy does not take over, or gets new.
_OWN = {
    "id",
    "public_id",
    "name",
    "status",
    "replicates",
    "created_at",
    "launched_at",
    "closed_at",
    "archived_at",
    "seed",
    "build_job",
    "deletion_job",
    "platform_secrets",
    "account_data",
}


@transaction.atomic
def launch_campaign(*, campaign: Campaign, is_confirmed: bool = False) -> None:
    """Give HITs out; once launched, do nothing.

    Raises DomainError `not_ready`, naming all that is missing, or `no_worker_can_pass`, unless that is confirmed.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.is_launched:
        return
    if locked.archived_at:
        raise DomainError("archived", "The campaign is archived. Unarchive it first: Settings → Archive.")
    steps = checklist(locked)
    if lacks := missing(steps):
        text = " ".join(f"{step.title}: {step.text}" for step in lacks)
        raise DomainError("not_ready", f"The campaign cannot be launched yet. {text}")
    if (errors := to_confirm(steps)) and not is_confirmed:
        text = " ".join(step.text for step in errors)
        raise DomainError("no_worker_can_pass", f"{text} To launch it all the same, confirm that.")
    if locked.crowd_platform.has_account:
        locked.hits.update(is_offered=False)  # until they are published there
    settings = {**locked.platform_settings, **proposed_settings(locked)}
    now = timezone.now()
    _move(locked, Status.RUNNING, {Status.READY}, launched_at=now, platform_settings=settings)
    n_hits = locked.hits.count()
    data = CampaignLaunched(launched_at=now, n_hits=n_hits, n_places=n_hits * locked.workers_per_hit)
    announce(campaign_id=locked.pk, data=data)


def pause_campaign(*, campaign: Campaign) -> None:
    """Give no more HITs out; who has one may finish it. Raises DomainError `wrong_status`."""
    _move(campaign, Status.PAUSED, {Status.RUNNING})


def resume_campaign(*, campaign: Campaign) -> None:
    """Give HITs out again; raise DomainError `wrong_status`."""
    _move(campaign, Status.RUNNING, {Status.PAUSED})


@transaction.atomic
def close_campaign(*, campaign: Campaign) -> None:
    """End a campaign for good and have it analysed; who has a HIT may finish it. Raises DomainError `wrong_status`."""
    if _move(campaign, Status.CLOSED, {Status.RUNNING, Status.PAUSED}, closed_at=timezone.now()):
        announce_end(campaign)
        enqueue("analysis.campaign", args={"campaign": campaign.pk})


@transaction.atomic
def archive_campaign(*, campaign: Campaign) -> None:
    """Leave a campaign out of lists; nothing is lost. Raises DomainError `still_open` for one that may get ratings."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.status in (Status.RUNNING, Status.PAUSED):
        raise DomainError("still_open", f"The campaign is {locked.status}. Close it first, then archive it.")
    if locked.archived_at is None:
        Campaign.objects.filter(pk=campaign.pk).update(archived_at=timezone.now())
    campaign.refresh_from_db(fields=["archived_at"])


def unarchive_campaign(*, campaign: Campaign) -> None:
    """Have an archived campaign in lists again; once is enough."""
    Campaign.objects.filter(pk=campaign.pk).update(archived_at=None)
    campaign.archived_at = None


def announce_end(campaign: Campaign) -> None:
    """Announce that a campaign is closed, in the transaction that closes it."""
    assert campaign.closed_at
    n_left = campaign.hits.aggregate(n=Sum("n_places_left", default=0))["n"]
    announce(campaign_id=campaign.pk, data=CampaignClosed(closed_at=campaign.closed_at, n_places_left=n_left))


def _move(campaign: Campaign, to: Status, since: Iterable[Status], **fields: Any) -> bool:
    """Change the status in one UPDATE that names what it expects; return False if a second click finds it done."""
    is_moved = bool(Campaign.objects.filter(pk=campaign.pk, status__in=since).update(status=to, **fields))
    if not is_moved:
        campaign.refresh_from_db(fields=["status"])
        if campaign.status != to:
            raise DomainError(
                "wrong_status", f"The campaign is {campaign.status} now, so this cannot be done. Reload the page."
            )
    campaign.refresh_from_db(fields=["status", *fields])
    return is_moved


@transaction.atomic
def duplicate_campaign(
    *, campaign: Campaign, owner: User, as_replication: bool, public_id: UUID | None = None
) -> Campaign:
    """Make a draft with the same data, settings, criteria, systems and chatbots, a new seed, no HITs but given ones.

    Secrets of chatbots and keys of the crowd platform are copied for those who may edit. As a replication it knows the
    campaign that it is a run of. A `public_id` that the owner has a campaign of gives that campaign: a form sent twice
    makes one; raises DomainError `id_taken` for another's. The rows are copied inside the database: seconds for
    100,000 outputs.
    """
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)  # of two clicks at once, the second waits
    if not campaign.is_launched:  # no import comes between the rows; of a running one, workers need not wait
        campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if public_id and (made := owner.campaigns.filter(public_id=public_id).first()):
        return made
    check_id(public_id)
    fields = {field.name: getattr(campaign, field.name) for field in Campaign._meta.fields if field.name not in _OWN}
    copy = Campaign.objects.create(
        **fields,
        public_id=public_id or uuid4(),
        name=_name_of_copy(campaign, as_replication),
        replicates=campaign if as_replication else None,
        seed=new_seed(),
    )
    Membership.objects.create(campaign=copy, user=owner, role=Membership.Role.OWNER)
    _copy_criteria(campaign, copy)
    systems = list(campaign.systems.all())
    for system in systems:
        system.pk, system.campaign = None, copy
    copy.systems.bulk_create(systems)
    can_edit = campaign.memberships.filter(user=owner).exclude(role=Membership.Role.VIEWER).exists()
    if can_edit and campaign.platform_secrets:
        copy.platform_secrets = campaign.platform_secrets
        copy.save(update_fields=["platform_secrets"])
    _copy_chatbots(campaign, copy, with_secrets=can_edit)
    _copy_rows(_COPY_OUTPUTS, campaign, copy)
    if campaign.has_given_hits:
        _copy_rows(_COPY_HITS, campaign, copy)
        if campaign.status != Status.DRAFT:
            Campaign.objects.filter(pk=copy.pk).update(status=Status.READY)
    copy.refresh_from_db()
    return copy


def _copy_criteria(campaign: Campaign, copy: Campaign) -> None:
    """Copy the criteria; one that is shown on the answer to another is shown on the copy of that one."""
    criteria = {criterion.pk: criterion for criterion in campaign.criteria.all()}
    for criterion in criteria.values():
        criterion.pk, criterion.campaign = None, copy
        criterion.shown_on = criteria[criterion.shown_on_id] if criterion.shown_on_id else None
    link_and_create(list(criteria.values()))


def _copy_chatbots(campaign: Campaign, copy: Campaign, *, with_secrets: bool) -> None:
    """Copy the chatbots; both speak from the same files of dialogues.

    A viewer, who owns the copy, could send secrets anywhere from there: that copy has none.
    """
    systems = {system.name: system for system in copy.systems.all()}
    chatbots = list(Chatbot.objects.filter(system__campaign=campaign).select_related("system"))
    for chatbot in chatbots:
        chatbot.pk, chatbot.system, chatbot.spent = None, systems[chatbot.system.name], Decimal(0)
        if chatbot.secrets and not with_secrets:
            chatbot.secrets, chatbot.tested = "", {}
    Chatbot.objects.bulk_create(chatbots)


def _name_of_copy(campaign: Campaign, as_replication: bool) -> str:
    run = re.search(r" \(run (\d+)\)$", campaign.name)
    base = re.sub(r" \((run \d+|changed)\)$", "", campaign.name)
    n_before = int(run[1]) if run else 1
    end = f" (run {n_before + campaign.replications.count() + 1})" if as_replication else " (changed)"
    return base[: LONGEST_NAME - len(end)] + end


# Names are unique in a campaign, so they tell which copy belongs to which original. `old` and `new` are campaigns.
_COPY_OUTPUTS = (
    """
    INSERT INTO campaigns_source (campaign_id, name, fields, attribute_values, document, place)
    SELECT %(new)s, name, fields, attribute_values, document, place
    FROM campaigns_source WHERE campaign_id = %(old)s ORDER BY id
    """,
    """
    INSERT INTO campaigns_output (source_id, system_id, text)
    SELECT new_source.id, new_system.id, output.text
    FROM campaigns_output output
    JOIN campaigns_source source ON source.id = output.source_id
    JOIN campaigns_source new_source ON new_source.campaign_id = %(new)s AND new_source.name = source.name
    JOIN campaigns_system system ON system.id = output.system_id
    JOIN campaigns_system new_system ON new_system.campaign_id = %(new)s AND new_system.name = system.name
    WHERE source.campaign_id = %(old)s ORDER BY output.id
    """,
)
_COPY_HITS = (
    """
    INSERT INTO campaigns_hit (campaign_id, number, n_places_left, is_offered, weight)
    SELECT %(new)s, number, %(places)s, TRUE, 1 FROM campaigns_hit WHERE campaign_id = %(old)s ORDER BY number
    """,
    """
    INSERT INTO campaigns_hititem (hit_id, position, kind, output_id, twin_position, text, page)
    SELECT new_hit.id, item.position, item.kind, new_output.id, item.twin_position, item.text, item.page
    FROM campaigns_hititem item
    JOIN campaigns_hit hit ON hit.id = item.hit_id
    JOIN campaigns_hit new_hit ON new_hit.campaign_id = %(new)s AND new_hit.number = hit.number
    JOIN campaigns_output output ON output.id = item.output_id
    JOIN campaigns_source source ON source.id = output.source_id
    JOIN campaigns_source new_source ON new_source.campaign_id = %(new)s AND new_source.name = source.name
    JOIN campaigns_system system ON system.id = output.system_id
    JOIN campaigns_system new_system ON new_system.campaign_id = %(new)s AND new_system.name = system.name
    JOIN campaigns_output new_output ON new_output.source_id = new_source.id AND new_output.system_id = new_system.id
    WHERE hit.campaign_id = %(old)s ORDER BY item.id
    """,
    """
    INSERT INTO campaigns_hititem (hit_id, position, kind, text, page, fields)
    SELECT new_hit.id, item.position, item.kind, item.text, item.page, item.fields
    FROM campaigns_hititem item
    JOIN campaigns_hit hit ON hit.id = item.hit_id
    JOIN campaigns_hit new_hit ON new_hit.campaign_id = %(new)s AND new_hit.number = hit.number
    WHERE hit.campaign_id = %(old)s AND item.output_id IS NULL ORDER BY item.id
    """,
)


def _copy_rows(statements: Iterable[str], old: Campaign, new: Campaign) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            named = {"old": old.pk, "new": new.pk, "places": new.workers_per_hit}
            cursor.execute(statement, {name: named[name] for name in named if f"%({name})s" in statement})
    refresh_statistics(Source, Output, Hit, HitItem)
