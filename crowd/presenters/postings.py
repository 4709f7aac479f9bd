"""Postings as a table, with what may be done to each."""

from collections.abc import Iterable
from typing import Any

from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.platforms import get_platform
from crowd.models import Order, Posting

State, Kind = Posting.State, Order.Kind
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
    return campaign_context(campaign, "platform") | {
        "platform": get_platform(campaign.platform),
        "rows": [_row(posting) for posting in postings],
        "state": state,
        "states": State.choices,
    }


def _row(posting: Posting) -> dict[str, Any]:
    acts = _ACTS.get(posting.state, [])
    return {
        "posting": posting,
        "badge": _BADGES.get(State(posting.state), "badge-unused"),
        "acts": [{"kind": kind, "words": words, "look": look, "question": asks} for kind, words, look, asks in acts],
    }
