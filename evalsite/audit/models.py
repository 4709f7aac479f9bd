"""Entries of the audit log: added, never changed, deleted by age only."""

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone


class EntryQuerySet(models.QuerySet["AuditEntry"]):
    """Entries, which are only added and read."""

    def update(self, **kwargs: Any) -> NoReturn:
        """Refuse."""
        raise TypeError("entries of the audit log are not changed")

    def delete(self) -> NoReturn:
        """Refuse."""
        raise TypeError("entries of the audit log are deleted by age only (delete_old_entries)")


class AuditEntry(models.Model):
    """One act of a researcher or an administrator: who, when, what, on what, from where."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    who = models.CharField("address of the account, as it was then", max_length=254, blank=True)
    token = models.CharField("name of the API token", max_length=100, blank=True)
    act = models.CharField("name of the address (evalsite.audit.acts)", max_length=80)
    method = models.CharField(max_length=10)
    is_failed = models.BooleanField("a sign-in with a wrong password", default=False)
    campaign = models.UUIDField("public id", null=True)
    about = models.CharField(max_length=254, blank=True)
    details = models.JSONField("ids of the address, names of fields, values without secrets", default=dict)
    network = models.CharField("IPv4 as its /24, IPv6 as its /48", max_length=43, blank=True)
    request_id = models.CharField(max_length=64, blank=True)

    objects = EntryQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["campaign", "-id"], name="audit_by_campaign")]

    def __str__(self) -> str:
        return f"{self.who} {self.act}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add it; refuse to change one."""
        if self.pk is not None:
            raise TypeError("entries of the audit log are not changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        raise TypeError("entries of the audit log are deleted by age only (delete_old_entries)")
