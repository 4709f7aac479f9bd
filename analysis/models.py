"""Ratings files, uploaded or taken from a campaign, and the analyses made of them."""

import secrets
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from campaigns.models import Campaign, Output
from evalsite.lib.encryption import EncryptedField
from evalsite.lib.late import LateModule
from evalsite.lib.one_way import OneWayField
from evalsite.lib.typed_json import parse

if TYPE_CHECKING:
    from analysis.results.result import Result

_stored = LateModule("analysis.results.stored")


def ratings_path(ratings_file: "RatingsFile", name: str) -> str:
    """Return where an uploaded file is kept; its own name is data, not a path."""
    return f"ratings/{ratings_file.pk}"


class RatingsFile(models.Model):
    """A file of ratings, as uploaded, and what its columns mean; or a snapshot of a campaign's ratings.

    A snapshot holds the ratings of `n_assignments` finished assignments, and all members see it. A file of another
    tool, of several tasks or with several answers in a row is kept as a table of evalsite's own, so that all analyses
    of it read the same (`made_from`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="ratings_files")
    title = models.CharField(max_length=200)
    name = models.CharField("file name", max_length=255)
    file = models.FileField(upload_to=ratings_path)
    size = models.PositiveBigIntegerField("size in bytes")
    sha256 = models.CharField(max_length=64)
    columns = models.JSONField("column names of the file, in order", default=list)
    mapping = models.JSONField("column of the long table → column of the file", default=dict)
    encoding = models.CharField(
        max_length=20, default="utf-8", blank=True, help_text="Of text without a mark. Empty: nobody has said yet."
    )
    scale = models.JSONField(
        "least and greatest score that a worker could give", null=True, blank=True, help_text="Empty: 0 to 100."
    )
    made_from: Any = models.JSONField(
        "file that it was made from: tool, responses, task, name, sha256, columns, warnings",
        default=dict,
        blank=True,
    )
    reading: Any = models.JSONField(
        "how it was read: shape, columns, what was guessed, and all in a sentence", default=dict, blank=True
    )
    uploaded_at = models.DateTimeField(default=timezone.now)
    campaign = models.ForeignKey(Campaign, null=True, blank=True, on_delete=models.PROTECT, related_name="snapshots")
    n_assignments = models.PositiveIntegerField("finished assignments of the campaign in it", null=True, blank=True)
    my_role: str  # of the user that a query fetched it for

    class Meta:
        ordering = ["-uploaded_at"]
        indexes = [models.Index(fields=["owner", "-uploaded_at"])]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(campaign=None, n_assignments=None)
                | models.Q(campaign__isnull=False, n_assignments__isnull=False),
                name="analysis_ratingsfile_counted_iff_snapshot",
            )
        ]

    def __str__(self) -> str:
        return self.title


def scores_path(scores: "MetricScores", name: str) -> str:
    """Return where scores of metrics are kept."""
    return f"metrics/{scores.pk}"


class MetricScores(models.Model):
    """What metrics say of outputs: of a campaign's, computed here or uploaded, or of those that an uploaded file rates.

    Analyses that begin once `finished_at` is set compare them with people. A file that is not UTF-8 waits until
    somebody says which encoding it has.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.PROTECT, related_name="metric_scores"
    )
    ratings_file = models.ForeignKey(
        RatingsFile, null=True, blank=True, on_delete=models.PROTECT, related_name="metric_scores"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField("file name", max_length=255)
    file = models.FileField(upload_to=scores_path, blank=True)
    encoding = models.CharField(max_length=20, default="utf-8", blank=True, help_text="Empty: nobody has said yet.")
    options: Any = models.JSONField(
        "what is computed: kinds, reference, their options; empty if uploaded", default=dict
    )
    metrics: Any = models.JSONField("name of each metric, and of how many outputs and systems", default=list)
    job = OneWayField("jobs.Job", null=True, on_delete=models.PROTECT, related_name="+")
    finished_at = models.DateTimeField("computed, or read", null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "metric scores"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(campaign=None, ratings_file__isnull=False)
                | models.Q(campaign__isnull=False, ratings_file=None),
                name="analysis_metricscores_of_one",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_computed(self) -> bool:
        """Whether they are or will be computed here."""
        return bool(self.options)


class ReportField(models.JSONField):
    """A stored report, which is read in the shape of now (`analysis.results.stored.current`)."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the report, or the part of it that a query asks for."""
        if value is None or isinstance(expression, KeyTransform):
            return super().from_db_value(value, expression, connection)
        return _stored.current(parse(value))

    def deconstruct(self) -> Any:
        """Return the field as migrations know it: one of JSON."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs


class AnalysisRun(models.Model):
    """One analysis: its settings, a fingerprint of its ratings and its report. Never edited once it has a report.

    Other settings, or the exclusion of a worker, make a new run, whose `parent` is the one that it was changed from.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    ratings_file = models.ForeignKey(RatingsFile, on_delete=models.PROTECT, related_name="runs")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children", help_text="Changed from."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    settings: Any = models.JSONField()
    mapping = models.JSONField()
    metrics: Any = models.JSONField("ids of the scores of metrics that it compares with people", default=list)
    job = OneWayField("jobs.Job", null=True, on_delete=models.PROTECT, related_name="+")
    fingerprint = models.CharField(max_length=64, blank=True)
    # Only the page of findings shows it. It goes once the report is there.
    first_report: Any = ReportField("ranking without intervals, shown until the report is there", null=True, blank=True)
    report: Any = ReportField(null=True, blank=True)
    problems = models.JSONField("what is wrong with the file", null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    my_role: str  # of the user that a query fetched it for
    share_token = ""  # of the link through which it is read, without a user

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["ratings_file", "-created_at"])]

    def __str__(self) -> str:
        return f"{self.ratings_file} · {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def folder(self) -> str:
        """Where the tables, figures and package of this run are kept (`evalsite.lib.media`)."""
        return f"runs/{self.pk}"

    _read: tuple[Any, "Result"] | None = None  # a report, and the result that was read from it

    @property
    def result(self) -> "Result":
        """What the report says; only of a run that has it. A report is read once."""
        from analysis.results.reading import read_result  # it imports all methods and questions

        if self._read is None or self._read[0] is not self.report:
            self._read = self.report, read_result(self.report)
        return self._read[1]

    @property
    def shown(self) -> "Result | None":
        """What pages show: the result, or what is known of it while the job goes on; None before."""
        from analysis.results.reading import concluded

        if self.report is not None:
            return self.result
        return None if self.first_report is None else concluded(_stored.result_of(self.first_report))

    @property
    def state(self) -> str:
        """Return `ready`, or how its job stands."""
        return "ready" if self.finished_at else self.job.status if self.job else "queued"


class PowerAnalysis(models.Model):
    """What a planned design would find, cost and take, by simulation: its settings and, once it is made, its plan.

    It belongs to a campaign, and all members see it; or to who made it alone. `pilot` is the run whose ratings showed
    the variances, if any; None also if it was deleted since.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.PROTECT, related_name="power_analyses"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    settings: Any = models.JSONField("analysis.planning.plans.PlanSettings")
    pilot = models.ForeignKey(AnalysisRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    job = OneWayField("jobs.Job", null=True, on_delete=models.PROTECT, related_name="+")
    plan: Any = models.JSONField("analysis.planning.plans.make_plan", null=True, blank=True)
    my_role: str  # of the user that a query fetched it for

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "power analyses"

    def __str__(self) -> str:
        return f"plan of {self.created_at:%Y-%m-%d %H:%M}"


def new_share_token() -> str:
    """Return what nobody can guess: 192 random bits, as 32 characters of an address."""
    return secrets.token_urlsafe(24)


class ShareLink(models.Model):
    """An address that shows the newest results of a campaign to everybody who has it, without signing in."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="share_links")
    token = models.CharField(max_length=64, unique=True, default=new_share_token, editable=False)
    note = models.CharField(max_length=200, blank=True, help_text="For whom it is.")
    ends_on = models.DateField("last day (UTC)", null=True, blank=True, help_text="Empty: it does not end.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.note or f"share link of {self.created_at:%Y-%m-%d}"

    @property
    def is_open(self) -> bool:
        """Whether it shows anything: it was not revoked, and its last day is not over."""
        return self.revoked_at is None and (self.ends_on is None or self.ends_on >= timezone.now().date())


class Look(models.Model):
    """What a campaign's ratings had shown when so many assignments were finished, by bounds that hold at every look.

    `n_wanted` are the pairs for which its stopping rule waited; each of `pairs` has two systems, difference, low, high,
    p_holm, better and is_wanted; `better` is missing in those of before, whose differences are all of z.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="looks")
    n_assignments = models.PositiveIntegerField("finished assignments")
    at = models.DateTimeField(default=timezone.now)
    n_workers = models.PositiveIntegerField("workers who count")
    n_pairs = models.PositiveIntegerField()
    n_decided = models.PositiveIntegerField("pairs that were decided")
    n_wanted = models.PositiveIntegerField("pairs that the stopping rule waited for")
    n_wanted_decided = models.PositiveIntegerField("pairs of them that were decided")
    pairs: Any = models.JSONField(default=list)
    has_closed = models.BooleanField("closed the campaign", default=False)

    class Meta:
        ordering = ["n_assignments"]
        constraints = [models.UniqueConstraint(fields=["campaign", "n_assignments"], name="analysis_look_once")]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.n_decided} of {self.n_pairs} pairs decided"


class PaperAnswer(models.Model):
    """What a researcher wrote for a question of a campaign's datasheet or data statement."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="paper_answers")
    question = models.CharField("key of the question (analysis.results.paper)", max_length=80)
    text = models.TextField(blank=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "question"], name="analysis_paperanswer_once"),
        ]

    def __str__(self) -> str:
        return f"{self.question}: {self.text[:60]}"


