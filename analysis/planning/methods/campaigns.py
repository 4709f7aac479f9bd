"""Simulated campaigns as their results show them, and how often they find differences."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.results.result import Pair, Result
from analysis.stats.designs import PlannedDesign
from analysis.stats.power import P_BELOW, Power, power_of_campaigns
from campaigns.design.worker_test import NO_TEST


class Campaign(NamedTuple):
    """What a simulated campaign shows: pairs of systems as results have them, workers who count, counts by system."""

    pairs: Sequence[Pair]
    n_workers: int
    n_of_system: Sequence[float] | NDArray[np.integer]


def names(letter: str, n: int) -> list[str]:
    """Return labels of n systems, workers or sources, in the order of their codes."""
    return [f"{letter}{k:06d}" for k in range(n)]


def of_result(result: Result, design: PlannedDesign, count: str | None = None) -> Campaign:
    """Return what the result of a simulated campaign shows.

    `count`: what of its own summary is what counts of all systems; None: `n` of each system is what counts of it.
    """
    tested = result.summary.workers
    n_workers = design.n_workers if design.worker_test == NO_TEST or not tested else tested.passed
    n_of = (
        [row.n for row in result.summary.systems] if count is None else [result.own_summary[count] / design.n_systems]
    )
    return Campaign(result.pairs, n_workers, n_of)


def power_of_designs(
    design: PlannedDesign, campaign: Callable[[np.random.Generator], Campaign], n_simulations: int, seed: int
) -> Power:
    """Return what campaigns find, as `simulate_power` does; `campaign` returns one that it simulates."""
    rows = [_found(campaign(np.random.default_rng([seed, k])), design.n_systems) for k in range(n_simulations)]
    return power_of_campaigns(*np.array(rows).T)


def _found(campaign: Campaign, n_systems: int) -> tuple[float, float, float, float, float]:
    """Return the share of neighbours that a campaign finds, alone and after Holm's correction, the mean half width of
    their intervals, workers who count, and the mean of what counts of a system.
    """
    pairs = {pair.systems: pair for pair in campaign.pairs}
    alone, corrected, widths = 0, 0, []
    for better, worse in pairwise(names("s", n_systems)):
        if pair := pairs.get((better, worse)):
            alone += pair.p is not None and pair.p / 2 < P_BELOW
            corrected += pair.p_holm is not None and pair.p_holm < P_BELOW
        low, high = pair.interval if (pair := pair or pairs.get((worse, better))) else (None, None)
        if low is not None and high is not None:
            widths.append((high - low) / 2)
    n = n_systems - 1
    width = float(np.mean(widths)) if widths else np.nan
    return alone / n, corrected / n, width, campaign.n_workers, float(np.mean(campaign.n_of_system))
