"""What a campaign's overview and side bar show of its ratings: the finding, as soon as there is one."""

from django.urls import reverse

from analysis.methods import method_of
from analysis.web.looks import describe_course
from analysis.web.queries.campaigns import find_job, find_last_look, find_latest_result, find_newest
from campaigns.design.stopping import StoppingRule
from campaigns.models import Campaign
from campaigns.overview import NextStep, OverviewPart
from evalsite.accounts.models import User
from evalsite.lib.words import counted


def results_state(campaign: Campaign) -> str:
    """Return what there is of a campaign's results, in a few words, "" if nothing. One query."""
    newest = find_newest(campaign)
    return f"{counted(newest.n_systems, 'system')}, {'final' if newest.is_final else 'interim'}" if newest else ""


def finding_part(campaign: Campaign, user: User) -> OverviewPart | None:
    """Return what the newest result finds; of a closed campaign it is the next step. Three queries at most."""
    url = reverse("analysis:campaign_results", args=[campaign.public_id])
    is_closed = campaign.status == Campaign.Status.CLOSED
    if latest := find_latest_result(user, campaign.pk):
        findings = method_of(latest.report).findings(latest.report)
        if is_closed:
            return OverviewPart(next_step=NextStep("Finding", " ".join(findings), "See the results", url))
        return OverviewPart("analysis/overview.html", {"findings": findings, "results_url": url})
    if not is_closed:
        return None
    if find_job(campaign):
        text = "The campaign is closed, and its ratings are being analysed."
        return OverviewPart(next_step=NextStep("The results are on their way", text, "See the results", url))
    text = "The campaign is closed. Ratings of finished HITs can be analysed at any time."
    return OverviewPart(next_step=NextStep("Analyse the ratings", text, "Go to the results", url))


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
