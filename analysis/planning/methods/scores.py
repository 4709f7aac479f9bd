"""Sliders, and what all responses share that are made of ratings in points of 100."""

from collections.abc import Mapping
from dataclasses import replace
from math import hypot
from typing import Any, ClassVar

import numpy as np

from analysis.methods import DEFAULT
from analysis.planning.methods.campaigns import names
from analysis.planning.methods.planned import ModelWords, PlannedMethod, bad_plan
from analysis.stats.designs import CHATS, TEXTS, PlannedDesign, RatingModel
from analysis.stats.power import Power, approximate_workers, simulate_power, variance_parts
from analysis.stats.ratings import Ratings
from campaigns.design.composition import Layout
from campaigns.design.worker_test import NO_TEST

_EFFECTS = {
    "worker": "worker",
    "liking": "worker × system",
    "source": "source",
    "output": "source × system",
    "residual": "residual",
    "criterion": "item × criterion",
}


class OfRatings(PlannedMethod):
    """Responses that are ratings, in points of 100 or made of these.

    `standardises`: whether the method takes out how high each worker rates. `model_note`: what must be known besides
    of how ratings vary.
    """

    standardises: ClassVar[bool] = False
    model_note: ClassVar[str] = ""

    @property
    def points(self) -> float:
        """The difference in points of 100."""
        return self.difference

    def model_for(self, design: PlannedDesign, pilot: RatingModel | None, careless: float | None) -> RatingModel:
        """Return the model of the pilot, or the assumed one; without a worker test raters are taken to be careful."""
        model = pilot or (CHATS if design.layout == Layout.BY_SYSTEM else TEXTS)
        if pilot is None and design.worker_test == NO_TEST:
            model = replace(model, careless=0.0)
        return model if careless is None else replace(model, careless=careless)

    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return what the formula of variances says."""
        single = self.of_single_ratings(model)
        return approximate_workers(design, single, self.points, target=target, sources_grow=sources_grow)

    def variance_parts(self, design: PlannedDesign, model: Any, found: Power) -> dict[str, float]:
        """Return the parts of workers, outputs and single ratings."""
        return variance_parts(design, self.of_single_ratings(model), found)

    def of_single_ratings(self, model: RatingModel) -> RatingModel:
        """Return a model whose residual has all that makes single ratings differ: how high workers rate, too, unless
        scores are standardised.
        """
        return model if self.standardises else replace(model, residual=hypot(model.residual, model.worker))

    def describe_model(self, sd: Mapping[str, float], *, is_pilot: bool) -> ModelWords:
        """Return the standard deviations."""
        origin = "estimated from the pilot" if is_pilot else "rounded from two public studies"
        caption = (
            f"Standard deviations in points of 100, {origin}. {100 * sd['careless']:.0f} % of the workers are taken to "
            f"be careless; degraded items are rated {sd['degradation']:.0f} points lower. {self.model_note}"
        ).strip()
        return ModelWords(caption, "SD", [[words, sd[name]] for name, words in _EFFECTS.items()])


class PlannedScores(OfRatings):
    """Sliders, analysed by direct assessment."""

    slug, unit, called, compared_by = DEFAULT, "points", "sliders", "the recommended comparison"
    asked = "points of 100"
    takes_pilot = takes_chats = has_criteria = standardises = True

    def check_difference(self, design: PlannedDesign) -> None:
        """Points are of 100."""
        refuse_points(self.difference)

    def words(self) -> str:
        """Return the points."""
        return f"a difference of {self.difference:g} points between two systems"

    def power(self, design: PlannedDesign, model: Any, *, n_simulations: int, seed: int) -> Power:
        """Return what simulated campaigns find."""
        return simulate_power(design, model, self.difference, n_simulations=n_simulations, seed=seed)


def refuse_points(difference: float) -> None:
    """Raise DomainError `bad_plan` unless a difference can be one of points of 100."""
    if not 0 < difference <= 100:
        raise bad_plan(f"The difference is {difference:g} points; it must be above 0 and at most 100.")


def long_rows(ratings: Ratings, design: PlannedDesign) -> dict[str, Any]:
    """Return labels and codes of ratings, (n_items, n_criteria), as of a file with a row for each criterion."""
    n_items, n_criteria = ratings.scores.shape
    codes = {name: getattr(ratings, name) for name in ("worker", "system", "source", "kind", "assignment")}
    return {
        "workers": names("w", ratings.n_workers),
        "systems": names("s", ratings.n_systems),
        "sources": names("q", design.n_sources),
        "criterion": np.tile(np.arange(n_criteria), n_items),
        **{name: np.repeat(each.astype(np.int64), n_criteria) for name, each in codes.items()},
    }
