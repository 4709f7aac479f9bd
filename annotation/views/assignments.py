"""The assignments of a campaign, and freeing the places of those that were left."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.forms.monitoring import AssignmentFilter
from annotation.monitoring import get_assignment_of, list_assignments
from annotation.presenters.monitoring import assignments_shown, frame
from annotation.services.assignments import release_assignment
from campaigns.queries import Role, get_campaign_for, has_role
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError

_ASSIGNMENTS_PER_PAGE = 50
_BAD_FILTER = 422


@require_GET
def assignments(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List the assignments that match, newest first."""
    campaign = get_campaign_for(request.user, public_id)
    form = AssignmentFilter(request.GET, with_names=has_role(campaign, Role.EDITOR))
    is_valid = form.is_valid()
    found = list_assignments(campaign, **form.filters()) if is_valid else list_assignments(campaign).none()
    page = Paginator(found, _ASSIGNMENTS_PER_PAGE).get_page(request.GET.get("page"))
    context = frame(campaign, "assignments") | {
        "form": form,
        "is_filtered": bool(form.errors or form.filters()),
        "page_obj": page,
        "rows": assignments_shown(campaign, page),
    }
    return render(request, "monitoring/assignments.html", context, status=200 if is_valid else _BAD_FILTER)


@require_POST
def release(request: SignedInRequest, public_id: UUID, assignment_id: int) -> HttpResponse:
    """Free the place of an active assignment."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    assignment = get_assignment_of(campaign, assignment_id)
    try:
        released = release_assignment(assignment=assignment)
        if released.state == released.State.FINISHED:
            text = f"All items of HIT {assignment.hit.number} were rated, so it counts as finished."
        else:
            text = f"The place in HIT {assignment.hit.number} is free again. What was rated is kept."
        messages.success(request, text)
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("monitoring:assignments", campaign.public_id)
