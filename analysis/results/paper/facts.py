"""What a campaign is, as far as a paper says it: facts that its ratings do not hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class StatementFacts:
    """A criterion as workers met it; `key` stays as it is when the name changes.

    `answered_by` says how in words, `instrument` and `elicitation` how in the words of
    the datasheet, `n_values` and `values` say which
    answers there are, "" where they cannot be counted.
    """

    key: str
    name: str
    statement: str
    answered_by: str
    instrument: str
    elicitation: str
    n_values: str
    values: str
    is_negative: bool


@dataclass(frozen=True)
class CampaignFacts:
    """The design of a campaign; it is frozen once the campaign is launched.

    `n_copies` are degraded items, repeats and reference items of a HIT. `shown` are the headings of what a worker sees
    with an output. `is_invited`: raters have personal links. `platform` is the name of a crowd platform, "" where
    raters follow a link. `min_inputs` and `opening` are of live chats.
    """

    name: str
    n_systems: int
    n_sources: int
    n_outputs: int
    n_hits: int
    n_ordinary: int
    n_copies: tuple[int, int, int]
    workers_per_hit: int
    hits_per_worker: int | None
    has_given_hits: bool
    criteria: Sequence[StatementFacts]
    instructions: str
    has_consent: bool
    contact: str
    is_accessible: bool
    shown: Sequence[str]
    output_label: str
    is_live: bool
    min_inputs: int
    opening: str
    platform: str
    is_invited: bool
    reward: Decimal
    currency: str
    minutes_per_hit: int | None
    hourly_reward: Decimal | None
    lease_minutes: int
    started: date | None
    ended: date | None

    @property
    def hit_size(self) -> int:
        """Number of items of a HIT."""
        return self.n_ordinary + sum(self.n_copies)

    @property
    def has_controls(self) -> bool:
        """Whether a HIT has quality-control items."""
        return any(self.n_copies)
