"""The list of campaigns, the overview of one, and its life: launching, closing, duplicating."""

from collections.abc import Callable, Sequence
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from campaigns.checklist import Step, checklist, missing, to_confirm
from campaigns.design_file import design_pieces
from campaigns.forms.campaigns import CampaignListFilter, DuplicateForm
from campaigns.invitations import link_path, list_invitations_to
from campaigns.models import Campaign
from campaigns.navigation import campaign_context, job_progress, url_of, worker_link
from campaigns.overview import NextStep, next_steps, overview_parts
from campaigns.queries import (
    Role,
    contents_of,
    get_job_of,
    has_campaigns,
    list_campaigns_for,
    list_places,
    list_related_runs,
)
from campaigns.services.copies import duplicate_campaign
from campaigns.services.lifecycle import (
    close_campaign,
    launch_campaign,
    pause_campaign,
    resume_campaign,
)
from campaigns.views.access import campaign_view, render_form
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import CONFLICT, DomainError

_PER_PAGE = 25


@require_GET
def list_campaigns(request: SignedInRequest) -> HttpResponse:
    """List the campaigns that the user is a member of, as far as they match."""
    form = CampaignListFilter(request.GET)
    is_valid = form.is_valid()
    found = list_campaigns_for(request.user, **{"sort": "activity", **form.filters()} if is_valid else {})
    page = Paginator(found if is_valid else found.none(), _PER_PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "page_obj": page, "rows": list_places(page)}
    context["invitations"] = [(each, link_path(each)) for each in list_invitations_to(request.user, timezone.now())]
    context["has_campaigns"] = bool(context["rows"]) or has_campaigns(request.user)
    return render_form(request, "campaigns/list.html", context, is_refused=not is_valid)


def _step_of(campaign: Campaign, lacking: Sequence[Step]) -> NextStep | None:
    """Return what a draft lacks first; None if nothing keeps it from its launch."""
    if not lacking:
        return None
    first = lacking[0]
    url = url_of(campaign, first.page) or ""
    return NextStep(f"Next: {first.title}", first.text, f"Go to {first.title}", url)


def _overview(request: SignedInRequest, campaign: Campaign, error: DomainError | None = None) -> HttpResponse:
    contents = contents_of(campaign)
    parent, replications = list_related_runs(request.user, campaign)
    context = campaign_context(campaign, "overview") | {
        "contents": contents,
        "parent": parent,
        "replications": replications,
        "refused": error,
        "copy_id": uuid4(),
    }
    if campaign.is_launched:
        parts = overview_parts(campaign, request.user)
        steps = next_steps(parts)
        context |= {"link": worker_link(request, campaign), "parts": parts}
        context |= {"step": steps[0] if steps else None, "more_steps": steps[1:]}
    else:
        checks = checklist(campaign, contents)
        lacking = missing(checks)
        context |= {"steps": checks, "step": _step_of(campaign, lacking), "to_confirm": to_confirm(checks)}
        context |= {"next_key": lacking[0].key if lacking else "", "n_done": len(checks) - len(lacking)}
        context["total"] = campaign.reward * contents.n_places
    return render(request, "campaigns/campaign.html", context)


@campaign_view("GET")
def campaign(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show what a campaign still lacks or, once launched, how far it is."""
    return _overview(request, campaign)


def _launched(request: SignedInRequest, campaign: Campaign, done: str) -> HttpResponse:
    messages.success(request, done)
    return redirect("campaigns:campaign", campaign.public_id)


@campaign_view("POST", refused=_overview, status=CONFLICT)
def launch(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Open the campaign to workers."""
    launch_campaign(campaign=campaign, is_confirmed="is_confirmed" in request.POST)
    done = _launched(request, campaign, "The campaign is running.")
    link = worker_link(request, campaign)
    if link and link.refused and not campaign.invitations.exists():  # nobody can take part yet
        return redirect("monitoring:raters_add", campaign.public_id)
    return done


_MOVES: dict[str, tuple[Callable[..., None], str]] = {
    "pause": (pause_campaign, "The campaign is paused: no more HITs are given out."),
    "resume": (resume_campaign, "The campaign is running again."),
    "close": (close_campaign, "The campaign is closed."),
}


@campaign_view("POST", refused=_overview, status=CONFLICT)
def move(request: SignedInRequest, campaign: Campaign, verb: str) -> HttpResponse:
    """Pause, resume or close the campaign."""
    change, done = _MOVES[verb]
    change(campaign=campaign)
    return _launched(request, campaign, done)


@campaign_view("POST", to_change=Role.VIEWER, refused=_overview)
def duplicate(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Make a copy, as a replication run or as a version to be changed; all members may."""
    form = DuplicateForm(request.POST)
    if not form.is_valid():
        raise DomainError("bad_copy", "Choose which kind of copy you want: a replication run or a changed version.")
    copy = duplicate_campaign(campaign=campaign, owner=request.user, **form.cleaned_data)
    messages.success(request, f"This is the copy of “{campaign.name}”: a draft of its own, with a new seed.")
    return redirect("campaigns:campaign", copy.public_id)


@campaign_view("GET")
def design_file(request: SignedInRequest, campaign: Campaign) -> StreamingHttpResponse:
    """Send the campaign as a design file, from which any site makes a draft; with its outputs if they are asked for."""
    pieces = design_pieces(campaign, has_outputs=request.GET.get("outputs") == "yes")
    response = StreamingHttpResponse(pieces, content_type="application/json")
    name = f"{slugify(campaign.name) or 'campaign'}-design.json"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    response["Cache-Control"] = "private, no-store"
    return response


@never_cache
@campaign_view("GET", "HEAD")
def job(request: SignedInRequest, campaign: Campaign, job_id: UUID) -> HttpResponse:
    """Answer with the state of an import or a building of HITs."""
    return JsonResponse(job_progress(campaign, get_job_of(campaign, job_id)))
