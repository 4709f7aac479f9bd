"""What is compared: systems, chatbots, the sources and the outputs that systems made of them, and uploaded files."""

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from campaigns.models.campaign import LONGEST_NAME, Campaign
from evalsite.lib.encryption import EncryptedField
from evalsite.lib.one_way import OneWayField

CHAT = "chat"
"""The name of the one source of a live campaign.

Each chatbot has one output of it, which is empty: an item is a chat, so HITs, exports and analyses need not know of
chats.
"""
_MILLION = 1_000_000


class System(models.Model):
    """One of the systems compared; a human one is the anchor of mixes that have one.

    Of a live campaign it is a chatbot. A HIT holds one member of each family of chatbots, and the degraded one, which
    is compared with none of the others, instead of degraded items.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=LONGEST_NAME)
    is_human = models.BooleanField("human", default=False)
    is_degraded = models.BooleanField("degraded", default=False)
    family = models.CharField(max_length=LONGEST_NAME, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="campaigns_system_name"),
            models.UniqueConstraint(fields=["campaign"], condition=Q(is_human=True), name="campaigns_system_one_human"),
            models.UniqueConstraint(
                fields=["campaign"], condition=Q(is_degraded=True), name="campaigns_system_one_degraded"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Chatbot(models.Model):
    """How a system of a live campaign is asked for its next reply, and how much of it is wanted."""

    system = models.OneToOneField(System, on_delete=models.CASCADE, related_name="chatbot")
    connector = models.CharField(max_length=50)
    settings = models.JSONField("options of its connector", default=dict, blank=True)
    secrets = EncryptedField("secret options, encrypted", blank=True)
    dialogues = models.FileField(upload_to="dialogues/", blank=True)
    persona = models.JSONField("statements that it lives up to", default=list, blank=True)
    n_statements = models.PositiveSmallIntegerField(
        "statements drawn for each chat", null=True, blank=True, help_text="Empty: all."
    )
    timeout_s = models.PositiveSmallIntegerField("seconds to wait for a reply", default=30)
    n_retries = models.PositiveSmallIntegerField("further tries", default=2)
    max_chars = models.PositiveIntegerField("longest reply in characters", default=1000)
    max_parallel = models.PositiveSmallIntegerField("replies at once", null=True, blank=True)
    price_per_reply = models.DecimalField(max_digits=12, decimal_places=6, default=Decimal(0))
    price_in = models.DecimalField(
        "price of a million tokens read", max_digits=12, decimal_places=6, default=Decimal(0)
    )
    price_out = models.DecimalField(
        "price of a million tokens written", max_digits=12, decimal_places=6, default=Decimal(0)
    )
    spending_cap = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    spent = models.DecimalField(max_digits=14, decimal_places=6, default=Decimal(0))
    tested = models.JSONField("what came of the last test", default=dict, blank=True)

    class Meta:
        ordering = ["system__name"]
        constraints = [models.CheckConstraint(condition=Q(timeout_s__gte=1), name="campaigns_chatbot_timeout")]

    def __str__(self) -> str:
        return str(self.system)

    @property
    def is_spent(self) -> bool:
        """Whether its spending cap is reached."""
        return self.spending_cap is not None and self.spent >= self.spending_cap

    def price_of(self, n_tokens_in: int, n_tokens_out: int) -> Decimal:
        """Return what a reply of so many tokens costs."""
        return self.price_per_reply + (self.price_in * n_tokens_in + self.price_out * n_tokens_out) / _MILLION


class Source(models.Model):
    """What outputs were made from: passage, question, reference, …, by the names of the campaign's screen."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=LONGEST_NAME, help_text="Its id in the imported file.")
    fields = models.JSONField(default=dict)
    attribute_values = models.JSONField("what else is known of it, by name", default=dict, blank=True)
    document = models.CharField("document that it belongs to", max_length=LONGEST_NAME, blank=True)
    place = models.PositiveIntegerField("place in the document", default=0)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="campaigns_source_name")]

    def __str__(self) -> str:
        return self.name


class Output(models.Model):
    """One system's text for one source. A chatbot has one for the source `CHAT`, empty: what it says is in chats.

    `degraded` takes its place in degraded items, if the data have one.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="outputs")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="outputs")
    text = models.TextField()
    degraded = models.TextField("degraded version, as somebody made it", blank=True, default="", db_default="")

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["source", "system"], name="campaigns_output_once")]

    def __str__(self) -> str:
        return self.text[:80]


class StoredFile(models.Model):
    """A file that values of a campaign name by its digest; copies of a campaign have rows of their own for it.

    `is_made`: building HITs has made it, of others. A file may be named by rows of several campaigns, and goes with the
    last of them.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="files")
    digest = models.CharField("SHA-256 of the file, in hexadecimal", max_length=64)
    file = models.FileField(upload_to="files/")
    size = models.PositiveIntegerField("size in bytes")
    is_made = models.BooleanField("made for degraded items", default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "digest"], name="campaigns_file_once")]

    def __str__(self) -> str:
        return self.digest


class Upload(models.Model):
    """A file of sources and outputs, as uploaded, and what its columns mean."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="uploads")
    name = models.CharField("file name", max_length=255)
    file = models.FileField(upload_to="uploads/")
    packed = models.FileField("files that its cells name, in a zip", upload_to="uploads/", blank=True)
    size = models.PositiveBigIntegerField("size in bytes")
    layout = models.JSONField("format, shape and columns (campaigns.importing)", default=dict)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField(default=timezone.now)
    job = OneWayField("jobs.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    imported_at = models.DateTimeField(null=True, blank=True)
    summary = models.JSONField("what was imported, and notices", default=dict, blank=True)
    problems = models.JSONField("what is wrong with the file", null=True, blank=True)

    class Meta:
        ordering = ["-uploaded_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """How far it is: new, importing, problems, failed or imported. No query, if the job was fetched with it."""
        if self.job and not self.job.is_finished:
            return "importing"
        if self.problems:
            return "problems"
        if self.imported_at:
            return "imported"
        return "failed" if self.job and self.job.status == self.job.Status.FAILED else "new"
