"""Simulated campaigns as their reports show them, and how often they find differences."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.stats.designs import PlannedDesign
from analysis.stats.power import P_BELOW, Power, power_of_campaigns
from campaigns.design.worker_test import NO_TEST


class Campaign(NamedTuple):
    """What a simulated campaign shows: pairs of systems as reports have them, workers who count, counts by system."""

    pairs: list[dict[str, Any]]
    n_workers: int
    n_of_system: Sequence[float] | NDArray[np.integer]


def names(letter: str, n: int) -> list[str]:
    """Return labels of n systems, workers or sources, in the order of their codes."""
    return [f"{letter}{k:06d}" for k in range(n)]


def of_report(report: Mapping[str, Any], design: PlannedDesign, count: str | None = None) -> Campaign:
    """Return what a report of a simulated campaign shows.

    `count`: what of its summary is what counts of all systems; None: `n` of each system is what counts of it.
    """
    summary = report["summary"]
    n_workers = design.n_workers if design.worker_test == NO_TEST else summary["workers"]["passed"]
    n_of_system = [row["n"] for row in summary["systems"]] if count is None else [summary[count] / design.n_systems]
    return Campaign(report["pairs"], n_workers, n_of_system)


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
    pairs = {tuple(row["systems"]): row for row in campaign.pairs}
    alone, corrected, widths = 0, 0, []
    for better, worse in pairwise(names("s", n_systems)):
        if row := pairs.get((better, worse)):
            alone += row["p"] is not None and row["p"] / 2 < P_BELOW
            corrected += row["p_holm"] is not None and row["p_holm"] < P_BELOW
        if (row := row or pairs.get((worse, better))) and row["interval"][0] is not None:
            widths.append((row["interval"][1] - row["interval"][0]) / 2)
    n = n_systems - 1
    width = float(np.mean(widths)) if widths else np.nan
    return alone / n, corrected / n, width, campaign.n_workers, float(np.mean(campaign.n_of_system))
