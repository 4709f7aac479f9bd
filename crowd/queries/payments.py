"""What the payments pages list and sum up. The caller has fetched the campaign for its user."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BigIntegerField,
    Count,
    Exists,
    F,
    FloatField,
    Func,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
)
from django.db.models.functions import Coalesce, Replace
from django.db.models.sql.compiler import SQLCompiler
from django.http import Http404
from django.shortcuts import get_object_or_404

from analysis.web.queries.campaigns import judging_settings_of
from analysis.web.queries.workers_now import list_live_workers
from annotation.models import Assignment
from campaigns.design.worker_test import NO_TEST
from campaigns.models import Campaign
from crowd.models import Order, Submission
from crowd.queries.publishing import Cost, cost_of_places
from evalsite.lib.errors import DomainError

OPEN = (Order.State.QUEUED, Order.State.SENDING)
"""States of orders that are still to be carried out."""


def list_payable(campaign: Campaign) -> QuerySet[Submission]:
    """Return what is approved in bulk: submitted there, finished here, without open discrepancy and not decided."""
    decided = Order.objects.filter(submission=OuterRef("pk"), kind__in=[Order.Kind.APPROVE, Order.Kind.REJECT])
    return Submission.objects.filter(
        ~Exists(decided.exclude(state=Order.State.REFUSED)),
        Q(discrepancy="") | Q(dismissed_at__isnull=False),
        campaign=campaign,
        state=Submission.State.SUBMITTED,
        assignment__state=Assignment.State.FINISHED,
    )


_SUBMITTED = (Submission.State.SUBMITTED, Submission.State.APPROVED, Submission.State.REJECTED)
NONE = "none"
"""Of a filter by state: nothing is known on that side."""
UNTESTED, TRUSTED = "untested", "trusted"
_MONEY = [Order.Kind.APPROVE, Order.Kind.BONUS]
_CENT, _NOTHING = Decimal("0.01"), Decimal("0.00")
_S_PER_HOUR = 3600
# Whatever is longer is not an id, and from 4,301 digits on Python reads no number.
_ID = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Verdicts:
    """The verdict on each worker who has finished a HIT, by the id of their first finished assignment.

    `otherwise` is that on all others.
    """

    by_first: dict[int, str]
    otherwise: str = UNTESTED

    def workers(self, verdict: str) -> Q:
        """Return the condition, on a model with `worker`, that the worker has a verdict."""
        tested = {first: said for first, said in self.by_first.items() if said != self.otherwise}
        if verdict == self.otherwise:
            return ~Q(worker__in=_workers_of(tested))
        return Q(worker__in=_workers_of(first for first, said in tested.items() if said == verdict))

    def of(self, campaign: Campaign, workers: Collection[int]) -> dict[int, str]:
        """Return the verdicts on some workers by their ids. One query."""
        finished = Assignment.objects.filter(
            campaign=campaign, worker__in=set(workers), state=Assignment.State.FINISHED
        )
        firsts = finished.order_by().values("worker").annotate(first=Min("pk")).values_list("worker", "first")
        said = {worker: self.by_first.get(first, self.otherwise) for worker, first in firsts}
        return {worker: said.get(worker, self.otherwise) for worker in workers}


def _workers_of(assignments: Iterable[int]) -> QuerySet[Assignment, Any]:
    return Assignment.objects.filter(pk__in=list(assignments)).order_by().values("worker")


def read_verdicts(campaign: Campaign, now: datetime) -> Verdicts:
    """Return what the worker test says, as the workers page shows it; nothing if the test cannot be made."""
    try:
        workers = list_live_workers(campaign, judging_settings_of(campaign), now)
    except DomainError:
        workers = []
    otherwise = TRUSTED if campaign.worker_test == NO_TEST else UNTESTED
    return Verdicts({worker.finished[0]: worker.conduct.verdict for worker in workers if worker.finished}, otherwise)


def list_payments(
    campaign: Campaign,
    *,
    here: str = "",
    there: str = "",
    worker: str = "",
    hit: int | None = None,
    verdict: str = "",
    verdicts: Verdicts | None = None,
    began: Q | None = None,
) -> QuerySet[Any, Any]:
    """Return when each began, newest first, with the id of the submission and of the assignment, None if there is none.

    Their names are `at`, `there_id` and `here_id`. `worker` is a part of a name; `began` is a condition on `at`, as a
    union cannot be filtered. An assignment whose worker came back with another one of the platform is in it with each.
    """
    submissions = Submission.objects.filter(campaign=campaign)
    # Without the campaign, by whose index SQLite would look through all submissions for each assignment.
    belongs = Submission.objects.filter(assignment=OuterRef("pk"))
    assignments = Assignment.objects.filter(campaign=campaign).exclude(Exists(belongs))
    if here:
        submissions = submissions.filter(Q(assignment=None) if here == NONE else Q(assignment__state=here))
        assignments = assignments.none() if here == NONE else assignments.filter(state=here)
    if there:
        submissions = submissions.none() if there == NONE else submissions.filter(state=there)
        assignments = assignments if there == NONE else assignments.none()
    if hit is not None:
        submissions = submissions.filter(Q(assignment__hit__number=hit) | Q(assignment=None, posting__hit__number=hit))
        assignments = assignments.filter(hit__number=hit)
    if verdict and verdicts:
        condition = verdicts.workers(verdict)
        submissions, assignments = submissions.filter(condition), assignments.filter(condition)
    if worker:
        # The campaign's id, which a link platform puts before each name, must not match.
        name = Replace(F("worker__key"), Value(f"{campaign.public_id}:"), Value(""))
        submissions = submissions.annotate(called=name).filter(called__icontains=worker)
        assignments = assignments.annotate(called=name).filter(called__icontains=worker)
    began_at = Coalesce("assignment__started_at", "accepted_at", "first_seen_at")
    of_platform = submissions.order_by().annotate(at=began_at, there_id=F("pk"), here_id=F("assignment_id"))
    only_here = assignments.order_by().annotate(
        at=F("started_at"), there_id=Value(None, BigIntegerField(null=True)), here_id=F("pk")
    )
    if began:
        of_platform, only_here = of_platform.filter(began), only_here.filter(began)
    columns = ("at", "there_id", "here_id")
    both = of_platform.values_list(*columns, named=True).union(only_here.values_list(*columns, named=True), all=True)
    return both.order_by("-at", "-there_id", "-here_id")


def with_all(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Return submissions with what their pages and files show of them."""
    return submissions.select_related("worker", "posting__hit", "assignment__hit", "assignment__worker", "dismissed_by")


