"""Chatbots of a live campaign: adding, changing, copying and removing them."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from campaigns.connectors import get_connector
from campaigns.dialogues import check_dialogues
from campaigns.importing.tables import MAX_SYSTEMS
from campaigns.models import LONGEST_NAME, Campaign, Chatbot, System
from campaigns.services.campaigns import frozen, lock_for_change, mark_unbuilt, store_chatbot
from campaigns.services.rows import delete_hits
from evalsite.jobs.files import delete_on_commit
from evalsite.lib.encryption import encrypt_secrets, merge_secrets, readable_secrets
from evalsite.lib.errors import DomainError

# Where and how a chatbot is asked, not what it is: to be changed while workers chat with it. Secrets are, too.
OPERATIONAL = frozenset(
    {"timeout_s", "n_retries", "max_parallel", "price_per_reply", "price_in", "price_out", "spending_cap"}
)
_OF_SYSTEM = frozenset({"name", "family"})
_CHANGEABLE = OPERATIONAL | _OF_SYSTEM | {"settings", "persona", "n_statements", "max_chars"}


@sensitive_variables()
@transaction.atomic
def add_chatbot(
    *,
    campaign: Campaign,
    name: str,
    connector: str,
    family: str = "",
    is_degraded: bool = False,
    settings: Mapping[str, Any] | None = None,
    secrets: Mapping[str, str] | None = None,
    **fields: object,
) -> Chatbot:
    """Add a chatbot, with values of its connector's options and further fields of `Chatbot`. HITs must be built again.

    Options that are left out have their defaults. Raises DomainError `frozen`, `not_live`, `name_taken`,
    `has_degraded`, `too_many_systems`, `unknown_connector` or `bad_option`.
    """
    locked = lock_for_change(campaign)
    if not locked.is_live:
        raise DomainError("not_live", "This campaign rates existing outputs. Upload them.")
    check_name(locked, name)
    if is_degraded and locked.systems.filter(is_degraded=True).exists():
        raise DomainError("has_degraded", "The campaign already has its degraded chatbot. A HIT holds one.")
    if locked.systems.count() >= MAX_SYSTEMS:
        raise DomainError("too_many_systems", f"A campaign compares at most {MAX_SYSTEMS} chatbots.")
    chatbot = store_chatbot(
        campaign=locked,
        name=name,
        connector=connector,
        family="" if is_degraded else family,
        is_degraded=is_degraded,
        settings=settings,
        secrets=encrypt_secrets(secrets or {}),
        **fields,
    )
    mark_unbuilt(campaign)
    return chatbot


def check_name(campaign: Campaign, name: str, but_for: System | None = None) -> None:
    """Raise DomainError `name_taken` if another chatbot of the campaign has this name."""
    others = campaign.systems.filter(name=name)
    if (others.exclude(pk=but_for.pk) if but_for else others).exists():
        raise DomainError("name_taken", f"Another chatbot is called “{name}”. Chatbots need different names.")


@transaction.atomic
def change_chatbot(*, campaign: Campaign, chatbot: Chatbot, changes: Mapping[str, Any]) -> Chatbot:
    """Set fields of a chatbot, and name and family of its system; `settings` are merged into what is set.

    After the launch only what is `OPERATIONAL` may change, and options that are. An address at another host, or in
    the clear, makes the chatbot forget its secrets. Another family makes built HITs out of date. Raises DomainError
    `frozen`, `name_taken`, `unknown_connector` or `bad_option`.
    """
    if unknown := changes.keys() - _CHANGEABLE:
        raise ValueError(f"not to be changed so: {sorted(unknown)}")
    locked, found = _lock(campaign, chatbot)
    own, of_system = _split(changes)
    options: set[str] = set()
    if "settings" in own:
        connector = get_connector(found.connector)
        options = {name for name, value in own["settings"].items() if found.settings.get(name) != value}
        own["settings"] = connector.options.check({**found.settings, **own["settings"]})
        if connector.hosts_of(own["settings"]) != connector.hosts_of(found.settings):
            own["secrets"] = ""  # a member who changes the address could read them there
    own = {name: value for name, value in own.items() if getattr(found, name) != value}
    of_system = {name: value for name, value in of_system.items() if getattr(found.system, name) != value}
    if locked.is_launched and (
        of_system or own.keys() - OPERATIONAL - {"settings", "secrets"} or not _may_change(found, options)
    ):
        raise frozen()
    if "name" in of_system:
        check_name(locked, of_system["name"], but_for=found.system)
    _store(found.system, of_system)
    _store(found, own | (_outdated(found) if {"settings", "max_chars"} & own.keys() else {}))
    if "family" in of_system:
        mark_unbuilt(campaign)
    return found


def _split(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    own = {name: value for name, value in changes.items() if name not in _OF_SYSTEM}
    return own, {name: changes[name] for name in _OF_SYSTEM & changes.keys()}


def _may_change(chatbot: Chatbot, names: set[str]) -> bool:
    """Tell whether these options may change after the launch."""
    return names <= get_connector(chatbot.connector).options.operational()


def _lock(campaign: Campaign, chatbot: Chatbot) -> tuple[Campaign, Chatbot]:
    """Return both, locked until the transaction ends: nobody launches meanwhile, and what is merged is the latest."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    chatbots = Chatbot.objects.select_for_update(of=("self",)).select_related("system")
    return locked, chatbots.get(pk=chatbot.pk, system__campaign=locked)


