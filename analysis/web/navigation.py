"""The pages of ratings files and of results: where they are, and the frame that all pages of a result share.

The results of a campaign are pages of the campaign, those of an uploaded file are the file's.
"""

from collections.abc import Sequence
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from analysis.models import AnalysisRun, RatingsFile, ShareLink
from analysis.results.exports import file_name
from analysis.results.sections import Section
from analysis.results.values import get_totals
from analysis.web.queries.campaigns import RatingProgress, get_rating_progress
from analysis.web.queries.ratings_files import Role, newest_run_of
from campaigns.contracts.result_pages import FIRST_PAGE, OWN_PAGE, PAGE_OF, RESULT_PAGES, ResultPage
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from evalsite.lib.navigation import Link, LinkGroup, SideBar
from evalsite.lib.words import counted


def result_url(run: AnalysisRun, page: str = FIRST_PAGE, query: QueryDict | None = None, section: str = "") -> str:
    """Return the address of a page of a run: in its campaign if it has one.

    `page`: a slug of `RESULT_PAGES`; `section`: which one, if it is that of a section.
    """
    campaign, more = run.ratings_file.campaign, query.urlencode() if query else ""
    of_section = [section] if section else []
    if run.share_token:
        url = reverse(f"shared:{page}", args=[run.share_token, *of_section])
    elif campaign is None:
        url = reverse(f"analysis:{page}", args=[run.pk, *of_section])
    else:
        url = _campaign_url(campaign, page, of_section)
        more = f"run={run.pk}" + (f"&{more}" if more else "")
    return f"{url}?{more}" if more else url


def _campaign_url(campaign: Campaign, page: str, of_section: list[str]) -> str:
    return reverse(f"analysis:{PAGE_OF[page].in_campaign}", args=[campaign.public_id, *of_section])


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


def result_context(
    run: AnalysisRun, page: str = FIRST_PAGE, progress: RatingProgress | None = None, section: str = ""
) -> dict[str, Any]:
    """Return what analysis/frame.html needs for a page of a run, and the page's sections.

    `progress` of its campaign saves counting again. `section` is which one shows that has the page for itself; then
    `sections` has none if the result has no such section.
    """
    campaign = run.ratings_file.campaign
    newest = newest_run_of(run.ratings_file)
    is_older = newest is not None and run.report is not None and newest.pk != run.pk
    shown = run.shown
    every = [each for each in shown.sections if not each.is_empty] if shown else []
    is_here = (lambda each: section_path(each) == section) if section else (lambda each: each.page == page)
    sections = [each for each in every if is_here(each)]
    links = _links(run, every, page, section, is_newest=not is_older)
    context = {
        "run": run,
        "result": shown,
        "is_partial": run.report is None,
        "totals": get_totals(shown) if shown else None,
        "newest": newest if is_older else None,
        "run_chosen": run.pk if is_older and campaign else None,
        "progress": (progress or get_rating_progress(campaign)) if campaign else None,
        "can_change": run.my_role != Role.VIEWER,
        "is_owner": run.my_role == Role.OWNER,
        "title": sections[0].title if section and sections else PAGE_OF[page].title,
        "nothing": PAGE_OF[page].nothing,
        "sections": sections,
    }
    if campaign and not run.share_token:
        campaign.my_role = run.my_role
        frame = campaign_context(campaign, PAGE_OF[page].in_campaign, results=links)
        return frame | context | {"base": "campaigns/frame.html"}
    context["base"] = "base.html"
    if run.share_token:
        title = campaign.name if campaign else run.ratings_file.title
        side_bar = SideBar("Shared results", title, result_url(run), [LinkGroup("Results", links)])
        return context | {"side_bar": side_bar, "is_shared": True}
    title, url = run.ratings_file.title, reverse("analysis:ratings_file", args=[run.ratings_file.pk])
    groups = [LinkGroup("", [Link("All runs", url)]), LinkGroup("Results", links)]
    return context | {"crumbs": crumbs(run.ratings_file), "side_bar": SideBar("Ratings file", title, url, groups)}


def section_path(section: Section) -> str:
    """Return the end of the address of a section's own page."""
    return file_name(section.slug)


def _links(run: AnalysisRun, sections: Sequence[Section], page: str, section: str, *, is_newest: bool) -> list[Link]:
    """Return the pages of a run in order; `page` and `section` name the one that shows."""
    campaign, links = run.ratings_file.campaign, []
    with_sections = {each.page for each in sections}

    def add(title: str, slug: str, of_section: str = "") -> None:
        url = result_url(run, slug, section=of_section)
        if campaign and is_newest and not run.share_token:
            url = _campaign_url(campaign, slug, [of_section] if of_section else [])
        links.append(Link(title, url, (slug, of_section) == (page, section)))

    for offered in RESULT_PAGES:
        if offered.slug == OWN_PAGE:
            for each in sections:
                if each.page == OWN_PAGE:
                    add(each.title, OWN_PAGE, section_path(each))
        elif offered.slug == page or _is_offered(offered, run, offered.slug in with_sections):
            add(offered.title, offered.slug)
    return links


def _is_offered(page: ResultPage, run: AnalysisRun, has_sections: bool) -> bool:
    """Return whether a side bar names a page; where nothing can be done, as on shared ones, only if something shows."""
    if run.share_token:
        return page.is_shared and (has_sections or not (page.is_optional or page.nothing))
    return has_sections or not page.is_optional
