"""Answers chosen from options, of which shares of good ones are compared."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.choice import Choice
from analysis.methods.choice_reading import CRITERION, ChoiceData, Choices
from analysis.planning.methods.planned import SimulatedMethod
from analysis.planning.methods.scores import long_rows
from analysis.planning.methods.shares import OfShares
from analysis.stats.designs import MIDDLE, PlannedDesign, RatingModel, simulate_ratings
from analysis.stats.ratings import Floats


def simulate_answers(
    design: PlannedDesign, model: RatingModel, quality: Floats, rng: np.random.Generator
) -> ChoiceData:
    """Return answers, good or not, of one simulated campaign; systems are named in the order of quality, best first.

    An answer is good where its score of `simulate_ratings` is above the middle of the scale. `quality`: true scores,
    (n_systems,).
    """
    ratings = simulate_ratings(design, model, quality, rng)
    rows = Responses(**long_rows(ratings, design), criteria=[CRITERION], text={}, numbers={})
    is_good = ratings.scores.ravel() > MIDDLE
    answers = Choices(rows, ["no", "yes"], np.eye(2, dtype=bool), is_good.astype(np.int64), None, are_given=True)
    return ChoiceData(rows, {CRITERION: answers})


class PlannedChoices(OfShares, SimulatedMethod[ChoiceData]):
    """The difference is in percentage points of good answers."""

    slug, called, responses = Choice.slug, "answers", "answers"
    compared_by = "the comparison of shares of good answers"
    asked = "percentage points of good answers"
    method = Choice
    item = "answer"
    worker_tests = ()
    model_note = "An answer is good where such a score is above a threshold, as is assumed."
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 5, "n_criteria": 1, "n_degraded": 0}

    def words(self) -> str:
        """Return the percentage points."""
        return f"a difference of {self.difference:g} percentage points of good answers between two systems"

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> ChoiceData:
        """Return answers."""
        return simulate_answers(design, model, self.quality(design, model), rng)