def _store(row: Chatbot | System, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        setattr(row, name, value)
    if changes:
        row.save(update_fields=list(changes))


def _outdated(chatbot: Chatbot) -> dict[str, Any]:
    """Return the last test, marked as one of the chatbot as it was."""
    return {"tested": {**chatbot.tested, "is_outdated": True}} if chatbot.tested else {}


@sensitive_variables()
@transaction.atomic
def change_secrets(*, campaign: Campaign, chatbot: Chatbot, secrets: Mapping[str, str | None]) -> None:
    """Set secret options, at any time; None clears one. Those that are not named stay as they are.

    Raises DomainError `bad_option` for an option that is none of the connector's secrets.
    """
    _, found = _lock(campaign, chatbot)
    if unknown := secrets.keys() - get_connector(found.connector).options.secrets().keys():
        raise DomainError("bad_option", f"This connector has no secret called “{min(unknown)}”.")
    _store(found, {"secrets": merge_secrets(found.secrets, secrets), **_outdated(found)})


def secrets_set(chatbot: Chatbot) -> frozenset[str] | None:
    """Return the names of the secrets that are set; None if they cannot be read any more."""
    kept = readable_secrets(chatbot.secrets)
    return None if kept is None else frozenset(kept)


def replace_dialogues(*, campaign: Campaign, chatbot: Chatbot, file: File | None) -> None:
    """Have a chatbot speak from another file of dialogues, or, without one, from the examples again.

    The file is read before anything is locked. Raises DomainError `frozen` or `bad_dialogues`.
    """
    if campaign.is_launched:
        raise frozen()
    if file is None:
        _keep_dialogues(campaign, chatbot, "")
        return
    _check_dialogues(file)
    name = default_storage.save(f"dialogues/{Path(file.name or 'dialogues.jsonl').name}", file)
    try:
        _keep_dialogues(campaign, chatbot, name)
    except DomainError:
        default_storage.delete(name)
        raise


def _check_dialogues(file: File) -> None:
    with NamedTemporaryFile(prefix="dialogues-", suffix=".jsonl") as copy:
        for chunk in file.chunks():
            copy.write(chunk)
        copy.flush()
        check_dialogues(Path(copy.name), name=file.name or "The file")
    file.seek(0)


@transaction.atomic
def _keep_dialogues(campaign: Campaign, chatbot: Chatbot, name: str) -> None:
    lock_for_change(campaign)
    _, found = _lock(campaign, chatbot)
    drop_dialogues([found.dialogues.name or ""])
    _store(found, {"dialogues": name, **_outdated(found)})


def drop_dialogues(names: Iterable[str]) -> None:
    """Delete these files of dialogues when the transaction is through, except those that some chatbot speaks from."""
    for name in filter(None, names):
        transaction.on_commit(partial(_delete_unused, name))


def _delete_unused(name: str) -> None:
    if not Chatbot.objects.filter(dialogues=name).exists():
        delete_on_commit(name)


@transaction.atomic
def duplicate_chatbot(*, campaign: Campaign, chatbot: Chatbot) -> Chatbot:
    """Add a copy of a chatbot, of the same family: the same model with and without a persona. A HIT holds one of them.

    A chatbot that has no family gets one of its own name. Raises DomainError `frozen`, `has_degraded` for the degraded
    chatbot, or `too_many_systems`.
    """
    lock_for_change(campaign)
    locked, found = _lock(campaign, chatbot)
    if found.system.is_degraded:
        raise DomainError("has_degraded", "A campaign has one degraded chatbot.")
    family = found.system.family or found.system.name
    change_chatbot(campaign=campaign, chatbot=found, changes={"family": family})
    taken = set(locked.systems.values_list("name", flat=True))
    names = ("persona", "n_statements", "max_chars", "dialogues", *OPERATIONAL)
    copy = add_chatbot(
        campaign=campaign,
        name=_copy_name(found.system.name, taken, LONGEST_NAME),
        connector=found.connector,
        family=family,
        settings=found.settings,
        **{name: getattr(found, name) for name in names},
    )
    _store(copy, {"secrets": found.secrets})
    return copy


def _copy_name(name: str, taken: set[str], longest: int) -> str:
    """Return a name for the copy of a chatbot that no other has."""
    numbers = (f" ({number})" for number in range(2, len(taken) + 3))
    return next(copy for end in numbers if (copy := name[: longest - len(end)] + end) not in taken)


@transaction.atomic
def remove_chatbot(*, campaign: Campaign, chatbot: Chatbot) -> None:
    """Take a chatbot out, and all HITs, which would lack it; raise DomainError `frozen`."""
    locked = lock_for_change(campaign)
    delete_hits(locked)
    chatbot.system.delete()
    mark_unbuilt(campaign)
    drop_dialogues([chatbot.dialogues.name or ""])
