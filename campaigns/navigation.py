"""The pages of one campaign, in the order of the work. The pages of other apps are known by name only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from campaigns.contracts.result_pages import DOWNLOADS, FIRST_PAGE, RESULT_PAGES, ResultPage
from campaigns.models import Campaign
from campaigns.protocols import get_protocol
from campaigns.queries import Role, has_role
from evalsite.jobs.models import Job
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import DomainError
from evalsite.lib.navigation import Link, LinkGroup, SideBar
from evalsite.lib.plugins import listed, load


@dataclass(frozen=True)
class _Page:
    """A page: the key that its view names, title, name of its address, campaigns that have it, parts."""

    key: str
    title: str
    name: str
    is_of: Callable[[Campaign], bool] = lambda campaign: True
    parts: tuple["_Page", ...] = ()


def _is_live(campaign: Campaign) -> bool:
    return campaign.is_live


def _is_of_outputs(campaign: Campaign) -> bool:
    return not campaign.is_live


def _has_open_screen(campaign: Campaign) -> bool:
    return not campaign.is_live and get_protocol(campaign.protocol).has_open_screen


def _has_account(campaign: Campaign) -> bool:
    return campaign.crowd_platform.has_account


def _has_links(campaign: Campaign) -> bool:
    return not campaign.crowd_platform.has_account


def _has_results_page(page: ResultPage) -> Callable[[Campaign], bool]:
    """Return which campaigns have a page of results, before there are any."""
    return lambda campaign: campaign.is_launched or page.slug in (FIRST_PAGE, DOWNLOADS)


_DESIGN, _RECRUIT, _MONITOR, _RESULTS, _SETTINGS = "Design", "Recruit", "Monitor", "Results", "Settings"
_BESIDE_DOWNLOADS = (
    _Page("datasheet", "Datasheet", "analysis:campaign_datasheet"),
    _Page("export", "Export", "monitoring:export"),
)
_GROUPS = {
    "": (_Page("overview", "Overview", "campaigns:campaign"),),
    _DESIGN: (
        _Page(
            "data",
            "Data and systems",
            "campaigns:data",
            _is_of_outputs,
            (_Page("data", "Data", "campaigns:data"), _Page("systems", "Systems", "campaigns:systems")),
        ),
        _Page(
            "chatbots",
            "Chatbots",
            "campaigns:chatbots",
            _is_live,
            (_Page("chatbots", "Chatbots", "campaigns:chatbots"), _Page("chat", "Chat rules", "campaigns:chat")),
        ),
        _Page(
            "criteria",
            "Questions",
            "campaigns:criteria",
            parts=(
                _Page("criteria", "Criteria", "campaigns:criteria"),
                _Page("screen", "Layout", "campaigns:screen", _has_open_screen),
            ),
        ),
        _Page("instructions", "Instructions and consent", "campaigns:instructions"),
        _Page("design", "HITs", "campaigns:design"),
        _Page("plan", "Plan", "analysis:campaign_plan"),
        _Page("preview", "Preview", "monitoring:preview"),
    ),
    _RECRUIT: (
        _Page("platform", "Platform", "crowd:platform"),
        _Page("raters", "Raters", "monitoring:raters", _has_links),
        _Page(
            "payment",
            "Payment",
            "campaigns:payment",
            parts=(
                _Page("payment", "Reward", "campaigns:payment"),
                _Page("payments", "Payments", "crowd:payments"),
                _Page("discrepancies", "Discrepancies", "crowd:discrepancies", _has_account),
                _Page("orders", "Orders", "crowd:orders", _has_account),
            ),
        ),
    ),
    _MONITOR: (
        _Page("progress", "Progress", "monitoring:progress"),
        _Page("assignments", "Assignments", "monitoring:assignments"),
        _Page("workers", "Workers", "analysis:campaign_live_workers"),
        _Page(
            "chats",
            "Chats",
            "monitoring:chats",
            _is_live,
            (
                _Page("chats", "Live chats", "monitoring:chats"),
                _Page("transcripts", "Transcripts", "monitoring:transcripts"),
                _Page("chat_flags", "Flags", "monitoring:chat_flags"),
            ),
        ),
        _Page("feedback", "Feedback", "monitoring:feedback"),
    ),
    _RESULTS: (
        *(
            _Page(
                *(page.in_campaign, page.title, f"analysis:{page.in_campaign}"),
                _has_results_page(page),
                _BESIDE_DOWNLOADS if page.slug == DOWNLOADS else (),
            )
            for page in RESULT_PAGES
            if not page.is_optional
        ),
    ),
    _SETTINGS: (_Page("settings", "Settings", "campaigns:settings"),),
}

_Status = Campaign.Status
# The group that is open on pages of none: where the campaign is.
_STAGE_OF = {
    _Status.DRAFT: _DESIGN,
    _Status.READY: _RECRUIT,
    _Status.RUNNING: _MONITOR,
    _Status.PAUSED: _MONITOR,
    _Status.CLOSED: _RESULTS,
}


def side_bar(
    campaign: Campaign,
    current: str,
    counts: Mapping[str, int] | None = None,
    results: Sequence[Link] = (),
) -> SideBar:
    """Return the pages of a campaign; `current` names the one that shows, `counts` what is written behind titles.

    `results`: the pages of the result that shows, in place of those that any result has.
    """
    counts = counts or {}

    def links(pages: tuple[_Page, ...]) -> list[Link]:
        shown = []
        for page in pages:
            url = url_of(campaign, page.name)
            if url and page.is_of(campaign):
                n, parts = counts.get(page.key), links(page.parts)
                parts = parts if len(parts) > 1 else []
                is_current = page.key == current and not any(part.is_current for part in parts)
                shown.append(Link(f"{page.title} ({n:,})" if n else page.title, url, is_current, parts))
        return shown

    groups = {title: links(pages) for title, pages in _GROUPS.items()}
    if results:
        groups[_RESULTS] = [*results[:-1], replace(results[-1], parts=links(_BESIDE_DOWNLOADS))]
    opened = next((title for title, shown in groups.items() if title and any(link.is_open for link in shown)), "")
    opened = opened or _STAGE_OF.get(_Status(campaign.status), "")
    states = _states(campaign)
    return SideBar(
        label="Campaign",
        title=campaign.name,
        url=reverse("campaigns:campaign", args=[campaign.public_id]),
        groups=[
            LinkGroup(title, shown, states.get(title, ""), is_open=title in ("", opened) and title != _SETTINGS)
            for title, shown in groups.items()
            if shown
        ],
    )


def _states(campaign: Campaign) -> dict[str, str]:
    """Return how far each stage is, in a few words; of results, what `EVALSITE_RESULTS_STATE` says."""
    designs = {_Status.DRAFT: "draft", _Status.READY: "ready to launch"}
    results = load(listed("EVALSITE_RESULTS_STATE"))(campaign) if campaign.is_launched else ""
    return {
        _DESIGN: designs.get(_Status(campaign.status), "complete"),
        _RECRUIT: campaign.crowd_platform.title,
        _MONITOR: campaign.get_status_display().lower() if campaign.is_launched else "not launched",
        _RESULTS: results or "none yet",
    }


def url_of(campaign: Campaign, name: str) -> str | None:
    """Return the address of a campaign's page; None if this site has no such page."""
    try:
        return reverse(name, args=[campaign.public_id])
    except NoReverseMatch:
        return None


