"""A campaign: who may change it, how it is set up, and what workers answer."""

import hashlib
import uuid
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from campaigns.contracts.chat import ChatRules
from campaigns.contracts.format import ContentFormat
from campaigns.contracts.platform import CampaignRef, CrowdPlatform
from campaigns.contracts.protocol import DEFAULT_KIND, DEFAULT_METHOD, Scope, Screen
from campaigns.contracts.response import ResponseKind
from campaigns.design.composition import Layout, Mix
from campaigns.design.paging import PageKind
from campaigns.design.sampling import Leftover
from campaigns.design.stopping import STOPPING_RULES, StoppingRule
from campaigns.design.worker_test import DEFAULT_TEST, WORKER_TESTS
from campaigns.formats import get_format
from campaigns.platforms import platforms
from campaigns.responses import get_response_kind
from evalsite.lib.encryption import EncryptedField

LONGEST_NAME = 200
LONGEST_REASON = 200
"""In characters, of why a worker cannot judge."""
VERSION_LENGTH = 12
"""Hexadecimal digits of the version of a consent text."""
_LAYOUTS = [(layout.value, layout.value) for layout in Layout]
_PAGE_KINDS = [(kind.value, kind.value) for kind in PageKind]
_SCOPES = [(scope.value, scope.value) for scope in Scope]
_LEFTOVERS = [(leftover.value, leftover.value) for leftover in Leftover]


