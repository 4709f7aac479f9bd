"""Of which assignments a page is that does something with several: ticked, filtered, or all complete ones."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils import timezone

from analysis.words import verdicts_of
from campaigns.models import Campaign
from campaigns.platforms import get_platform
from campaigns.queries import Role, get_campaign_for
from crowd.forms.payments import PaymentFilter
from crowd.models import Submission
from crowd.presenters.payments import balance_of, chosen_shown, frame
from crowd.queries.payments import Verdicts, get_submissions_of, list_matching, list_payments, read_verdicts
from evalsite.accounts.requests import SignedInRequest

_SHOWN = 100


def campaign_to_pay(request: SignedInRequest, public_id: UUID) -> Campaign:
    """Return a campaign whose workers the user may pay; raise Http404 if there is no account to pay from."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    if not get_platform(campaign.platform).has_account:
        raise Http404("The platform of this campaign has no account.")
    return campaign


def read_chosen(request: SignedInRequest, campaign: Campaign) -> tuple[list[Submission] | None, Verdicts | None]:
    """Return the submissions that the address names or filters, None if it says nothing of them.

    With them come the verdicts of the worker test, None if they were not read. What is chosen stands in the address
    also when the page's form is sent. Raises Http404 for a submission of another campaign.
    """
    ids = request.GET.getlist("submission")
    if ids or "ticked" in request.GET:
        return get_submissions_of(campaign, ids), None
    if "matching" not in request.GET:
        return None, None
    form = PaymentFilter(request.GET, with_names=True, has_account=True)
    if not form.is_valid():
        raise Http404("There is no such filter.")
    verdicts = read_verdicts(campaign, timezone.now())
    return list_matching(campaign, list_payments(campaign, **form.filters(), verdicts=verdicts)), verdicts


def chosen_context(campaign: Campaign, chosen: list[Submission], verdicts: Verdicts | None = None) -> dict[str, Any]:
    """Return what crowd/chosen.html needs: who they are, and how many of them passed the worker test.

    The test takes long: `verdicts` are those that `read_chosen` has read, if it has.
    """
    said = (verdicts or read_verdicts(campaign, timezone.now())).of(campaign, [each.worker_id for each in chosen])
    rows = chosen_shown(campaign, chosen, said)
    found, words = Counter(row["verdict"] for row in rows), verdicts_of(campaign.worker_test)
    counts = {verdict: found[verdict] for verdict in words}
    return frame(campaign, "payments") | {
        "chosen": rows[:_SHOWN],
        "n_chosen": len(rows),
        "n_not_shown": max(len(rows) - _SHOWN, 0),
        "n_with_discrepancy": sum(row["has_open_discrepancy"] for row in rows),
        "counts": counts,
        "verdicts": ", ".join(f"{n:,} {words[verdict]}" for verdict, n in counts.items()),
        "balance": balance_of(campaign),
    }
