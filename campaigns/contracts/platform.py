"""The contract of a crowd platform: where workers come from, and where they go when they have finished."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from evalsite.lib.errors import DomainError


@dataclass(frozen=True)
class CampaignRef:
    """What a platform may know of a campaign."""

    public_id: UUID
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Arrival:
    """Who has come. A `worker_key` of None is somebody new, whom the site gives a key of its own.

    `is_preview`: somebody who looks before they accept; nothing is stored.
    """

    worker_key: str | None = None
    is_preview: bool = False


@dataclass(frozen=True)
class Option:
    """One setting of a platform: a choice, or a whole number where there are no choices (None: no limit)."""

    name: str
    label: str
    help: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    default: str | int | None = None


class CrowdPlatform(ABC):
    """A crowd platform. Its methods read no database and call no network."""

    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    # Sources of the Content-Security-Policy of worker pages, beyond the site itself.
    frame_ancestors: ClassVar[tuple[str, ...]] = ()
    form_action: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def identify(self, campaign: CampaignRef, params: Mapping[str, str]) -> Arrival:
        """Return who has come with these parameters of the URL; raise DomainError `bad_link` if it is not valid."""

    def invite(self, campaign: CampaignRef, name: str) -> tuple[str, str]:
        """Return the worker key and the query of a personal link for the rater called `name`.

        Raises DomainError `no_personal_links` on platforms that bring their own workers.
        """
        raise DomainError("no_personal_links", f"{self.title} brings its own workers: there are no links to make.")

    def max_workers(self, campaign: CampaignRef) -> int | None:
        """Return how many workers may take part; None for no limit."""
        return None
