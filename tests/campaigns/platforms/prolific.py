"""Prolific as its tests use it: a wave, its study, work of participants, an account at the simulator."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from campaigns.contracts.account import (
    CrowdAccount,
    PlatformUnsureError,
    PostingSpec,
    Terms,
)
from campaigns.contracts.platform import CampaignRef
from campaigns.platforms.prolific.plugin import Prolific
from simulators.prolific import WORKSPACE, ProlificApi
from tests.simulators.prolific_cast import TOKEN

PLATFORM = Prolific()
CAMPAIGN = CampaignRef(uuid4(), {})
SITE = "https://evalsite.example"
TERMS = Terms("Rate short texts", "Ten texts.", Decimal("1.50"), "GBP", 9, SITE)


def open_account(options: dict[str, Any] | None = None) -> CrowdAccount:
    """Open the account as another process would; the workspace is named, as there are two."""
    settings = {"workspace": WORKSPACE, **(options or {})}
    return PLATFORM.open_account(replace(CAMPAIGN, settings=settings), {"token": TOKEN})


def spec(token: UUID | None = None, *, n_places: int = 3, terms: Terms = TERMS) -> PostingSpec:
    """Return a wave of HITs of three places."""
    url = f"{SITE}/rate/c/{CAMPAIGN.public_id}/?{PLATFORM.arrival_query(CAMPAIGN, None)}"
    return PostingSpec(token or uuid4(), terms, url, n_places)


def publish(account: CrowdAccount, **more: Any) -> str:
    """Publish a wave and return its study."""
    study = account.draft(spec(**more))
    account.publish(study)
    return study


def work(api: ProlificApi, study: str, code: str = "ABC") -> str:
    """Let a new participant submit a session of a study."""
    session = api.reserve(study, api.add_participant())
    api.external_url(study, session)
    api.submit(session, code)
    return session


def insist(act: Callable[[], Any], *, times: int = 200) -> Any:
    """Do something until the platform is sure of it."""
    for _ in range(times):
        try:
            return act()
        except PlatformUnsureError:
            continue
    raise AssertionError("it never worked")


def operations(api: ProlificApi, *names: str) -> list[str]:
    """Return the effects of some operations, in order."""
    return [each.operation for each in api.ledger.effects() if each.operation in names]
