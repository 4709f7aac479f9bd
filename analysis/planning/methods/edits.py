"""Post-edited outputs, of which HTER is compared."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.edits import CRITERION, Edits, PostEdits
from analysis.methods.settings import AnalysisSettings
from analysis.planning.methods.planned import SimulatedMethod
from analysis.planning.methods.scores import long_rows
from analysis.planning.methods.shares import OfShares, simulate_shares
from analysis.results.result import Result
from analysis.stats.designs import PlannedDesign, RatingModel
from analysis.stats.ratings import Floats

WORDS, SHORTEST = 20, 5
"""Of an edited text in the mean, and at least: the rest is a Poisson number, of each source. Assumed."""
_CHARACTERS = 6  # of a word, with the space


class EditedRows(NamedTuple):
    """Outputs, and what was edited in them."""

    rows: Responses
    edits: Edits


def simulate_edits(design: PlannedDesign, model: RatingModel, quality: Floats, rng: np.random.Generator) -> EditedRows:
    """Return numbers of edits, without texts, of one simulated campaign; systems are in the order of quality.

    Each word is left as it is with the probability of `simulate_shares`, else it is one edit, of all its characters.
    `quality`: true scores, (n_systems,).
    """
    ratings, share = simulate_shares(design, model, quality, rng)
    n_words = SHORTEST + rng.poisson(WORDS - SHORTEST, design.n_sources)[ratings.source]
    n_edits = rng.binomial(n_words, 1 - share)
    numbers = (n_edits, n_words, _CHARACTERS * n_words, _CHARACTERS * n_edits)
    rows = Responses(**long_rows(ratings, design), criteria=[CRITERION], text={}, numbers={})
    return EditedRows(rows, Edits(*(each.astype(np.float64) for each in numbers)))


class PlannedEdits(OfShares, SimulatedMethod[EditedRows]):
    """The difference is in points of HTER, edits per 100 words; systems are spaced around 30."""

    slug, unit, called, responses = PostEdits.slug, "points of HTER", "edits", "outputs"
    compared_by = "the comparison of HTER"
    asked = "points of HTER"
    method = PostEdits
    item, scale = "output", 1.0
    middle, n_things = 0.7, WORDS  # of words that are left
    model_note = (
        f"A word is left as it is where such a score is above a threshold; edited texts have {WORDS} words in the "
        "mean. Both are assumed."
    )
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 3, "n_criteria": 1}

    def words(self) -> str:
        """Return the points."""
        return f"a difference of {self.difference:g} points of HTER between two systems"

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> EditedRows:
        """Return numbers of edits."""
        return simulate_edits(design, model, self.quality(design, model), rng)

    def result(self, data: EditedRows, settings: AnalysisSettings) -> Result:
        """Return the report of edits that need not be counted in texts."""
        return PostEdits().result_of(data.rows, data.edits, settings)
