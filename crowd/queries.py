"""Reading what stands on a crowd platform. Every function wants a campaign that the user may see."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.shortcuts import get_object_or_404
from django.views.decorators.debug import sensitive_variables

from annotation.models import Assignment, Worker
from campaigns.models import Campaign, Hit
from campaigns.platforms import get_platform
from crowd.models import Order, Posting, Submission, Wave
from evalsite.lib.encryption import decrypt_secrets
from evalsite.lib.errors import DomainError

UNPUBLISHED = (Posting.State.PLANNED, Posting.State.DRAFTED)
"""States of postings that are still to be published."""
OPEN = (Order.State.QUEUED, Order.State.SENDING)
"""States of orders that are still to be carried out."""
# Options of which another value is another account, or another list of whom it has blocked.
_OF_ACCOUNT = ("mode", "workspace")


@dataclass(frozen=True)
class Standing:
    """How many postings and submissions of a campaign are in each state, all states named.

    `n_ended_early`: postings that the platform offers to nobody, any more or for now, though workers are wanted.
    `troubles` are those that nobody has settled.
    """

    postings: Mapping[str, int]
    submissions: Mapping[str, int]
    troubles: Mapping[str, int]
    n_ended_early: int


def list_waves(campaign: Campaign) -> QuerySet[Wave]:
    """Return the waves in order, each with its job, `n_postings` and `n_published` of them. One query."""
    published = Count("postings", filter=~Q(postings__state__in=UNPUBLISHED))
    waves = Wave.objects.filter(campaign=campaign).select_related("job", "ordered_by")
    return waves.annotate(n_postings=Count("postings"), n_published=published)


def get_wave_of(campaign: Campaign, wave_id: int) -> Wave:
    """Return a wave as `list_waves` does; raise Http404 for one of another campaign."""
    return get_object_or_404(list_waves(campaign), pk=wave_id)


def hits_of(wave: Wave) -> list[Hit]:
    """Return the HITs of a wave: waves take them in the order of their numbers. Two queries."""
    before = Wave.objects.filter(campaign=wave.campaign_id, number__lt=wave.number).aggregate(n=Sum("n_hits"))["n"] or 0
    return list(Hit.objects.filter(campaign=wave.campaign_id).order_by("number")[before : before + wave.n_hits])


def unpublished_hits(campaign: Campaign) -> QuerySet[Hit]:
    """Return the HITs that are in no wave yet, in order. One query here, and the caller's."""
    n_planned = Wave.objects.filter(campaign=campaign).aggregate(n=Sum("n_hits"))["n"] or 0
    return campaign.hits.order_by("number")[n_planned:]


def list_postings(campaign: Campaign) -> QuerySet[Posting]:
    """Return the postings in order, with their waves and HITs."""
    return Posting.objects.filter(campaign=campaign).select_related("wave", "hit")


def get_posting_of(campaign: Campaign, posting_id: int) -> Posting:
    """Return a posting of the campaign; raise Http404 for any other."""
    return get_object_or_404(list_postings(campaign), pk=posting_id)


def list_ended_early(campaign: Campaign) -> QuerySet[Posting]:
    """Return the postings that the platform offers to nobody any more, or for now, while workers are still wanted."""
    wanted = Hit.objects.filter(campaign=campaign, is_offered=True, n_places_left__gt=0)
    return list_postings(campaign).filter(
        Exists(wanted.filter(pk=OuterRef("hit_id"))) | Q(hit=None) & Exists(wanted),
        state__in=(Posting.State.PAUSED, Posting.State.ENDED),
    )


def list_stops(campaign: Campaign) -> QuerySet[Order]:
    """Return the orders that stand to stop postings for good: nobody is to be let into those again."""
    return Order.objects.filter(campaign=campaign, kind=Order.Kind.STOP).exclude(state=Order.State.REFUSED)


def platform_standing(campaign: Campaign) -> Standing:
    """Return how far the campaign is on its platform. Four queries."""
    submissions = Submission.objects.filter(campaign=campaign)
    troubled = submissions.filter(dismissed_at=None)
    return Standing(
        postings=_count(Posting.objects.filter(campaign=campaign), "state", Posting.State.values),
        submissions=_count(submissions, "state", Submission.State.values),
        troubles=_count(troubled, "trouble", [value for value in Submission.Trouble.values if value]),
        n_ended_early=list_ended_early(campaign).count(),
    )


def _count(rows: QuerySet, field: str, values: list[str]) -> dict[str, int]:
    found = dict(rows.order_by().values_list(field).annotate(n=Count("pk")))
    return {value: found.get(value, 0) for value in values}


def list_payable(campaign: Campaign) -> QuerySet[Submission]:
    """Return what is approved in bulk: submitted there, finished here, without open trouble and not decided."""
    decided = Order.objects.filter(submission=OuterRef("pk"), kind__in=[Order.Kind.APPROVE, Order.Kind.REJECT])
    return Submission.objects.filter(
        ~Exists(decided.exclude(state=Order.State.REFUSED)),
        Q(trouble="") | Q(dismissed_at__isnull=False),
        campaign=campaign,
        state=Submission.State.SUBMITTED,
        assignment__state=Assignment.State.FINISHED,
    )


@sensitive_variables("account")
def is_blocked(campaign: Campaign, worker: Worker) -> bool:
    """Tell whether a worker is kept from the work of the campaign's account, or about to be. One query.

    Campaigns of a platform share its workers, but a block holds at one account: what was ordered by a campaign with
    other keys, or in a sandbox, says nothing here.
    """
    found = Order.objects.filter(worker=worker, kind__in=[Order.Kind.BLOCK, Order.Kind.UNBLOCK])
    account = _account_of(campaign)
    for order in found.exclude(state=Order.State.REFUSED).select_related("campaign").order_by("-pk"):
        if order.campaign_id == campaign.pk or (account and _account_of(order.campaign) == account):
            return order.kind == Order.Kind.BLOCK
    return False


@sensitive_variables()
def _account_of(campaign: Campaign) -> tuple[str, list[object]] | None:
    """Return what the campaigns of one account have in common; None if the keys cannot be read any more."""
    try:
        keys = decrypt_secrets(campaign.platform_secrets)
    except DomainError:
        return None
    values: list[object] = []
    for option in get_platform(campaign.platform).options:
        if option.is_secret:
            values.append(keys.get(option.name))
        elif option.name in _OF_ACCOUNT:
            values.append(campaign.platform_settings.get(option.name) or option.default)
    return campaign.platform, values
