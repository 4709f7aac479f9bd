"""What workers earn per hour, summed up by the database."""

from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from annotation.models import Assignment
from crowd.queries.payments import Wages, compare_wages, list_payments
from evalsite.accounts.models import User
from tests.annotation.chat.talks import take_hit
from tests.annotation.open_campaigns import open_campaign
from tests.databases import on_both

pytestmark = on_both


def test_work_that_took_longer_than_the_wage_pays_for_is_summed_up(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=3, reward=Decimal("0.80"))
    assert compare_wages(campaign, Decimal("9.60")) == Wages(0, 0, Decimal(0))
    for minutes in (5, 6, 12.5):
        assignment = take_hit(campaign, f"for {minutes}", state="finished")
        at = timezone.now()
        Assignment.objects.filter(pk=assignment.pk).update(started_at=at - timedelta(minutes=minutes), seen_at=at)
    found = compare_wages(campaign, Decimal("9.60"))
    assert (found.n_finished, found.n_below) == (3, 2)
    assert found.missing == Decimal("0.16") + Decimal("1.20")
    assert len(list_payments(campaign)) == 3
