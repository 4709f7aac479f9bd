"""What a campaign's overview and side bar show of its ratings: the finding, as soon as there is one."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.results.interval_plot import plot_ranking
from analysis.results.values import get_ranking, get_totals
from analysis.web.looks import describe_course
from analysis.web.queries.campaigns import find_job, find_last_look, find_latest_result, find_newest
from campaigns.contracts.result_pages import FIRST_PAGE
from campaigns.design.stopping import StoppingRule
from campaigns.models import Campaign
from campaigns.overview import NextStep, OverviewPart
from evalsite.accounts.models import User
from evalsite.lib.words import counted

_SENTENCES = 3
"""Of the text for a colleague."""


def results_state(campaign: Campaign) -> str:
    """Return what there is of a campaign's results, in a few words, "" if nothing. One query."""
    newest = find_newest(campaign)
    return f"{counted(newest.n_systems, 'system')}, {'final' if newest.is_final else 'interim'}" if newest else ""


def finding_part(campaign: Campaign, user: User) -> OverviewPart | None:
    """Return what the newest result finds; of a closed campaign with its figure and a text. Three queries at most."""
    url = reverse("analysis:campaign_results", args=[campaign.public_id])
    is_closed = campaign.status == Campaign.Status.CLOSED
    if latest := find_latest_result(user, campaign.pk):
        findings = latest.result.findings
        context = {"findings": findings, "results_url": url}
        return OverviewPart(
            "analysis/overview.html", context | (_closed(campaign, latest, findings) if is_closed else {})
        )
    if not is_closed:
        return None
    if find_job(campaign):
        text = "The campaign is closed, and its ratings are being analysed."
        return OverviewPart(next_step=NextStep("The results are on their way", text, "See the results", url))
    text = "The campaign is closed. Ratings of finished HITs can be analysed at any time."
    return OverviewPart(next_step=NextStep("Analyse the ratings", text, "Go to the results", url))


def _closed(campaign: Campaign, run: AnalysisRun, findings: Sequence[str]) -> dict[str, Any]:
    """Return what the overview of a closed campaign has besides: the figure, a text, and where downloads are."""
    result, totals = run.result, get_totals(run.result)
    figures = [figure for section in result.sections_on(FIRST_PAGE) for figure in section.figures]
    workers, systems = counted(totals.n_workers, "worker"), counted(totals.n_systems, "system")
    did = f"{workers} gave {counted(totals.n_ratings, 'rating')} of" if totals.n_ratings else f"{workers} compared"
    begin = f"In “{campaign.name}”, {did} {systems}."
    return {
        "run": run,
        "plot": plot_ranking(get_ranking(result)) if result.is_study else None,
        "figure": figures[0] if figures else None,
        "colleague": " ".join([begin, *findings[: _SENTENCES - 1]]),
        "downloads_url": reverse("analysis:campaign_downloads", args=[campaign.public_id]),
    }


def stopping_part(campaign: Campaign, user: User) -> OverviewPart | None:
    """Return how far the pairs of systems are decided, of a campaign that may close itself or has. One query."""
    look = find_last_look(campaign)
    if look is None and campaign.stopping_rule == StoppingRule.OFF:
        return None
    context = {
        "sentences": describe_course(campaign, look),
        "n_pairs": look.n_pairs if look else 0,
        "n_decided": look.n_decided if look else 0,
        "results_url": reverse("analysis:campaign_results", args=[campaign.public_id]),
    }
    return OverviewPart("analysis/stopping.html", context)
