"""How far a campaign is: its progress, assignments, feedback and files."""

from typing import TypeVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from annotation.export.downloads import ExportChoice, count_rows, find_download
from annotation.export.rows import ALL_STATES, FINISHED
from annotation.forms import AssignmentFilter, FeedbackFilter
from annotation.models import PlaceFreed
from annotation.monitoring.lists import (
    describe_assignments,
    get_assignment_of,
    list_assignments,
    list_feedback,
)
from annotation.monitoring.progress import count_by_hit, get_progress, list_hits
from annotation.services.assignments import release_assignment
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, has_role
from campaigns.views.access import back_to, campaign_view, render_form
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act

_ROWS_PER_PAGE, _TEXTS_PER_PAGE = 50, 30
_STATES = {"finished": FINISHED, "all": ALL_STATES}
_IDS = {"hashed": False, "real": True}
R = TypeVar("R", HttpResponse, StreamingHttpResponse)


def has_chats(request: SignedInRequest, campaign: Campaign) -> None:
    """Check that workers chat with the campaign's systems; raise Http404."""
    if not campaign.is_live:
        raise Http404("This campaign has no chats.")


def page_of(request: SignedInRequest, found: QuerySet, per_page: int = _ROWS_PER_PAGE) -> Page:
    """Return the page of a list that is asked for."""
    return Paginator(found, per_page).get_page(request.GET.get("page"))


@campaign_view("GET")
def progress(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show progress by HIT and by system, and how long work takes."""
    page = page_of(request, list_hits(campaign))
    context = campaign_context(campaign, "progress") | {
        "progress": get_progress(campaign, timezone.now()),
        "page_obj": page,
        "hits": count_by_hit(list(page)),
    }
    return render(request, "monitoring/progress.html", context)


@campaign_view("GET")
def assignments(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List the assignments that match, newest first."""
    form = AssignmentFilter(request.GET, with_names=has_role(campaign, Role.EDITOR))
    is_valid = form.is_valid()
    page = page_of(
        request, list_assignments(campaign, **form.filters()) if is_valid else list_assignments(campaign).none()
    )
    context = campaign_context(campaign, "assignments") | {
        "form": form,
        "is_filtered": bool(form.errors or form.filters()),
        "page_obj": page,
        "rows": describe_assignments(campaign, page),
    }
    return render_form(request, "monitoring/assignments.html", context, is_refused=not is_valid)


@campaign_view("POST", refused=back_to("monitoring:assignments"))
def release(request: SignedInRequest, campaign: Campaign, assignment_id: int) -> HttpResponse:
    """Free the place of an active assignment."""
    assignment = get_assignment_of(campaign, assignment_id)
    released = release_assignment(assignment=assignment, cause=PlaceFreed.RESEARCHER)
    if released.state == released.State.FINISHED:
        text = f"All items of HIT {assignment.hit.number} were rated, so it counts as finished."
    else:
        text = f"The place in HIT {assignment.hit.number} is free again. What was rated is kept."
    messages.success(request, text)
    return redirect("monitoring:assignments", campaign.public_id)


@campaign_view("GET")
def feedback(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List what workers wrote at the end of their HITs, newest first."""
    form = FeedbackFilter(request.GET)
    is_valid = form.is_valid()
    search = form.cleaned_data["search"] if is_valid else ""
    found = list_feedback(campaign, search=search) if is_valid else list_feedback(campaign).none()
    page = page_of(request, found, _TEXTS_PER_PAGE)
    context = campaign_context(campaign, "feedback") | {
        "form": form,
        "search": search,
        "page_obj": page,
        "texts": describe_assignments(campaign, page),
    }
    return render_form(request, "monitoring/feedback.html", context, is_refused=not is_valid)


# --- Files


@campaign_view("GET")
def export(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List what can be downloaded."""
    context = campaign_context(campaign, "export") | {"files": count_rows(campaign, timezone.now())}
    return render(request, "monitoring/export.html", context)


@campaign_view("GET")
def export_file(request: SignedInRequest, campaign: Campaign, name: str) -> StreamingHttpResponse:
    """Send one of the files as it is made; workers by their own ids only to an owner who asks (`?ids=real`)."""
    download = find_download(campaign, name)
    states, ids = request.GET.get("states", "finished"), request.GET.get("ids", "hashed")
    if download is None or states not in _STATES or ids not in _IDS:
        raise Http404("There is no such file.")
    choice = ExportChoice(states=_STATES[states], has_real_ids=_IDS[ids])
    if choice.has_real_ids and campaign.my_role != Role.OWNER:
        raise PermissionDenied("Only owners may take out the workers’ own ids.")
    note_act(is_act=choice.has_real_ids)
    response = StreamingHttpResponse(download.pieces(campaign, choice), content_type=download.content_type)
    stem, _, suffix = name.partition(".")
    more = ("-all-states" if choice.states == ALL_STATES else "") + ("-real-ids" if choice.has_real_ids else "")
    return as_file(response, f"{slugify(campaign.name) or 'campaign'}-{stem}{more}.{suffix}")


def as_file(response: R, name: str) -> R:
    """Make a response a file to be saved, which no cache keeps."""
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    response["Cache-Control"] = "private, no-store"
    return response
