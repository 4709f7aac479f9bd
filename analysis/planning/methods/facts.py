"""Counts of facts, of which F is compared."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.fact_count import CRITERION, FactCount
from analysis.planning.methods.planned import SimulatedMethod
from analysis.planning.methods.scores import long_rows
from analysis.planning.methods.shares import OfShares, simulate_shares
from analysis.stats.designs import PlannedDesign, RatingModel
from analysis.stats.ratings import Floats

FACTS = 10
"""That an output should state in the mean: 1 and a Poisson number of others, of each source. Assumed."""


def simulate_facts(design: PlannedDesign, model: RatingModel, quality: Floats, rng: np.random.Generator) -> Responses:
    """Return the counts of one simulated campaign; systems are named in the order of their quality, best first.

    Of the facts that an output should state it states each correctly with the probability of `simulate_shares`, and as
    many wrong ones as it would miss: precision, recall and F are that probability. `quality`: true scores,
    (n_systems,).
    """
    ratings, share = simulate_shares(design, model, quality, rng)
    n_facts = 1 + rng.poisson(FACTS - 1, design.n_sources)[ratings.source]
    correct = rng.binomial(n_facts, share)
    wrong = rng.binomial(n_facts, 1 - share)
    numbers = {"present": correct + wrong, "correct": correct, "missing": n_facts - correct}
    return Responses(
        **long_rows(ratings, design),
        criteria=[CRITERION],
        text={},
        numbers={name: each.astype(np.float64) for name, each in numbers.items()},
    )


class PlannedFacts(OfShares, SimulatedMethod[Responses]):
    """The difference is in percentage points of F."""

    slug, called, responses = FactCount.slug, "fact counts", "outputs"
    compared_by = "the comparison of F"
    asked = "percentage points of F"
    method = FactCount
    middle, n_things = 0.7, FACTS
    model_note = (
        f"A fact is right where such a score is above a threshold; an output should state {FACTS} facts in the mean. "
        "Both are assumed."
    )
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 5, "n_criteria": 1}

    def words(self) -> str:
        """Return the percentage points."""
        return f"a difference of {self.difference:g} percentage points of F between two systems"

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> Responses:
        """Return counts."""
        return simulate_facts(design, model, self.quality(design, model), rng)
