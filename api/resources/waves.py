"""Publishing HITs in waves: what the next one costs, publishing it, its progress; and what was published."""

from dataclasses import dataclass
from typing import Any

from django import forms
from rest_framework import serializers

from api.access import ApiRequest
from api.idempotency import token_of
from api.operations import Listed, Resource, operation
from api.resources.jobs import JobShape
from api.resources.platform import check_has_account
from api.shapes import cleaned, sent_to
from campaigns.forms.campaigns import LaunchForm
from campaigns.models import Campaign
from campaigns.queries import Role
from crowd.forms.postings import ActForm, PostingFilter
from crowd.forms.waves import PublishForm, WaveForm, site_url_of
from crowd.models import Posting, Wave
from crowd.queries.planning import WavePlan, get_wave_plan
from crowd.queries.publishing import count_hits, get_posting_of, get_wave_of, list_postings, list_waves
from crowd.services.payments.decisions import act_on_postings
from crowd.services.publishing import plan_wave, resume_wave, stop_wave
from evalsite.accounts.models import Scope
from evalsite.lib.errors import CONFLICT


class CostShape(serializers.Serializer[Any]):
    """What leaves the account: `total` is what is to be agreed to."""

    n_places = serializers.IntegerField(help_text="Rewards or bonuses, one for a worker each.")
    rewards = serializers.DecimalField(max_digits=None, decimal_places=2)
    fees = serializers.DecimalField(max_digits=None, decimal_places=2)
    total = serializers.DecimalField(max_digits=None, decimal_places=2)
    currency = serializers.CharField()


class BlockerShape(serializers.Serializer[Any]):
    """Why nothing can be published."""

    code = serializers.CharField(
        help_text="no_account, not_ready, not_open, nothing_left, underpaid, missing_library or no_keys."
    )
    text = serializers.CharField()


class ToConfirmShape(serializers.Serializer[Any]):
    """With what is published on confirmation only."""

    key = serializers.CharField()
    text = serializers.CharField()


class WagePlanShape(serializers.Serializer[Any]):
    """A wage per hour that is fair, and the reward per HIT that would pay it."""

    hourly = serializers.DecimalField(max_digits=None, decimal_places=2)
    reward = serializers.DecimalField(max_digits=None, decimal_places=2)


class WorkerTermsShape(serializers.Serializer[Any]):
    """What workers see."""

    title = serializers.CharField()
    description = serializers.CharField()
    reward = serializers.DecimalField(max_digits=None, decimal_places=2)
    currency = serializers.CharField()
    minutes = serializers.IntegerField()


class PlanShape(serializers.Serializer[WavePlan]):
    """What the next wave would be."""

    n_hits_left = serializers.IntegerField(source="totals.n_left", help_text="HITs that are in no wave yet.")
    blockers = BlockerShape(many=True)
    to_confirm = ToConfirmShape(many=True)
    n_hits = serializers.SerializerMethodField(help_text="HITs of the wave.")
    last_number = serializers.IntegerField(source="preview.last_number", allow_null=True)
    cost = CostShape(source="preview.cost", allow_null=True, help_text="At most.")
    balance = serializers.DecimalField(
        max_digits=None, decimal_places=2, allow_null=True, help_text="At the last check, without later waves."
    )
    left = serializers.DecimalField(max_digits=None, decimal_places=2, allow_null=True, help_text="After the wave.")
    is_sandbox = serializers.BooleanField(
        source="account.last_check.is_sandbox", allow_null=True, help_text="Null: the account was not checked."
    )
    hourly_reward = serializers.DecimalField(max_digits=None, decimal_places=2, allow_null=True)
    low_wage = WagePlanShape(allow_null=True, help_text="What would be fair, where the reward is less.")
    terms = WorkerTermsShape(allow_null=True)
    address = serializers.CharField(allow_null=True, help_text="Where workers are sent to, by the first HIT.")

    def get_n_hits(self, plan: WavePlan) -> int:
        """Return how many there are."""
        return len(plan.preview.hits) if plan.preview else 0


class Plan(Resource):
    """The next wave."""

    @operation(Scope.READ, role=Role.EDITOR, filters=WaveForm, returns=PlanShape)
    def get(self, request: ApiRequest, campaign: Campaign) -> WavePlan:
        """Return what the next HITs cost and what would be published. Nothing is."""
        totals = count_hits(campaign)
        n_hits = cleaned(WaveForm(totals.n_left, request.query_params))["n_hits"]
        return get_wave_plan(campaign, totals=totals, n_hits=n_hits, site_url=site_url_of(request))


