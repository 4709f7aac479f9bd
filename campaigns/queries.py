"""Reading campaigns: first whether this user may, then what a page shows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest, Lower
from django.shortcuts import get_object_or_404

from campaigns.methods import methods, whole_before_replies
from campaigns.models import Campaign, Chatbot, Criterion, Deletion, Delivery, Membership, Output, System, Webhook
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError

Role = Membership.Role
BUILD = "campaigns.build_hits"
"""The kind of job that builds a campaign's HITs."""
_CENT = Decimal("0.01")
# What each role may do: an owner all, an editor all but members and deleting, a viewer look.
_RANKS: list[str] = [Role.VIEWER, Role.EDITOR, Role.OWNER]


def get_campaign_for(user: User, public_id: UUID, role: Role = Role.VIEWER) -> Campaign:
    """Return a campaign that the user is a member of, with their role as `my_role`. One query.

    Raises Http404 for a stranger, PermissionDenied for a member of a lower role.
    """
    memberships = Membership.objects.select_related(
        "campaign__build_job", "campaign__deletion_job", "campaign__replicates"
    )
    membership = get_object_or_404(memberships, user=user, campaign__public_id=public_id)
    if _RANKS.index(membership.role) < _RANKS.index(role):
        raise PermissionDenied(f"This needs the role of {role.label.lower()}; you are {membership.role}.")
    membership.campaign.my_role = membership.role
    return membership.campaign


def find_deletion_by(user: User, public_id: UUID) -> Deletion | None:
    """Return the deletion of a campaign that is done and was asked for by the user; None if there is none."""
    done = Deletion.objects.filter(object_id=public_id, kind=Deletion.Kind.CAMPAIGN, done_at__isnull=False)
    return done.filter(done_by=user).first()


def being_deleted() -> DomainError:
    """Return the refusal of everything in a campaign that is being deleted."""
    return DomainError("being_deleted", "This campaign is being deleted: nothing of it can be read or changed.")


def has_role(campaign: Campaign, role: Role) -> bool:
    """Tell whether the user that the campaign was fetched for has this role, or one that may do more."""
    return _RANKS.index(campaign.my_role) >= _RANKS.index(role)


def may_edit(user: User | None, campaign_id: int | None) -> bool:
    """Tell whether somebody is an editor or an owner of a campaign, if there still are both. One query."""
    found = Membership.objects.filter(user=user, campaign=campaign_id, role__in=[Role.EDITOR, Role.OWNER])
    return user is not None and found.exclude(campaign__status=Campaign.Status.DELETING).exists()


def may_delete(user: User | None, campaign_id: int) -> bool:
    """Tell whether somebody owns a campaign, which may be half deleted. One query."""
    found = Membership.objects.filter(user=user, campaign=campaign_id, role=Role.OWNER)
    return user is not None and found.exists()


# The names of the orders that lists of campaigns have; what is the same goes by the key.
LIST_ORDERS = {
    "activity": ("-active_at", "-campaign__pk"),
    "created": ("-campaign__created_at", "-campaign__pk"),
    "name": ("name_key", "campaign__pk"),
}


def list_campaigns_for(
    user: User, *, search: str = "", stage: str = "", protocol: str = "", archived: bool = False, sort: str = "created"
) -> QuerySet[Membership]:
    """Return the user's memberships with their campaigns, in an order of LIST_ORDERS.

    `archived`: those that are archived, instead of all others. Each has `active_at`: when something was made, launched,
    closed or uploaded last, or a worker did something.
    """
    wanted: dict[str, Any] = {"campaign__archived_at__isnull": not archived}
    if search:
        wanted["campaign__name__icontains"] = search
    if stage:
        wanted["campaign__status"] = stage
    if protocol:
        wanted["campaign__protocol"] = protocol
    found = user.memberships.filter(**wanted).select_related("campaign__deletion_job")
    one = Campaign.objects.filter(pk=OuterRef("campaign")).order_by().values("pk")
    last = [
        Subquery(one.annotate(at=Max("uploads__uploaded_at")).values("at")),
        Subquery(one.annotate(at=Max("assignments__seen_at")).values("at")),  # of the app of workers
        F("campaign__launched_at"),
        F("campaign__closed_at"),
    ]
    created = F("campaign__created_at")  # of a NULL, SQLite would make all NULL
    active_at = Greatest(created, *(Coalesce(each, created) for each in last))
    return found.annotate(active_at=active_at, name_key=Lower("campaign__name")).order_by(*LIST_ORDERS[sort])


