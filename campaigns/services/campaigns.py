"""Making campaigns and telling what may still be changed."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from campaigns.connectors import get_connector
from campaigns.contracts.protocol import CriterionSpec, Protocol, find_blanks
from campaigns.design.stopping import StoppingRule
from campaigns.methods import methods, options_for, reads, why_undecided
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
    | {"method", "method_options", "retention_days"}
)

_OF_METHOD = frozenset({"method", "method_options", "stopping_rule", "is_adaptive"})

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
        seed=new_seed(),
        **_preset_fields(preset),
        # What has no default is not set: its platform may propose a value once there are HITs.
        platform_settings={
            name: default for name, default in platforms["link"].options.defaults().items() if default is not None
        },
    )
    Membership.objects.create(campaign=campaign, user=owner, role=Membership.Role.OWNER)
    _store_criteria(campaign, preset.criteria)
    if campaign.is_live:
        store_chatbot(campaign=campaign, name=DEGRADED, connector=DEGRADED, is_degraded=True)
    return campaign


@transaction.atomic
def change_protocol(*, campaign: Campaign, protocol: str, name: str = "") -> None:
    """Set an empty draft up anew, as another protocol presets it; `name`: its name from now on.

    Raises DomainError `frozen`, `has_contents` if it has outputs or chatbots of its own, `live` for a protocol of live
    chats where files were uploaded, or `unknown_protocol`.
    """
    preset, locked = get_protocol(protocol), lock_for_change(campaign)
    if locked.sources.exists():
        raise DomainError("has_contents", "The campaign has outputs or chatbots already. Create another campaign.")
    if preset.chat:
        raise DomainError("live", "People chat with the systems themselves there. The file would not be used.")
    for field, value in (_preset_fields(preset) | {"name": name.strip() or locked.name}).items():
        setattr(locked, field, value)
    locked.save()
    locked.criteria.all().delete()
    _store_criteria(locked, preset.criteria)
    campaign.refresh_from_db()


def _preset_fields(preset: type[Protocol]) -> dict[str, Any]:
    """Return all that a protocol presets, as fields of a campaign."""
    return {
        "protocol": preset.slug,
        "screen": preset.screen.to_json(),
        "chat": preset.chat.to_json() if preset.chat else {},
        "n_hits": _LIVE_HITS if preset.chat else None,
        "instructions": default_instructions(preset),
        **design_fields(preset),
        "worker_test": preset.worker_test,
        "alpha": preset.alpha,
        "method": preset.method,
        "method_options": dict(preset.method_options),
    }


@transaction.atomic
def fill_in(*, campaign: Campaign, words: Mapping[str, str]) -> None:
    """Put words into blanks of the texts that workers read, {blank: words}; those without words stay.

    Raises DomainError `frozen`.
    """
    given = {blank.strip("[]"): text.strip() for blank, text in words.items() if text.strip()}
    if given:
        locked = lock_for_change(campaign)
        locked.instructions = fill_blanks(locked.instructions, given)
        locked.consent = fill_blanks(locked.consent, given)
        locked.save(update_fields=["instructions", "consent"])


def fill_blanks(instructions: str, words: Mapping[str, str]) -> str:
    """Return instructions in which each blank has its words, {blank without brackets, or how it begins: words}."""
    for beginning, text in words.items():
        for blank in find_blanks(instructions):
            if blank.startswith(f"[[{beginning}"):
                instructions = instructions.replace(blank, text)
    return instructions


def _store_criteria(campaign: Campaign, specs: Sequence[CriterionSpec]) -> None:
    made: dict[str, Criterion] = {}
    for order, spec in enumerate(specs):
        fields = asdict(spec) | {
            "settings": check_settings(spec.response, spec.settings),
            "shown_on": made[spec.shown_on] if spec.shown_on else None,
            "shown_values": list(spec.shown_values),
        }
        made[spec.name] = Criterion(campaign=campaign, order=order, **fields)
    link_and_create(list(made.values()))


def link_and_create(criteria: Sequence[Criterion]) -> None:
    """Store new criteria of a campaign, of which some may be shown on the answer to another one of them."""
    before = [each.shown_on for each in criteria]
    for each in criteria:
        each.shown_on = None
    Criterion.objects.bulk_create(criteria)
    for each, shown_on in zip(criteria, before, strict=True):
        each.shown_on = shown_on
    Criterion.objects.bulk_update([each for each in criteria if each.shown_on], ["shown_on"])


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


def design_fields(preset: type[Protocol]) -> dict[str, Any]:
    """Return what a protocol presets of the design, as fields of a campaign."""
    mix = preset.mix
    return {
        "page_kind": preset.page_kind.value,
        "outputs_per_page": preset.outputs_per_page,
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
        "Workers have seen this campaign, so what they see is frozen. Copy it to run a changed version.",
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
    workers have seen; `bad_method` for a method that cannot read the campaign's responses, or cannot be looked at while
    they come, though the campaign is to close itself; `bad_settings` for options that the method does not have;
    `bad_retention` for a longer period than workers may have read.
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
        if "retention_days" in changed:
            _check_retention(locked.retention_days, wanted["retention_days"])
    for name in changed:
        setattr(locked, name, wanted[name])
    if changed & _OF_METHOD:
        check_method(locked, is_new="method" in changed)
    if changed:
        locked.save(update_fields=sorted(changed))
    return locked


def _check_retention(before: int | None, now: int | None) -> None:
    """Raise DomainError `bad_retention` if personal data would be kept longer than was said."""
    if before is not None and (now is None or now > before):
        text = f"Workers may have read that their data are kept for {before} days. Keep them no longer than that."
        raise DomainError("bad_retention", text)


def check_method(campaign: Campaign, *, is_new: bool) -> None:
    """Raise DomainError `bad_method` or `bad_settings` if the campaign cannot be analysed as it says.

    A method that `is_new` has to read the answers on some criterion.
    """
    method = methods[campaign.method]
    method().check_options(campaign.method_options)
    criteria = campaign.criteria.filter(scope__in=campaign.scopes_of_systems)
    options_for(method, campaign.method_options, criteria)
    if is_new and not any(reads(method, criterion) for criterion in campaign.criteria.all()):
        raise DomainError(
            "bad_method", f"{method.title} cannot read the answers on these criteria. Choose another method."
        )
    is_watched = campaign.stopping_rule != StoppingRule.OFF or campaign.is_adaptive
    if is_watched and (why := why_undecided(method, campaign.method_options, campaign.criteria.all())):
        raise DomainError("bad_method", f"{why} Let the campaign run to its end, and give out HITs in order.")