class Campaign(models.Model):
    """One evaluation: what is rated, by whom, how, and how careful the workers must be.

    What a protocol presets (the screen, the mix, the worker test, the instructions) is copied here when the campaign
    is made, so that nothing below the set-up pages needs to know the protocol.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        READY = "ready", "Ready"  # its HITs are built from what it holds now
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"
        DELETING = "deleting", "Being deleted"  # nothing is accepted any more

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=LONGEST_NAME)
    protocol = models.CharField(max_length=50)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    replicates = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replications", help_text="Is a run of."
    )
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="campaigns")
    created_at = models.DateTimeField(default=timezone.now)
    launched_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True, help_text="Left out of lists since then.")
    retention_days = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Personal data of workers are erased so many days after the close."
    )
    erased_at = models.DateTimeField("all personal data erased", null=True, blank=True)

    screen = models.JSONField("what a worker is shown (campaigns.contracts.protocol.Screen)", default=dict)
    study_name = models.CharField(max_length=LONGEST_NAME, blank=True, help_text="Workers see it.")
    contact = models.CharField(max_length=LONGEST_NAME, blank=True, help_text="Whom workers may ask.")
    instructions = models.TextField(blank=True, help_text="Markdown. Shown before the HIT and at any time in it.")
    consent = models.TextField("consent text", blank=True, help_text="Markdown. If given, a worker must agree to it.")
    chat = models.JSONField("rules of live chats (campaigns.contracts.chat.ChatRules)", default=dict, blank=True)
    is_accessible = models.BooleanField(
        "accessible mode", default=False, help_text="Real text instead of images, for invited raters."
    )
    offers_text = models.BooleanField(
        "accessible mode offered", default=False, help_text="Workers may choose real text instead of images."
    )

    page_kind = models.CharField(
        "what workers see at once", max_length=10, choices=_PAGE_KINDS, default=PageKind.OUTPUT.value
    )
    outputs_per_page = models.PositiveSmallIntegerField("outputs of a comparison", default=2)
    n_ordinary = models.PositiveSmallIntegerField("ordinary items", default=70)
    n_degraded = models.PositiveSmallIntegerField("degraded items", default=10)
    n_repeat = models.PositiveSmallIntegerField("repeats", default=10)
    n_reference = models.PositiveSmallIntegerField("reference items", default=10)
    n_tutorial = models.PositiveSmallIntegerField("tutorial items, of HITs that came with a file", default=0)
    layout = models.CharField(max_length=10, choices=_LAYOUTS, default=Layout.POOLED)
    has_anchor = models.BooleanField("the human system has a degraded copy and a repeat in every HIT", default=False)
    leftover = models.CharField(max_length=10, choices=_LEFTOVERS, default=Leftover.FILL)
    n_hits = models.PositiveIntegerField("number of HITs", null=True, blank=True, help_text="Empty: each output once.")
    seed = models.PositiveBigIntegerField(default=0)
    workers_per_hit = models.PositiveSmallIntegerField(default=1)
    hits_per_worker = models.PositiveSmallIntegerField("HITs per worker, at most", null=True, blank=True)
    lease_minutes = models.PositiveSmallIntegerField(
        default=60, help_text="A HIT in which nothing was rated for so long is offered to others."
    )

    worker_test = models.CharField(
        max_length=20, choices=[(slug, test.title) for slug, test in WORKER_TESTS.items()], default=DEFAULT_TEST
    )
    alpha = models.FloatField("α", default=0.05)
    method = models.CharField("response method", max_length=50, default=DEFAULT_METHOD)
    method_options = models.JSONField("options of its response method", default=dict, blank=True)
    stopping_rule = models.CharField(
        "closes by itself", max_length=10, choices=STOPPING_RULES, default=StoppingRule.OFF.value
    )
    stopping_systems = models.JSONField(
        "names of the systems that the stopping rule is about", default=list, blank=True
    )

    is_adaptive = models.BooleanField(
        "undecided pairs first", default=False, help_text="HITs that hold more of undecided pairs are drawn more often."
    )

    reward = models.DecimalField("reward per HIT", max_digits=8, decimal_places=2, default=Decimal("0"))
    currency = models.CharField(max_length=3, default="USD")
    minutes_per_hit = models.PositiveSmallIntegerField("expected minutes per HIT", null=True, blank=True)

    platform = models.CharField(max_length=50, default="link")
    platform_settings = models.JSONField(default=dict, blank=True)
    platform_secrets = EncryptedField("keys of its account at the platform, encrypted", blank=True)
    account_data = models.JSONField("what its account at the platform has stored", default=dict, blank=True)

    has_given_hits = models.BooleanField("HITs came with the file", default=False)
    my_role: str  # of the user that `get_campaign_for` fetched it for

    build_job = models.ForeignKey("jobs.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    deletion_job = models.ForeignKey("jobs.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(alpha__gt=0, alpha__lt=1), name="campaigns_campaign_alpha"),
            models.CheckConstraint(condition=Q(workers_per_hit__gte=1), name="campaigns_campaign_workers_per_hit"),
            models.CheckConstraint(condition=Q(lease_minutes__gte=1), name="campaigns_campaign_lease"),
            models.CheckConstraint(condition=Q(reward__gte=0), name="campaigns_campaign_reward"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def mix(self) -> Mix:
        """What a HIT consists of; raises DesignError if no HIT can be made so."""
        return Mix(
            self.n_ordinary,
            self.n_degraded,
            self.n_repeat,
            self.n_reference,
            layout=Layout(self.layout),
            has_anchor=self.has_anchor,
        )

    @property
    def scopes_of_systems(self) -> tuple[Scope, ...]:
        """What criteria are asked of that are about one system."""
        of_page = () if self.page_kind == PageKind.COMPARISON else (Scope.PAGE,)
        return (Scope.OUTPUT, Scope.TURN, *of_page)

    @property
    def is_revisable(self) -> bool:
        """Whether workers may save a page and change it until they go on: documents are long."""
        return self.page_kind == PageKind.DOCUMENT

    @property
    def can_choose_text(self) -> bool:
        """Whether workers may change from images to text: chats have no images."""
        return self.offers_text and not self.is_live

    @property
    def format_of_outputs(self) -> type[ContentFormat]:
        """What systems write; raises DomainError `unknown_format`."""
        return get_format(Screen.from_json(self.screen).output_format)

    @property
    def crowd_platform(self) -> CrowdPlatform:
        """The platform that its workers come from; raises DomainError `unknown_platform`."""
        return platforms[self.platform]()

    @property
    def ref(self) -> CampaignRef:
        """What its crowd platform may know of it."""
        return CampaignRef(self.public_id, self.platform_settings, self.account_data)

    @property
    def hit_size(self) -> int:
        """Number of items of a HIT, as set."""
        return self.n_ordinary + self.n_degraded + self.n_repeat + self.n_reference + self.n_tutorial

    @property
    def hourly_reward(self) -> Decimal | None:
        """What the reward comes to per hour; None if nobody has said how long a HIT takes."""
        if not self.minutes_per_hit:
            return None
        return (self.reward * 60 / self.minutes_per_hit).quantize(Decimal("0.01"))

    @property
    def is_live(self) -> bool:
        """Whether workers chat with its systems, which have no outputs that were made before."""
        return bool(self.chat)

    @property
    def compares_chats(self) -> bool:
        """Whether workers chat with two of its systems at once and compare them."""
        return self.is_live and self.page_kind == PageKind.COMPARISON

    @property
    def chat_rules(self) -> ChatRules:
        """The rules of its chats; those of the study where it has none."""
        return ChatRules.from_json(self.chat)

    @property
    def consent_version(self) -> str:
        """The first digits of the SHA-256 of the consent text in UTF-8; "" where there is no consent text."""
        text = self.consent.encode()
        return hashlib.sha256(text).hexdigest()[:VERSION_LENGTH] if text.strip() else ""

    @property
    def erases_at(self) -> datetime | None:
        """When the personal data of its workers are to be erased; None while it is open, or if none are to be."""
        if self.closed_at is None or self.retention_days is None:
            return None
        return self.closed_at + timedelta(days=self.retention_days)

    @property
    def is_launched(self) -> bool:
        """Whether workers may have seen it: what they saw is frozen."""
        return self.launched_at is not None

    @property
    def is_open(self) -> bool:
        """Whether HITs are given out."""
        return self.status == self.Status.RUNNING

    @property
    def is_being_deleted(self) -> bool:
        """Whether a job deletes it."""
        return self.status == self.Status.DELETING


class Membership(models.Model):
    """A user's part in a campaign."""

    class Role(models.TextChoices):
        OWNER = "owner", "Owner"
        EDITOR = "editor", "Editor"
        VIEWER = "viewer", "Viewer"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "user"], name="campaigns_membership_once")]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"


