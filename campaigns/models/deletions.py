"""What was deleted: the record of it stays."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class Deletion(models.Model):
    """What somebody had deleted or erased: by whom, when, how much. It stays."""

    class Kind(models.TextChoices):
        CAMPAIGN = "campaign", "Campaign"
        UPLOAD = "upload", "Uploaded file of a campaign"
        RATINGS_FILE = "ratings-file", "Ratings file"
        RUN = "run", "Analysis"
        WORKER = "worker", "Personal data of a worker"

    kind = models.CharField(max_length=20, choices=Kind)
    name = models.CharField(max_length=255)
    object_id = models.UUIDField("public id of the campaign, or id of the file or analysis")
    contents = models.JSONField("number, noun and note of what went", default=list)
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    asked_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.name}"