class WaveShape(serializers.ModelSerializer[Wave]):
    """A wave, and the job that publishes it."""

    job = JobShape(read_only=True, allow_null=True)
    ordered_by = serializers.EmailField(source="ordered_by.email", read_only=True, allow_null=True)
    n_postings = serializers.IntegerField(read_only=True)
    n_published = serializers.IntegerField(read_only=True, help_text="Postings that are published.")
    error = serializers.CharField(read_only=True, help_text="What keeps it from being published.")
    can_stop = serializers.BooleanField(read_only=True)
    can_resume = serializers.BooleanField(read_only=True)

    class Meta:
        model = Wave
        fields = (
            *("id", "number", "state", "n_hits", "n_places", "max_cost", "n_postings", "n_published", "error"),
            *("can_stop", "can_resume", "job", "ordered_by", "ordered_at"),
        )
        read_only_fields = fields


class NewWaveForm(LaunchForm, PublishForm):
    """The next HITs, and the sum that was agreed to."""

    field_order = ("n_hits", "max_cost")
    token = forms.UUIDField(
        required=False, help_text="Of your own: sent again, it is done once. An Idempotency-Key takes its place."
    )


class Waves(Resource):
    """The waves."""

    @operation(Scope.READ, returns=WaveShape, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the waves by number."""
        return Listed(list_waves(campaign), ("number",))

    @operation(Scope.LAUNCH, takes=NewWaveForm, returns=WaveShape, status=202, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign) -> Wave:
        """Publish the next `n_hits` HITs, for `max_cost` at most, as the plan has it; launch the campaign with that.

        Refused as `cost_changed` if they cost more by now, and as `no_worker_can_pass` unless that is confirmed.
        """
        fields = cleaned(NewWaveForm(sent_to(NewWaveForm, request)))
        fields["token"] = token_of(request, fields)
        wave = plan_wave(campaign=campaign, site_url=site_url_of(request), user=request.user, **fields)
        return get_wave_of(campaign, wave.pk)


class OneWave(Resource):
    """One wave."""

    @operation(Scope.READ, returns=WaveShape)
    def get(self, request: ApiRequest, campaign: Campaign, wave_id: int) -> Wave:
        """Return how far the wave is."""
        return get_wave_of(campaign, wave_id)


class StopWave(Resource):
    """An interruption."""

    @operation(Scope.LAUNCH, returns=WaveShape, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign, wave_id: int) -> Wave:
        """Interrupt the publishing of a wave; what is published stays."""
        stop_wave(wave=get_wave_of(campaign, wave_id))
        return get_wave_of(campaign, wave_id)


class ResumeWave(Resource):
    """The end of an interruption."""

    @operation(Scope.LAUNCH, returns=WaveShape, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign, wave_id: int) -> Wave:
        """Go on publishing a wave."""
        resume_wave(wave=get_wave_of(campaign, wave_id))
        return get_wave_of(campaign, wave_id)


class PostingShape(serializers.ModelSerializer[Posting]):
    """What is published: a HIT, or places for any HIT of a wave."""

    wave = serializers.IntegerField(source="wave.number", read_only=True)
    hit = serializers.IntegerField(source="hit.number", read_only=True, allow_null=True)

    class Meta:
        model = Posting
        fields = ("id", "wave", "hit", "n_places", "state", "platform_id", "polled_at", "last_error")
        read_only_fields = fields


class Postings(Resource):
    """What is published, or about to be."""

    @operation(Scope.READ, filters=PostingFilter, returns=PostingShape, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the postings that match, the first published first."""
        state = cleaned(PostingFilter(request.query_params))["state"]
        return Listed(list_postings(campaign, state=state), ("pk",))


@dataclass(frozen=True)
class Ordered:
    """How many orders are new; they are being sent to the platform."""

    n_orders: int


class PostingActs(Resource):
    """Acts on postings."""

    @operation(
        Scope.LAUNCH, takes=ActForm, returns=Ordered, status=202, refused=CONFLICT, fields={"unknown_act": "act"}
    )
    def post(self, request: ApiRequest, campaign: Campaign) -> Ordered:
        """Pause, resume, stop for good or delete the `posting` that is named or, without one, all in a state for it."""
        check_has_account(campaign)
        fields = cleaned(ActForm(sent_to(ActForm, request)))
        named = [get_posting_of(campaign, fields["posting"])] if fields["posting"] else None
        n = act_on_postings(campaign=campaign, act=fields["act"], postings=named, user=request.user)
        return Ordered(n)
