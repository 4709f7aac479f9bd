"""Changing what a worker is shown, and how workers chat."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from campaigns.contracts.protocol import Screen
from campaigns.models import Campaign
from campaigns.protocols import get_protocol
from campaigns.services.campaigns import lock_for_change, mark_unbuilt
from evalsite.lib.errors import DomainError


@transaction.atomic
def change_screen(*, campaign: Campaign, screen: Screen) -> None:
    """Show workers this; HITs must be built again if what they are made of changes.

    Raises DomainError `frozen`; `fixed_screen` where the protocol lets only labels be changed; `bad_screen` if two
    fields have one name, or a field is named that there is not.
    """
    locked = lock_for_change(campaign)
    before = Screen.from_json(locked.screen)
    if _made_of(screen) != _made_of(before):
        if not get_protocol(locked.protocol).has_open_screen:
            raise DomainError("fixed_screen", "The fields are the protocol's: only their labels may be changed here.")
        check_screen(screen)
    Campaign.objects.filter(pk=locked.pk).update(screen=screen.to_json())
    if (screen.reference_field, screen.donor_field) != (before.reference_field, before.donor_field):
        mark_unbuilt(locked)


def check_screen(screen: Screen) -> None:
    """Raise DomainError `bad_screen` if two fields have one name, or a field is named that there is not."""
    names = list(screen.field_names)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DomainError("bad_screen", f"Two fields are called “{twice[0]}”. Fields need different names.")
    named = [screen.reference_field, screen.donor_field, *(field.marks for field in screen.fields)]
    if unknown := sorted(set(named) - {"", *names}):
        raise DomainError("bad_screen", f"There is no field “{unknown[0]}”. Choose one of the fields above.")


def _made_of(screen: Screen) -> tuple:
    """Return all of a screen but its labels."""
    fields = [(f.name, f.is_required, f.is_shown, f.marks, f.format) for f in screen.fields]
    return fields, screen.reference_field, screen.donor_field, screen.output_format


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
