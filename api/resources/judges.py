"""Language models that judge a campaign's outputs: what they are asked, what that costs, their answers."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.views.decorators.debug import sensitive_variables
from rest_framework import serializers

from analysis.models import Judge, JudgeAnswer
from analysis.web.forms.judges import JudgeLimitsForm, NewJudgeForm, limits_of
from analysis.web.queries.judges import (
    find_judge_connector,
    get_judge_of,
    hosts_of,
    list_answers,
    list_judged_criteria,
    list_judges,
    list_known_models,
    state_of,
)
from analysis.web.services.judges import add_judge, cancel_judge, remove_judge, start_judge
from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.options import check_known, named_as_on_pages, named_as_sent
from api.problems import InvalidFieldsError
from api.resources.jobs import JobShape
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from evalsite.accounts.models import Scope
from evalsite.jobs.models import Job
from evalsite.lib.errors import CONFLICT


class JudgeShape(serializers.ModelSerializer[Judge]):
    """A judge: how it is asked, its prices and caps. Its keys are never sent back."""

    job = serializers.UUIDField(source="job_id", allow_null=True)
    scores = serializers.UUIDField(source="scores_id", allow_null=True, help_text="The metrics made of its answers.")
    criteria = serializers.ListField(child=serializers.IntegerField(), help_text="Ids, in order.")
    settings = serializers.JSONField(help_text="The options of its connector that are no secrets.")
    spent = serializers.DecimalField(max_digits=None, decimal_places=6)

    class Meta:
        model = Judge
        fields = (
            *("id", "name", "connector", "settings", "criteria", "created_at"),
            *("price_in", "price_out", "price_per_call", "max_cost", "max_calls"),
            *("max_tokens", "timeout_s", "max_parallel", "is_cancelled", "spent", "job", "scores"),
        )


class AddedJudgeForm(JudgeLimitsForm):
    """A new judge. Nothing is asked yet."""

    connector = forms.CharField(help_text="openai-chat, http-json or python.")
    name = forms.CharField(required=False, help_text="What its metrics are called.")
    criteria = forms.JSONField(required=False, help_text="A list of ids of criteria; without it, all are judged.")
    settings = forms.JSONField(required=False, help_text="An object with values of the connector's options.")
    secrets = forms.JSONField(required=False, help_text="An object with values of its secret options.")
    like = forms.CharField(
        required=False,
        help_text="chatbot:ID or judge:ID of a campaign that you may edit: options and keys that are not sent are its.",
    )


class Judges(Resource):
    """The judges of a campaign's outputs."""

    @operation(Scope.READ, returns=JudgeShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> Any:
        """List the judges, the oldest first."""
        return list_judges(campaign)

    @operation(
        Scope.EDIT, takes=AddedJudgeForm, returns=JudgeShape, status=201,
        fields={"name_taken": "name", "metric_twice": "name", "no_criteria": "criteria", "other_host": "secrets"},
    )  # fmt: skip
    @sensitive_variables()
    def post(self, request: ApiRequest, campaign: Campaign) -> Judge:
        """Add a judge; see its estimate, then start it."""
        sent = sent_to(AddedJudgeForm, request)
        connector = find_judge_connector(str(sent.pop("connector", "")))
        if connector is None:
            raise InvalidFieldsError({"connector": ["No such connector of this site can ask a judge."]})
        known, like = list_known_models(request.user, connector.slug), str(sent.get("like") or "")
        form = NewJudgeForm(connector, list_judged_criteria(campaign), known=known, like=like)
        made = add_judge(campaign=campaign, user=request.user, connector=connector.slug, **_new_values(form, sent))
        return get_judge_of(campaign, made.pk)


@sensitive_variables()
def _new_values(form: NewJudgeForm, sent: dict[str, Any]) -> dict[str, Any]:
    """Return what was sent as `add_judge` takes it, checked by the page's form."""
    keys = sent.get("criteria")
    if keys is not None and (not isinstance(keys, list) or not all(isinstance(key, int) for key in keys)):
        raise InvalidFieldsError({"criteria": ["Send a list of ids."]})
    data = named_as_on_pages({name: value for name, value in sent.items() if value is not None})
    check_known(data, form)
    for name, field in form.fields.items():
        data.setdefault(name, field.initial)
    form.data, form.is_bound = data, True
    with named_as_sent():
        cleaned(form)
    return form.values()


class OneJudge(Resource):
    """One judge."""

    @operation(Scope.READ, returns=JudgeShape)
    def get(self, request: ApiRequest, campaign: Campaign, judge_id: UUID) -> Judge:
        """Return the judge."""
        return get_judge_of(campaign, judge_id)

    @operation(Scope.EDIT, refused=CONFLICT)
    def delete(self, request: ApiRequest, campaign: Campaign, judge_id: UUID) -> None:
        """Remove the judge with its answers and scores. Analyses that compared them stay."""
        remove_judge(judge=get_judge_of(campaign, judge_id))


@dataclass(frozen=True)
class JudgeEstimate:
    """How far a judge is, what the rest takes, and what it is asked.

    `hosts` are the servers that texts are sent to; none where the judge runs on this site's server.
    """

    hosts: list[str]
    n_outputs: int
    n_scored: int
    n_missing: int
    n_left: int
    n_calls_made: int
    spent: Decimal
    is_spent_known: bool
    n_calls: int
    n_tokens_in: int
    n_tokens_out: int
    cost: Decimal
    cost_at_most: Decimal
    prompt: str


class Estimate(Resource):
    """What a judge's calls cost."""

    @operation(Scope.READ, returns=JudgeEstimate)
    def get(self, request: ApiRequest, campaign: Campaign, judge_id: UUID) -> JudgeEstimate:
        """Return how far the judge is, how many calls are left and what they cost, and the prompt of one output."""
        found = get_judge_of(campaign, judge_id)
        state = state_of(found)
        return JudgeEstimate(
            hosts=hosts_of(found),
            n_outputs=state.n_outputs,
            n_scored=state.n_scored,
            n_missing=state.n_missing,
            n_left=state.n_left,
            n_calls_made=state.n_calls,
            spent=state.spent,
            is_spent_known=state.is_spent_known,
            n_calls=state.estimate.n_calls,
            n_tokens_in=state.estimate.n_tokens_in,
            n_tokens_out=state.estimate.n_tokens_out,
            cost=state.estimate.cost,
            cost_at_most=state.estimate.most,
            prompt=state.prompt,
        )


class Start(Resource):
    """Asking a judge."""

    @operation(
        Scope.EDIT, takes=JudgeLimitsForm, returns=JobShape, status=202, is_partial=True, refused=CONFLICT,
        fields={"no_cap": "max_cost", "no_price": "price_in"},
    )  # fmt: skip
    def post(self, request: ApiRequest, campaign: Campaign, judge_id: UUID) -> Job | None:
        """Start the judge, or go on. Prices, caps and limits that are not sent stay as they are."""
        found = get_judge_of(campaign, judge_id)
        form = JudgeLimitsForm(limits_of(found) | sent_to(JudgeLimitsForm, request, partial=True))
        cleaned(form)
        return start_judge(judge=found, user=request.user, limits=form.limits()).job


class Stop(Resource):
    """An end to a judge's calls."""

    @operation(Scope.EDIT, returns=JudgeShape, refused=CONFLICT)
    def post(self, request: ApiRequest, campaign: Campaign, judge_id: UUID) -> Judge:
        """Make no more calls. Those under way are waited for, and what is there is kept."""
        cancel_judge(judge=get_judge_of(campaign, judge_id))
        return get_judge_of(campaign, judge_id)


class AnswerShape(serializers.ModelSerializer[JudgeAnswer]):
    """One call of a judge."""

    system = serializers.CharField(source="output.system.name")
    source = serializers.CharField(source="output.source.name")  # type: ignore[assignment]
    scores = serializers.JSONField(
        allow_null=True, help_text="Ratings by id of the criterion, as given: not turned round where agreement is bad."
    )

    class Meta:
        model = JudgeAnswer
        fields = (
            *("id", "system", "source", "attempt", "state", "text", "scores", "message", "n_tokens_in", "n_tokens_out"),
            *("price", "is_price_known", "asked_at", "answered_at", "prompt_sha256"),
        )


class Answers(Resource):
    """What a judge answered."""

    @operation(Scope.READ, returns=AnswerShape, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign, judge_id: UUID) -> Listed:
        """List the calls of the judge in their order, with each answer as it came."""
        return Listed(list_answers(get_judge_of(campaign, judge_id)), ("pk",))
