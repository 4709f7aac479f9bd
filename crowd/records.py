"""What was published of a campaign and paid for it, to be counted and deleted with it."""

from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from annotation.personal_data import values_of
from annotation.records import delete_unused_workers
from campaigns.contracts.records import Counted, Erasure, Records, Rows
from crowd.models import Order, Posting, ReceivedNotification, Submission, Wave
from evalsite.lib.words import counted

_OPEN_ORDERS = (Order.State.QUEUED, Order.State.SENDING)
_OPEN_POSTINGS = (Posting.State.PLANNED, Posting.State.DRAFTED, Posting.State.OPEN, Posting.State.PAUSED)
_PAID = (Order.Kind.APPROVE, Order.Kind.BONUS)

_STATE = ("platform_id", "state", "code", "payload")
_TIMES = ("accepted_at", "submitted_at", "first_seen_at", "last_seen_at")
_ORDER = ("kind", "state", "amount", "currency", "message", "category", "ordered_at", "done_at", "last_error")


class CrowdRecords(Records):
    """Waves, postings, submissions, orders."""

    slug = "crowd"

    def count(self, campaign_id: int) -> list[Counted]:
        """Return the numbers of waves and submissions, and of payments with what they came to."""
        paid = Order.objects.filter(campaign=campaign_id, kind__in=_PAID, state=Order.State.DONE)
        sums = (
            paid.order_by("currency").values("currency").annotate(n=Count("pk"), amount=Sum("amount"), fee=Sum("fee"))
        )
        rows = list(sums)
        note = ", ".join(f"{row['amount'] + row['fee']:,.2f} {row['currency']} with fees" for row in rows)
        return [
            Counted(Wave.objects.filter(campaign=campaign_id).count(), "wave"),
            Counted(Submission.objects.filter(campaign=campaign_id).count(), "submission"),
            Counted(sum(row["n"] for row in rows), "payment record", note),
            Counted(Order.objects.filter(campaign=campaign_id).count(), "order"),
        ]

    def refusals(self, campaign_id: int) -> list[str]:
        """Return that money moves, or that workers may still come from the platform."""
        found = []
        if n := Order.objects.filter(campaign=campaign_id, state__in=_OPEN_ORDERS).count():
            found.append(
                f"{counted(n, 'order')} to the platform {'is' if n == 1 else 'are'} being sent, payments among them "
                "perhaps. Wait until Payment → Orders shows them as done or refused."
            )
        if n := Posting.objects.filter(campaign=campaign_id, state__in=_OPEN_POSTINGS).count():
            found.append(
                f"{counted(n, 'posting')} {'is' if n == 1 else 'are'} still open on the platform. Stop "
                f"{'it' if n == 1 else 'them'} first under Platform, Postings."
            )
        if Wave.objects.filter(campaign=campaign_id, state=Wave.State.PUBLISHING).exists():
            found.append("A wave is being published. Interrupt it first under Platform.")
        return found

    def warnings(self, campaign_id: int) -> list[str]:
        """Return that workers wait for a decision."""
        n = Submission.objects.filter(campaign=campaign_id, state=Submission.State.SUBMITTED).count()
        if not n:
            return []
        what = f"{counted(n, 'submission')} {'is' if n == 1 else 'are'} neither approved nor rejected"
        return [f"{what}. Afterwards you can decide them on the platform’s own pages only."]

    def stop(self, campaign_id: int) -> None:
        """Poll nothing any more."""
        Posting.objects.filter(campaign=campaign_id).update(poll_at=None)

    def _submissions(self, erasure: Erasure) -> QuerySet[Submission]:
        return Submission.objects.filter(campaign=erasure.campaign_id, worker=erasure.worker_id)

    def _orders(self, erasure: Erasure) -> QuerySet[Order]:
        about = Q(worker=erasure.worker_id) | Q(submission__worker=erasure.worker_id)
        return Order.objects.filter(about, campaign=erasure.campaign_id)

    def erasure_refusals(self, erasure: Erasure) -> list[str]:
        """Return that the worker is still to be paid, or that money moves: the platform knows the id alone."""
        found = []
        if self._orders(erasure).filter(state__in=_OPEN_ORDERS).exists():
            found.append("An order about the worker is being sent. Wait until Payment → Orders shows it as done.")
        undecided = (Submission.State.ACTIVE, Submission.State.SUBMITTED)
        if self._submissions(erasure).filter(state__in=undecided).exists():
            found.append("Work of the worker is not decided. Approve or reject it first: afterwards it cannot be paid.")
        return found

    def stored(self, erasure: Erasure) -> dict[str, Any]:
        """Return what the platform said of the worker's submissions, and what was ordered about them."""
        return {
            "submissions": [values_of(each, (*_STATE, *_TIMES)) for each in self._submissions(erasure)],
            "orders": [values_of(each, _ORDER) for each in self._orders(erasure).order_by("pk")],
        }

    def kept(self, erasure: Erasure) -> list[str]:
        """Return what accounting needs, and what keeps work from being paid twice."""
        found = []
        if self._orders(erasure).filter(kind__in=(*_PAID, Order.Kind.REJECT)).exists():
            found.append("payment records: date, sum, fee and submission, without the worker: accounting needs them")
        if self._submissions(erasure).exists():
            found.append(
                "the platform’s numbers of the submissions and their states: without them work could be paid twice. "
                "The platform alone knows whose they are"
            )
        return found

    def erase(self, erasure: Erasure) -> None:
        """Put the worker without a name in the place of this one, and clear what the platform sent about them."""
        orders = list(self._orders(erasure).values_list("pk", flat=True))
        Order.objects.filter(pk__in=orders).update(message="", last_error="")
        Order.objects.filter(pk__in=orders, worker=erasure.worker_id).update(worker=erasure.erased_id)
        self._submissions(erasure).update(payload={}, code="", worker=erasure.erased_id)

    def rows(self, campaign_id: int) -> list[Rows]:
        """Return the tables."""
        of = {"campaign": campaign_id}
        return [
            Rows(Order.objects.filter(**of), "worker", delete_unused_workers),
            Rows(Submission.objects.filter(**of), "worker", delete_unused_workers),
            Rows(Posting.objects.filter(**of)),
            Rows(Wave.objects.filter(**of)),
            Rows(ReceivedNotification.objects.filter(**of)),
        ]
