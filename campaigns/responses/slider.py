"""A slider without a position until it is moved, and without numbers (Graham et al. 2013)."""

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import LongText, OptionsForm, Text
from campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    ResponseKind,
    Settings,
    Subject,
    check_lines,
    lines_of,
    mean_level,
    one_of,
)
from evalsite.lib.words import listed

LOWEST, HIGHEST = 0, 100
_DIGITS, _LONGEST, _MOST_BETWEEN = 3, 100, 5
_BETWEEN = "Labels between the ends"


class SliderOptions(OptionsForm):
    """What its two ends are called, and positions between them."""

    is_empty_default = True
    left_label = Text(label="Left end", required=True, max_length=_LONGEST, initial="strongly disagree")
    right_label = Text(label="Right end", required=True, max_length=_LONGEST, initial="strongly agree")
    labels_between = LongText(
        label=_BETWEEN,
        help_text="One a line, at equal distances: two are at a third and two thirds. Answers may gather around them.",
    )


class Slider(ResponseKind):
    """A whole number from 0 to 100, which no worker sees."""

    slug = "slider"
    title = "Slider"
    summary = "A slider from 0 to 100 without numbers, between two labelled ends, if you like with labels between."
    ask = "Move every slider"
    template = "rate/responses/slider.html"
    needs_script = True
    instrument = "3. Slider, without a position until it is moved"
    options = SliderOptions

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return the labels of the ends, and those between them as a list, `between`."""
        between = lines_of(SliderOptions.value_of(settings, "labels_between"))
        check_lines(_BETWEEN, between, fewest=0, most=_MOST_BETWEEN, longest=_LONGEST)
        ends = {name: SliderOptions.value_of(settings, name) for name in ("left_label", "right_label")}
        return ends | {"between": between}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> int | None:
        """Return the position."""
        text = one_of(sent)
        if not text:
            return None
        if not (len(text) <= _DIGITS and text.isascii() and text.isdigit() and int(text) <= HIGHEST):
            raise BadAnswerError(f"A score is a whole number from {LOWEST} to {HIGHEST}.")
        return int(text)

    @classmethod
    def score(cls, value: int, settings: Settings) -> float:
        """Return the position."""
        return value

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float]:
        """Return the ends."""
        return LOWEST, HIGHEST

    @classmethod
    def ends(cls, settings: Settings) -> tuple[str, str]:
        """Return the labels of the ends."""
        ends = cls.shown(settings)
        return ends["left_label"], ends["right_label"]

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return the labels."""
        between = [f"“{label}”" for label in cls.shown(settings)["between"]]
        more = f", with {listed(between)} between" if between else ""
        return "a slider from “{}” to “{}”".format(*cls.ends(settings)) + more

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return the positions."""
        return "101", "[0, 100], whole numbers"

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the position."""
        return [str(mean_level(levels))]
