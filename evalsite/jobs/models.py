"""Jobs and the workers that run them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

STAGE_LENGTH = 200


class Job(models.Model):
    """One piece of background work, from the change that asked for it to its end.

    A running job is leased: only the holder of `lease_token` may report on it, until `lease_until`.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        SUCCEEDED = "succeeded", "Succeeded"
        FAILED = "failed", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    kind = models.CharField(max_length=100, help_text="The name its handler is registered under.")
    args = models.JSONField(
        default=dict, blank=True, help_text="Ids only: what they point to may change before the job runs."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)

    stage = models.CharField(max_length=STAGE_LENGTH, blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0, help_text="0: not known.")

    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    run_after = models.DateTimeField(default=timezone.now)
    swept_at = models.DateTimeField(null=True, blank=True, help_text="When the sweeper last handed it to a worker.")
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    error_code = models.CharField(max_length=100, blank=True)
    error_message = models.TextField(blank=True)
    error_details = models.TextField("traceback, for administrators", blank=True)

    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True, help_text="Start of the latest attempt.")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["run_after"], condition=Q(status="queued"), name="jobs_job_due"),
            models.Index(fields=["lease_until"], condition=Q(status="running"), name="jobs_job_leased"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "succeeded", "failed"]), name="jobs_job_status"
            ),
            models.CheckConstraint(
                condition=Q(status="running", lease_token__isnull=False, lease_until__isnull=False)
                | (~Q(status="running") & Q(lease_token__isnull=True, lease_until__isnull=True)),
                name="jobs_job_leased_iff_running",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running"], finished_at__isnull=True)
                | Q(status__in=["succeeded", "failed"], finished_at__isnull=False),
                name="jobs_job_finished_iff_ended",
            ),
            models.CheckConstraint(
                condition=Q(status="failed") & ~Q(error_code="") | ~Q(status="failed") & Q(error_code=""),
                name="jobs_job_error_iff_failed",
            ),
            models.CheckConstraint(condition=Q(attempts__lte=F("max_attempts")), name="jobs_job_attempts_within_max"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen unless somebody retries it."""
        return self.status in (self.Status.SUCCEEDED, self.Status.FAILED)


QUEUED_AGAIN = {
    "status": Job.Status.QUEUED,
    "lease_token": None,
    "lease_until": None,
    "swept_at": None,
    "stage": "",
}
"""The fields of a job that waits for a worker once more."""


class WorkerHeartbeat(models.Model):
    """When a worker was last seen alive."""

    name = models.CharField(max_length=200, unique=True)
    last_seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
