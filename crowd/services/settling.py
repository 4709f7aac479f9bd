"""Settling what does not fit between the platform and here. Nothing is forgotten: who settled it stays with it."""

from collections.abc import Iterable

from django.utils import timezone

from crowd.models import Submission
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError


def dismiss_trouble(*, submission: Submission, user: User) -> None:
    """Let a trouble rest; again, it stays with who was first. Raises DomainError `no_trouble`."""
    if not submission.trouble:
        raise DomainError("no_trouble", f"Nothing is wrong with {submission}.")
    settle_troubles(submissions=[submission], user=user)


def settle_troubles(*, submissions: Iterable[Submission], user: User | None) -> int:
    """Let the troubles of submissions rest that somebody has decided about by hand; return of how many."""
    wanted = [submission.pk for submission in submissions if submission.trouble]
    unsettled = Submission.objects.filter(pk__in=wanted, dismissed_at=None).exclude(trouble="")
    return unsettled.update(dismissed_at=timezone.now(), dismissed_by=user)
