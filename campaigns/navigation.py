"""The pages of one campaign, in the order of the work. The pages of other apps are known by name only."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from campaigns.contracts.method import CampaignMethod
from campaigns.methods import methods
from campaigns.models import Campaign
from campaigns.protocols import get_protocol
from campaigns.queries import Role, has_role
from evalsite.jobs.models import Job
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import DomainError
from evalsite.lib.navigation import Link, LinkGroup, SideBar, Stage


@dataclass(frozen=True)
class _Page:
    """A page: the key that its view names, title, name of its address, campaigns that have it, parts.

    `result`: which page of a result it is; methods have some of these (`CampaignMethod.pages`).
    """

    key: str
    title: str
    name: str
    is_of: Callable[[Campaign], bool] = lambda campaign: True
    parts: tuple["_Page", ...] = ()
    result: str = ""


def _is_live(campaign: Campaign) -> bool:
    return campaign.is_live


def _is_of_outputs(campaign: Campaign) -> bool:
    return not campaign.is_live


def _is_launched(campaign: Campaign) -> bool:
    return campaign.is_launched


def _is_launched_live(campaign: Campaign) -> bool:
    return campaign.is_launched and campaign.is_live


def _has_open_screen(campaign: Campaign) -> bool:
    return not campaign.is_live and get_protocol(campaign.protocol).has_open_screen


def _has_account(campaign: Campaign) -> bool:
    return campaign.crowd_platform.has_account


def _has_links(campaign: Campaign) -> bool:
    return not campaign.crowd_platform.has_account


def _may_edit(campaign: Campaign) -> bool:
    return has_role(campaign, Role.EDITOR)


def _is_owner(campaign: Campaign) -> bool:
    return has_role(campaign, Role.OWNER)


_GROUPS = {
    "": (_Page("overview", "Overview", "campaigns:campaign"),),
    "Design": (
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
    "Recruit": (
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
    "Monitor": (
        _Page("progress", "Progress", "monitoring:progress"),
        _Page("assignments", "Assignments", "monitoring:assignments"),
        _Page("workers", "Workers", "analysis:campaign_workers"),
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
    "Results": (
        _Page("results", "Findings", "analysis:campaign_results"),
        _Page("significance", "Significance", "analysis:campaign_significance", _is_launched, result="significance"),
        _Page("result_workers", "Workers", "analysis:campaign_result_workers", _is_launched, result="workers"),
        _Page("reliability", "Reliability", "analysis:campaign_reliability", _is_launched, result="reliability"),
        _Page("groups", "Groups", "analysis:campaign_groups", _is_launched, result="groups"),
        _Page("sensitivity", "Sensitivity", "analysis:campaign_sensitivity", _is_launched, result="sensitivity"),
        _Page("metrics", "Metrics", "analysis:campaign_metrics", _is_launched, result="metrics"),
        _Page("result_chats", "Chats", "analysis:campaign_result_chats", _is_launched_live, result="chats"),
        _Page("compare", "Compare", "analysis:campaign_compare", _is_launched, result="compare"),
        _Page("paper", "For the paper", "analysis:campaign_paper", _is_launched, result="paper"),
        _Page("datasheet", "Datasheet", "analysis:campaign_datasheet"),
        _Page("downloads", "Downloads", "analysis:campaign_downloads", _is_launched, result="downloads"),
        _Page("export", "Export", "monitoring:export"),
    ),
    "Settings": (
        _Page("settings", "General", "campaigns:settings"),
        _Page("protection", "Personal data", "monitoring:protection"),
        _Page("webhooks", "Webhooks", "campaigns:webhooks", _may_edit),
        _Page("members", "Members", "campaigns:members"),
        _Page("audit", "Audit log", "campaigns:audit", _is_owner),
        _Page("archive", "Archive, delete", "campaigns:archive", _is_owner),
    ),
}

_Status = Campaign.Status
_STAGES = (_Status.DRAFT, _Status.READY, _Status.RUNNING, _Status.CLOSED)


def side_bar(
    campaign: Campaign,
    current: str,
    counts: Mapping[str, int] | None = None,
    results: tuple[Collection[str], Sequence[Link]] | None = None,
) -> SideBar:
    """Return the pages of a campaign; `current` names the one that shows, `counts` what is written behind titles.

    `results`: which pages the result has that shows, and further ones, which follow on its findings. Without it, they
    are those of the campaign's method.
    """
    counts = counts or {}
    result_pages, further = results or (_pages_of_results(campaign), ())

    def links(pages: tuple[_Page, ...]) -> list[Link]:
        found = []
        for page in pages:
            url = url_of(campaign, page.name)
            if url and page.is_of(campaign) and (not page.result or page.result in result_pages):
                n = counts.get(page.key)
                parts = links(page.parts)
                is_current = page.key == current and len(parts) < 2
                parts = parts if len(parts) > 1 else []
                found.append(Link(f"{page.title} ({n:,})" if n else page.title, url, is_current, parts))
                found += further if page.key == "results" else []
        return found

    return SideBar(
        label="Campaign",
        title=campaign.name,
        url=reverse("campaigns:campaign", args=[campaign.public_id]),
        groups=[LinkGroup(title, found) for title, pages in _GROUPS.items() if (found := links(pages))],
        stages=_stages(campaign),
    )


def _pages_of_results(campaign: Campaign) -> Collection[str]:
    """Return which pages the results of a campaign have; those of any method where this site does not have its own."""
    return methods.all().get(campaign.method, CampaignMethod).pages


def _stages(campaign: Campaign) -> list[Stage]:
    status = Campaign.Status(campaign.status)
    now = _STAGES.index({_Status.PAUSED: _Status.RUNNING, _Status.DELETING: _Status.CLOSED}.get(status, status))
    return [
        Stage(str(status.label if i == now else stage.label), "past" if i < now else "now" if i == now else "later")
        for i, stage in enumerate(_STAGES)
    ]


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
    results: tuple[Collection[str], Sequence[Link]] | None = None,
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
