"""The audit log of the whole site."""

from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse

from campaigns.models import Campaign
from campaigns.views.access import render_form
from desk.navigation import campaign_url, desk_context
from desk.views.access import admin_view
from evalsite.accounts.requests import SignedInRequest
from evalsite.audit.files import log_file
from evalsite.audit.forms import AuditFilter
from evalsite.audit.queries import describe_entries, describe_retention, list_entries

_PAGE = 50


@admin_view("GET")
def audit(request: SignedInRequest) -> HttpResponse:
    """List who did what on the site, newest first."""
    form = AuditFilter(request.GET)
    is_valid = form.is_valid()
    found = list_entries(**(form.cleaned_data if is_valid else {}))
    page = Paginator(found if is_valid else found.none(), _PAGE).get_page(request.GET.get("page"))
    campaigns = {each.public_id: each for each in Campaign.objects.filter(public_id__in={e.campaign for e in page})}
    mine = set(request.user.memberships.values_list("campaign", flat=True))
    context = desk_context("audit") | {
        "form": form,
        "is_filtered": not is_valid or any(form.cleaned_data.values()),
        "query": request.GET.urlencode(),
        "page_obj": page,
        "rows": describe_entries(page),
        "campaigns": {str(key): (each.name, campaign_url(request.user, each, mine)) for key, each in campaigns.items()},
        "retention": describe_retention(),
    }
    return render_form(request, "desk/audit.html", context, is_refused=not is_valid)


@admin_view("GET")
def audit_file(request: SignedInRequest) -> FileResponse:
    """Send what the filter finds as CSV."""
    form = AuditFilter(request.GET)
    if not form.is_valid():
        raise Http404("There is no such choice.")
    return log_file(list_entries(**form.cleaned_data), "audit-log.csv")
