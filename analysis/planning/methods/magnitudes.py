"""Numbers beside a reference, of which geometric means are compared."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.magnitude import CRITERION, Magnitude
from analysis.methods.settings import AnalysisSettings
from analysis.planning.methods.campaigns import names
from analysis.planning.methods.planned import SimulatedMethod, bad_plan
from analysis.planning.methods.scores import OfRatings, long_rows
from analysis.stats.designs import MIDDLE, PlannedDesign, RatingModel, simulate_ratings

REFERENCE = 100.0
"""The value of the reference that simulated magnitudes stand beside."""
POINTS_PER_DOUBLING = 30.0
"""How many points of 100, of the model of ratings, make a value twice as large: one z. Assumed."""
_LARGEST_RATIO = 10


def points_of_ratio(ratio: float) -> float:
    """Return how many points of 100 apart outputs are whose values have a ratio, above 0.

    Examples
    --------
    >>> points_of_ratio(2), points_of_ratio(0.5)
    (30.0, -30.0)
    """
    return float(POINTS_PER_DOUBLING * np.log2(ratio))


def simulate_magnitudes(design: PlannedDesign, model: RatingModel, ratio: float, rng: np.random.Generator) -> Responses:
    """Return the values, beside a reference of `REFERENCE`, of one simulated campaign; systems in order of quality.

    Logs of values are the scores of `simulate_ratings`, the middle of the scale being the reference. `ratio`, of
    geometric means, is that of neighbours in rank.
    """
    ratings = simulate_ratings(design, model, points_of_ratio(ratio), rng)
    n_criteria = ratings.scores.shape[1]
    return Responses(
        **long_rows(ratings, design),
        criteria=[CRITERION] if n_criteria == 1 else names("c", n_criteria),
        text={},
        numbers={"value": REFERENCE * 2 ** ((ratings.scores.ravel() - MIDDLE) / POINTS_PER_DOUBLING)},
    )


class PlannedMagnitudes(OfRatings, SimulatedMethod[Responses]):
    """The difference is how many times as large the better system's geometric mean is."""

    slug, unit, called, decimals = Magnitude.slug, "of the log ratio", "magnitudes", 3
    compared_by = "the comparison of geometric means"
    asked = "how many times as large the better one’s values are"
    method = Magnitude
    item, responses, has_criteria = "magnitude", "values", True
    model_note = f"A value {POINTS_PER_DOUBLING:g} points higher is twice as large, as is assumed."
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 1.2}

    @property
    def points(self) -> float:
        """The ratio in points of 100, of logs."""
        return points_of_ratio(self.difference)

    def check_difference(self, design: PlannedDesign) -> None:
        """The better system's values are larger."""
        if not 1 < self.difference <= _LARGEST_RATIO:
            raise bad_plan(
                f"The values of the better of two neighbours are to be {self.difference:g} times as large; write more "
                f"than 1 and at most {_LARGEST_RATIO}, for instance 1.2."
            )

    def words(self) -> str:
        """Return the ratio."""
        return f"a system whose values are {self.difference:g} times as large as those of its neighbour in rank"

    def settings(self, design: PlannedDesign) -> AnalysisSettings:
        """Return settings that say the value of the reference."""
        return replace(super().settings(design), options={"reference": REFERENCE})

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> Responses:
        """Return values."""
        return simulate_magnitudes(design, model, self.difference, rng)
