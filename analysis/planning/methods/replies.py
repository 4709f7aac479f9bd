"""Replies of chatbots, of which shares of sensible and of specific ones are compared (SSA)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from analysis.data.responses import Responses
from analysis.methods.settings import AnalysisSettings, RatedCriterion
from analysis.methods.ssa import SENSIBLE, SPECIFIC, Ssa
from analysis.planning.methods.campaigns import names
from analysis.planning.methods.planned import SIGN, SimulatedMethod
from analysis.planning.methods.shares import OfShares, spread_of
from analysis.stats.designs import MIDDLE, PlannedDesign, RatingModel, simulate_ratings
from analysis.stats.ratings import Floats
from campaigns.design.composition import Layout
from campaigns.design.worker_test import Compared

REPLIES = 7
"""Of a live chat: as many as messages that workers write at least (protocol `ssa-chat`)."""
APART = 0.6
"""Standard deviations from the threshold of sensible replies to that of specific ones, as of 87 % and 70 %."""
DEGRADATION = 70.0
"""By how many points a degraded reply is lower: with it, one in twenty makes sense. Assumed."""
_CRITERIA = (RatedCriterion(SENSIBLE), RatedCriterion(SPECIFIC, is_in_worker_test=False))


def qualities_of_ssa(ssa: Floats, spread: float) -> Floats:
    """Return the true score of systems that have some SSA, (n,), between 0 and 1; the middle of the scale has one half.

    Notes
    -----
    SSA is (Φ((q + a)/spread) + Φ((q − a)/spread))/2, q being points above the middle and 2·a `APART` times the spread.
    It rises with q, so that one q belongs to each.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def points(share: float) -> float:
        return float(brentq(lambda q: ndtr(q + APART / 2) + ndtr(q - APART / 2) - 2 * share, -10, 10))

    return MIDDLE + spread * np.array([points(share) for share in ssa])


def simulate_replies(design: PlannedDesign, model: RatingModel, quality: Floats, rng: np.random.Generator) -> Responses:
    """Return answers, 0 or 1, about replies of one simulated campaign; systems are named in the order of quality.

    A reply is sensible, and specific, where its score of `simulate_ratings` is above the lower, and the higher,
    threshold. `quality`: true scores, (n_systems,). Chats have `REPLIES` replies, whose scores differ from that of the
    chat as those of criteria do.
    """
    is_chat = design.layout == Layout.BY_SYSTEM
    n_replies = REPLIES if is_chat else 1
    ratings = simulate_ratings(replace(design, n_criteria=n_replies), model, quality, rng)
    away = APART / 2 * spread_of(model)
    answers = ratings.scores[:, :, None] > MIDDLE + np.array([-away, away])  # items, replies, questions
    n_items, n_each = answers.shape[0], 2 * n_replies
    item = np.repeat(np.arange(n_items), n_each)
    document, source = np.zeros(item.size, np.int64), ratings.source[item]
    if is_chat:
        document, source = item, np.tile(np.repeat(np.arange(n_replies), 2), n_items)
    return Responses(
        workers=names("w", ratings.n_workers),
        systems=names("s", ratings.n_systems),
        sources=names("q", n_replies if is_chat else design.n_sources),
        documents=names("d", n_items) if is_chat else [""],
        criteria=[SENSIBLE, SPECIFIC],
        worker=ratings.worker[item],
        system=ratings.system[item],
        source=source,
        document=document,
        criterion=np.tile([0, 1], n_items * n_replies),
        numbers={"score": answers.ravel().astype(np.float64)},
        kind=ratings.kind[item],
        assignment=ratings.assignment[item],
        has_chats=is_chat,
    )


class PlannedReplies(OfShares, SimulatedMethod[Responses]):
    """The difference is in percentage points of SSA."""

    slug, called, responses = Ssa.slug, "replies", "answers"
    compared_by = "the comparison of the means of both shares"
    asked = "percentage points of SSA"
    method = Ssa
    takes_chats = True
    middle = 0.7
    worker_tests, least_degraded = (SIGN, "paired-wilcoxon", "paired-t", "unpaired-ranksum"), 8
    model_note = (
        "A reply is sensible where such a score is above a threshold, and specific where it is above a higher one, as "
        f"is assumed; a live chat has {REPLIES} replies."
    )
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 5, "n_criteria": 1}

    def words(self) -> str:
        """Return the percentage points."""
        return f"a difference of {self.difference:g} percentage points of SSA between two systems"

    def model_for(self, design: PlannedDesign, pilot: RatingModel | None, careless: float | None) -> RatingModel:
        """Return the assumed model; degraded replies mostly make no sense."""
        model = super().model_for(design, pilot, careless)
        return model if design.layout == Layout.BY_SYSTEM else replace(model, degradation=DEGRADATION)

    def quality(self, design: PlannedDesign, model: RatingModel) -> Floats:
        """Return the true score of each system, best first."""
        return qualities_of_ssa(self.shares(design.n_systems), spread_of(model))

    def settings(self, design: PlannedDesign) -> AnalysisSettings:
        """Return settings that test workers by whether replies are sensible."""
        return replace(super().settings(design), criteria=_CRITERIA)

    def responses_of_item(self, design: PlannedDesign) -> int:
        """Return two answers about each reply."""
        return 2 * self._replies_of(design)

    @staticmethod
    def _replies_of(design: PlannedDesign) -> int:
        return REPLIES if design.layout == Layout.BY_SYSTEM else 1

    def compared(self, design: PlannedDesign) -> Compared:
        """Return that each reply of a chat is compared."""
        return super().compared(design).times(self._replies_of(design))

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> Responses:
        """Return answers."""
        return simulate_replies(design, model, self.quality(design, model), rng)
