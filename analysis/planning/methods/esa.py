"""Scores of segments from 0 to 100 that experts give after marking errors (ESA)."""

from dataclasses import replace
from typing import Any

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.esa import CRITERION, Esa, EsaData
from analysis.planning.methods.planned import SimulatedMethod
from analysis.planning.methods.scores import OfRatings, long_rows, refuse_points
from analysis.stats.designs import PlannedDesign, RatingModel, simulate_ratings


def simulate_scores(
    design: PlannedDesign, model: RatingModel, difference: float, rng: np.random.Generator
) -> Responses:
    """Return the scores of segments of one simulated campaign; systems are named in the order of their quality.

    They are those of `simulate_ratings`, not cut at the ends of the scale. Documents are not known.
    """
    ratings = simulate_ratings(design, model, difference, rng)
    return Responses(
        **long_rows(ratings, design),
        criteria=[CRITERION],
        numbers={"score": ratings.scores.ravel()},
    )


class PlannedEsa(OfRatings, SimulatedMethod[EsaData]):
    """The difference is in points of 100."""

    slug, unit, called = Esa.slug, "points", "scores of segments"
    compared_by = "the comparison of mean scores, with errors clustered by raters if there are six or more"
    asked = "points of 100"
    method = Esa
    item, responses, count, takes_pilot = "segment", "scores", "n_scores", True
    model_note = "Scores are not standardised. Which systems the raters like is taken to be a part of the difference."

    def check_difference(self, design: PlannedDesign) -> None:
        """Points are of 100."""
        refuse_points(self.difference)

    def words(self) -> str:
        """Return the points."""
        return f"a difference of {self.difference:g} points between two systems"

    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return what the formula of variances says of raters who like all systems alike, as the comparison does."""
        return super().first_guess(design, replace(model, liking=0.0), target, sources_grow=sources_grow)

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> EsaData:
        """Return scores."""
        return EsaData(simulate_scores(design, model, self.difference, rng))
