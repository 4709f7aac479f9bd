"""The pages of ratings files and of results: where they are, and the frame that all pages of a result share.

The results of a campaign are pages of the campaign, those of an uploaded file are the file's.
"""

from collections.abc import Collection, Iterable
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from analysis.methods import Report, method_of
from analysis.models import AnalysisRun, RatingsFile, ShareLink
from analysis.results.exports import file_name
from analysis.results.report_sections import own_pages, pages_of, sections_of
from analysis.results.sections import Section
from analysis.results.values import get_totals, has_chats, metrics_of
from analysis.web.queries.campaigns import RatingProgress, get_rating_progress
from analysis.web.queries.ratings_files import Role, newest_run_of
from campaigns.navigation import campaign_context
from evalsite.lib.navigation import Link, LinkGroup, SideBar
from evalsite.lib.words import counted

_SECTION_KEY, _SECTION = "section", "section:"
RESULT_PAGES = {
    "run": "Findings",
    "significance": "Significance",
    "workers": "Workers",
    "reliability": "Reliability",
    "groups": "Groups",
    "sensitivity": "Sensitivity",
    "metrics": "Metrics",
    "chats": "Chats",
    "compare": "Compare",
    "paper": "For the paper",
    "downloads": "Downloads",
}
SHARED = ("run", "significance", "reliability", "groups", "sensitivity", "metrics", "chats", "paper", "downloads")
"""The pages that a share link shows: none about single workers, and nothing that changes."""
_OF_SECTIONS = ("reliability", "groups", "sensitivity")
"""The pages that are nothing but sections, and say so where a result has none."""
# Of each page: its key in the side bar of a campaign, and the name of its address.
_OF_CAMPAIGN = {
    "run": ("results", "campaign_results"),
    "significance": ("significance", "campaign_significance"),
    "workers": ("result_workers", "campaign_result_workers"),
    "reliability": ("reliability", "campaign_reliability"),
    "groups": ("groups", "campaign_groups"),
    "sensitivity": ("sensitivity", "campaign_sensitivity"),
    "metrics": ("metrics", "campaign_metrics"),
    "chats": ("result_chats", "campaign_result_chats"),
    "compare": ("compare", "campaign_compare"),
    "paper": ("paper", "campaign_paper"),
    "downloads": ("downloads", "campaign_downloads"),
    "section": (_SECTION_KEY, "campaign_section"),
}


def result_url(run: AnalysisRun, page: str = "run", query: QueryDict | None = None) -> str:
    """Return the address of a page of a run, or of a `section_page`: in its campaign if it has one."""
    campaign, more = run.ratings_file.campaign, query.urlencode() if query else ""
    page, _, section = page.partition(":")
    of_section = [section] if section else []
    if run.share_token:
        return reverse(f"shared:{page}", args=[run.share_token, *of_section]) + (f"?{more}" if more else "")
    if campaign is None:
        return reverse(f"analysis:{page}", args=[run.pk, *of_section]) + (f"?{more}" if more else "")
    url = reverse(f"analysis:{_OF_CAMPAIGN[page][1]}", args=[campaign.public_id, *of_section])
    return f"{url}?run={run.pk}" + (f"&{more}" if more else "")


def section_page(section: Section) -> str:
    """Return what the page is called that a section has of its own."""
    return _SECTION + file_name(section.slug)


def _sections_shown(report: Report, page: str) -> list[Section]:
    """Return the sections that a page of a result shows. A section has an address also where no side bar names it."""
    if page.startswith(_SECTION):
        return [section for section in sections_of(report) if section_page(section) == page]
    return sections_of(report, page)


def has_page(run: AnalysisRun, page: str) -> bool:
    """Tell whether the result of a run, which has a report, has this page: its method may have no use for it."""
    if page.startswith(_SECTION):
        return bool(_sections_shown(run.report, page))
    return page in _OF_SECTIONS or page in _pages_of(run)


def _pages_of(run: AnalysisRun) -> Collection[str]:
    """Return which pages a run has, those of its method until there is a report."""
    return pages_of(run.shown) if run.shown else method_of({"settings": run.settings}).pages


def share_path(link: ShareLink) -> str:
    """Return the first page of what a link shares, below the address of the site."""
    return reverse("shared:run", args=[link.token])


def file_url(run: AnalysisRun, name: str) -> str:
    """Return the address of a file of a run, as its reader reaches it."""
    if run.share_token:
        return reverse("shared:file", args=[run.share_token, name])
    return reverse("analysis:run_file", args=[run.pk, name])


