"""Waves as a table, the progress of one, and the page that shows what the next one costs."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.urls import reverse

from campaigns.checklist import checklist, missing, to_confirm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context, url_of
from campaigns.platforms import get_platform
from crowd.models import Wave
from crowd.presenters.account import account_shown, money_words
from crowd.queries.publishing import Cost, address_of, balance_left, check_wage, preview_wave, terms_of
from evalsite.jobs.models import Job
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

State = Wave.State
_BADGES = {State.PUBLISHING: "badge-untested", State.STOPPED: "badge-failed", State.PUBLISHED: "badge-ready"}
_GO_ON = "Fix that, then resume. What is published already is not published again."
_BY_ITSELF = "It is tried again automatically in a few minutes. What is published already is not published again."
# What workers should earn in an hour, at least, in currencies that platforms pay in.
FAIR_HOURLY = {"USD": Decimal(12), "GBP": Decimal(9), "EUR": Decimal(11)}


def wave_rows(waves: Iterable[Wave]) -> list[dict[str, Any]]:
    """Return the rows of the table of waves, as `list_waves` returns them. No query."""
    return [_row(wave) for wave in waves]


def _row(wave: Wave) -> dict[str, Any]:
    is_at_rest = wave.job is None or wave.job.is_finished
    failed = wave.job.error_message if wave.job and wave.job.status == Job.Status.FAILED else ""
    n_published, n_postings = wave.n_published, wave.n_postings  # type: ignore[attr-defined]
    can_resume = wave.state == State.STOPPED or (wave.state == State.PUBLISHING and is_at_rest)
    return {
        "wave": wave,
        "badge": _BADGES[State(wave.state)],
        "words": "" if n_published == n_postings else f"{n_published:,} of {counted(n_postings, 'posting')}",
        "error": "" if wave.state == State.PUBLISHED else wave.last_error or failed,
        "advice": _GO_ON if wave.state == State.STOPPED or failed else _BY_ITSELF,
        "can_stop": wave.state == State.PUBLISHING and not can_resume,
        "can_resume": can_resume,
    }


def progress_of(campaign: Campaign, waves: Iterable[Wave]) -> dict[str, Any] | None:
    """Return the state of the job that publishes the first unfinished wave; None if nothing is being published."""
    for wave in waves:
        if wave.state == State.PUBLISHING and wave.job and not wave.job.is_finished:
            return progress_shown(campaign, wave)
    return None


def progress_shown(campaign: Campaign, wave: Wave) -> dict[str, Any]:
    """Return what a page shows of the job of a wave, to be asked for where every member may ask."""
    if wave.job is None:
        return {"status": "", "finished": True, "error": None, "worker_alive": True}
    return job_state(wave.job) | {"url": reverse("crowd:wave_progress", args=[campaign.public_id, wave.pk])}


# --- What the next wave costs


def plan_page(campaign: Campaign, *, n_hits: int, n_left: int, site_url: str) -> dict[str, Any]:
    """Return what the page shows of publishing the next `n_hits` HITs, apart from its forms; 0 shows no cost."""
    platform = get_platform(campaign.platform)
    context = campaign_context(campaign, "platform") | {"platform": platform, "totals": {"n_left": n_left}}
    context |= account_shown(campaign)
    steps = [] if campaign.is_launched else checklist(campaign)
    context["blockers"] = _blockers(campaign, n_left, has_keys=context["has_keys"], is_ready=not missing(steps))
    context["to_confirm"] = to_confirm(steps)
    if not (n_hits and n_left and platform.has_account):
        return context | {"max_cost": None}
    preview = preview_wave(campaign=campaign, n_hits=n_hits)
    numbers, cost = [hit.number for hit in preview.hits], preview.cost
    balance = balance_left(campaign, cost.currency)
    left = None if balance is None else balance - cost.total
    return context | {
        "max_cost": cost.total,
        "warnings": _warnings(campaign, left, context["money"], site_url),
        "preview": {
            "n_hits": len(numbers),
            "total": money_words(cost.total, cost.currency),
            "lines": _lines(campaign, cost, left, numbers),
            "seen": _seen(campaign, site_url),
            "url": address_of(campaign, site_url, numbers[0] if platform.posts_each_hit else None),
        },
    }


def lacks(campaign: Campaign) -> bool:
    """Tell whether something stands in the way of the launch, or of publishing the first HITs."""
    return not campaign.is_launched and bool(missing(checklist(campaign)))


def _blockers(campaign: Campaign, n_left: int, *, has_keys: bool, is_ready: bool) -> list[dict[str, Any]]:
    """Return why nothing can be published, and where that is fixed."""
    platform = get_platform(campaign.platform)
    home = reverse("crowd:platform", args=[campaign.public_id])
    if not platform.has_account:
        text = f"{platform.title} needs no publishing: raters come by a link."
        return [_problem(text, url_of(campaign, "monitoring:raters"), "Go to the raters")]
    problems = []
    if not is_ready:
        text = "The campaign is not ready: the checklist names what is missing."
        problems.append(_problem(text, url_of(campaign, "campaigns:campaign"), "Go to the checklist"))
    elif campaign.is_launched and not campaign.is_open:
        text = f"The campaign is {campaign.status}: whoever came would be given no HIT."
        problems.append(_problem(text, url_of(campaign, "campaigns:campaign"), "Go to the overview"))
    elif not n_left:
        problems.append(_problem("All HITs are published.", f"{home}#waves", "See the waves"))
    try:
        check_wage(campaign)
    except DomainError as error:
        settings_url = None if campaign.is_launched else url_of(campaign, "campaigns:settings")
        problems.append(_problem(error.message, settings_url, "Set the reward"))
    if not has_keys:
        problems.append(_problem("The keys of the account are missing.", f"{home}#account", "Enter them"))
    return problems


def _problem(text: str, url: str | None = None, action: str = "") -> dict[str, Any]:
    return {"text": text, "url": url, "action": action}


def _lines(campaign: Campaign, cost: Cost, left: Decimal | None, numbers: list[int]) -> list[dict[str, Any]]:
    def money(amount: Decimal) -> str:
        return money_words(amount, cost.currency)

    hourly = campaign.hourly_reward
    which = f"number {numbers[0]:,}" if len(numbers) == 1 else f"numbers {numbers[0]:,} to {numbers[-1]:,}"
    lines: list[dict[str, Any]] = [
        {"label": "HITs", "value": f"{len(numbers):,}", "note": which},
        {"label": "Places", "value": f"{cost.n_places:,}", "note": "one worker on one HIT each"},
        {"label": "Rewards", "value": money(cost.rewards), "note": f"{campaign.reward:,.2f} each"},
        {"label": "Fees", "value": money(cost.fees), "note": f"of {get_platform(campaign.platform).title}"},
        {"label": "In all, at most", "value": money(cost.total), "is_sum": True},
    ]
    if left is not None:
        lines.append(
            {"label": "Balance", "value": money(left + cost.total), "note": "when last asked, without later waves"}
        )
        lines.append({"label": "Left after that", "value": money(left)})
    if hourly:
        lines.append(
            {"label": "Workers earn", "value": money(hourly), "note": f"an hour, at {campaign.minutes_per_hit} minutes"}
        )
    return lines


def _warnings(campaign: Campaign, left: Decimal | None, money: str, site_url: str) -> list[dict[str, Any]]:
    """Return what a researcher should know before publishing; none of it stands in the way."""
    home = reverse("crowd:platform", args=[campaign.public_id])
    settings_url = None if campaign.is_launched else url_of(campaign, "campaigns:settings")
    warnings = []
    if money == "unknown":
        text = "The account has not been checked: it is not known whose money is spent, or whether there is enough."
        warnings.append(_problem(text, f"{home}#account", "Check it"))
    if left is not None and left < 0:
        text = "The account does not hold enough for this. Publish fewer HITs, or add to it and check it again."
        warnings.append(_problem(text, f"{home}#account", "Go to the account"))
    if not site_url.startswith("https://"):
        text = (
            f"Workers would be sent to {site_url}. That is no address with https://, and platforms and browsers refuse "
            "others. An admin sets it as SITE_URL."
        )
        warnings.append(_problem(text))
    if not campaign.reward:
        warnings.append(_problem("The reward is 0: workers would not be paid.", settings_url, "Set the reward"))
    else:
        warnings += _wage_warnings(campaign, settings_url)
    return warnings


def _wage_warnings(campaign: Campaign, settings_url: str | None) -> list[dict[str, Any]]:
    hourly, fair = campaign.hourly_reward, FAIR_HOURLY.get(campaign.currency)
    if hourly is None:
        text = "Say how many minutes a HIT takes, to see what workers earn in an hour."
        return [_problem(text, settings_url, "Go to the settings")]
    if fair and hourly < fair:
        text = (
            f"Workers would earn {money_words(hourly, campaign.currency)} an hour; a fair wage is "
            f"{money_words(fair, campaign.currency)} or more. A reward of "
            f"{money_words(fair * (campaign.minutes_per_hit or 0) / 60, campaign.currency)} per HIT would pay that."
        )
        return [_problem(text, settings_url, "Go to the settings")]
    return []


def _seen(campaign: Campaign, site_url: str) -> list[dict[str, Any]]:
    terms = terms_of(campaign, site_url)
    lines = [
        {"label": "Title", "value": terms.title},
        {"label": "Description", "value": terms.description},
        {"label": "Reward", "value": money_words(terms.reward, terms.currency)},
        {"label": "Time", "value": counted(terms.minutes, "minute")},
    ]
    if terms.worked_before:
        lines.append({"label": "Kept out", "value": f"{counted(len(terms.worked_before), 'worker')} of other runs"})
    return lines
