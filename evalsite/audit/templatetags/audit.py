"""Filters of the audit log's table."""

from collections.abc import Mapping

from django import template

from evalsite.audit.models import AuditEntry

register = template.Library()


@register.filter
def of_campaign(campaigns: Mapping[str, tuple[str, str]], entry: AuditEntry) -> tuple[str, str] | None:
    """Return name and address of an entry's campaign; None if it has none, or the campaign is deleted."""
    return campaigns.get(str(entry.campaign))