def get_submission_of(campaign: Campaign, submission_id: int) -> Submission:
    """Return a submission of the campaign; raise Http404 for any other."""
    return get_object_or_404(with_all(Submission.objects.all()), pk=submission_id, campaign=campaign)


def get_submissions_of(campaign: Campaign, ids: Iterable[str]) -> list[Submission]:
    """Return the submissions of these ids; raise Http404 if any of them is none of the campaign."""
    wanted = {int(each) if _ID.fullmatch(each) else 0 for each in ids}
    found = list(with_all(Submission.objects.filter(campaign=campaign, pk__in=wanted)).order_by("pk"))
    if len(found) != len(wanted):
        raise Http404
    return found


def list_matching(campaign: Campaign, found: QuerySet[Any, Any]) -> list[Submission]:
    """Return the submissions of all that `list_payments` found, by id."""
    ids = {there for _, there, _ in found if there}
    return [each for each in with_all(Submission.objects.filter(campaign=campaign)).order_by("pk") if each.pk in ids]


def pick_undecided(submissions: Collection[Submission]) -> list[Submission]:
    """Return those of some submissions that can be approved or rejected, whatever their discrepancy. One query."""
    orders = Order.objects.filter(submission__in=submissions, kind__in=[Order.Kind.APPROVE, Order.Kind.REJECT])
    decided = set(orders.exclude(state=Order.State.REFUSED).values_list("submission", flat=True))
    return [each for each in submissions if each.state == Submission.State.SUBMITTED and each.pk not in decided]


def pick_submitted(submissions: Collection[Submission]) -> list[Submission]:
    """Return those of some submissions that were submitted, decided or not: a bonus may be given for them."""
    return [each for each in submissions if each.state in _SUBMITTED]