@dataclass(frozen=True)
class WorkerLink:
    """The address that workers open; `refused` says why it alone is not enough, `raters` where links are made."""

    url: str
    refused: str
    raters: str | None


def worker_link(request: HttpRequest, campaign: Campaign) -> WorkerLink | None:
    """Return the address for workers; None where a platform brings them, or this site has no such pages."""
    path, platform = url_of(campaign, "rate:welcome"), campaign.crowd_platform
    if path is None or platform.has_account:
        return None
    refused = ""
    try:
        platform.identify(campaign.ref, {})
    except DomainError as error:
        refused = error.message
    return WorkerLink(request.build_absolute_uri(path), refused, url_of(campaign, "monitoring:raters"))


def job_progress(campaign: Campaign, job: Job, name: str = "campaigns:job") -> dict[str, Any]:
    """Return what a page and its script show of a job of a campaign, with the address to ask again, for all members."""
    return job_state(job) | {"url": reverse(name, args=[campaign.public_id, job.pk])}


def campaign_context(
    campaign: Campaign,
    current: str,
    counts: Mapping[str, int] | None = None,
    results: Sequence[Link] = (),
) -> dict[str, Any]:
    """Return what campaigns/frame.html needs, and whether the user may change things: at all, and still.

    `counts` and `results` as `side_bar` takes them.
    """
    can_edit = has_role(campaign, Role.EDITOR)
    return {
        "campaign": campaign,
        "side_bar": side_bar(campaign, current, counts, results),
        "is_owner": has_role(campaign, Role.OWNER),
        "can_edit": can_edit,
        "can_change": can_edit and not campaign.is_launched,
    }
