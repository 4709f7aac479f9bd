"""The audit trail: every order to the platform, and giving a refused one again."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from campaigns.platforms import get_platform
from campaigns.queries import get_campaign_for
from crowd.forms.payments import OrderFilter
from crowd.models import Order
from crowd.presenters.payments import frame, orders_shown
from crowd.queries.payments import get_order_of, list_discrepancies, list_orders, list_refused
from crowd.services.payments.orders import order_again, retry_orders_now
from crowd.views.choosing import campaign_to_pay
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_ORDERS_PER_PAGE = 50
_BAD_FILTER = 422


@require_GET
def orders(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """List the orders that match, newest first."""
    campaign = get_campaign_for(request.user, public_id)
    form = OrderFilter(request.GET)
    is_valid = form.is_valid()
    found = list_orders(campaign, **form.cleaned_data) if is_valid else list_orders(campaign).none()
    page = Paginator(found, _ORDERS_PER_PAGE).get_page(request.GET.get("page"))
    refused = list_refused(campaign).filter(pk__in=[order.pk for order in page])
    rows = orders_shown(campaign, page, can_repeat=set(refused.values_list("pk", flat=True)))
    platform = get_platform(campaign.platform)
    context = frame(campaign, "orders", list_discrepancies(campaign).count()) | {
        "form": form,
        "is_filtered": bool(form.errors or any(form.cleaned_data.values())),
        "page_obj": page,
        "rows": rows,
        "bonus_note": platform.bonus_note if any(order.kind == Order.Kind.BONUS for order in page) else "",
        "is_held_up": any(row["is_held_up"] for row in rows),
    }
    return render(request, "crowd/orders.html", context, status=200 if is_valid else _BAD_FILTER)


@require_POST
def again(request: SignedInRequest, public_id: UUID, order_id: int) -> HttpResponse:
    """Order anew what the platform refused."""
    campaign = campaign_to_pay(request, public_id)
    try:
        order_again(order=get_order_of(campaign, str(order_id)), user=request.user)
        messages.success(request, "Ordered again.")
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("crowd:orders", campaign.public_id)


@require_POST
def retry(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Have the orders tried at once that wait after an error."""
    campaign = campaign_to_pay(request, public_id)
    n = retry_orders_now(campaign=campaign)
    messages.success(request, f"{counted(n, 'order')} will be tried now." if n else "No order waits after an error.")
    return redirect("crowd:orders", campaign.public_id)
