"""A slider without a position until it is moved, and without numbers (Graham et al. 2013)."""

from collections.abc import Sequence

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm, Text
from campaigns.contracts.response import BadAnswerError, ResponseKind, Settings, one_of

LOWEST, HIGHEST = 0, 100
_DIGITS = 3


class SliderOptions(OptionsForm):
    """What its two ends are called."""

    is_empty_default = True
    left_label = Text(label="Left end", required=True, max_length=100, initial="strongly disagree")
    right_label = Text(label="Right end", required=True, max_length=100, initial="strongly agree")


class Slider(ResponseKind):
    """A whole number from 0 to 100, which no worker sees."""

    slug = "slider"
    title = "Slider"
    summary = "A slider from 0 to 100 without numbers, between two labelled ends."
    ask = "Move every slider"
    template = "rate/responses/slider.html"
    needs_script = True
    instrument = "3. Slider, without a position until it is moved"
    options = SliderOptions

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, str]:
        """Return the labels of the ends."""
        return {name: SliderOptions.value_of(settings, name) for name in SliderOptions.named()}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings) -> int | None:
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
        """Return the ends' labels."""
        return "a slider from “{}” to “{}”".format(*cls.ends(settings))

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return the positions."""
        return "101", "[0, 100], whole numbers"

    @classmethod
    def simulate(cls, level: int, settings: Settings, rng: Generator) -> list[str]:
        """Return the position."""
        return [str(level)]
