"""The pages of ratings files and their runs: the way back, and the frame that all pages of a run share."""

from typing import Any

from django.urls import reverse

from analysis.campaign_queries import get_rating_progress
from analysis.methods import sections_of
from analysis.models import AnalysisRun, RatingsFile
from analysis.queries import Role, newest_run_of
from analysis.results import get_totals, has_chats
from evalsite.lib.navigation import Link, LinkGroup, SideBar
from evalsite.lib.words import counted

_PAGES = {
    "run": "Ranking",
    "significance": "Significance",
    "workers": "Workers",
    "chats": "Chats",
    "downloads": "Downloads",
}


def crumbs(ratings_file: RatingsFile | None = None) -> list[dict[str, str]]:
    """Return the way back from a page of a ratings file, or of its runs: through its campaign if it has one."""
    if ratings_file is None:
        return [{"title": "Analyses", "url": reverse("analysis:ratings")}]
    way, title, campaign = crumbs(), ratings_file.title, ratings_file.campaign
    if campaign:
        way = [
            {"title": "Campaigns", "url": reverse("campaigns:list")},
            {"title": campaign.name, "url": reverse("campaigns:campaign", args=[campaign.public_id])},
            {"title": "Results", "url": reverse("analysis:campaign_results", args=[campaign.public_id])},
        ]
        title = f"Ratings of {counted(ratings_file.n_assignments or 0, 'assignment')}"
    return [*way, {"title": title, "url": reverse("analysis:ratings_file", args=[ratings_file.pk])}]


def run_context(run: AnalysisRun, page: str) -> dict[str, Any]:
    """Return what analysis/frame.html needs for a page of a finished run, and the page's sections."""
    report = run.report or {}
    newest, campaign = newest_run_of(run.ratings_file), run.ratings_file.campaign
    return {
        "run": run,
        "totals": get_totals(report),
        "newest": newest if newest and newest.pk != run.pk else None,
        "progress": get_rating_progress(campaign) if campaign else None,
        "can_change": run.my_role != Role.VIEWER,
        "is_owner": run.my_role == Role.OWNER,
        "crumbs": crumbs(run.ratings_file),
        "side_bar": _side_bar(run, page),
        "sections": sections_of(report, page),
    }


def _side_bar(run: AnalysisRun, page: str) -> SideBar:
    """Return the pages of a finished run; `page` names the one that shows."""
    pages = [
        Link(title, reverse(f"analysis:{name}", args=[run.pk]), name == page)
        for name, title in _PAGES.items()
        if name != "chats" or has_chats(run.report or {})
    ]
    file = run.ratings_file
    url = reverse("analysis:ratings_file", args=[file.pk])
    groups = [LinkGroup("", [Link("All runs", url)]), LinkGroup("Results", pages)]
    return SideBar("Ratings file", file.title, url, groups)
