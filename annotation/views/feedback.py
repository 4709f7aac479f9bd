"""What workers wrote at the end of their HITs."""

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.forms.monitoring import FeedbackFilter
from annotation.monitoring import list_feedback
from annotation.presenters.monitoring import feedback_shown, frame
from campaigns.queries import get_campaign_for
from evalsite.accounts.requests import SignedInRequest

_TEXTS_PER_PAGE = 30
_BAD_FILTER = 422


@require_GET
def feedback(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List feedback, newest first."""
    campaign = get_campaign_for(request.user, public_id)
    form = FeedbackFilter(request.GET)
    is_valid = form.is_valid()
    search = form.cleaned_data["search"] if is_valid else ""
    found = list_feedback(campaign, search=search) if is_valid else list_feedback(campaign).none()
    page = Paginator(found, _TEXTS_PER_PAGE).get_page(request.GET.get("page"))
    context = frame(campaign, "feedback") | {"form": form, "search": search, "page_obj": page}
    context["texts"] = feedback_shown(campaign, page)
    return render(request, "monitoring/feedback.html", context, status=200 if is_valid else _BAD_FILTER)
