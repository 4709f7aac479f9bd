"""Taking data out, at any moment, streamed."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation.downloads import Choice, find_download
from annotation.exports import ALL_STATES, FINISHED
from annotation.presenters.downloads import downloads
from annotation.presenters.monitoring import frame
from annotation.progress import get_totals
from campaigns.models import Campaign
from campaigns.queries import Role, get_campaign_for
from evalsite.accounts.requests import SignedInRequest

_STATES = {"finished": FINISHED, "all": ALL_STATES}
_IDS = {"hashed": False, "real": True}


@require_GET
def export(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List what can be downloaded."""
    campaign = get_campaign_for(request.user, public_id)
    totals = get_totals(campaign, timezone.now())
    groups = downloads(campaign, totals, campaign.criteria.count())
    return render(request, "monitoring/export.html", frame(campaign, "export") | {"groups": groups})


@require_GET
def export_file(request: SignedInRequest, public_id: UUID, name: str) -> StreamingHttpResponse:
    """Send one of the files as it is made; workers by their own ids only to an owner who asks (`?ids=real`)."""
    campaign = get_campaign_for(request.user, public_id)
    download, choice = find_download(campaign, name), _choice(request)
    if download is None:
        raise Http404("There is no such file.")
    if choice.has_real_ids and campaign.my_role != Role.OWNER:
        raise PermissionDenied("Only owners may take out the workers’ own ids.")
    response = StreamingHttpResponse(download.pieces(campaign, choice), content_type=download.content_type)
    filename = _file_name(campaign, name, choice)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=filename) or ""
    response["Cache-Control"] = "private, no-store"
    return response


def _choice(request: SignedInRequest) -> Choice:
    """Return what the parameters ask for; raise Http404 for values that they do not have."""
    states, ids = request.GET.get("states", "finished"), request.GET.get("ids", "hashed")
    if states not in _STATES or ids not in _IDS:
        raise Http404("There is no such choice.")
    return Choice(states=_STATES[states], has_real_ids=_IDS[ids])


def _file_name(campaign: Campaign, name: str, choice: Choice) -> str:
    stem, _, suffix = name.partition(".")
    states = "-all-states" if choice.states == ALL_STATES else ""
    ids = "-real-ids" if choice.has_real_ids else ""
    return f"{slugify(campaign.name) or 'campaign'}-{stem}{states}{ids}.{suffix}"
