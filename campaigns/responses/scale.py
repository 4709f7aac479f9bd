"""Labelled points, one of which is chosen: Likert scales, ladders, yes and no."""

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import LongText, Number, OptionsForm
from campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    ResponseKind,
    Settings,
    Subject,
    check_lines,
    lines_of,
    one_of,
    quoted,
    step_of,
)

FEWEST, MOST, LONGEST = 2, 11, 100
_AGREEMENT = "\n".join(
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree")
)  # Likert (1932)


class ScaleOptions(OptionsForm):
    """Its points."""

    is_empty_default = True
    labels = LongText(
        label="Points",
        required=True,
        max_length=2000,
        initial=_AGREEMENT,
        help_text=f"One a line, from the lowest to the highest: {FEWEST} to {MOST}.",
    )
    lowest = Number(
        label="Score of the lowest",
        required=True,
        min_value=-MOST,
        max_value=MOST,
        initial=1,
        help_text="Each point after it counts one more.",
    )


class Scale(ResponseKind):
    """A whole number, the score of the point that was chosen."""

    slug = "scale"
    title = "Labelled points"
    summary = "One of 2 to 11 labelled points: a Likert scale, a ladder, yes or no."
    ask = "Choose a point for every statement"
    template = "rate/responses/scale.html"
    instrument = "1. Multiple-choice options"
    options = ScaleOptions

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse too few or too many points, long ones, and two of one name."""
        check_lines("Points", cls._labels(settings), fewest=FEWEST, most=MOST, longest=LONGEST)

    @classmethod
    def _labels(cls, settings: Settings) -> list[str]:
        return lines_of(ScaleOptions.value_of(settings, "labels"))

    @classmethod
    def _points(cls, settings: Settings) -> dict[int, str]:
        lowest: int = ScaleOptions.value_of(settings, "lowest")
        return dict(enumerate(cls._labels(settings), lowest))

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return the points by score, lowest first."""
        return {"points": cls._points(settings)}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> int | None:
        """Return the score of the point."""
        text = one_of(sent)
        if not text:
            return None
        by_text = {str(score): score for score in cls._points(settings)}
        if text not in by_text:
            raise BadAnswerError(f"Choose one of the {len(by_text)} points.")
        return by_text[text]

    @classmethod
    def score(cls, value: int, settings: Settings) -> float:
        """Return the score of the point."""
        return value

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float]:
        """Return the scores of the lowest and the highest point."""
        scores = list(cls._points(settings))
        return scores[0], scores[-1]

    @classmethod
    def levels(cls, settings: Settings) -> dict[int, str]:
        """Return the points by score, lowest first."""
        return cls._points(settings)

    @classmethod
    def ends(cls, settings: Settings) -> tuple[str, str]:
        """Return the labels of the lowest and the highest point."""
        labels = cls._labels(settings)
        return labels[0], labels[-1]

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return the points."""
        labels = cls._labels(settings)
        return f"a scale of {len(labels)} points ({quoted(labels)})"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return the points with their scores."""
        points = cls._points(settings)
        return str(len(points)), ", ".join(f"{score} = {label}" for score, label in points.items())

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the point whose share of the slider the level lies in."""
        scores = list(cls._points(settings))
        return [str(scores[step_of(levels, len(scores))])]
