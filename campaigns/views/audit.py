"""The audit log of a campaign, for its owners."""

from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse
from django.utils.text import slugify

from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role
from campaigns.views.access import campaign_view, render_form
from evalsite.accounts.requests import SignedInRequest
from evalsite.audit.files import log_file
from evalsite.audit.forms import AuditFilter
from evalsite.audit.queries import describe_entries, describe_retention, list_entries

_PAGE = 50


@campaign_view("GET", to_read=Role.OWNER)
def audit(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List who did what in the campaign, newest first."""
    form = AuditFilter(request.GET)
    is_valid = form.is_valid()
    found = list_entries(campaign=campaign.public_id, **(form.cleaned_data if is_valid else {}))
    page = Paginator(found if is_valid else found.none(), _PAGE).get_page(request.GET.get("page"))
    context = campaign_context(campaign, "settings") | {
        "form": form,
        "is_filtered": not is_valid or any(form.cleaned_data.values()),
        "page_obj": page,
        "rows": describe_entries(page),
        "retention": describe_retention(),
    }
    return render_form(request, "campaigns/audit.html", context, is_refused=not is_valid)


@campaign_view("GET", to_read=Role.OWNER)
def audit_file(request: SignedInRequest, campaign: Campaign) -> FileResponse:
    """Send all of it as CSV."""
    name = f"{slugify(campaign.name) or 'campaign'}-audit-log.csv"
    return log_file(list_entries(campaign=campaign.public_id), name)
