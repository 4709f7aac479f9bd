"""What does not fit between the platform and here, and its ways out."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.services.assignments import release_assignment
from campaigns.queries import get_campaign_for
from crowd.forms.payments import DiscrepancyFilter
from crowd.presenters.payments import discrepancy_shown, frame
from crowd.queries.payments import get_submission_of, list_discrepancies
from crowd.services.syncing.discrepancies import dismiss_discrepancy
from crowd.views.choosing import campaign_to_pay
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError

_DISCREPANCIES_PER_PAGE = 25
_BAD_FILTER = 422


@require_GET
def discrepancies(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List the discrepancies that are open, or those that are dismissed."""
    campaign = get_campaign_for(request.user, public_id)
    form = DiscrepancyFilter(request.GET)
    is_valid = form.is_valid()
    is_dismissed = is_valid and bool(form.cleaned_data["dismissed"])
    found = list_discrepancies(campaign, is_dismissed=is_dismissed, kind=form.cleaned_data.get("kind", ""))
    page = Paginator(found if is_valid else found.none(), _DISCREPANCIES_PER_PAGE).get_page(request.GET.get("page"))
    context = frame(campaign, "discrepancies", list_discrepancies(campaign).count()) | {
        "form": form,
        "is_dismissed": is_dismissed,
        "is_filtered": bool(form.errors or form.cleaned_data.get("kind")),
        "page_obj": page,
        "discrepancies": [discrepancy_shown(campaign, each) for each in page],
    }
    return render(request, "crowd/discrepancies.html", context, status=200 if is_valid else _BAD_FILTER)


@require_POST
def dismiss(request: SignedInRequest, public_id: UUID, submission_id: int) -> HttpResponse:
    """Dismiss a discrepancy."""
    campaign = campaign_to_pay(request, public_id)
    try:
        dismiss_discrepancy(submission=get_submission_of(campaign, submission_id), user=request.user)
        messages.success(request, "Dismissed. It stays in the list of dismissed discrepancies.")
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("crowd:discrepancies", campaign.public_id)


@require_POST
def free(request: SignedInRequest, public_id: UUID, submission_id: int) -> HttpResponse:
    """Free the place of the assignment here that belongs to one of the platform."""
    campaign = campaign_to_pay(request, public_id)
    submission = get_submission_of(campaign, submission_id)
    try:
        if submission.assignment is None:
            raise DomainError("not_active", "Nobody works at this here.")
        released = release_assignment(assignment=submission.assignment)
        if released.state == released.State.FINISHED:
            text = "All items were rated, so it counts as finished."
        else:
            text = f"The place in HIT {submission.assignment.hit.number} is free again. What was rated is kept."
        messages.success(request, text)
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("crowd:discrepancies", campaign.public_id)
