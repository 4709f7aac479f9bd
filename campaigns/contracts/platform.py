"""The contract of a crowd platform: where workers come from, and where they go when they have finished.

What only a platform with an account does (publishing, paying) is in `campaigns.contracts.account`.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from campaigns.contracts.account import CrowdAccount, Event
from campaigns.contracts.options import OptionsForm
from evalsite.lib.errors import DomainError


@dataclass(frozen=True)
class CampaignRef:
    """What a platform may know of a campaign: its address, its options, and what its account has stored."""

    public_id: UUID
    settings: Mapping[str, Any]
    stored: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """The platform's own assignment that somebody has come with.

    `platform_id` is its id there. `hit_number` is the HIT that it is for; None: any that is free. `data` is kept with
    the assignment, for `CrowdPlatform.finish`.
    """

    platform_id: str
    hit_number: int | None = None
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Arrival:
    """Who has come. A `worker_key` of None is somebody new, whom the site gives a key of its own.

    `invitation`: the key of the invitation whose link they followed; the site knows whose it is.
    `is_preview`: somebody who looks before they accept; nothing is stored.
    """

    worker_key: str | None = None
    is_preview: bool = False
    place: Place | None = None
    invitation: str = ""


@dataclass(frozen=True)
class Handover:
    """Where a worker goes who has finished: a code to copy, a form to send to the platform, or a link to follow.

    A form is posted to `form_url` with `fields` from within the platform's frame.
    """

    code: str = ""
    form_url: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    link_url: str = ""


def bad_link(message: str) -> DomainError:
    """Return the refusal of an address with which nobody is let in; `message` says what to do."""
    return DomainError("bad_link", message)


class CrowdPlatform(ABC):
    """A crowd platform. Its methods read no database and call no network."""

    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[type[OptionsForm]] = OptionsForm
    task_name: ClassVar[str] = "task"
    """What its workers call a HIT."""
    task_note: ClassVar[str] = ""
    """What that is, in a sentence, where it is no common word."""
    has_account: ClassVar[bool] = False
    """Whether campaigns are published and paid there, by its account."""
    posts_each_hit: ClassVar[bool] = True
    """Whether each HIT is published by itself; if not, a wave is one posting with places for any of its HITs."""
    deletes_postings: ClassVar[bool] = True
    """Whether a posting that was published can be deleted there once it has ended."""
    minimum_hourly: ClassVar[Mapping[str, Decimal]] = {}
    """The least that a worker must earn in an hour by the rules of the platform, by currency."""
    bonus_note: ClassVar[str] = ""
    """What is not certain about a bonus that was ordered, in words for the researcher."""
    frees_rejected: ClassVar[bool] = False
    """Whether the place of rejected work is given to another worker there."""
    rejection_categories: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What the platform asks for besides a message when work is rejected: values and labels."""
    rejection_effect: ClassVar[str] = (
        "They are not paid for this work, and their approval rate on the platform goes down. The rate decides which "
        "work they are offered from then on; a few rejections can cost somebody their livelihood there."
    )
    """What a rejection does to a worker, in words, for the researcher who is about to reject."""

    shortest_rejection: ClassVar[int] = 0
    """How many characters a message to a rejected worker must have at least."""

    @property
    def frame_ancestors(self) -> tuple[str, ...]:
        """Sources of the Content-Security-Policy that may frame worker pages, beyond the site itself."""
        return ()

    @property
    def form_action(self) -> tuple[str, ...]:
        """Sources of the Content-Security-Policy that worker pages may send forms to, beyond the site itself."""
        return ()

    @abstractmethod
    def identify(self, campaign: CampaignRef, params: Mapping[str, str]) -> Arrival:
        """Return who has come with these parameters of the URL; raise DomainError `bad_link` if it is not valid."""

    def invite(self, campaign: CampaignRef, name: str) -> str:
        """Return the worker key of the rater called `name`.

        Raises DomainError `no_personal_links` on platforms that bring their own workers.
        """
        raise self._no_personal_links()

    def personal_query(self, campaign: CampaignRef, invitation: str) -> str:
        """Return the query of the link of the invitation with this key; what `identify` reads.

        Raises DomainError `no_personal_links`.
        """
        raise self._no_personal_links()

    def _no_personal_links(self) -> DomainError:
        return DomainError("no_personal_links", f"{self.title} brings its own workers: there are no links to make.")

    def max_workers(self, campaign: CampaignRef) -> int | None:
        """Return how many workers may take part; None for no limit."""
        return None

    def finish(self, campaign: CampaignRef, place: Place | None, code: str) -> Handover:
        """Return where a worker goes whose assignment at `place` has finished with a completion code."""
        return Handover(code=code)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options as they are kept; raise DomainError `bad_option` for a value that cannot work."""
        return cls.options.check(settings)

    @classmethod
    def propose(cls, settings: Mapping[str, Any], *, n_places: int, hits_per_worker: int | None) -> Mapping[str, Any]:
        """Return what the design suggests for options that were never set; it applies from the launch.

        `n_places` are the HITs times the workers of each, 0 before they are built.
        """
        return {}

    @classmethod
    def for_known_raters(cls) -> Mapping[str, Any]:
        """Return the options that go with raters who are known by name; none where the platform brings its own."""
        return {}

    @classmethod
    def describe(cls, settings: Mapping[str, Any]) -> str:
        """Return who comes with these options, as sentences for the checklist; "" where workers are published for."""
        return ""

    @classmethod
    def remark(cls, settings: Mapping[str, Any]) -> str:
        """Return what to consider of these options before the launch, "" if nothing."""
        return ""

    # --- Of platforms with an account

    @classmethod
    def lacks(cls) -> str:
        """Return in a sentence what has to be installed before an account can be opened; "" if nothing."""
        return ""

    def arrival_query(self, campaign: CampaignRef, hit_number: int | None) -> str:
        """Return the query of the address that is published, for one HIT or for any; what `identify` reads."""
        raise self._no_account()

    def fee(self, campaign: CampaignRef, amount: Decimal, *, n_places: int, is_bonus: bool = False) -> Decimal:
        """Return what the platform asks for one reward or bonus of `amount`, in a posting of `n_places`."""
        return Decimal("0.00")

    def open_account(self, campaign: CampaignRef, secrets: Mapping[str, str]) -> CrowdAccount:
        """Return the account that a campaign is published with; raise DomainError `no_keys` or `missing_library`."""
        raise self._no_account()

    def read_hook(
        self, campaign: CampaignRef, secrets: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> list[Event]:
        """Return what a notification of the platform tells; raise DomainError `bad_signature` if it is not its own.

        Names of headers are in small letters.
        """
        raise self._no_account()

    def hook_fingerprint(self, headers: Mapping[str, str], body: bytes) -> str:
        """Return what tells a notification from others, and is the same whenever it is sent again."""
        return hashlib.sha256(body).hexdigest()

    def _no_account(self) -> DomainError:
        return DomainError("no_account", f"{self.title} has no account to publish with or to be paid from.")
