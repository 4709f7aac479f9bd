"""Postings as a table, with what may be done to each."""

from collections.abc import Iterable
from typing import Any

from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.platforms import get_platform
from crowd.models import Order, Posting

State, Kind = Posting.State, Order.Kind
ENDED_EARLY = "ended-early"
"""For the list of what the platform offers to nobody though workers are wanted."""
_BADGES = {State.OPEN: "badge-ready", State.PAUSED: "badge-untested"}
_STOP = "Stop it for good? Nobody else can accept it; whoever has may finish. It cannot be opened again."
_DELETE = "Delete it on the platform? Its submissions stay here."
# What may be done in a state: kind, the button's words and look, what it asks.
_ACTS: dict[str, list[tuple[str, str, str, str]]] = {
    State.OPEN: [(Kind.PAUSE, "Pause", "btn-secondary", ""), (Kind.STOP, "Stop", "btn-danger", _STOP)],
    State.PAUSED: [(Kind.RESUME, "Resume", "btn-primary", ""), (Kind.STOP, "Stop", "btn-danger", _STOP)],
    State.ENDED: [(Kind.DELETE, "Delete", "btn-danger", _DELETE)],
}


def postings_page(campaign: Campaign, postings: Iterable[Posting], state: str) -> dict[str, Any]:
    """Return what the list of postings shows."""
    platform = get_platform(campaign.platform)
    return campaign_context(campaign, "platform") | {
        "platform": platform,
        "rows": [_row(posting, can_delete=platform.deletes_postings) for posting in postings],
        "state": state,
        "states": [*State.choices, (ENDED_EARLY, "Ended early")],
    }


def _row(posting: Posting, *, can_delete: bool) -> dict[str, Any]:
    acts = [act for act in _ACTS.get(posting.state, []) if can_delete or act[0] != Kind.DELETE]
    return {
        "posting": posting,
        "badge": _BADGES.get(State(posting.state), "badge-unused"),
        "acts": [{"kind": kind, "words": words, "look": look, "question": asks} for kind, words, look, asks in acts],
    }
