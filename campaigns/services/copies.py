"""Copies of a campaign: a draft made of its design, with its systems and outputs."""

import re
from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

from django.core.files.base import ContentFile
from django.db import connection, transaction

from campaigns.design_file import Design, read_design
from campaigns.models import (
    CHAT,
    LONGEST_NAME,
    Campaign,
    Chatbot,
    Criterion,
    Hit,
    HitItem,
    Membership,
    Output,
    Source,
    System,
)
from campaigns.services.campaigns import check_id, check_method, link_and_create, new_seed
from campaigns.services.chatbots import replace_dialogues
from campaigns.services.contents import add_contents
from campaigns.services.rows import refresh_statistics
from campaigns.stored_files import copy_files
from evalsite.accounts.models import User


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
    if made := _made_before(owner, public_id):
        return made
    if not campaign.is_launched:  # no import comes between the rows; of a running one, workers need not wait
        campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    can_edit = campaign.memberships.filter(user=owner).exclude(role=Membership.Role.VIEWER).exists()
    copy = _store_design(
        read_design(campaign),
        owner,
        public_id=public_id,
        name=_name_of_copy(campaign, as_replication),
        replicates=campaign if as_replication else None,
        has_given_hits=campaign.has_given_hits,
        n_tutorial=campaign.n_tutorial,
        platform_secrets=campaign.platform_secrets if can_edit else "",
    )
    _copy_of_chatbots(campaign, copy, with_secrets=can_edit)
    _copy_rows(_COPY_OUTPUTS, campaign, copy)
    copy_files(campaign, copy)
    if campaign.has_given_hits:
        _copy_rows(_COPY_HITS, campaign, copy)
        if campaign.status != Campaign.Status.DRAFT:
            Campaign.objects.filter(pk=copy.pk).update(status=Campaign.Status.READY)
    copy.refresh_from_db()
    return copy


@transaction.atomic
def create_from_design(*, owner: User, design: Design, public_id: UUID | None = None) -> Campaign:
    """Make a draft of a design that a file has brought, with its outputs or chatbots; secrets are in no file.

    A `public_id` that the owner has a campaign of gives that campaign. Raises DomainError `id_taken` for another's, and
    what `check_method` refuses.
    """
    if made := _made_before(owner, public_id):
        return made
    campaign = _store_design(design, owner, public_id=public_id)
    check_method(campaign, is_new=False)
    if campaign.is_live:
        source = Source.objects.create(campaign=campaign, name=CHAT)
        Output.objects.bulk_create(Output(source=source, system=each, text="") for each in campaign.systems.all())
    elif design.contents:
        add_contents(campaign, design.contents, lambda *_: None, human=None if design.systems else ())
    for chatbot in Chatbot.objects.filter(system__campaign=campaign, system__name__in=design.dialogues):
        text = design.dialogues[chatbot.system.name]
        replace_dialogues(campaign=campaign, chatbot=chatbot, file=ContentFile(text.encode(), "dialogues.jsonl"))
    campaign.refresh_from_db()
    return campaign


def _made_before(owner: User, public_id: UUID | None) -> Campaign | None:
    """Return the owner's campaign with an id that was sent before; raise DomainError `id_taken` for another's."""
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)  # of two clicks at once, the second waits
    if public_id and (made := owner.campaigns.filter(public_id=public_id).first()):
        return made
    check_id(public_id)
    return None


def _store_design(design: Design, owner: User, *, public_id: UUID | None, **fields: Any) -> Campaign:
    """Make a draft of a design, with its criteria, systems and chatbots; `fields` are those it has beside."""
    values = {**design.campaign, **fields}
    campaign = Campaign.objects.create(**values, public_id=public_id or uuid4(), seed=new_seed())
    Membership.objects.create(campaign=campaign, user=owner, role=Membership.Role.OWNER)
    criteria = {
        each["name"]: Criterion(campaign=campaign, order=order, **{**each, "shown_on": None})
        for order, each in enumerate(design.criteria)
    }
    for each in design.criteria:
        criteria[each["name"]].shown_on = criteria.get(each["shown_on"])
    link_and_create(list(criteria.values()))
    stored = System.objects.bulk_create(System(campaign=campaign, **each) for each in design.systems)
    systems = {system.name: system for system in stored}
    Chatbot.objects.bulk_create(Chatbot(**{**each, "system": systems[each["system"]]}) for each in design.chatbots)
    return campaign


def _copy_of_chatbots(campaign: Campaign, copy: Campaign, *, with_secrets: bool) -> None:
    """Have chatbots of the copy speak from the same files of dialogues, with the same secrets.

    A viewer, who owns the copy, could send secrets anywhere from there: that copy has none.
    """
    copies = {each.system.name: each for each in Chatbot.objects.filter(system__campaign=copy).select_related("system")}
    for chatbot in Chatbot.objects.filter(system__campaign=campaign).select_related("system"):
        own = copies[chatbot.system.name]
        own.dialogues = chatbot.dialogues
        if with_secrets or not chatbot.secrets:
            own.secrets, own.tested = chatbot.secrets, chatbot.tested
    Chatbot.objects.bulk_update(copies.values(), ["dialogues", "secrets", "tested"])


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
    INSERT INTO campaigns_output (source_id, system_id, text, degraded)
    SELECT new_source.id, new_system.id, output.text, output.degraded
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