def crumbs(ratings_file: RatingsFile | None = None) -> list[dict[str, str]]:
    """Return the way back from a page of a ratings file, or of its runs: through its campaign if it has one."""
    if ratings_file is None:
        return [{"title": "Analyses", "url": reverse("analysis:ratings")}]
    way, title, campaign = crumbs(), ratings_file.title, ratings_file.campaign
    if campaign:
        way = [
            {"title": "Campaigns", "url": reverse("campaigns:list")},
            {"title": campaign.name, "url": reverse("campaigns:campaign", args=[campaign.public_id])},
            {"title": "Findings", "url": reverse("analysis:campaign_results", args=[campaign.public_id])},
        ]
        title = f"Ratings of {counted(ratings_file.n_assignments or 0, 'assignment')}"
    return [*way, {"title": title, "url": reverse("analysis:ratings_file", args=[ratings_file.pk])}]


def result_context(run: AnalysisRun, page: str, progress: RatingProgress | None = None) -> dict[str, Any]:
    """Return what analysis/frame.html needs for a page of a run, and the page's sections.

    `progress` of its campaign saves counting again.
    """
    campaign = run.ratings_file.campaign
    newest = newest_run_of(run.ratings_file)
    is_older = newest is not None and run.report is not None and newest.pk != run.pk
    context = {
        "run": run,
        "report": run.shown,
        "is_partial": run.report is None,
        "totals": get_totals(run.shown) if run.shown else None,
        "newest": newest if is_older else None,
        "run_chosen": run.pk if is_older and campaign else None,
        "progress": (progress or get_rating_progress(campaign)) if campaign else None,
        "can_change": run.my_role != Role.VIEWER,
        "is_owner": run.my_role == Role.OWNER,
        "sections": _sections_shown(run.report, page) if run.report else [],
    }
    if run.share_token:
        return context | {"base": "base.html", "side_bar": _shared_side_bar(run, page), "is_shared": True}
    if campaign is None:
        return context | {"base": "base.html", "crumbs": crumbs(run.ratings_file), "side_bar": _side_bar(run, page)}
    campaign.my_role = run.my_role
    own = _own_pages(run, page)
    frame = campaign_context(campaign, _OF_CAMPAIGN[page.partition(":")[0]][0], results=({*_pages_of(run), page}, own))
    if is_older:
        frame["side_bar"] = frame["side_bar"].with_query(
            {
                reverse(f"analysis:{name}", args=[campaign.public_id])
                for key, name in _OF_CAMPAIGN.values()
                if key != _SECTION_KEY
            },
            f"run={run.pk}",
        )
    return frame | context | {"base": "campaigns/frame.html"}


def _side_bar(run: AnalysisRun, page: str) -> SideBar:
    """Return the pages of a run of an uploaded file; `page` names the one that shows."""
    pages = _links(run, page, RESULT_PAGES)
    file = run.ratings_file
    url = reverse("analysis:ratings_file", args=[file.pk])
    groups = [LinkGroup("", [Link("All runs", url)]), LinkGroup("Results", pages)]
    return SideBar("Ratings file", file.title, url, groups)


def _shared_side_bar(run: AnalysisRun, page: str) -> SideBar:
    """Return the pages of a run that everybody sees who has its link."""
    title = run.ratings_file.campaign.name if run.ratings_file.campaign else run.ratings_file.title
    return SideBar("Shared results", title, result_url(run), [LinkGroup("Results", _links(run, page, SHARED))])


def _links(run: AnalysisRun, page: str, names: Iterable[str]) -> list[Link]:
    # A shared result has no page on which nothing can be seen or done.
    report = run.shown or {"summary": {}}
    missing = {"chats": not has_chats(report), "metrics": bool(run.share_token) and not metrics_of(report)}
    offered = {name for name in _pages_of(run) if not missing.get(name)} | {page}
    first, *rest = [Link(RESULT_PAGES[name], result_url(run, name), name == page) for name in names if name in offered]
    return [first, *_own_pages(run, page), *rest]


def _own_pages(run: AnalysisRun, page: str) -> list[Link]:
    """Return the pages of single sections of a run."""
    if not run.report:
        return []
    found = [(section.title, section_page(section)) for section in own_pages(run.report)]
    return [Link(title, result_url(run, name), name == page) for title, name in found]
