"""Making campaigns and telling what may still be changed."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from campaigns.connectors import get_connector
from campaigns.contracts.protocol import Protocol
from campaigns.design.composition import Mix
from campaigns.models import CHAT, Campaign, Chatbot, Criterion, Membership, Output, Source, System
from campaigns.platforms import platforms
from campaigns.protocols import get_protocol
from campaigns.responses import check_settings
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

_SEED_BITS = 31
# It does not follow from the number of chatbots: a number to begin with.
_LIVE_HITS = 100
# What may be changed when workers have seen the campaign; of a platform's settings, how many workers there may be. The
# bounds of a stopping rule hold whatever makes one stop, and whenever one decides that.
CHANGEABLE_AFTER_LAUNCH = frozenset(
    {"name", "contact", "lease_minutes", "offers_text", "stopping_rule", "stopping_systems", "is_adaptive"}
)

DEGRADED = "degraded"
"""Name and connector of the degraded chatbot that a campaign begins with."""


@transaction.atomic
def create_campaign(*, owner: User, protocol: str, name: str = "", public_id: UUID | None = None) -> Campaign:
    """Make a draft with everything that its protocol presets, a live one with the degraded chatbot.

    Raises DomainError `unknown_protocol`, or `id_taken` for another's. A `public_id` that the owner has a campaign of
    gives that campaign: a form sent twice makes one.
    """
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)  # of two clicks at once, the second waits
    if public_id and (made := owner.campaigns.filter(public_id=public_id).first()):
        return made
    check_id(public_id)
    preset = get_protocol(protocol)
    campaign = Campaign.objects.create(
        public_id=public_id or uuid4(),
        name=name.strip() or preset.title,
        protocol=preset.slug,
        screen=preset.screen.to_json(),
        chat=preset.chat.to_json() if preset.chat else {},
        n_hits=_LIVE_HITS if preset.chat else None,
        instructions=default_instructions(preset),
        **mix_fields(preset.mix),
        seed=new_seed(),
        worker_test=preset.worker_test,
        alpha=preset.alpha,
        # What has no default is not set: its platform may propose a value once there are HITs.
        platform_settings={
            name: default for name, default in platforms["link"].options.defaults().items() if default is not None
        },
    )
    Membership.objects.create(campaign=campaign, user=owner, role=Membership.Role.OWNER)
    Criterion.objects.bulk_create(
        Criterion(
            campaign=campaign, order=order, **asdict(spec) | {"settings": check_settings(spec.response, spec.settings)}
        )
        for order, spec in enumerate(preset.criteria)
    )
    if campaign.is_live:
        store_chatbot(campaign=campaign, name=DEGRADED, connector=DEGRADED, is_degraded=True)
    return campaign


def check_id(public_id: UUID | None) -> None:
    """Raise DomainError `id_taken` if there is a campaign with an id that somebody has chosen."""
    if public_id and Campaign.objects.filter(public_id=public_id).exists():
        raise DomainError("id_taken", "This id cannot be used. Choose a new one at random.")


def store_chatbot(
    *,
    campaign: Campaign,
    name: str,
    connector: str,
    family: str = "",
    is_degraded: bool = False,
    settings: Mapping[str, Any] | None = None,
    **fields: object,
) -> Chatbot:
    """Store a chatbot with what represents it in HITs, inside the transaction of the change.

    Options that are left out have their defaults. Raises DomainError `unknown_connector` or `bad_option`.
    """
    found = get_connector(connector)
    checked = found.options.check(found.options.defaults() | dict(settings or {}))
    system = System.objects.create(campaign=campaign, name=name, family=family, is_degraded=is_degraded)
    source, _ = Source.objects.get_or_create(campaign=campaign, name=CHAT)
    Output.objects.create(source=source, system=system, text="")
    return Chatbot.objects.create(system=system, connector=connector, settings=checked, **fields)


def mix_fields(mix: Mix) -> dict[str, Any]:
    """Return a mix as the fields of a campaign."""
    return {
        "n_ordinary": mix.n_ordinary,
        "n_degraded": mix.n_degraded,
        "n_repeat": mix.n_repeat,
        "n_reference": mix.n_reference,
        "layout": mix.layout.value,
        "has_anchor": mix.has_anchor,
    }


def default_instructions(preset: type[Protocol]) -> str:
    """Return a protocol's instructions with a line for each paragraph and each point of a list, as people type."""
    return re.sub(r"(?<!\n)\n(?!\n|[-*#>] |\d+\. ) *", " ", preset.instructions.strip())


def new_seed() -> int:
    """Return a seed that no campaign has by intention."""
    return secrets.randbits(_SEED_BITS)


def lock_for_change(campaign: Campaign) -> Campaign:
    """Return the campaign, locked until the transaction ends, to change what workers see or what HITs are made of.

    Raises DomainError `frozen` once it was launched.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.is_launched:
        raise frozen()
    return locked


def live() -> DomainError:
    """Return the refusal of what is for outputs that were made before."""
    return DomainError("live", "This campaign has live chats. It has no outputs.")


def frozen() -> DomainError:
    """Return the refusal to change what workers have seen."""
    return DomainError(
        "frozen",
        "Workers have seen this campaign, so what they see is frozen. Duplicate it to run a changed version.",
    )


def mark_unbuilt(campaign: Campaign) -> None:
    """Note, inside the change's transaction, that HITs no longer follow from what the campaign holds.

    HITs that came with the file follow from nothing else.
    """
    built = Campaign.objects.filter(pk=campaign.pk, status=Campaign.Status.READY, has_given_hits=False)
    built.update(status=Campaign.Status.DRAFT)
    campaign.refresh_from_db(fields=["status"])


@transaction.atomic
def change_campaign(*, campaign: Campaign, changes: Mapping[str, Any]) -> Campaign:
    """Set fields of a campaign; `platform_settings` is merged into what is set. All else stays as it is.

    After the launch options of the platform may change that are operational. Raises DomainError `frozen` for what
    workers have seen.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    options = {**locked.platform_settings, **changes.get("platform_settings", {})}
    wanted = {**changes, "platform_settings": options}
    changed = {name for name, value in wanted.items() if getattr(locked, name) != value}
    if locked.is_launched:
        chosen = {name for name, value in options.items() if locked.platform_settings.get(name) != value}
        operational = locked.crowd_platform.options.operational()
        if changed - {"platform_settings"} - CHANGEABLE_AFTER_LAUNCH or chosen - operational:
            raise frozen()
    for name in changed:
        setattr(locked, name, wanted[name])
    if changed:
        locked.save(update_fields=sorted(changed))
    return locked
