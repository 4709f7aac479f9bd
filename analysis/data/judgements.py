"""What workers said of outputs, repeats and degraded copies included: what their agreement is measured on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from analysis.data.coding import combined
from analysis.data.responses import Responses
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Floats, Mask, Ratings
from analysis.stats.spans import SpanAgreement


class AnswerKind(StrEnum):
    """What an answer is: it decides which coefficients of agreement fit."""

    SLIDER = "slider"
    """A number from 0 to 100."""
    LEVELS = "levels"
    """One of a few ordered levels."""
    NUMBER = "number"
    """A number on a scale without ends, whose zero means nothing."""
    AMOUNT = "amount"
    """A number from zero up, which means none."""
    MARKS = "marks"
    """What the errors weigh that were marked in an output."""
    OPTION = "option"
    """One of some options without an order, such as yes and no."""
    OPTIONS = "options"
    """Some of several options."""
    TEXT = "text"
    PREFERENCE = "preference"
    """Which of two outputs is better, or that neither is."""


NUMBERS = frozenset({AnswerKind.SLIDER, AnswerKind.LEVELS, AnswerKind.NUMBER, AnswerKind.AMOUNT, AnswerKind.MARKS})
"""Answers that are numbers."""


@dataclass(frozen=True)
class Scale:
    """What the answers on a criterion are.

    `levels`: rising, (n_levels,). `sets`: bool, (n_sets, n_options), which options each code of an answer stands for.
    `texts`: by code. `marks`: how far workers mark the same characters.
    """

    answer: AnswerKind
    levels: Floats = field(default_factory=lambda: np.empty(0))
    sets: NDArray[np.bool_] | None = None
    texts: Sequence[str] = ()
    marks: SpanAgreement | None = None

    @classmethod
    def of_levels(cls, levels: Floats) -> "Scale":
        """Return that of ordered levels; two have no order."""
        return cls(AnswerKind.LEVELS if levels.size > 2 else AnswerKind.OPTION, levels)


@dataclass(frozen=True)
class Judgements:
    """What workers said of outputs, an output a row and a criterion a column.

    `ratings` has items of all kinds, with scores on the scale of the analysis, negative criteria reversed: numbers,
    levels, or codes of options, sets and texts; a source is −1 where it is not known. `scales`: one for each criterion.
    `is_counted`, `has_failed`: whether a worker counts, and failed the worker test, (n_workers,). `given`: the scores
    on the scale on which they were given, (n_items, n_criteria), where this is another one.
    """

    ratings: Ratings
    criteria: list[str]
    scales: list[Scale]
    is_counted: Mask
    has_failed: Mask
    given: Floats | None = None


def items_of(data: Responses, score: Floats) -> Ratings:
    """Return answers as items with a column for each criterion; the source is −1 where none is known.

    `score`: float64, (n,). What a worker said at one go of one output is an item; of answers that stand twice each is
    an item of its own.
    """
    ratings = data.as_ratings(score)
    if len(data.criteria) > 1 and data.n:
        key, _ = data.codes_of("worker", "assignment", "document", "source", "system", "kind")
        place = _places(key.astype(np.int64) * len(data.criteria) + data.criterion)
        item, n_items = dense_ranks(*combined([(key, int(key.max()) + 1), (place, int(place.max()) + 1)]))
        first = np.full(n_items, data.n, np.int64)
        np.minimum.at(first, item, np.arange(data.n))
        scores = np.full((n_items, len(data.criteria)), np.nan)
        scores[item, data.criterion] = score
        order = np.argsort(first)
        names = ("worker", "system", "assignment", "source", "kind")
        columns = {name: getattr(ratings, name)[first[order]] for name in names}
        ratings = replace(ratings, scores=scores[order], **columns)
    if any(data.sources) or any(data.documents):
        return ratings
    return replace(ratings, source=np.full(ratings.n_items, -1))


def _places(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each code how often it has occurred before, (n,)."""
    order = np.argsort(code, kind="stable")
    _, start, size = np.unique(code[order], return_index=True, return_counts=True)
    places = np.empty(code.size, np.int64)
    places[order] = np.arange(code.size) - np.repeat(start, size)
    return places
