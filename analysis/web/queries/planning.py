"""Reading power analyses: first whether this user may; and what a campaign is planned with, as it is now."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from math import ceil
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.core.exceptions import PermissionDenied
from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, Value, When
from django.http import Http404
from django.utils import timezone

from analysis.methods import DEFAULT, get_method
from analysis.models import AnalysisRun, PowerAnalysis
from analysis.planning.methods import PLANNED
from analysis.web.queries.campaigns import find_latest_result
from analysis.web.queries.ratings_files import Role, list_comparable_results, parse_id
from annotation.monitoring.progress import get_totals, minutes_per_hit
from campaigns.contracts.protocol import Scope
from campaigns.design.composition import Layout
from campaigns.design.paging import PageKind
from campaigns.hit_queries import count_segments
from campaigns.models import Campaign, Output
from campaigns.queries import fee_of_place, find_tested
from evalsite.accounts.models import User
from evalsite.lib.words import counted, listed

_MOST_PILOTS, _MOST_LISTED = 50, 20
_SEGMENTS = 10  # of a document, as long as a campaign has none
_DAY = timedelta(days=1)


def plans_seen_by(user: User) -> QuerySet[PowerAnalysis]:
    """Return every power analysis that the user may see, newest first, with `my_role`."""
    found = user.memberships.exclude(campaign__status=Campaign.Status.DELETING)
    member = Subquery(found.filter(campaign=OuterRef("campaign")).values("role"))
    own = When(campaign=None, created_by=user, then=Value(Role.OWNER))
    role: dict[str, Any] = {"my_role": Case(own, default=member)}
    is_seen: dict[str, bool] = {"my_role__isnull": False}
    plans = PowerAnalysis.objects.annotate(**role).filter(**is_seen)
    return plans.select_related("job", "campaign", "created_by")


def get_plan_for(user: User, plan_id: UUID, *, to_change: bool = False) -> PowerAnalysis:
    """Return a power analysis; raise Http404 to a stranger, PermissionDenied to a viewer who wants to change it."""
    found = plans_seen_by(user).filter(pk=plan_id).first()
    if found is None:
        raise Http404("There is no such plan.")
    if to_change and found.my_role == Role.VIEWER:
        raise PermissionDenied("This needs the role of editor; you are viewer.")
    return found


def plans_of(user: User, campaign: Campaign | None) -> QuerySet[PowerAnalysis]:
    """Return the power analyses of a campaign, or those of the user's own without one, newest first."""
    return plans_seen_by(user).filter(Q(campaign=campaign) if campaign else Q(campaign=None))


def list_plans(user: User, campaign: Campaign | None) -> list[PowerAnalysis]:
    """Return the newest power analyses of a campaign, or those of the user's own without one. One query."""
    return list(plans_of(user, campaign)[:_MOST_LISTED])


def find_plan(plans: list[PowerAnalysis], user: User, campaign: Campaign | None, chosen: str) -> PowerAnalysis | None:
    """Return the chosen power analysis, or the newest; raise Http404 for one of another campaign."""
    if not chosen:
        return plans[0] if plans else None
    found = get_plan_for(user, parse_id(chosen))
    if found.campaign_id != (campaign.pk if campaign else None):
        raise Http404("There is no such plan.")
    return found


@dataclass(frozen=True)
class PilotChoice:
    """A finished run whose ratings may be taken as a pilot: its key, and what people call it."""

    run: AnalysisRun
    title: str


def list_pilots(user: User, campaign: Campaign | None) -> list[PilotChoice]:
    """Return the runs that the user may take as a pilot: the campaign's newest first, then of each file the newest.

    Two queries at most.
    """
    latest = find_latest_result(user, campaign.pk) if campaign else None
    own = latest if latest and latest.result.is_study else None
    found = (
        [PilotChoice(own, f"This campaign: {counted(own.ratings_file.n_assignments or 0, 'assignment')}")]
        if own
        else []
    )
    files = {own.ratings_file_id} if own else set()
    for run in list_comparable_results(user, DEFAULT)[: 4 * _MOST_PILOTS]:
        file = run.ratings_file
        is_own = campaign is not None and file.campaign_id == campaign.pk
        if file.pk not in files and not is_own and len(found) < _MOST_PILOTS:
            files.add(file.pk)
            found.append(PilotChoice(run, file.title))
    return found


def why_unplanned(campaign: Campaign) -> str:
    """Return why there is no plan for a campaign, by its response method; "" if there may be one."""
    if campaign.method in PLANNED:
        return ""
    planned = listed([get_method(slug).title for slug in PLANNED])
    return (
        f"There is no plan for the response method of this campaign, {get_method(campaign.method).title}: how its "
        f"responses vary is not known here. There are plans for {planned}."
    )