class MemberInvitation(models.Model):
    """Somebody who was asked to be a member, by their address, which may have an account or not.

    The row is deleted when they join or decline, and when an owner withdraws it.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="member_invitations")
    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Membership.Role)
    key = models.UUIDField("what its link is signed for", default=uuid.uuid4, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField()
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint("campaign", Lower("email"), name="campaigns_member_invitation_once"),
        ]

    def __str__(self) -> str:
        return f"{self.email}: {self.role}"


class Criterion(models.Model):
    """One statement or question, and how workers answer it: by a response kind (campaigns.responses) with settings."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="criteria")
    order = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=100, help_text="For results. Workers never see it.")
    statement = models.CharField(max_length=500)
    response = models.CharField("response kind", max_length=50, default=DEFAULT_KIND)
    settings = models.JSONField("options of its response kind", default=dict, blank=True)
    scope = models.CharField("what it is asked of", max_length=10, choices=_SCOPES, default=Scope.OUTPUT.value)
    shown_on = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="Whose answer shows it."
    )
    shown_values = models.JSONField("answers that show it", default=list, blank=True)
    is_required = models.BooleanField("required", default=True)
    may_abstain = models.BooleanField("workers may say that they cannot judge", default=False)
    abstain_reasons = models.TextField("reasons why, one a line", blank=True)
    is_negative = models.BooleanField("negative", default=False, help_text="Agreement is bad: reversed in analysis.")
    is_in_worker_test = models.BooleanField("used by the worker test", default=True)

    class Meta:
        ordering = ["order", "pk"]
        verbose_name_plural = "criteria"
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="campaigns_criterion_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def response_kind(self) -> type[ResponseKind]:
        """How workers answer it; raises DomainError `unknown_response_kind`."""
        return get_response_kind(self.response)

    @property
    def is_always_answered(self) -> bool:
        """Whether an item that is rated has a score on it."""
        return self.is_required and not self.may_abstain and self.bounds is not None

    @property
    def is_tested(self) -> bool:
        """Whether the worker test uses it: it can only use answers of which some are worse than others."""
        return self.is_in_worker_test and self.response_kind.is_testable(self.settings)

    @property
    def ends(self) -> tuple[str, str] | None:
        """What the least and the greatest score are called; None where it has no `bounds`."""
        return self.response_kind.ends(self.settings)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the greatest score that it may be given; None where answers are not analysed as scores."""
        return self.response_kind.bounds(self.settings)
