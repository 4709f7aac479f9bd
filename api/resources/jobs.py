"""Background work."""

from uuid import UUID

from rest_framework import serializers

from analysis.web.queries.campaigns import get_any_job_of, list_jobs
from api.access import ApiRequest, check_scope
from api.operations import Listed, Resource, operation
from api.shapes import model_shape
from campaigns.models import Campaign
from crowd.services.account import PUBLISH
from evalsite.accounts.models import Scope
from evalsite.jobs.models import Job
from evalsite.jobs.queries import get_job_for
from evalsite.jobs.services import retry_job
from evalsite.lib.errors import CONFLICT

JobShape = model_shape(
    "Job",
    Job,
    *("id", "kind", "status", "stage", "done", "total", "error_code", "error_message"),
    *("created_at", "started_at", "finished_at"),
    is_finished=serializers.BooleanField(read_only=True),
)


class CampaignJobs(Resource):
    """The jobs of a campaign, also those that others have started."""

    @operation(Scope.READ, returns=JobShape, many="pages")
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the jobs that import files, build HITs and analyse ratings, newest first."""
        return Listed(list_jobs(campaign), ("-created_at",))


class CampaignJob(Resource):
    """One job of a campaign."""

    @operation(Scope.READ, returns=JobShape)
    def get(self, request: ApiRequest, campaign: Campaign, job_id: UUID) -> Job:
        """Return how far the job is."""
        return get_any_job_of(campaign, job_id)


class OneJob(Resource):
    """A job that one has started."""

    @operation(Scope.READ, returns=JobShape)
    def get(self, request: ApiRequest, job_id: UUID) -> Job:
        """Return how far the job is. Ask again after some seconds until `is_finished`."""
        return get_job_for(request.user, job_id)


class Retry(Resource):
    """Another try."""

    @operation(Scope.EDIT, returns=JobShape, status=202, refused=CONFLICT)
    def post(self, request: ApiRequest, job_id: UUID) -> Job:
        """Queue a failed job again; one that publishes a wave needs the scope launch."""
        found = get_job_for(request.user, job_id)
        if found.kind == PUBLISH:
            check_scope(request, Scope.LAUNCH)
        return retry_job(found)
