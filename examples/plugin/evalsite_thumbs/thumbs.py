"""Thumb up or thumb down: a response kind in one file."""

from collections.abc import Sequence
from typing import Any

from evalsite.campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    ResponseKind,
    Settings,
    Subject,
    mean_level,
    one_of,
)
from numpy.random import Generator

SCORES = {"up": 1, "down": 0}


class Thumbs(ResponseKind):
    """1 for a thumb up, 0 for a thumb down."""

    slug = "thumbs"
    title = "Thumb up or down"
    summary = "Is it good or not?"
    ask = "Choose a thumb for every statement"
    template = "rate/responses/choice.html"  # one of its own would lie in templates/rate/responses/
    instrument = "1. Multiple-choice options"

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return what the template draws."""
        return {"options": list(SCORES), "is_several": False}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> str | None:
        """Return the thumb."""
        thumb = one_of(sent)
        if thumb and thumb not in SCORES:
            raise BadAnswerError("Choose one of the two thumbs.")
        return thumb or None

    @classmethod
    def score(cls, value: str, settings: Settings) -> float:
        """Return 1 or 0."""
        return SCORES[value]

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float]:
        """Return what the thumbs count."""
        return 0, 1

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return how workers answer."""
        return "a thumb up or down"

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return a thumb up from the middle of the slider."""
        return ["up" if mean_level(levels) >= 50 else "down"]
