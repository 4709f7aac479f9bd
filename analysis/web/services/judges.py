"""Judges of a campaign's outputs: adding, starting, stopping and removing them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from analysis.models import Judge, JudgeAnswer, MetricScores
from analysis.web.queries.judges import (
    KnownModel,
    find_judge_connector,
    is_running,
    list_judged_criteria,
    list_pending,
    metric_names,
    prices_of,
    prompter_of,
    shows_files,
    why_not_judged,
)
from analysis.web.services.metrics import remove_scores
from campaigns.contracts.connector import Connector
from campaigns.models import Campaign, Criterion
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.lib.encryption import decrypt_secrets, encrypt_secrets, merge_secrets
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing

JUDGE = "analysis.judge"
"""The kind of job that asks a judge."""
MOST_JUDGES = 50
PRICES = ("price_in", "price_out", "price_per_call")
CAPS = ("max_cost", "max_calls")
LIMITS = ("max_tokens", "timeout_s", "max_parallel")
_CHANGEABLE = frozenset({*PRICES, *CAPS, *LIMITS})


@sensitive_variables()
@transaction.atomic
def add_judge(
    *,
    campaign: Campaign,
    user: User,
    name: str,
    connector: str,
    criteria: Sequence[int] = (),
    settings: Mapping[str, Any] | None = None,
    secrets: Mapping[str, str] | None = None,
    like: KnownModel | None = None,
    **limits: Any,
) -> Judge:
    """Add a judge of a campaign's outputs; nothing is asked yet.

    `criteria` are keys, none for all. `settings` and `secrets` are options of its connector; those that are left out
    have their defaults; keys that are left out are those of `like`. `limits` are its prices, caps and limits, by field.
    Raises DomainError `not_judged`, `unknown_connector`, `no_pictures`, `bad_option`, `other_host`, `no_criteria`,
    `name_taken`, `metric_twice` or `too_many_judges`.
    """
    if unknown := limits.keys() - _CHANGEABLE:
        raise ValueError(f"no limits: {sorted(unknown)}")
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    _check_judged(locked)
    found = find_judge_connector(connector)
    if found is None or found.judge_settings is None:
        raise DomainError("unknown_connector", f"No connector called “{connector}” can ask a judge.")
    if shows_files(locked) and not found.takes_attachments:
        text = f"Workers see pictures, which {found.title} sends to no judge. Choose another connector."
        raise DomainError("no_pictures", text)
    if locked.judges.count() >= MOST_JUDGES:
        raise DomainError("too_many_judges", f"A campaign has at most {MOST_JUDGES} judges. Remove one first.")
    if locked.judges.filter(name=name).exists():
        raise DomainError("name_taken", f"Another judge is called “{name}”. Its metrics need a name of their own.")
    chosen = _criteria_of(locked, criteria)
    check_metric_names(locked, metric_names(name, chosen))
    checked = found.options.check(found.options.defaults() | dict(settings or {}) | dict(found.judge_settings))
    return Judge.objects.create(
        campaign=locked,
        created_by=user,
        name=name,
        connector=connector,
        settings=checked,
        secrets=encrypt_secrets(_keys(found, checked, secrets or {}, like)),
        criteria=[each.pk for each in chosen],
        **limits,
    )


@sensitive_variables()
def _keys(
    connector: type[Connector], settings: Mapping[str, Any], secrets: Mapping[str, str], like: KnownModel | None
) -> dict[str, str]:
    """Return the keys of a new judge; those of another model go to no other host, where somebody could read them."""
    given = {name: value for name, value in secrets.items() if value}
    if like is None or not (known := decrypt_secrets(like.secrets)) or known.keys() <= given.keys():
        return given
    if like.connector != connector.slug or connector.hosts_of(like.settings) != connector.hosts_of(settings):
        raise DomainError("other_host", f"The key of {like.label} is for another address. Enter the key for this one.")
    return known | given


def _check_judged(campaign: Campaign) -> None:
    if why := why_not_judged(campaign):
        raise DomainError("not_judged", why)


def _criteria_of(campaign: Campaign, keys: Sequence[int]) -> list[Criterion]:
    every = list_judged_criteria(campaign)
    chosen = [each for each in every if each.pk in keys] if keys else every
    if not chosen or len(chosen) < len(set(keys)):
        raise DomainError("no_criteria", "Choose among the criteria of this campaign.")
    return chosen


def check_metric_names(campaign: Campaign, names: Sequence[str], besides: MetricScores | None = None) -> None:
    """Raise DomainError `metric_twice` if there are scores of a metric that is called like one of these."""
    others = MetricScores.objects.filter(campaign=campaign)
    if besides:
        others = others.exclude(pk=besides.pk)
    taken = {each["name"] for scores in others for each in scores.metrics}
    if known := sorted(taken & set(names)):
        raise DomainError(
            "metric_twice", f"There are scores of {listing(known, 10)} already. Choose another name for the judge."
        )


@transaction.atomic
def start_judge(*, judge: Judge, user: User, limits: Mapping[str, Any]) -> Judge:
    """Queue the calls of a judge, or the rest of them; of two clicks on one button, the second has no effect.

    `limits` are prices, caps and limits that change, by field. Raises DomainError `not_judged`, `no_cap`, `no_price`,
    `no_criteria` or `nothing_left`.
    """
    if unknown := limits.keys() - _CHANGEABLE:
        raise ValueError(f"no limits: {sorted(unknown)}")
    found = _lock(judge)
    if is_running(found):
        return found
    _check_judged(found.campaign)
    for name, value in limits.items():
        setattr(found, name, value)
    _check_caps(found)
    prompter_of(found)
    is_unpublished = found.scores is None and found.answers.filter(state=JudgeAnswer.State.SCORED).exists()
    if not is_unpublished and not list_pending(found):
        raise DomainError("nothing_left", "This judge has judged every output.")
    before, found.is_cancelled = found.job, False
    found.job = enqueue(JUDGE, owner=user, args={"judge": str(found.pk)})
    found.save()
    if before:
        before.delete()
    return found


def _check_caps(judge: Judge) -> None:
    if judge.max_cost is None and judge.max_calls is None:
        raise DomainError("no_cap", "Set a cap: in money, in calls, or both.")
    if judge.max_calls is None and prices_of(judge).are_zero:
        raise DomainError("no_price", "Without a price no cap in money holds: enter prices, or a cap in calls.")


def _lock(judge: Judge) -> Judge:
    return Judge.objects.select_for_update(of=("self",)).select_related("campaign", "job").get(pk=judge.pk)


@transaction.atomic
def cancel_judge(*, judge: Judge) -> None:
    """Make no more calls: those that are being made are waited for, and what is there is kept.

    Raises DomainError `not_running`.
    """
    found = _lock(judge)
    if not is_running(found):
        raise DomainError("not_running", "This judge is not being asked, so there is nothing to stop.")
    found.is_cancelled = True
    found.save(update_fields=["is_cancelled"])


@sensitive_variables()
@transaction.atomic
def change_judge_secrets(*, judge: Judge, secrets: Mapping[str, str | None]) -> None:
    """Set secret options of a judge, at any time; None clears one. Those that are not named stay as they are.

    Raises DomainError `bad_option` for an option that is none of the connector's secrets.
    """
    found = _lock(judge)
    connector = find_judge_connector(found.connector)
    known = connector.options.secrets().keys() if connector else set()
    if unknown := secrets.keys() - known:
        raise DomainError("bad_option", f"This connector has no secret called “{min(unknown)}”.")
    found.secrets = merge_secrets(found.secrets, secrets)
    found.save(update_fields=["secrets"])


@transaction.atomic
def remove_judge(*, judge: Judge) -> None:
    """Remove a judge with its answers and scores; analyses that compared them stay.

    Raises DomainError `not_finished` while it is being asked.
    """
    found = _lock(judge)
    if is_running(found):
        raise DomainError("not_finished", "This judge is being asked. Stop it first, then remove it.")
    scores, job = found.scores, found.job
    found.answers.all().delete()
    found.delete()
    if scores:
        remove_scores(scores=scores)
    if job:
        job.delete()