def list_complete(campaign: Campaign) -> list[Submission]:
    """Return all complete work that nobody has decided about, with what belongs to it."""
    return list(with_all(list_payable(campaign)).order_by("pk"))


def cost_of(campaign: Campaign, submissions: QuerySet[Submission] | Collection[Submission]) -> Cost:
    """Return what it costs to approve some submissions, one by one. One query of a query set, none of others."""
    sizes: Counter[int] = Counter()
    if isinstance(submissions, QuerySet):
        found = submissions.select_related(None).order_by().values_list("posting__n_places").annotate(n=Count("pk"))
        sizes.update(dict(found))
    else:
        sizes.update(each.posting.n_places for each in submissions)
    n = sizes.total()
    fees = (cost_of_places(campaign, n_of, places_per_posting=size).fees for size, n_of in sizes.items())
    return Cost(n, n * campaign.reward, sum(fees, _NOTHING), campaign.currency)


@dataclass(frozen=True)
class Spent:
    """Rewards of `n_paid` approved submissions, `n_bonuses` bonuses, and the fees of both."""

    n_paid: int
    rewards: Decimal
    n_bonuses: int
    bonuses: Decimal
    fees: Decimal
    currency: str

    @property
    def total(self) -> Decimal:
        """What has left the account."""
        return self.rewards + self.bonuses + self.fees


@dataclass(frozen=True)
class Totals:
    """What was paid by a campaign, what is on its way, and what waits for a researcher."""

    spent: Spent
    waiting: Cost
    n_discrepancies: int
    n_sending: int
    n_rejected: int
    n_refused: int


def get_totals(campaign: Campaign) -> Totals:
    """Return the sums of a campaign's account. Eight queries."""
    rejected = Submission.objects.filter(campaign=campaign, state=Submission.State.REJECTED)
    return Totals(
        spent=spent_on(campaign),
        waiting=cost_of(campaign, list_payable(campaign)),
        n_discrepancies=list_discrepancies(campaign).count(),
        n_sending=Order.objects.filter(campaign=campaign, state__in=OPEN).count(),
        n_rejected=rejected.count(),
        n_refused=list_refused(campaign).count(),
    )


def approved_by_itself(campaign: Campaign) -> QuerySet[Submission]:
    """Return what is approved without an order of ours, with what belongs to it."""
    return with_all(list_approved_otherwise(campaign))


def count_finished(campaign: Campaign) -> int:
    """Return how many assignments are finished."""
    return Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED).count()


@dataclass(frozen=True)
class Wages:
    """How many finished assignments paid less than a wage per hour, and what they lack of it together."""

    n_finished: int
    n_below: int
    missing: Decimal


class _Seconds(Func):
    """Seconds to a time from another, to the millisecond: Django's difference calls Python for each row of SQLite."""

    template = "ROUND(EXTRACT(EPOCH FROM %(expressions)s), 3)"
    arg_joiner = " - "
    arity = 2
    output_field = FloatField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        """Return the SQL for SQLite, whose times are days there."""
        template = "ROUND((JULIANDAY(%(expressions)s)) * 86400.0, 3)"
        return self.as_sql(compiler, connection, template=template, arg_joiner=") - JULIANDAY(", **context)


def compare_wages(campaign: Campaign, wage: Decimal) -> Wages:
    """Return how the reward compares to `wage` per hour, for the time that each finished assignment took. One query."""
    enough = float(campaign.reward / wage) * _S_PER_HOUR
    finished = Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED).order_by()
    is_below = Q(took__gt=enough)
    found = finished.annotate(took=_Seconds("seen_at", "started_at")).aggregate(
        n=Count("pk"), n_below=Count("pk", filter=is_below), below=Sum("took", filter=is_below)
    )
    hours = Decimal(found["below"] or 0) / _S_PER_HOUR
    missing = hours * wage - found["n_below"] * campaign.reward
    return Wages(found["n"], found["n_below"], max(missing, _NOTHING).quantize(_CENT))