def has_campaigns(user: User) -> bool:
    """Tell whether the user is a member of any campaign, archived or not."""
    return user.memberships.exists()


@dataclass(frozen=True)
class ListedCampaign:
    """A campaign in the list of a user's. A place is one worker's work on one HIT."""

    membership: Membership
    n_hits: int
    n_places: int
    n_taken: int
    n_finished: int

    @property
    def campaign(self) -> Campaign:
        """The campaign."""
        return self.membership.campaign

    @property
    def active_at(self) -> datetime:
        """When something was made, launched, closed or uploaded last, or a worker did something."""
        return self.membership.active_at  # type: ignore[attr-defined]

    @property
    def n_at_work(self) -> int:
        """Places that a worker has and has not finished."""
        return max(self.n_taken - self.n_finished, 0)


def list_places(memberships: Iterable[Membership]) -> list[ListedCampaign]:
    """Return campaigns of `list_campaigns_for` with their HITs, places and finished assignments. Two queries."""
    memberships = list(memberships)
    shown = Campaign.objects.filter(pk__in=[each.campaign_id for each in memberships]).order_by()
    counted = shown.annotate(n=Count("hits"), left=Sum("hits__n_places_left", default=0)).values("pk", "n", "left")
    by_campaign = {row["pk"]: (row["n"], row["left"]) for row in counted}
    is_finished = Q(assignments__state="finished")
    finished = dict(shown.annotate(n=Count("assignments", filter=is_finished)).values_list("pk", "n"))
    rows = []
    for membership in memberships:
        n_hits, n_left = by_campaign[membership.campaign_id]
        n_places = n_hits * membership.campaign.workers_per_hit
        n_finished = finished[membership.campaign_id]
        rows.append(ListedCampaign(membership, n_hits, n_places, n_places - n_left, n_finished))
    return rows


def find_by_name(name: str) -> Campaign:
    """Return the campaign with this public id or exact name, for commands; it is not asked who may see it.

    Raises DomainError `no_campaign` or `many_campaigns`.
    """
    try:
        found = list(Campaign.objects.filter(public_id=UUID(name)))
    except ValueError:
        found = list(Campaign.objects.filter(name=name)[:2])
    if not found:
        raise DomainError("no_campaign", f"There is no campaign with the id or name “{name}”.")
    if len(found) > 1:
        raise DomainError("many_campaigns", f"Several campaigns are called “{name}”. Give the id instead.")
    return found[0]


@dataclass(frozen=True)
class Contents:
    """How much a campaign holds. A place is one worker on one HIT. The degraded chatbot does not count as a system."""

    n_systems: int
    n_sources: int
    n_outputs: int
    n_hits: int
    n_places: int
    n_places_left: int

    @property
    def n_places_taken(self) -> int:
        """Places that a worker has, or has finished."""
        return self.n_places - self.n_places_left


def contents_of(campaign: Campaign) -> Contents:
    """Return how much a campaign holds. Four queries."""
    hits = campaign.hits.aggregate(n=Count("pk"), left=Sum("n_places_left", default=0))
    return Contents(
        n_systems=campaign.systems.filter(is_degraded=False).count(),
        n_sources=campaign.sources.count(),
        n_outputs=Output.objects.filter(source__campaign=campaign).count(),
        n_hits=hits["n"],
        n_places=hits["n"] * campaign.workers_per_hit,
        n_places_left=hits["left"],
    )


def proposed_settings(campaign: Campaign, contents: Contents | None = None) -> Mapping[str, Any]:
    """Return the platform's options that the design proposes and nobody has set. A query, unless contents are given.

    After the launch there are none: what was proposed then is set.
    """
    if campaign.is_launched:
        return {}
    n_places = contents.n_places if contents else campaign.hits.count() * campaign.workers_per_hit
    platform = campaign.crowd_platform
    return platform.propose(campaign.platform_settings, n_places=n_places, hits_per_worker=campaign.hits_per_worker)


def list_systems(campaign: Campaign) -> QuerySet[System]:
    """Return the systems by name, each with its `n_outputs`."""
    return campaign.systems.annotate(n_outputs=Count("outputs")).order_by("name")


def get_system_of(campaign: Campaign, system_id: int) -> System:
    """Return a system of the campaign with its `n_outputs`; raise Http404 for any other."""
    return get_object_or_404(list_systems(campaign), pk=system_id)


