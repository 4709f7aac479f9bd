"""Workers, invitations, assignments, responses, chats and events. Nothing that a worker sent is ever deleted."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import get_random_string

from campaigns.models import LONGEST_REASON, VERSION_LENGTH, Campaign, Criterion, Hit, HitItem

NO_REASON = "cannot judge"
"""Why something was not judged where no reasons are offered."""
_INVITATION_KEY_LENGTH = 12


class Worker(models.Model):
    """Somebody who rates, as a crowd platform knows them."""

    platform = models.CharField(max_length=50)
    key = models.CharField("the platform's id", max_length=255)
    created_at = models.DateTimeField(default=timezone.now)
    erased_at = models.DateTimeField("stands for somebody whose personal data were erased then", null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["platform", "key"], name="annotation_worker_key")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The key without the campaign that a link platform puts before it."""
        return self.key.rsplit(":", 1)[-1]


def new_invitation_key() -> str:
    """Return a key for an invitation, which its link shows in place of the rater's name."""
    return get_random_string(_INVITATION_KEY_LENGTH)


class Invitation(models.Model):
    """A rater for whom a personal link was made. A revoked one gives out no HITs."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="invitations")
    key = models.CharField("what the link carries", max_length=20, default=new_invitation_key, unique=True)
    email = models.EmailField("e-mail", blank=True)
    attribute_values = models.JSONField("what else is known of the rater, by name", default=dict, blank=True)
    attributes_at = models.DateTimeField("when attributes were changed", null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField("revoked", null=True, blank=True)
    # Set before the mail is handed to the mail server, so that a crash cannot send it twice.
    reminded_at = models.DateTimeField("latest reminder", null=True, blank=True)
    is_reminder_sent = models.BooleanField("the mail server took the latest reminder", default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "worker"], name="annotation_invitation_once"),
            models.UniqueConstraint(
                "campaign", Lower("email"), condition=~Q(email=""), name="annotation_invitation_email"
            ),
        ]

    def __str__(self) -> str:
        return str(self.worker)


class Reminder(models.Model):
    """A mail to invited raters who have not finished, and to whom it goes."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="reminders")
    token = models.UUIDField("the form that asked for it, which may be sent twice", default=uuid.uuid4, unique=True)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    arrival_url = models.TextField("the address at which workers arrive")
    invitations = models.JSONField("ids of the invitations", default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    job = models.ForeignKey("jobs.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.subject


class Assignment(models.Model):
    """One worker's work on one HIT. An active one holds a place of its HIT until its lease ends.

    On an open link one in which nothing was rated or said may be displaced before (`annotation.access.places`).

    active → finished | returned | expired; expired → active if its worker comes back while a place is free;
    finished ⇄ rejected, as its platform says: rejected work is kept and does not count.
    """

    class State(models.TextChoices):
        ACTIVE = "active", "Active"
        FINISHED = "finished", "Finished"
        RETURNED = "returned", "Returned"
        EXPIRED = "expired", "Expired"
        REJECTED = "rejected", "Rejected"

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
    platform_id = models.CharField("the platform's own assignment, at its last arrival", max_length=200, blank=True)
    platform_data = models.JSONField("what the platform sent with it", default=dict, blank=True)
    is_surplus = models.BooleanField("its place went to another worker before its rejection was undone", default=False)
    consent_version = models.CharField(
        "version of the consent text that the worker agreed to", max_length=VERSION_LENGTH, blank=True
    )
    draw_probability = models.FloatField("with which its HIT was drawn", null=True, blank=True)
    even_probability = models.FloatField("with which it would have been, if all were equal", null=True, blank=True)
    consented_at = models.DateTimeField("agreed to it", null=True, blank=True)  # of a later HIT: with an earlier one

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["hit", "worker"], name="annotation_assignment_once"),
            models.UniqueConstraint(
                fields=["campaign", "platform_id"],
                condition=~Q(platform_id=""),
                name="annotation_assignment_platform_id",
            ),
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
            models.CheckConstraint(
                condition=Q(consent_version="", consented_at=None)
                | ~Q(consent_version="") & Q(consented_at__isnull=False),
                name="annotation_assignment_consent",
            ),
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


class Response(models.Model):
    """What a worker answered to one criterion of one item, as given: reversal is analysis.

    `value` is as the criterion's response kind keeps it, `score` the number that it stands for, None where it is none.
    Who could not judge has neither, but `abstained`: the reason. An optional criterion without an answer has no row.
    What is asked of a whole page is kept with its first item, what is asked of a HIT with its last. `turn` is the
    number of the reply (`Turn`) in the item's chat that it is about, 0 if it is about no single one. `earlier` are the
    answers that were saved before and changed, the first one first: {"value", "score", "abstained", "at"}.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="responses")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="responses")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="responses")
    turn = models.PositiveSmallIntegerField("the reply that it is about", default=0)
    value = models.JSONField(null=True)
    score = models.FloatField(null=True)
    abstained = models.CharField("why it could not be judged", max_length=LONGEST_REASON, blank=True)
    rated_at = models.DateTimeField(default=timezone.now)
    earlier = models.JSONField("answers before this one", default=list, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "item", "criterion", "turn"], name="annotation_response_once"
            ),
            models.CheckConstraint(condition=Q(abstained="") | Q(score=None), name="annotation_response_abstained"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.answer}"

    def replace_by(self, other: "Response") -> bool:
        """Take the answer of another response, and keep this one with the earlier ones; return whether they differ."""
        if (self.value, self.score, self.abstained) == (other.value, other.score, other.abstained):
            return False
        before = {"value": self.value, "score": self.score, "abstained": self.abstained}
        self.earlier = [*self.earlier, before | {"at": self.rated_at.isoformat()}]
        self.value, self.score, self.abstained = other.value, other.score, other.abstained
        self.rated_at = other.rated_at
        return True

    @property
    def answer(self) -> str:
        """What was answered, in words."""
        if self.abstained:
            return f"could not judge: {self.abstained}"
        return ", ".join(self.value) if isinstance(self.value, list) else str(self.value)


class Conversation(models.Model):
    """A chat of one item: a worker and a chatbot, turn by turn.

    open → ended, when the worker goes on to rate it; open → dead, when the chatbot does not answer and the worker goes
    on without it: its item is left unrated. A worker's turn that has no reply yet is asked for by the request
    that holds `asked_until`, a lease.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        ENDED = "ended", "Ended"
        DEAD = "dead", "Chatbot did not answer"

    class Opinion(models.TextChoices):
        LIKE = "like", "Like"
        AMBIVALENT = "ambivalent", "Ambivalent"
        DISLIKE = "dislike", "Dislike"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="conversations")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="conversations")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    topic = models.CharField(max_length=500)
    opinion = models.CharField("the worker's opinion of the topic", max_length=10, choices=Opinion)
    persona = models.JSONField("statements drawn for this chat", default=list, blank=True)
    n_turns = models.PositiveSmallIntegerField(default=0)
    n_inputs = models.PositiveSmallIntegerField("turns of the worker", default=0)
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    # Of the reply that is being waited for.
    asked_until = models.DateTimeField("lease of who asks", null=True, blank=True)
    n_tries = models.PositiveSmallIntegerField("tries that failed", default=0)
    retry_at = models.DateTimeField("not to be asked before", null=True, blank=True)
    # Of all its replies.
    n_failures = models.PositiveSmallIntegerField("replies that were given up", default=0)
    last_error = models.JSONField("code and message of the last failure", default=dict, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item"], name="annotation_conversation_once"),
            models.CheckConstraint(
                condition=Q(state="open", ended_at=None) | ~Q(state="open") & Q(ended_at__isnull=False),
                name="annotation_conversation_ended_iff_not_open",
            ),
        ]
        indexes = [
            models.Index(fields=["asked_until"], condition=Q(asked_until__isnull=False), name="annotation_asked"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.topic}"

    @property
    def awaits_reply(self) -> bool:
        """Whether the worker's last turn has no reply yet: the two take turns, the worker first."""
        return self.n_turns % 2 == 1


class Turn(models.Model):
    """What one of the two said. Turns count from 1; the worker's are odd."""

    class Speaker(models.TextChoices):
        WORKER = "worker", "Worker"
        CHATBOT = "chatbot", "Chatbot"

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="turns")
    number = models.PositiveSmallIntegerField()
    speaker = models.CharField(max_length=10, choices=Speaker)
    text = models.TextField()
    at = models.DateTimeField(default=timezone.now)
    # Of a worker's turn, what the browser reported: typed_ms, n_pastes, n_focus_lost. Of a reply: took_ms (from the
    # worker's turn), answered_ms (the chatbot's own last try), n_tries, n_tokens_in, n_tokens_out, is_cut.
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["conversation", "number"], name="annotation_turn_once")]

    def __str__(self) -> str:
        return self.text[:80]


