"""Mechanical Turk as its tests use it: a campaign's reference, an arrival, terms, an account, the simulator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID, uuid4

from campaigns.contracts.account import PostingSpec, Prepared, Terms
from campaigns.contracts.platform import CampaignRef
from campaigns.platforms.mturk.account import MTurkAccount
from campaigns.platforms.mturk.client import Keys
from campaigns.platforms.mturk.plugin import MTurk
from simulators.faults import Fault, Faults
from simulators.ledger import Ledger
from simulators.mturk import MTurkApi

CAMPAIGN = UUID("00000000-0000-4000-8000-000000000005")
SITE = "https://rate.example.org"
WORKER, OTHER_WORKER = "A1EXAMPLEWORKER", "A2EXAMPLEWORKER"
ASSIGNMENT_ID, HIT_ID = "3EXAMPLEASSIGNMENT0000000001", "3EXAMPLEHIT00000000000000001"
SANDBOX_SITE = "https://workersandbox.mturk.com"
DAY_S = 24 * 3600
KEYS = Keys("AKIAEXAMPLE012345678", "a-secret/that+nobody/may+read")


def ref(settings: Mapping[str, Any] | None = None, stored: Mapping[str, Any] | None = None) -> CampaignRef:
    return CampaignRef(CAMPAIGN, settings or {}, stored or {})


def arriving(hit_number: int | None = 3, **params: str) -> dict[str, str]:
    """Return the parameters with which a worker comes who has accepted, changed by `params`."""
    query = dict(parse_qsl(MTurk().arrival_query(ref(), hit_number)))
    amazons = {
        "assignmentId": ASSIGNMENT_ID,
        "hitId": HIT_ID,
        "workerId": WORKER,
        "turkSubmitTo": SANDBOX_SITE,
    }
    return query | amazons | params


def terms(**changes: Any) -> Terms:
    values: dict[str, Any] = {
        "title": "Read short texts and rate them",
        "description": "You are shown one text after the other.",
        "reward": Decimal("0.50"),
        "currency": "USD",
        "minutes": 30,
        "site_url": SITE,
    }
    return Terms(**values | changes)


def spec(n_places: int = 2, **changes: Any) -> PostingSpec:
    values: dict[str, Any] = {
        "token": uuid4(),
        "terms": terms(),
        "url": f"{SITE}/rate/c/{CAMPAIGN}/?hit=3&key=a-key",
        "n_places": n_places,
        "hit_number": 3,
    }
    return PostingSpec(**values | changes)


def open_account(settings: Mapping[str, Any] | None = None, stored: Mapping[str, Any] | None = None) -> MTurkAccount:
    return MTurkAccount(ref(settings, stored), KEYS, is_sandbox=True)


def prepared(account: MTurkAccount, wanted: Terms) -> Prepared:
    """Have an account prepare, step by step until all is done; return what it wants remembered then."""
    while not (step := account.prepare(wanted)).is_done:
        pass
    return step


@dataclass
class Amazon:
    """The simulator, and what a test asks of it."""

    url: str
    ledger: Ledger = field(default_factory=Ledger)
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        keys = {"access_key": KEYS.access_key_id, "secret_key": KEYS.secret_access_key}
        self.api = MTurkApi(self.ledger, self.faults, **keys)

    @contextmanager
    def failing(self, fault: Fault) -> Iterator[None]:
        """Let every call of the block fail."""
        self.faults.rate, self.faults.kinds = 1.0, (fault,)
        try:
            yield
        finally:
            self.faults.rate = 0.0

    def n(self, operation: str) -> int:
        return len(self.ledger.effects(operation))

    def work(self, hit_id: str, worker: str = WORKER, code: str = "CODE-1") -> str:
        """Have a worker accept and submit; return the assignment's id."""
        assignment_id = self.api.accept(hit_id, worker)
        self.api.submit(assignment_id, {"assignmentId": assignment_id, "code": code})
        return assignment_id

    def forget_tokens(self) -> None:
        """Let the day pass for which tokens are kept."""
        for kind in ("hit-token", "bonus-token", "places-token"):
            for id, use in self.ledger.all(kind).items():
                self.ledger.put(kind, id, {**use, "at": use["at"] - DAY_S})
