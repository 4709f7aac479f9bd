"""Every assignment of a campaign with its pay, one of them, and all payments as a file."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation.encoding import csv_pieces
from annotation.worker_names import hashed_name, real_name
from campaigns.platforms import get_platform
from campaigns.queries import Role, get_campaign_for, has_role
from crowd.forms.payments import BlockForm, PaymentFilter, ReverseForm
from crowd.payment_export import PAYMENT_COLUMNS, iter_payments
from crowd.presenters.payments import (
    cost_words,
    discrepancy_shown,
    frame,
    link_stats,
    money_words,
    orders_shown,
    row_shown,
    rows_shown,
    sides_shown,
    stats_of,
    wages_in_words,
)
from crowd.queries.account import is_blocked
from crowd.queries.payments import (
    compare_wages,
    count_finished,
    get_row,
    get_totals,
    list_payments,
    read_rows,
    read_verdicts,
)
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.words import counted

_ROWS_PER_PAGE = 50
_BAD_FILTER = 422
_IDS = {"hashed": False, "real": True}
_ORDERS = {"done": True, "all": False}


@require_GET
def payments(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List the assignments that match, newest first, with their pay and the sums of all."""
    campaign = get_campaign_for(request.user, public_id)
    has_account = get_platform(campaign.platform).has_account
    form = PaymentFilter(request.GET, with_names=has_role(campaign, Role.EDITOR), has_account=has_account)
    is_valid = form.is_valid()
    verdicts = read_verdicts(campaign, timezone.now())
    found = list_payments(campaign, **form.filters(), verdicts=verdicts) if is_valid else list_payments(campaign).none()
    page = Paginator(found, _ROWS_PER_PAGE).get_page(request.GET.get("page"))
    wage = (form.cleaned_data["wage"] if is_valid else None) or campaign.hourly_reward
    context = frame(campaign, "payments") | {
        "form": form,
        "is_filtered": bool(form.errors or form.filters()),
        "page_obj": page,
        "rows": rows_shown(campaign, read_rows(campaign, page, verdicts), wage),
        "wage": money_words(wage, campaign.currency) if wage else "",
        "wages": wages_in_words(campaign, compare_wages(campaign, wage), wage) if wage and campaign.reward else "",
    }
    if has_account:
        totals = get_totals(campaign)
        context |= frame(campaign, "payments", totals.n_discrepancies) | {
            "totals": totals,
            "stats": stats_of(campaign, totals),
            "waiting": f"{counted(totals.waiting.n_places, 'assignment')}, {cost_words(totals.waiting)}",
        }
    else:
        context["stats"] = link_stats(campaign, count_finished(campaign))
    return render(request, "crowd/payments.html", context, status=200 if is_valid else _BAD_FILTER)


@require_GET
def submission(request: SignedInRequest, public_id: UUID, submission_id: int) -> HttpResponse:
    """Show what is known of one assignment of the platform, everything ordered about it, and what can be done."""
    campaign = get_campaign_for(request.user, public_id)
    row = get_row(campaign, submission_id, read_verdicts(campaign, timezone.now()))
    assert row.submission
    wage = campaign.hourly_reward
    context = frame(campaign, "payments") | {
        "row": row_shown(campaign, row, wage),
        "wage": money_words(wage, campaign.currency) if wage else "",
        "submission": row.submission,
        "sides": sides_shown(campaign, row.submission),
        "discrepancy": discrepancy_shown(campaign, row.submission) if row.submission.discrepancy else None,
        "orders": orders_shown(campaign, row.orders),
        "can_decide": row.is_undecided,
        "can_reverse": row.is_reversible,
        "reverse_form": ReverseForm(),
        "is_blocked": is_blocked(campaign, row.submission.worker),
        "block_form": BlockForm(),
    }
    return render(request, "crowd/submission.html", context)


@require_GET
def payments_csv(request: SignedInRequest, public_id: UUID) -> StreamingHttpResponse:
    """Send what was paid (`?orders=all`: also what was not, or not yet) as it is read.

    Workers by their own ids, with the platform's ids and the codes, only to an owner who asks (`?ids=real`).
    """
    campaign = get_campaign_for(request.user, public_id)
    ids, orders = request.GET.get("ids", "hashed"), request.GET.get("orders", "done")
    if ids not in _IDS or orders not in _ORDERS:
        raise Http404("There is no such choice.")
    if _IDS[ids] and campaign.my_role != Role.OWNER:
        raise PermissionDenied("Only owners may take out the workers’ own ids.")
    names = real_name if _IDS[ids] else hashed_name
    rows = iter_payments(campaign, names=names, with_ids=_IDS[ids], only_done=_ORDERS[orders])
    response = StreamingHttpResponse(csv_pieces(PAYMENT_COLUMNS, rows), content_type="text/csv; charset=utf-8")
    filename = f"{slugify(campaign.name) or 'campaign'}-payments{'-real-ids' if _IDS[ids] else ''}.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=filename) or ""
    response["Cache-Control"] = "private, no-store"
    return response
