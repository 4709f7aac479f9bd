"""Labelled points such as Likert scales, analysed as ordered levels."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.ordinal import Ordinal
from analysis.methods.settings import AnalysisSettings
from analysis.planning.methods.campaigns import names
from analysis.planning.methods.planned import SimulatedMethod, bad_plan
from analysis.planning.methods.scores import OfRatings, long_rows
from analysis.stats.designs import PlannedDesign, RatingModel, simulate_ratings


def simulate_levels(
    design: PlannedDesign, model: RatingModel, difference: float, n_levels: int, rng: np.random.Generator
) -> Responses:
    """Return the levels, from 1, of one simulated campaign; systems are named in the order of their quality.

    Scores of `simulate_ratings` are rounded to levels that divide their 100 points evenly, those beyond to the ends.
    `difference` is in levels, before that.
    """
    step = 100 / (n_levels - 1)
    ratings = simulate_ratings(design, model, difference * step, rng)
    level = np.clip(np.round(ratings.scores / step), 0, n_levels - 1) + 1
    return Responses(
        **long_rows(ratings, design),
        criteria=names("c", level.shape[1]),
        numbers={"score": level.ravel()},
    )


class PlannedLevels(OfRatings, SimulatedMethod[Responses]):
    """The difference is in levels."""

    slug, unit, called, decimals = Ordinal.slug, "levels", "levels", 2
    compared_by = "the comparison of mean levels"
    asked = "levels"
    method = Ordinal
    takes_pilot = has_criteria = True
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 0.3}

    @property
    def points(self) -> float:
        """The difference in points of 100, which the levels divide."""
        return self.difference * 100 / (self.n_levels - 1)

    def check_difference(self, design: PlannedDesign) -> None:
        """Levels are few."""
        if not 0 < self.difference <= self.n_levels - 1:
            most = f"of {self.n_levels} levels it must be above 0 and at most {self.n_levels - 1}"
            raise bad_plan(f"The difference is {self.difference:g} levels; {most}.")

    def words(self) -> str:
        """Return the levels."""
        return f"a difference of {self.difference:g} of {self.n_levels} levels between two systems"

    def settings(self, design: PlannedDesign) -> AnalysisSettings:
        """Return settings that say how many levels there are."""
        return replace(super().settings(design), options={"levels": self.n_levels})

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> Responses:
        """Return levels."""
        return simulate_levels(design, model, self.difference, self.n_levels, rng)
