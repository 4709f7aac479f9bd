"""Workers, invitations, assignments, ratings and events. Nothing that a worker sent is ever deleted."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from campaigns.models import Campaign, Criterion, Hit, HitItem


class Worker(models.Model):
    """Somebody who rates, as a crowd platform knows them."""

    platform = models.CharField(max_length=50)
    key = models.CharField("the platform's id", max_length=255)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["platform", "key"], name="annotation_worker_key")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The key without the campaign that a link platform puts before it."""
        return self.key.rsplit(":", 1)[-1]


class Invitation(models.Model):
    """A rater for whom a personal link was made."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "worker"], name="annotation_invitation_once")]

    def __str__(self) -> str:
        return str(self.worker)


class Assignment(models.Model):
    """One worker's go at one HIT. An active one holds a place of its HIT until its lease ends.

    active → finished | returned | expired; expired → active if its worker comes back while a place is free.
    """

    class State(models.TextChoices):
        ACTIVE = "active", "Active"
        FINISHED = "finished", "Finished"
        RETURNED = "returned", "Returned"
        EXPIRED = "expired", "Expired"

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="assignments")
    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    n_rated = models.PositiveSmallIntegerField("items rated", default=0)
    n_items = models.PositiveSmallIntegerField("items of the HIT")
    is_accessible = models.BooleanField("in accessible mode", default=False)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField("last sign of life", default=timezone.now)
    leased_until = models.DateTimeField()
    ended_at = models.DateTimeField("finished, returned or expired", null=True, blank=True)
    feedback = models.TextField(blank=True)
    completion_code = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["hit", "worker"], name="annotation_assignment_once"),
            models.UniqueConstraint(
                fields=["worker", "campaign"],
                condition=Q(state="active"),
                name="annotation_assignment_one_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(state="active", ended_at=None) | ~Q(state="active") & Q(ended_at__isnull=False),
                name="annotation_assignment_ended_iff_not_active",
            ),
            models.CheckConstraint(condition=Q(n_rated__lte=models.F("n_items")), name="annotation_assignment_n_rated"),
        ]
        indexes = [
            models.Index(fields=["campaign", "leased_until"], condition=Q(state="active"), name="annotation_leased"),
            models.Index(fields=["campaign", "state"], name="annotation_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.hit} by {self.worker}"

    @property
    def position(self) -> int:
        """Position of the item to be rated next; one more than the size of the HIT when all are rated."""
        return self.n_rated + 1


class Rating(models.Model):
    """The score that a worker gave one item on one criterion, as given: reversal is analysis."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="ratings")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="ratings")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="ratings")
    score = models.PositiveSmallIntegerField()
    rated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item", "criterion"], name="annotation_rating_once"),
            models.CheckConstraint(condition=Q(score__gte=0, score__lte=100), name="annotation_rating_score"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.score}"


class Event(models.Model):
    """Something that happened in an assignment: telemetry of an item, and the audit of its states."""

    class Kind(models.TextChoices):
        STARTED = "started", "Started"
        RATED = "rated", "Item rated"
        RESUMED = "resumed", "Resumed after the lease had ended"
        FINISHED = "finished", "Finished"
        RETURNED = "returned", "Returned"
        EXPIRED = "expired", "Lease ended"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="events")
    item = models.ForeignKey(HitItem, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind)
    at = models.DateTimeField(default=timezone.now)
    # Of a rated item, what the browser told: shown_ms, first_touch_ms, n_moves, n_focus_lost, n_pastes.
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.kind}"
