"""What was paid: every assignment with its pay, discrepancies, orders; and all payments as a file."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from annotation.export.encoding import csv_pieces
from annotation.worker_names import hashed_name, real_name
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, has_role
from campaigns.views.access import campaign_view, render_form
from crowd.forms.payments import BlockForm, DiscrepancyFilter, OrderFilter, PaymentFileForm, PaymentFilter, ReverseForm
from crowd.models import Order
from crowd.payment_export import PAYMENT_COLUMNS, iter_payments
from crowd.queries.account import is_blocked
from crowd.queries.payment_rows import get_row, read_rows
from crowd.queries.payments import (
    compare_wages,
    count_finished,
    get_totals,
    list_discrepancies,
    list_orders,
    list_payments,
    list_repeatable,
    read_verdicts,
)
from crowd.queries.publishing import last_check
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act
from evalsite.lib.tables.blocks import in_blocks

_ROWS_PER_PAGE, _DISCREPANCIES_PER_PAGE = 50, 25


def frame(campaign: Campaign, part: str, n_discrepancies: int = 0) -> dict[str, Any]:
    """Return what all pages of payments need; `part` names the one that shows."""
    return campaign_context(campaign, part, {"discrepancies": n_discrepancies}) | {
        "platform": campaign.crowd_platform,
        "with_names": has_role(campaign, Role.EDITOR),
    }


def balance_of(campaign: Campaign) -> dict[str, Any]:
    """Return what was in the account at the last check, None if it is not known."""
    found = last_check(campaign)
    currency = found.currency or campaign.currency
    return {"balance": found.balance, "balance_currency": currency, "balance_at": found.at}


@campaign_view("GET")
def payments(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List the assignments that match, newest first, with their pay and the sums of all."""
    has_account = campaign.crowd_platform.has_account
    form = PaymentFilter(request.GET, with_names=has_role(campaign, Role.EDITOR), has_account=has_account)
    is_valid = form.is_valid()
    verdicts = read_verdicts(campaign, timezone.now())
    found = list_payments(campaign, **form.filters(), verdicts=verdicts) if is_valid else list_payments(campaign).none()
    page = Paginator(found, _ROWS_PER_PAGE).get_page(request.GET.get("page"))
    wage = (form.cleaned_data["wage"] if is_valid else None) or campaign.hourly_reward
    context = {
        "form": form,
        "is_filtered": bool(form.errors or form.filters()),
        "page_obj": page,
        "rows": read_rows(campaign, page, verdicts, wage),
        "wage": wage,
        "wages": compare_wages(campaign, wage) if wage and campaign.reward else None,
    }
    if has_account:
        totals = get_totals(campaign)
        context |= frame(campaign, "payments", totals.n_discrepancies) | balance_of(campaign) | {"totals": totals}
    else:
        n = count_finished(campaign)
        context |= frame(campaign, "payments") | {"n_finished": n, "rewards": n * campaign.reward}
    return render_form(request, "crowd/payments.html", context, is_refused=not is_valid)


@campaign_view("GET")
def submission(request: SignedInRequest, campaign: Campaign, submission_id: int) -> HttpResponse:
    """Show what is known of one assignment of the platform, everything ordered about it, and what can be done."""
    row = get_row(campaign, submission_id, read_verdicts(campaign, timezone.now()))
    assert row.submission
    context = frame(campaign, "payments") | {
        "row": row,
        "submission": row.submission,
        "reverse_form": ReverseForm(),
        "is_blocked": is_blocked(campaign, row.submission.worker),
        "block_form": BlockForm(),
    }
    return render_form(request, "crowd/submission.html", context)


@campaign_view("GET")
def payments_csv(request: SignedInRequest, campaign: Campaign) -> StreamingHttpResponse:
    """Send what was paid (`?orders=all`: also what was not, or not yet) as it is read.

    Workers by their own ids, with the platform's ids and the codes, only to an owner who asks (`?ids=real`).
    """
    form = PaymentFileForm(request.GET)
    if not form.is_valid():
        raise Http404("There is no such choice.")
    if form.has_real_ids and campaign.my_role != Role.OWNER:
        raise PermissionDenied("Only owners may take out the workers’ own ids.")
    note_act(is_act=form.has_real_ids)
    names = real_name if form.has_real_ids else hashed_name
    rows = iter_payments(campaign, names=names, with_ids=form.has_real_ids, only_done=form.has_only_done)
    pieces = csv_pieces(PAYMENT_COLUMNS, in_blocks(rows))
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    filename = f"{slugify(campaign.name) or 'campaign'}-payments{'-real-ids' if form.has_real_ids else ''}.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=filename) or ""
    response["Cache-Control"] = "private, no-store"
    return response


@campaign_view("GET")
def discrepancies(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List the discrepancies that are open, or those that are dismissed."""
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
    }
    return render_form(request, "crowd/discrepancies.html", context, is_refused=not is_valid)


@campaign_view("GET")
def orders(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """List the orders that match, newest first."""
    form = OrderFilter(request.GET)
    is_valid = form.is_valid()
    found = list_orders(campaign, **form.cleaned_data) if is_valid else list_orders(campaign).none()
    page = Paginator(found, _ROWS_PER_PAGE).get_page(request.GET.get("page"))
    context = frame(campaign, "orders", list_discrepancies(campaign).count()) | {
        "form": form,
        "is_filtered": bool(form.errors or any(form.cleaned_data.values())),
        "page_obj": page,
        "can_repeat": list_repeatable(campaign, page),
        "has_bonus": any(order.kind == Order.Kind.BONUS for order in page),
        "is_held_up": any(order.is_held_up for order in page),
    }
    return render_form(request, "crowd/orders.html", context, is_refused=not is_valid)
