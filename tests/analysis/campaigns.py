"""Rated campaigns whose results are known to be computed."""

import numpy as np

from analysis.models import AnalysisRun
from analysis.services.campaigns import analyse_campaign
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.analysis.conftest import finish
from tests.annotation.cast import build, launch, rate
from tests.campaigns.cast import make_campaign

N_WORKERS = 3


def rated_campaign(
    owner: User,
    *,
    n_hits: int = 4,
    n_rated: int | None = None,
    n_workers: int = N_WORKERS,
    n_careless: int = 1,
    negative: str = "",
    **more,
) -> Campaign:
    """Return a running campaign of the owner's; all HITs, or the first `n_rated`, are finished. Its last worker clicks
    at random. `negative` names a criterion; `more` are fields of Campaign.
    """
    campaign = make_campaign(owner, "qg", name="Questions")
    for field, value in more.items():
        setattr(campaign, field, value)
    campaign.save()
    campaign.criteria.filter(name=negative).update(is_negative=True)
    hits = build(campaign, n_hits)
    launch(campaign)
    put_aside = hits[n_rated:] if n_rated is not None else []
    set_places(put_aside, 0)
    rate(campaign, n_workers, np.random.default_rng(11), n_careless=n_careless)
    set_places(put_aside, 1)
    return campaign


def set_places(hits, n_places: int) -> None:
    for hit in hits:
        hit.n_places_left = n_places
        hit.save(update_fields=["n_places_left"])


def rate_rest(campaign: Campaign, n_workers: int = N_WORKERS) -> None:
    """Have the HITs finished that are still open."""
    rate(campaign, n_workers, np.random.default_rng(12))


def analysed(campaign: Campaign, user: User | None = None) -> AnalysisRun:
    """Return the finished run of the campaign's ratings so far."""
    run = analyse_campaign(campaign=campaign, user=user)
    return finish(AnalysisRun.objects.select_related("ratings_file").get(pk=run.pk))
