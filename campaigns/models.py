"""What a researcher configures: a campaign, its members, criteria, systems, sources, outputs and HITs."""

import hashlib
import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from campaigns.contracts.chat import ChatRules
from campaigns.contracts.platform import CampaignRef, CrowdPlatform
from campaigns.contracts.response import ResponseKind
from campaigns.design.composition import Kind, Layout, Mix
from campaigns.design.sampling import Leftover
from campaigns.design.stopping import STOPPING_RULES, StoppingRule
from campaigns.design.worker_test import DEFAULT_TEST, WORKER_TESTS
from campaigns.platforms import platforms
from campaigns.responses import get_response_kind

LONGEST_NAME = 200
LONGEST_ADDRESS = 500
CHAT = "chat"
"""The name of the one source of a live campaign."""
VERSION_LENGTH = 12
"""Hexadecimal digits of the version of a consent text."""
_MILLION = 1_000_000


_LAYOUTS = [(layout.value, layout.value) for layout in Layout]
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

    n_ordinary = models.PositiveSmallIntegerField("ordinary items", default=70)
    n_degraded = models.PositiveSmallIntegerField("degraded items", default=10)
    n_repeat = models.PositiveSmallIntegerField("repeats", default=10)
    n_reference = models.PositiveSmallIntegerField("reference items", default=10)
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
    platform_secrets = models.TextField("keys of its account at the platform, encrypted", blank=True)
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
    def can_choose_text(self) -> bool:
        """Whether workers may change from images to text: chats have no images."""
        return self.offers_text and not self.is_live

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
        return self.n_ordinary + self.n_degraded + self.n_repeat + self.n_reference

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
    def chat_rules(self) -> ChatRules:
        """The rules of its chats; those of the study where it has none."""
        return ChatRules.from_json(self.chat)

    @property
    def consent_version(self) -> str:
        """The first digits of the SHA-256 of the consent text in UTF-8; "" where there is no consent text."""
        text = self.consent.encode()
        return hashlib.sha256(text).hexdigest()[:VERSION_LENGTH] if text.strip() else ""

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


class Criterion(models.Model):
    """One statement or question, and how workers answer it: by a response kind (campaigns.responses) with settings."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="criteria")
    order = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=100, help_text="For results. Workers never see it.")
    statement = models.CharField(max_length=500)
    response = models.CharField("response kind", max_length=50, default="slider")
    settings = models.JSONField("options of its response kind", default=dict, blank=True)
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
        """Whether the worker test uses it: it can only use scores."""
        return self.is_in_worker_test and self.bounds is not None

    @property
    def ends(self) -> tuple[str, str] | None:
        """What the least and the greatest score are called; None where it has no `bounds`."""
        return self.response_kind.ends(self.settings)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the greatest score that it may be given; None where answers are not analysed as scores."""
        return self.response_kind.bounds(self.settings)


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
    secrets = models.TextField("secret options, encrypted", blank=True)
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

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="campaigns_source_name")]

    def __str__(self) -> str:
        return self.name


class Output(models.Model):
    """One system's text for one source. A chatbot has one for the source `CHAT`, empty: what it says is in chats."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="outputs")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="outputs")
    text = models.TextField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["source", "system"], name="campaigns_output_once")]

    def __str__(self) -> str:
        return self.text[:80]


class Hit(models.Model):
    """Items that one worker rates in one piece of work. `n_places_left` are the workers still wanted.

    One that is not offered is not published yet on the campaign's crowd platform.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="hits")
    number = models.PositiveIntegerField()
    n_places_left = models.PositiveSmallIntegerField(default=1)
    is_offered = models.BooleanField("offered to workers", default=True)
    weight = models.FloatField("how much it holds of undecided pairs", default=1)

    class Meta:
        ordering = ["number"]
        verbose_name = "HIT"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="campaigns_hit_number"),
            models.CheckConstraint(condition=Q(n_places_left__gte=0), name="campaigns_hit_places"),
        ]
        indexes = [
            models.Index(fields=["campaign", "number"], condition=Q(n_places_left__gt=0), name="campaigns_hit_open")
        ]

    def __str__(self) -> str:
        return f"HIT {self.number}"


class HitItem(models.Model):
    """One position of a HIT: an output as shown. A copy knows its twin's position."""

    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveSmallIntegerField()
    kind = models.PositiveSmallIntegerField(choices=[(kind.value, kind.name.lower()) for kind in Kind])
    output = models.ForeignKey(Output, on_delete=models.PROTECT, related_name="items")
    twin_position = models.PositiveSmallIntegerField(null=True, blank=True)
    text = models.TextField("text as shown")

    class Meta:
        ordering = ["position"]
        verbose_name = "HIT item"
        constraints = [
            models.UniqueConstraint(fields=["hit", "position"], name="campaigns_hititem_position"),
            models.CheckConstraint(
                condition=Q(twin_position=None) | ~Q(twin_position=F("position")), name="campaigns_hititem_twin"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit}, item {self.position}"


class Upload(models.Model):
    """A file of sources and outputs, as uploaded, and what its columns mean."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="uploads")
    name = models.CharField("file name", max_length=255)
    file = models.FileField(upload_to="uploads/")
    size = models.PositiveBigIntegerField("size in bytes")
    layout = models.JSONField("format, shape and columns (campaigns.importing)", default=dict)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField(default=timezone.now)
    job = models.OneToOneField("jobs.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
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


class Webhook(models.Model):
    """An address that is sent events of a campaign."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField("address", max_length=LONGEST_ADDRESS)
    events = models.JSONField("names of the events that it is sent (campaigns.contracts.events)", default=list)
    secret = models.TextField("what signs its deliveries, encrypted")
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
