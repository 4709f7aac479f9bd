"""What every platform does: it says who has come, and where they go."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from campaigns.contracts.platform import Arrival, CampaignRef, CrowdPlatform, Handover
from evalsite.conformance.faults import HOSTILE, check_names, refused, require

_ID = UUID("00000000-0000-4000-8000-000000000001")


def check_platform(platform: type[CrowdPlatform], *, settings: Sequence[Mapping[str, Any]] = ({},)) -> None:
    """Raise ConformanceError if a platform does not do what `CrowdPlatform` promises, by each of some settings.

    What an account does needs its service: not checked here.
    """
    check_names(platform, "title", "summary", "task_name")
    for each in settings:
        found = platform()
        campaign = CampaignRef(_ID, platform.check({**platform.options.defaults(), **each}))
        _check_arrivals(found, campaign)
        done = found.finish(campaign, None, "CODE-1")
        says = isinstance(done, Handover) and any((done.code, done.form_url, done.link_url))
        require(says, platform, "finish() does not say where a worker goes: give a code, a form or a link.")
        most = found.max_workers(campaign)
        require(most is None or most > 0, platform, f"max_workers() is {most}. Return None for no limit.")
        fee = found.fee(campaign, Decimal("1.00"), n_places=1)
        require(isinstance(fee, Decimal) and fee >= 0, platform, f"fee() is {fee!r}. Return a Decimal from 0.")
        for name in ("frame_ancestors", "form_action"):
            sources = getattr(found, name)
            is_safe = isinstance(sources, tuple) and all(s.startswith("https://") for s in sources)
            require(is_safe, platform, f"{name} is {sources!r}. Return a tuple of addresses that begin with https://.")
        error = refused(platform, "open_account() without keys", lambda: found.open_account(campaign, {}))  # noqa: B023
        wanted = "no_keys" if platform.has_account else "no_account"
        require(error is not None and error.code == wanted, platform, f"open_account() does not raise “{wanted}”.")


def _check_arrivals(found: CrowdPlatform, campaign: CampaignRef) -> None:
    platform = type(found)
    names = ("worker", "id", "rater", "invitation", "key", "assignmentId", "PROLIFIC_PID")
    for text in filter(str.isprintable, HOSTILE):  # no address holds others
        for params in ({}, {"unknown": text}, dict.fromkeys(names, text)):
            error = refused(platform, f"identify({params})", lambda params=params: _arrive(found, campaign, params))  # type: ignore[misc]
            require(
                error is None or error.code == "bad_link", platform, f"identify({params}) is refused by no “bad_link”."
            )
            if error is None:
                first, second = (_arrive(found, campaign, params) for _ in range(2))
                require(first == second, platform, "one address is two workers. Return the same for the same.")


def _arrive(found: CrowdPlatform, campaign: CampaignRef, params: Mapping[str, str]) -> Arrival:
    arrival = found.identify(campaign, params)
    require(isinstance(arrival, Arrival), type(found), f"identify({dict(params)}) returns no Arrival.")
    return arrival
