"""Shares of answers, replies, facts or words that are good: each is, where its score is above a threshold."""

from dataclasses import replace
from math import sqrt
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from analysis.planning.methods.planned import bad_plan
from analysis.planning.methods.scores import OfRatings
from analysis.stats.designs import MIDDLE, PlannedDesign, RatingModel, evenly_spaced, simulate_ratings
from analysis.stats.power import Power, approximate_workers
from analysis.stats.ratings import Floats, Ratings


def spread_of(model: RatingModel) -> float:
    """Return the standard deviation of a single score of one system, in points."""
    parts = (model.worker, model.liking, model.source, model.output, model.residual, model.criterion)
    return sqrt(sum(part**2 for part in parts))


def points_of_shares(share: Floats, model: RatingModel) -> Floats:
    """Return how many points above the threshold systems are that have a share of good responses.

    Parameters
    ----------
    share : float64, (n,)
        Between 0 and 1, over all responses of careful workers.

    Notes
    -----
    Single scores are normal, so the share above the threshold is Φ(points/spread): points = spread · Φ⁻¹(share).

    Examples
    --------
    >>> model = RatingModel(worker=0, liking=0, source=3, output=0, residual=4)
    >>> points_of_shares(np.array([0.5, 0.8413]), model).round(2).tolist()
    [0.0, 5.0]
    """
    from scipy.special import ndtri

    return np.asarray(spread_of(model) * ndtri(share))


def simulate_shares(
    design: PlannedDesign, model: RatingModel, quality: Floats, rng: np.random.Generator
) -> tuple[Ratings, Floats]:
    """Return items, and with what probability each of several things in an item is good, (n_items,).

    Scores of `simulate_ratings` without their residual, which each thing has by itself: the probability is
    Φ(points above the threshold/residual). `quality`: points of each system, (n_systems,).
    """
    from scipy.special import ndtr

    ratings = simulate_ratings(design, replace(model, residual=0.0), quality, rng)
    return ratings, np.asarray(ndtr((ratings.scores[:, 0] - MIDDLE) / model.residual))


class OfShares(OfRatings):
    """The difference is in percentage points of a share.

    `middle`: the share around which systems are evenly spaced. `n_things`: about how many things in an item are good or
    not.
    """

    unit, decimals = "percentage points", 1
    middle: ClassVar[float] = 0.5
    n_things: ClassVar[int] = 1
    scale: ClassVar[float] = 100.0

    def shares(self, n_systems: int) -> Floats:
        """Return the share of each system that is good, best first."""
        return evenly_spaced(n_systems, self.difference / 100, self.middle)

    def quality(self, design: PlannedDesign, model: RatingModel) -> Floats:
        """Return the true score of each system, best first, the threshold being the middle of the scale."""
        return MIDDLE + points_of_shares(self.shares(design.n_systems), model)

    def check_difference(self, design: PlannedDesign) -> None:
        """All shares lie between 0 and 1."""
        most = 200 * min(self.middle, 1 - self.middle) / (design.n_systems - 1)
        if not 0 < self.difference < most:
            raise bad_plan(
                f"The difference is {self.difference:g} percentage points; with {design.n_systems} systems, evenly "
                f"spaced around {100 * self.middle:.0f} %, it must be above 0 and less than {most:.3g}."
            )

    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return what the formula of variances says of shares near the middle, in points of the scores."""
        normal, spread = NormalDist(), spread_of(model)
        slope = normal.pdf(normal.inv_cdf(self.middle)) / spread
        of_items = model.worker**2 + model.liking**2 + model.source**2 + model.output**2
        single = max(self.middle * (1 - self.middle) / slope**2 - of_items, 0.0) / self.n_things
        scores = replace(model, worker=0.0, criterion=0.0, residual=sqrt(single + model.worker**2))
        points = self.difference / 100 / slope
        return approximate_workers(design, scores, points, target=target, sources_grow=sources_grow)

    def variance_parts(self, design: PlannedDesign, model: Any, found: Power) -> dict[str, float]:
        """Return nothing: parts of scores are not those of shares."""
        return {}
