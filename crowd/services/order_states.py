"""How an order moves from state to state: claimed by one job at a time, tried again later, ended once."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from campaigns.contracts.account import PlatformUnsureError
from crowd.models import Order, Posting, Submission
from crowd.queries import OPEN
from crowd.services.pacing import FIRST_PAUSE_S
from evalsite.jobs.timing import LEASE_S

State, Kind = Order.State, Order.Kind
# Pauses after a call whose effect is not known double, up to the longest.
LONGEST_PAUSE_S = 600
LONGEST_ERROR = 500
SUBMISSION_STATES = {Kind.APPROVE: Submission.State.APPROVED, Kind.REJECT: Submission.State.REJECTED}
_POSTING_STATES = {
    Kind.PAUSE: Posting.State.PAUSED,
    Kind.RESUME: Posting.State.OPEN,
    Kind.STOP: Posting.State.ENDED,
    Kind.DELETE: Posting.State.GONE,
}


def claim(order: Order) -> bool:
    """Take an order that is due, for as long as a job without a sign of life counts as alive."""
    now = timezone.now()
    due = Order.objects.filter(Q(try_at=None) | Q(try_at__lte=now), pk=order.pk, state__in=OPEN, n_tries=order.n_tries)
    if not due.update(state=State.SENDING, n_tries=F("n_tries") + 1, try_at=now + timedelta(seconds=LEASE_S)):
        return False
    order.n_tries += 1
    return True


def try_later(order: Order, error: PlatformUnsureError) -> None:
    """Let a claimed order wait after a call whose effect is not known, as long as the platform asks for at least."""
    pause_s = min(FIRST_PAUSE_S * 2 ** min(order.n_tries - 1, 20), LONGEST_PAUSE_S)
    at = timezone.now() + timedelta(seconds=max(pause_s, error.retry_after_s or 0))
    # Not if another job has taken it since.
    mine = Order.objects.filter(pk=order.pk, state=State.SENDING, n_tries=order.n_tries)
    mine.update(try_at=at, last_error=str(error)[:LONGEST_ERROR])


@transaction.atomic
def end_order(order: Order, state: str, error: str = "") -> None:
    """Write down what became of an order, unless another job was first."""
    if state == State.DONE and order.kind == Kind.REJECT:
        # Its place may be open there again. Locked before the submission, as by a look.
        Posting.objects.filter(submissions=order.submission_id).update(look_at=timezone.now())
    if order.submission_id:  # locked in the same order as by those who place orders
        Submission.objects.select_for_update(no_key=True).get(pk=order.submission_id)
    ended = Order.objects.filter(pk=order.pk, state=State.SENDING).update(
        state=state, done_at=timezone.now(), try_at=None, last_error=error[:LONGEST_ERROR]
    )
    if not ended or state != State.DONE:
        return
    if order.submission_id and order.kind in SUBMISSION_STATES:
        Submission.objects.filter(pk=order.submission_id).update(state=SUBMISSION_STATES[Kind(order.kind)])
    if order.posting_id and order.kind in _POSTING_STATES:
        look_at = None if order.kind == Kind.DELETE else timezone.now()
        Posting.objects.filter(pk=order.posting_id).update(state=_POSTING_STATES[Kind(order.kind)], look_at=look_at)
