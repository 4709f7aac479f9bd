"""The page of a campaign's crowd platform: its account, how far publishing is, how things stand there."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Max

from campaigns.models import Campaign
from campaigns.navigation import campaign_context, url_of
from campaigns.platforms import get_platform
from crowd.models import Order, Posting, Submission
from crowd.presenters.account import account_shown
from crowd.presenters.waves import lacks, progress_of, wave_rows
from crowd.queries.publishing import PlatformStatus, get_platform_status, list_postings, list_waves, unpublished_hits

_OPEN, _PAUSED = Posting.State.OPEN, Posting.State.PAUSED
_STOP = (
    "Stop all postings for good? Nobody else can accept a HIT; workers who have one may finish it. What is stopped "
    "cannot be opened again."
)
# What may be done to all postings at once: those of which states, what, the button's words and look, what it asks.
_ACTS = (
    ({_OPEN}, Order.Kind.PAUSE, "Pause all", "btn-secondary", ""),
    ({_PAUSED}, Order.Kind.RESUME, "Resume all", "btn-primary", ""),
    ({_OPEN, _PAUSED}, Order.Kind.STOP, "Stop all", "btn-danger", _STOP),
)


def platform_page(campaign: Campaign) -> dict[str, Any]:
    """Return what the page shows apart from its forms. A constant number of queries."""
    platform = get_platform(campaign.platform)
    context = campaign_context(campaign, "platform") | {"platform": platform}
    if not platform.has_account:
        return context
    waves = list(list_waves(campaign))
    context |= account_shown(campaign)
    return (
        context
        | publishing_shown(campaign, context["account"]["balance"])
        | {"rows": wave_rows(waves), "progress": progress_of(campaign, waves)}
        | (_status_context(campaign) if waves else {})
    )


def publishing_shown(campaign: Campaign, balance: str) -> dict[str, Any]:
    """Return how many HITs are published and still to be."""
    n_hits, n_left = campaign.hits.count(), unpublished_hits(campaign).count()
    hourly = campaign.hourly_reward
    stats = [
        {"label": "HITs ordered", "value": f"{n_hits - n_left:,}", "note": f"of {n_hits:,}"},
        {
            "label": f"Reward per HIT, {campaign.currency}",
            "value": f"{campaign.reward:,.2f}",
            "note": f"{hourly:,.2f} per hour" if hourly else "",
        },
        {"label": "Balance, when last asked", "value": balance},
    ]
    return {
        "stats": stats,
        "totals": {"n_hits": n_hits, "n_left": n_left},
        "is_ready": n_hits and not lacks(campaign),
    }


def _status_context(campaign: Campaign) -> dict[str, Any]:
    status = get_platform_status(campaign)
    return {
        "status": status_shown(status),
        "seen_at": list_postings(campaign).aggregate(at=Max("seen_at"))["at"],
        "n_discrepancies": sum(status.discrepancies.values()),
        "n_ended_early": status.n_ended_early,
        "discrepancies_url": url_of(campaign, "crowd:discrepancies"),
        "acts": _acts(status),
        "payments_url": url_of(campaign, "crowd:payments"),
    }


def status_shown(status: PlatformStatus) -> list[dict[str, Any]]:
    """Return postings and submissions by state, without states that nothing is in."""
    return [
        {"label": "Postings", "parts": _parts(status.postings, Posting.State)},
        {"label": "Submissions", "parts": _parts(status.submissions, Submission.State)},
    ]


def _parts(counts: Mapping[str, int], states: Any) -> list[dict[str, Any]]:
    return [{"n": counts[each], "label": each.label.lower()} for each in states if counts.get(each)]


def _acts(status: PlatformStatus) -> list[dict[str, str]]:
    return [
        {"kind": kind, "words": words, "look": look, "question": question}
        for states, kind, words, look, question in _ACTS
        if any(status.postings.get(state) for state in states)
    ]
