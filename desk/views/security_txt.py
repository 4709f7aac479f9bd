"""Whom to tell of a weakness of the site (RFC 9116)."""

from datetime import UTC, datetime, time, timedelta

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

# Less than a year, as the standard recommends; it is counted anew each day.
_VALID_DAYS = 180


@login_not_required
@require_GET
def security_txt(request: HttpRequest) -> HttpResponse:
    """Say whom to tell; there is no such page without SECURITY_CONTACT."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    ends_on = timezone.now().astimezone(UTC).date() + timedelta(days=_VALID_DAYS)
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {datetime.combine(ends_on, time(tzinfo=UTC)).isoformat()}",
        "Preferred-Languages: en",
    ]
    if settings.SITE_URL:
        lines.append(f"Canonical: {settings.SITE_URL}{request.path}")
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")
