"""Planning: what a design would find, cost and take, by simulation."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from analysis.models import PowerAnalysis
from analysis.planning.sections import findings_of
from analysis.web.forms.planning import PlanningForm, first_values
from analysis.web.queries.planning import get_plan_for, list_pilots, plans_of
from analysis.web.services.planning import delete_plan, start_plan
from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.shapes import cleaned, sent_to
from campaigns.models import Campaign
from evalsite.accounts.models import Scope
from evalsite.lib.errors import CONFLICT


class ListedPowerAnalysisShape(serializers.ModelSerializer[PowerAnalysis]):
    """A plan in a list: its settings and its job."""

    job = serializers.UUIDField(source="job_id", allow_null=True)
    pilot = serializers.UUIDField(source="pilot_id", allow_null=True, help_text="The analysis whose ratings it is.")
    settings = serializers.JSONField()

    class Meta:
        model = PowerAnalysis
        fields: tuple[str, ...] = ("id", "created_at", "job", "pilot", "settings")


class PowerAnalysisShape(ListedPowerAnalysisShape):
    """A plan: null, and no finding, until its job has finished."""

    plan = serializers.JSONField(allow_null=True, help_text="As `manage.py plan` prints it.")
    findings = serializers.SerializerMethodField(help_text="The sentences of the page.")

    class Meta(ListedPowerAnalysisShape.Meta):
        fields = (*ListedPowerAnalysisShape.Meta.fields, "plan", "findings")

    def get_findings(self, found: PowerAnalysis) -> list[str]:
        """Return the sentences of the page."""
        return findings_of(found.plan) if found.plan else []


def _start(request: ApiRequest, campaign: Campaign | None) -> PowerAnalysis:
    """Plan with what was sent; all else is what the form of the page begins with."""
    pilots = list_pilots(request.user, campaign)
    sent: dict[str, Any] = first_values(campaign, pilots) | sent_to(PlanningForm, request, partial=True)
    form = PlanningForm(campaign, pilots, sent)
    cleaned(form)
    settings = form.settings()
    if settings is None:
        cleaned(form)  # it has an error by now
        raise AssertionError
    return start_plan(user=request.user, settings=settings, campaign=campaign, pilot=form.pilot)


class CampaignPlans(Resource):
    """The plans of a campaign."""

    @operation(Scope.READ, returns=ListedPowerAnalysisShape, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the plans, newest first."""
        return Listed(plans_of(request.user, campaign), ("-created_at",))

    @operation(Scope.EDIT, takes=PlanningForm, is_partial=True, returns=PowerAnalysisShape, status=202)
    def post(self, request: ApiRequest, campaign: Campaign) -> PowerAnalysis:
        """Plan the campaign: its design, costs, pace and newest analysis, but for what is sent."""
        return _start(request, campaign)


class Plans(Resource):
    """One's own plans without a campaign."""

    @operation(Scope.READ, returns=ListedPowerAnalysisShape, many="pages")
    def get(self, request: ApiRequest) -> Listed:
        """List the plans, newest first."""
        return Listed(plans_of(request.user, None), ("-created_at",))

    @operation(Scope.EDIT, takes=PlanningForm, is_partial=True, returns=PowerAnalysisShape, status=202)
    def post(self, request: ApiRequest) -> PowerAnalysis:
        """Plan with what is sent; all else is as the page begins."""
        return _start(request, None)


class OnePlan(Resource):
    """One plan."""

    @operation(Scope.READ, returns=PowerAnalysisShape)
    def get(self, request: ApiRequest, plan_id: UUID) -> PowerAnalysis:
        """Return the plan."""
        return get_plan_for(request.user, plan_id)

    @operation(Scope.EDIT, refused=CONFLICT)
    def delete(self, request: ApiRequest, plan_id: UUID) -> None:
        """Delete the plan."""
        delete_plan(plan=get_plan_for(request.user, plan_id, to_change=True))
