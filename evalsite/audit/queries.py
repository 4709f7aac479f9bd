"""Reading the audit log, and deleting what is too old."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from evalsite.audit.acts import names_in, title_of
from evalsite.audit.models import AuditEntry
from evalsite.lib.words import counted

COLUMNS = ("at", "who", "token", "act", "campaign", "about", "details", "network", "method", "address", "request_id")


@dataclass(frozen=True)
class ShownEntry:
    """An entry in words: what was done, and what is known of it beside."""

    entry: AuditEntry
    title: str
    more: str


def list_entries(
    *, search: str = "", group: str = "", since: date | None = None, campaign: UUID | None = None
) -> QuerySet[AuditEntry]:
    """Return entries, newest first: of people, networks or requests that `search` finds, of a group of acts."""
    found = AuditEntry.objects.all()
    if campaign:
        found = found.filter(campaign=campaign)
    if search:
        parts = Q(who__icontains=search) | Q(about__icontains=search) | Q(request_id=search)
        found = found.filter(parts | Q(network__startswith=search))
    if group:
        found = found.filter(act__in=names_in(group))
    if since:
        found = found.filter(at__date__gte=since)
    return found


def describe_entries(entries: Iterable[AuditEntry]) -> list[ShownEntry]:
    """Return entries in words. No query."""
    return [ShownEntry(entry, title_of(entry), _more(entry.details)) for entry in entries]


def iter_rows(entries: QuerySet[AuditEntry]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of COLUMNS, in chunks."""
    for entry in entries.iterator(chunk_size=500):
        yield (
            entry.at.isoformat(timespec="seconds"),
            entry.who,
            entry.token,
            title_of(entry),
            entry.campaign or "",
            entry.about,
            _more(entry.details),
            entry.network,
            entry.method,
            entry.act,
            entry.request_id,
        )


def delete_old_entries(now: datetime) -> int:
    """Delete what is older than AUDIT_LOG_DAYS; 0 days keep all. Return how many."""
    if not settings.AUDIT_LOG_DAYS:
        return 0
    old = AuditEntry.objects.filter(at__lt=now - timedelta(days=settings.AUDIT_LOG_DAYS))
    return old._raw_delete(old.db)  # nothing refers to them


def describe_retention() -> str:
    """Return for how long entries are kept, in words."""
    return f"for {counted(settings.AUDIT_LOG_DAYS, 'day')}" if settings.AUDIT_LOG_DAYS else "for good"


def _more(details: dict[str, Any]) -> str:
    parts = [f"{name.removesuffix('_id')} {value}" for name, value in sorted(details.items()) if name != "fields"]
    if fields := details.get("fields"):
        parts.append(f"sent: {', '.join(fields)}")
    return "; ".join(parts)
