"""What the pages of a running campaign share, and their lists."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from annotation.exports import hashed_name
from annotation.models import Assignment, Worker
from annotation.monitoring import InvitedRater
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, has_role

_PARTS = (
    ("progress", "Progress"),
    ("assignments", "Assignments"),
    ("feedback", "Feedback"),
    ("export", "Export"),
)
_S_PER_MIN = 60


def frame(campaign: Campaign, part: str) -> dict[str, Any]:
    """Return what monitoring/frame.html needs; `part` names the page of the progress tab that shows."""
    parts = [
        {"title": title, "url": reverse(f"monitoring:{name}", args=[campaign.public_id]), "current": name == part}
        for name, title in _PARTS
    ]
    return campaign_context(campaign, "progress") | {"parts": parts}


def worker_name(campaign: Campaign, worker: Worker) -> str:
    """Return what the user that the campaign was fetched for may call a worker: viewers get a hash, as in exports."""
    return worker.name if has_role(campaign, Role.EDITOR) else hashed_name(worker)


def assignments_shown(campaign: Campaign, assignments: Iterable[Assignment]) -> list[dict[str, Any]]:
    """Return assignments as rows of their table."""
    return [
        {
            "assignment": each,
            "worker": worker_name(campaign, each.worker),
            "is_active": each.state == Assignment.State.ACTIVE,
            "minutes": f"{(each.seen_at - each.started_at).total_seconds() / _S_PER_MIN:.1f}",
        }
        for each in assignments
    ]


def feedback_shown(campaign: Campaign, assignments: Iterable[Assignment]) -> list[dict[str, Any]]:
    """Return the texts of assignments, each with who wrote it."""
    return [{"assignment": each, "worker": worker_name(campaign, each.worker)} for each in assignments]


def raters_shown(raters: Iterable[InvitedRater], arrival: str) -> list[dict[str, Any]]:
    """Return invited raters with their whole links and how far each is, in words."""
    return [{"name": each.name, "link": f"{arrival}?{each.query}", "state": _state_text(each)} for each in raters]


def _state_text(rater: InvitedRater) -> str:
    finished = f"{rater.n_finished} finished" if rater.n_finished else ""
    active = "at work" if rater.is_active else ""
    return ", ".join(filter(None, (active, finished))) or "not started"


def invited_text(n_new: int, n_names: int) -> str:
    """Return what to say after an invitation of names of which some were new."""
    n_known = n_names - n_new
    if not n_new:
        return "Nobody new: all of them have their links already."
    known = f" {n_known} had one already." if n_known else ""
    return f"{n_new} rater{'' if n_new == 1 else 's'} now {'has' if n_new == 1 else 'have'} a link.{known}"
