"""Changing how workers chat."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from campaigns.models import Campaign
from campaigns.services.campaigns import lock_for_change
from evalsite.lib.errors import DomainError


@transaction.atomic
def change_chat_rules(*, campaign: Campaign, changes: Mapping[str, Any]) -> None:
    """Set these of a live campaign's `ChatRules`; built HITs stay as they are.

    Raises DomainError `frozen`, `not_live`, or `few_inputs` where a chat could take fewer messages than it needs.
    """
    locked = lock_for_change(campaign)
    if not locked.is_live:
        raise DomainError("not_live", "In this campaign nobody chats: outputs are rated that were made before.")
    rules = replace(locked.chat_rules, **changes)
    if rules.max_inputs < rules.min_inputs:
        raise DomainError(
            "few_inputs",
            f"A chat needs {rules.min_inputs} messages and would take {rules.max_inputs} at most. Let it take more.",
        )
    Campaign.objects.filter(pk=locked.pk).update(chat=rules.to_json())