class TopicChange(models.Model):
    """A worker's note that the topic has changed after a turn: by whom, to what, and how the chatbot took it."""

    class By(models.TextChoices):
        CHATBOT = "chatbot", "By the chatbot"
        WORKER_LAST = "last", "By me, in my last message"
        WORKER_NEXT = "next", "By me, in my next message"

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="topic_changes")
    after_turn = models.PositiveSmallIntegerField()
    by = models.CharField(max_length=10, choices=By)
    topic = models.CharField(max_length=500)
    attitude = models.CharField("the bot's apparent attitude", max_length=10, choices=Conversation.Opinion)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.topic


class PlaceFreed(models.TextChoices):
    """Why a place was freed before its worker had finished: `data["cause"]` of an `expired` event.

    Events from before causes were kept have none. Places that workers return, and those of work that the platform
    rejects and offers again (`CrowdPlatform.frees_rejected`), have events of their own.
    """

    LEASE_ENDED = "lease_ended", "lease ended"
    RESEARCHER = "researcher", "freed by a researcher"
    REVOKED = "revoked", "link revoked"
    LEFT_PLATFORM = "left_platform", "worker left the platform"
    PLACE_REUSED = "place_reused", "the platform gave the place to somebody else"
    DISPLACED = "displaced", "nothing rated, needed by somebody else"


class Event(models.Model):
    """Something that happened in an assignment: telemetry of an item, and the audit of its states."""

    class Kind(models.TextChoices):
        STARTED = "started", "Started"
        ARRIVED = "arrived", "Came with an assignment of the platform"  # data: platform_id
        RATED = "rated", "Item rated"
        SKIPPED = "skipped", "Item left unrated: its chatbot did not answer"
        UNANSWERED = "unanswered", "The chatbot gave no reply"
        RESUMED = "resumed", "Resumed after the lease had ended"
        FINISHED = "finished", "Finished"
        RETURNED = "returned", "Returned"
        EXPIRED = "expired", "Place freed"  # data: cause, a PlaceFreed
        REJECTED = "rejected", "Rejected on the platform"
        TEXT = "text", "Worker chose accessible mode"
        RESTORED = "restored", "Rejection on the platform taken back"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="events")
    item = models.ForeignKey(HitItem, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind)
    at = models.DateTimeField(default=timezone.now)
    # Of a rated item, what the browser reported: shown_ms, first_touch_ms, n_moves, n_focus_lost, n_pastes. Of a reply
    # that did not come: code, message, took_ms, turn.
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.kind}"