def list_discrepancies(campaign: Campaign, *, is_dismissed: bool = False, kind: str = "") -> QuerySet[Submission]:
    """Return submissions that do not fit what is here, until somebody has dismissed them, or since; newest first."""
    found = Submission.objects.filter(campaign=campaign, dismissed_at__isnull=not is_dismissed).exclude(discrepancy="")
    if kind:
        found = found.filter(discrepancy=kind)
    return with_all(found).order_by("-first_seen_at", "-pk")


def list_orders(campaign: Campaign, *, kind: str = "", state: str = "") -> QuerySet[Order]:
    """Return the orders given to the platform, newest first, with what they are about and who gave them."""
    found = Order.objects.filter(campaign=campaign)
    if kind:
        found = found.filter(kind=kind)
    if state:
        found = found.filter(state=state)
    return found.select_related(
        "submission__worker", "submission__assignment__hit", "posting__hit", "posting__wave", "worker", "ordered_by"
    ).order_by("-pk")


def get_order_of(campaign: Campaign, order_id: str) -> Order:
    """Return an order of the campaign; raise Http404 for any other."""
    if not _ID.fullmatch(order_id):
        raise Http404
    return get_object_or_404(Order, pk=order_id, campaign=campaign)


def list_refused(campaign: Campaign) -> QuerySet[Order]:
    """Return the orders that the platform refused and that were not given again."""
    later = Order.objects.filter(
        Q(submission=OuterRef("submission"))
        | Q(worker=OuterRef("worker"), submission=None)
        | Q(posting=OuterRef("posting"), submission=None, worker=None),
        campaign=campaign,
        kind=OuterRef("kind"),
        pk__gt=OuterRef("pk"),
    )
    return Order.objects.filter(campaign=campaign, state=Order.State.REFUSED).exclude(Exists(later))


def list_repeatable(campaign: Campaign, orders: Iterable[Order]) -> set[int]:
    """Return the ids of those of some orders that may be given again. One query."""
    found = list_refused(campaign).filter(pk__in=[order.pk for order in orders])
    return set(found.values_list("pk", flat=True))


def list_money_orders(campaign: Campaign, *, only_done: bool) -> QuerySet[Order]:
    """Return the orders to pay somebody, those that have been carried out or all."""
    found = Order.objects.filter(campaign=campaign, kind__in=_MONEY)
    found = found.filter(state=Order.State.DONE) if only_done else found
    return found.select_related(
        "submission__worker", "submission__assignment__hit", "submission__posting__hit", "worker", "ordered_by"
    )


def spent_on(campaign: Campaign) -> Spent:
    """Return what was paid: approved submissions, by whomever they were, and bonuses. Three queries."""
    done = Order.objects.filter(campaign=campaign, state=Order.State.DONE)
    ordered = done.filter(kind=Order.Kind.APPROVE).aggregate(n=Count("pk"), amount=Sum("amount"), fee=Sum("fee"))
    bonuses = done.filter(kind=Order.Kind.BONUS).aggregate(n=Count("pk"), amount=Sum("amount"), fee=Sum("fee"))
    rewards, fees, n_paid = ordered["amount"] or _NOTHING, ordered["fee"] or _NOTHING, ordered["n"]
    approved = list_approved_otherwise(campaign).order_by().values_list("posting__n_places").annotate(n=Count("pk"))
    for n_places, n in approved:
        cost = cost_of_places(campaign, n, places_per_posting=n_places)
        rewards, fees, n_paid = rewards + cost.rewards, fees + cost.fees, n_paid + n
    return Spent(
        n_paid=n_paid,
        rewards=rewards,
        n_bonuses=bonuses["n"],
        bonuses=bonuses["amount"] or _NOTHING,
        fees=fees + (bonuses["fee"] or _NOTHING),
        currency=campaign.currency,
    )


def list_approved_otherwise(campaign: Campaign) -> QuerySet[Submission]:
    """Return the submissions that are approved without an order of ours.

    The platform approves automatically what nobody decides in time, and a researcher may approve on its own site.
    """
    ordered = Order.objects.filter(submission=OuterRef("pk"), kind=Order.Kind.APPROVE, state=Order.State.DONE)
    approved = Submission.objects.filter(campaign=campaign, state=Submission.State.APPROVED)
    return approved.exclude(Exists(ordered))
