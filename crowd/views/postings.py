"""What is published, posting by posting; pausing, resuming and stopping one or all of them."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from campaigns.models import Campaign
from campaigns.queries import Role, get_campaign_for
from crowd.forms.postings import ActForm
from crowd.models import Posting
from crowd.presenters.postings import ENDED_EARLY, postings_page
from crowd.queries.publishing import get_posting_of, list_ended_early, list_postings
from crowd.services.payments.decisions import act_on_postings
from crowd.views.platform import show, url_of
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import UNPROCESSABLE, DomainError
from evalsite.lib.words import counted

_PER_PAGE = 50


@require_GET
def postings(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List what was published, or is about to be."""
    return _list(request, get_campaign_for(request.user, public_id))


@require_POST
def act(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Pause, resume, stop or delete the posting that is named, or all that are in a state for it."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    form = ActForm(request.POST)
    named = get_posting_of(campaign, form.cleaned_data["posting"]) if form.is_valid() and form.is_of_one else None
    try:
        if not form.is_valid():
            raise DomainError("unknown_act", "Postings can be paused, resumed, stopped and deleted.")
        wanted = form.cleaned_data["act"]
        n = act_on_postings(campaign=campaign, act=wanted, postings=[named] if named else None, user=request.user)
    except DomainError as error:
        return _list(request, campaign, error) if named else show(request, campaign, refused=error)
    messages.success(request, f"Ordered for {counted(n, 'posting')}. The platform is being told.")
    return redirect("crowd:postings", public_id) if named else redirect(url_of(campaign, "standing"))


def _list(request: SignedInRequest, campaign: Campaign, refused: DomainError | None = None) -> HttpResponse:
    state = request.GET.get("state", "")
    found = (list_ended_early(campaign) if state == ENDED_EARLY else list_postings(campaign)).order_by("pk")
    if state in Posting.State.values:
        found = found.filter(state=state)
    page = Paginator(found, _PER_PAGE).get_page(request.GET.get("page"))
    context = postings_page(campaign, page, state) | {"page_obj": page, "refused": refused}
    return render(request, "crowd/postings.html", context, status=UNPROCESSABLE if refused else 200)
