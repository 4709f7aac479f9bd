"""How the work goes that a campaign's pages wait for."""

from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from campaigns.presenters.jobs import job_shown
from campaigns.queries import get_campaign_for, get_job_of
from evalsite.accounts.requests import SignedInRequest


@require_safe
@never_cache
def job(request: SignedInRequest, public_id: UUID, job_id: UUID) -> HttpResponse:
    """Answer with the state of an import or a building of HITs."""
    campaign = get_campaign_for(request.user, public_id)
    return JsonResponse(job_shown(campaign, get_job_of(campaign, job_id)))