class Judge(models.Model):
    """A language model that judges the outputs of a campaign by its criteria: how it is asked, and what it may cost.

    `scores` are made of its answers whenever it stops.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="judges")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=100, help_text="Its metrics have this name.")
    connector = models.CharField(max_length=50)
    settings: Any = models.JSONField("options of its connector", default=dict)
    secrets = EncryptedField("secret options, encrypted", blank=True)
    criteria: Any = models.JSONField("keys of the criteria that it judges, in order", default=list)
    timeout_s = models.PositiveSmallIntegerField("seconds to wait for an answer", default=60)
    max_parallel = models.PositiveSmallIntegerField("calls at once", default=4)
    max_tokens = models.PositiveIntegerField("longest answer in tokens", default=300)
    price_per_call = models.DecimalField(max_digits=12, decimal_places=6, default=Decimal(0))
    price_in = models.DecimalField(
        "price of a million tokens read", max_digits=12, decimal_places=6, default=Decimal(0)
    )
    price_out = models.DecimalField(
        "price of a million tokens written", max_digits=12, decimal_places=6, default=Decimal(0)
    )
    max_cost = models.DecimalField("cap in money", max_digits=12, decimal_places=2, null=True, blank=True)
    max_calls = models.PositiveIntegerField("cap in calls", null=True, blank=True)
    is_cancelled = models.BooleanField("to stop, or stopped, by hand", default=False)
    job = OneWayField("jobs.Job", null=True, on_delete=models.PROTECT, related_name="+")
    scores = models.OneToOneField(MetricScores, null=True, blank=True, on_delete=models.SET_NULL, related_name="judge")

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="analysis_judge_name")]

    def __str__(self) -> str:
        return self.name


class JudgeAnswer(models.Model):
    """One call of a judge, stored before it is made, and its result.

    While it is `asked`, and where the server does not say how many tokens it took, `price` is what it may cost at most.
    """

    class State(models.TextChoices):
        ASKED = "asked", "Asked"
        SCORED = "scored", "Scored"
        UNPARSABLE = "unparsable", "Cannot be read"
        FAILED = "failed", "No answer"

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="answers")
    output = models.ForeignKey(Output, on_delete=models.PROTECT, related_name="+")
    attempt = models.PositiveSmallIntegerField("call for this output, from 1")
    state = models.CharField(max_length=10, choices=State, default=State.ASKED)
    prompt_sha256 = models.CharField(max_length=64)
    text = models.TextField("answer as it came", blank=True)
    scores: Any = models.JSONField("rating by key of the criterion, as given", null=True, blank=True)
    message = models.TextField("why there is no rating", blank=True)
    n_tokens_in = models.PositiveIntegerField("tokens read", default=0)
    n_tokens_out = models.PositiveIntegerField("tokens written", default=0)
    price = models.DecimalField(max_digits=16, decimal_places=6, default=Decimal(0))
    is_price_known = models.BooleanField(default=False)
    asked_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "output", "attempt"], name="analysis_judgeanswer_once"),
            models.CheckConstraint(
                condition=models.Q(state="scored", scores__isnull=False)
                | (~models.Q(state="scored") & models.Q(scores__isnull=True)),
                name="analysis_judgeanswer_scores_iff_scored",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge}: {self.get_state_display()}"