def plan_defaults(campaign: Campaign) -> dict[str, Any]:
    """Return what a plan of a campaign begins with: its design, what work costs, its pace. Ten queries at most.

    As long as it lacks systems or sources, their number is left out, unless the items of a HIT say how many systems
    there are at least; a HIT has no more items than there are.
    """
    n_sources, n_systems = campaign.sources.count(), campaign.systems.filter(is_degraded=False).count()
    most = n_systems * n_sources if campaign.layout == Layout.POOLED else n_systems
    pages = _Pages.of(campaign)
    n_ordinary, n_repeat = (n * pages.n_items for n in (campaign.n_ordinary, campaign.n_repeat))
    n_ordinary = min(n_ordinary, most) if n_systems > 1 and n_sources else n_ordinary
    n_hits = campaign.hits.count() or campaign.n_hits or _hits_to_cover(campaign, n_sources, pages.n_outputs)
    hits_per_worker = campaign.hits_per_worker or 1
    found = {
        "n_workers": max(ceil(n_hits * campaign.workers_per_hit / hits_per_worker), campaign.workers_per_hit, 1),
        "hits_per_worker": hits_per_worker,
        "workers_per_hit": campaign.workers_per_hit,
        "n_ordinary": n_ordinary,
        "n_degraded": min(campaign.n_degraded * pages.n_degraded, n_ordinary),
        "n_repeat": min(n_repeat, n_ordinary),
        "n_criteria": max(_count_tested(campaign), 1),
        "method": campaign.method,
        "layout": campaign.layout,
        "worker_test": campaign.worker_test,
        "minutes": campaign.minutes_per_hit,
    }
    found |= _of_method(campaign)
    if n_systems > 1:
        found["n_systems"] = n_systems
    elif campaign.layout != Layout.POOLED:
        found["n_systems"] = max(n_ordinary, 2)  # each item of a HIT is of another system
    if n_sources:
        found["n_sources"] = n_sources
    if campaign.reward:
        found |= {
            "reward": campaign.reward,
            "fee": fee_of_place(campaign, campaign.workers_per_hit),
            "currency": campaign.currency,
        }
    return found | _pace(campaign)


def _of_method(campaign: Campaign) -> dict[str, Any]:
    """Return what a plan of comparisons, or of levels, begins with besides."""
    found_levels = (each.response_kind.levels(each.settings) for each in campaign.criteria.all())
    levels = [len(known) for known in found_levels if known]
    found: dict[str, Any] = {"n_levels": levels[0]} if levels else {}
    if campaign.page_kind == PageKind.COMPARISON:
        found["outputs_per_page"] = campaign.outputs_per_page
    planned = PLANNED.get(campaign.method)
    return found | dict(planned.first_values if planned else {})


def _count_tested(campaign: Campaign) -> int:
    """Return on how many criteria an item is tested; those of whole documents are of no item."""
    tested = find_tested(campaign, campaign.criteria.all())
    is_of_documents = campaign.page_kind == PageKind.DOCUMENT
    return sum(not is_of_documents or each.scope != Scope.PAGE for each in tested)


class _Pages(NamedTuple):
    """How many outputs a page has, how many items a plan takes it for, and how many are degraded on a degraded page."""

    n_outputs: int
    n_items: int
    n_degraded: int

    @classmethod
    def of(cls, campaign: Campaign) -> "_Pages":
        """Return those of a campaign: a comparison is one item, or several outputs are one each, as segments are."""
        if campaign.page_kind == PageKind.DOCUMENT:
            return cls(*[count_segments(campaign) or _SEGMENTS] * 3)
        if campaign.page_kind == PageKind.OUTPUT:
            return cls(1, 1, 1)
        planned = PLANNED.get(campaign.method)
        n_items = campaign.outputs_per_page if planned and not planned.is_page else 1
        return cls(campaign.outputs_per_page, n_items, 1)


def _hits_to_cover(campaign: Campaign, n_sources: int, n_of_page: int) -> int:
    """Return how many HITs show each output once; of chats there are as many as somebody builds."""
    if campaign.is_live:
        return 30
    n_outputs = Output.objects.filter(source__campaign=campaign, system__is_degraded=False).count()
    n_each = campaign.n_ordinary * n_of_page if campaign.layout == Layout.POOLED else n_outputs / max(n_sources, 1)
    return max(ceil(n_outputs / max(n_each, 1)), 1)


def _pace(campaign: Campaign) -> dict[str, float]:
    """Return the median minutes of finished HITs, and how many are finished in a day: of the last one, else of all."""
    if not campaign.is_launched:
        return {}
    totals, minutes = get_totals(campaign, timezone.now()), minutes_per_hit(campaign)
    found = {"minutes": round(float(np.median(minutes)), 1)} if minutes.size and np.median(minutes) >= 0.1 else {}
    if totals.first_started_at is None or totals.last_seen_at is None or not totals.n_finished:
        return found
    if totals.n_finished_lately:
        return found | {"hits_per_day": float(totals.n_finished_lately)}
    days = max((totals.last_seen_at - totals.first_started_at) / _DAY, 1.0)
    return found | {"hits_per_day": round(totals.n_finished / days, 1)}


def fee_if_doubled(campaign: Campaign | None, reward: Decimal | None, workers_per_hit: int) -> Decimal | None:
    """Return the platform's fee if twice as many workers rate each HIT, for the campaign's own reward; else None."""
    if campaign is None or reward is None or reward != campaign.reward:
        return None
    return fee_of_place(campaign, 2 * workers_per_hit)