def list_chatbots(campaign: Campaign) -> QuerySet[Chatbot]:
    """Return the chatbots with their systems, by name, the degraded one last."""
    chatbots = Chatbot.objects.filter(system__campaign=campaign).select_related("system")
    return chatbots.order_by("system__is_degraded", "system__name")


def get_chatbot_of(campaign: Campaign, chatbot_id: int) -> Chatbot:
    """Return a chatbot of the campaign with its system; raise Http404 for any other."""
    return get_object_or_404(list_chatbots(campaign), pk=chatbot_id)


def count_tested(campaign: Campaign) -> int:
    """Return how many criteria the worker test uses. One query."""
    return len(find_tested(campaign, campaign.criteria.all()))


def find_tested(campaign: Campaign, criteria: Iterable[Criterion]) -> list[Criterion]:
    """Return which of a campaign's criteria the worker test uses."""
    known, apart = list(criteria), set[int]()
    if methods[campaign.method].is_of_whole_chats:
        scored = [each for each in known if each.bounds and each.scope in campaign.scopes_of_systems]
        apart = {each.pk for each in scored} - {each.pk for each in whole_before_replies(scored)}
    return [each for each in known if each.is_tested and each.pk not in apart]


def get_criterion_of(campaign: Campaign, criterion_id: int) -> Criterion:
    """Return a criterion of the campaign; raise Http404 for any other."""
    return get_object_or_404(campaign.criteria, pk=criterion_id)


def list_members(campaign: Campaign) -> QuerySet[Membership]:
    """Return the memberships with their users, in the order in which they were made."""
    return campaign.memberships.select_related("user")


def get_membership_of(campaign: Campaign, membership_id: int) -> Membership:
    """Return a membership of the campaign with its user; raise Http404 for any other."""
    return get_object_or_404(list_members(campaign), pk=membership_id)


def is_member(user: User, campaign: Campaign) -> bool:
    """Tell whether the user is a member of the campaign."""
    return campaign.memberships.filter(user=user).exists()


def of_set_up(campaign: Campaign) -> Q:
    """Return which jobs import files of the campaign or build its HITs."""
    return Q(kind=BUILD, args__campaign=campaign.pk) | Q(pk__in=campaign.uploads.values("job"))


def list_webhooks(campaign: Campaign) -> QuerySet[Webhook]:
    """Return the webhooks, each with its `n_delivered`, `n_waiting`, `n_failed` and `tried_at`, the last try."""
    state = "deliveries__state"
    return campaign.webhooks.annotate(
        n_delivered=Count("deliveries", filter=Q(**{state: Delivery.State.DELIVERED})),
        n_waiting=Count("deliveries", filter=Q(**{f"{state}__in": (Delivery.State.WAITING, Delivery.State.SENDING)})),
        n_failed=Count("deliveries", filter=Q(**{state: Delivery.State.FAILED})),
        tried_at=Max("deliveries__tried_at"),
    ).order_by("pk")


def get_webhook_of(campaign: Campaign, webhook_id: int) -> Webhook:
    """Return a webhook of the campaign; raise Http404 for any other."""
    return get_object_or_404(campaign.webhooks, pk=webhook_id)


def list_deliveries(webhook: Webhook) -> QuerySet[Delivery]:
    """Return what was sent to a webhook or is to be, the latest event first."""
    return webhook.deliveries.order_by("-pk")


def get_delivery_of(webhook: Webhook, delivery_id: int) -> Delivery:
    """Return a delivery of the webhook; raise Http404 for any other."""
    return get_object_or_404(webhook.deliveries, pk=delivery_id)


def get_job_of(campaign: Campaign, job_id: UUID) -> Job:
    """Return a job that imports a file of the campaign or builds its HITs; raise Http404 for any other."""
    return get_object_or_404(Job, of_set_up(campaign), pk=job_id)


def list_related_runs(user: User, campaign: Campaign) -> tuple[Campaign | None, list[Campaign]]:
    """Return the run that this one replicates, and its replications: those that the user is a member of."""
    mine = Campaign.objects.filter(memberships__user=user)
    parent = mine.filter(pk=campaign.replicates_id).first() if campaign.replicates_id else None
    return parent, list(mine.filter(replicates=campaign).order_by("created_at"))


def fee_of_place(campaign: Campaign, places_per_posting: int) -> Decimal:
    """Return the platform's fee for the reward of one worker's HIT, to the cent: platforms round each, not a sum."""
    fee = campaign.crowd_platform.fee(campaign.ref, campaign.reward, n_places=places_per_posting)
    return fee.quantize(_CENT, ROUND_HALF_UP)
