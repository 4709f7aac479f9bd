"""What a launched campaign's overview shows of each app, and the one thing to do next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.plugins import listed, load


@dataclass(frozen=True)
class NextStep:
    """What to do next: a heading, the reason in a sentence or two, and the page on which it is done."""

    title: str
    text: str
    action: str
    url: str


@dataclass(frozen=True)
class OverviewPart:
    """What one app adds to the overview: a template with its context, "" for none, and what it wants done next."""

    template: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    next_step: NextStep | None = None


def overview_parts(campaign: Campaign, user: User) -> list[OverviewPart]:
    """Return what the functions that `EVALSITE_OVERVIEW` names say of a launched campaign, in their order."""
    found = (load(path)(campaign, user) for path in listed("EVALSITE_OVERVIEW"))
    return [part for part in found if part]


def next_steps(parts: Sequence[OverviewPart]) -> list[NextStep]:
    """Return what needs to be done, what comes first first."""
    return [part.next_step for part in parts if part.next_step]
