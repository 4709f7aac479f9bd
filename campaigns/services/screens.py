"""Changing what a worker is shown, and how workers chat."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from campaigns.contracts.protocol import Screen
from campaigns.formats import get_format
from campaigns.models import Campaign, Output, Source
from campaigns.protocols import get_protocol
from campaigns.services.campaigns import lock_for_change, mark_unbuilt
from evalsite.lib.errors import DomainError

_CHUNK = 2000


@transaction.atomic
def change_screen(*, campaign: Campaign, screen: Screen) -> None:
    """Show workers this; HITs must be built again if what they are made of changes.

    Data that are there are read again by a format that changes. Raises DomainError `frozen`; `fixed_screen` where the
    protocol lets only labels be changed; `bad_screen` if two fields have one name, a field is named that there is not,
    or a format may not be there; `other_format` for data that are not of the new format.
    """
    locked = lock_for_change(campaign)
    before = Screen.from_json(locked.screen)
    if _made_of(screen) != _made_of(before):
        if not get_protocol(locked.protocol).has_open_screen:
            raise DomainError("fixed_screen", "The fields are the protocol's: only their labels may be changed here.")
        check_screen(screen)
        _read_again(locked, before, screen)
    Campaign.objects.filter(pk=locked.pk).update(screen=screen.to_json())
    if _degraded_by(screen) != _degraded_by(before):
        mark_unbuilt(locked)


def check_screen(screen: Screen) -> None:
    """Raise DomainError `bad_screen`, `unknown_format` if this cannot be shown.

    That is so if two fields have one name, a field is named that there is not, or a format may not be where it is.
    """
    names = list(screen.field_names)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DomainError("bad_screen", f"Two fields are called “{twice[0]}”. Fields need different names.")
    named = [screen.reference_field, screen.donor_field, *(field.marks for field in screen.fields)]
    if unknown := sorted(set(named) - {"", *names}):
        raise DomainError("bad_screen", f"There is no field “{unknown[0]}”. Choose one of the fields above.")

    if wrong := [each.label for each in screen.fields if not get_format(each.format).is_for_fields]:
        raise DomainError("bad_screen", f"“{wrong[0]}” has a format that only outputs have. Choose another one.")
    of_reference = [each.format for each in screen.fields if each.name == screen.reference_field]
    if any(_differ(each, screen.output_format) for each in of_reference):
        raise DomainError(
            "bad_screen",
            f"“{screen.reference_field}” takes the place of outputs, and they have another format. Give both the same.",
        )
    if not get_format(screen.output_format).is_for_outputs:
        raise DomainError("bad_screen", "The output has a format that only fields of sources have. Choose another one.")


def _differ(one: str, other: str) -> bool:
    """Tell whether a value of one format cannot be shown as one of another: only texts can."""
    return one != other and not (get_format(one).is_one_text and get_format(other).is_one_text)


def _read_again(campaign: Campaign, before: Screen, after: Screen) -> None:
    """Read what is there by formats that change; raise DomainError `other_format` for the first that is none."""
    former = {each.name: each.format for each in before.fields}
    changed = [each for each in after.fields if former.get(each.name, each.format) != each.format]
    sources = []
    for source in campaign.sources.only("name", "fields").iterator(_CHUNK) if changed else ():
        fields = source.fields | {
            each.name: _read(each.format, each.label, value, source.name, is_output=False)
            for each in changed
            if (value := source.fields.get(each.name))
        }
        if fields != source.fields:
            source.fields = fields
            sources.append(source)
    Source.objects.bulk_update(sources, ["fields"], batch_size=_CHUNK)
    if after.output_format == before.output_format:
        return
    outputs = []
    found = Output.objects.filter(source__campaign=campaign).exclude(text="").select_related("source", "system")
    for output in found.iterator(_CHUNK):
        where = f"{output.source.name}, {output.system.name}"
        text, degraded = (
            _read(after.output_format, after.output_label, value, where, is_output=True) if value else ""
            for value in (output.text, output.degraded)
        )
        if (text, degraded) != (output.text, output.degraded):
            output.text, output.degraded = text, degraded
            outputs.append(output)
    Output.objects.bulk_update(outputs, ["text", "degraded"], batch_size=_CHUNK)


def _read(format: str, label: str, value: str, where: str, *, is_output: bool) -> str:
    try:
        return get_format(format).read(value, is_output=is_output)
    except DomainError as error:
        raise DomainError(
            "other_format",
            f"{where}: the {label.lower()} cannot be read as {get_format(format).title}: {error.message}. "
            "Keep the format, or delete the data first.",
        ) from None


def _degraded_by(screen: Screen) -> tuple[str, str, str]:
    return screen.reference_field, screen.donor_field, screen.output_format


def _made_of(screen: Screen) -> tuple:
    """Return all of a screen but its labels."""
    fields = [replace(each, label="", is_drawn=True) for each in screen.fields]
    return fields, *_degraded_by(screen)


@transaction.atomic
def change_chat_rules(*, campaign: Campaign, changes: Mapping[str, Any]) -> None:
    """Set these of a live campaign's `ChatRules`; built HITs stay as they are.

    Raises DomainError `frozen`, `not_live`, or `few_inputs` where a chat could take fewer messages than it needs.
    """
    locked = lock_for_change(campaign)
    if not locked.is_live:
        raise DomainError("not_live", "This campaign has no chats. It rates existing outputs.")
    rules = replace(locked.chat_rules, **changes)
    if rules.max_inputs < rules.min_inputs:
        raise DomainError(
            "few_inputs",
            f"A chat needs {rules.min_inputs} messages and would take {rules.max_inputs} at most. Let it take more.",
        )
    Campaign.objects.filter(pk=locked.pk).update(chat=rules.to_json())
