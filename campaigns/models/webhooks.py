"""Addresses that are sent events of a campaign, and what is sent to them."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from campaigns.models.campaign import Campaign
from evalsite.lib.encryption import EncryptedField

LONGEST_ADDRESS = 500


class Webhook(models.Model):
    """An address that is sent events of a campaign."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField("address", max_length=LONGEST_ADDRESS)
    events = models.JSONField("names of the events that it is sent (campaigns.contracts.events)", default=list)
    secret = EncryptedField("what signs its deliveries, encrypted")
    is_active = models.BooleanField("active", default=True)
    gone_at = models.DateTimeField("turned off by the receiver's answer 410", null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "url"], name="campaigns_webhook_url")]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """An event for one webhook: written down with what happened, then sent until it is answered.

    waiting → sending → delivered | failed. One that stays `sending` after a crash is sent again, with the same event
    id. `try_at` is when it may be sent next or, while it is sent, when that counts as lost.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENDING = "sending", "Being sent"
        DELIVERED = "delivered", "Delivered"
        FAILED = "failed", "Failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField("id of the event, the same for all webhooks")
    event = models.CharField(max_length=50)
    at = models.DateTimeField("when it happened", default=timezone.now)
    data = models.JSONField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    try_at = models.DateTimeField(null=True, blank=True)
    n_tries = models.PositiveSmallIntegerField(default=0)
    tried_at = models.DateTimeField("last sent", null=True, blank=True)
    status = models.PositiveSmallIntegerField("HTTP status of the last answer", null=True, blank=True)
    answer = models.TextField("beginning of the last answer, or why there was none", blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="campaigns_delivery_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "sending"], try_at__isnull=False)
                | Q(state__in=["delivered", "failed"], try_at__isnull=True),
                name="campaigns_delivery_open",
            ),
        ]
        indexes = [
            models.Index(
                fields=["try_at"], condition=Q(state__in=["waiting", "sending"]), name="campaigns_delivery_due"
            ),
            models.Index(fields=["at"], name="campaigns_delivery_at"),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}"

    @property
    def is_open(self) -> bool:
        """Whether it is still to be answered."""
        return self.state in (self.State.WAITING, self.State.SENDING)
