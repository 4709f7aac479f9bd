"""A text that workers write."""

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import Number, OptionsForm
from campaigns.contracts.response import NOTHING, BadAnswerError, ResponseKind, Settings, Subject, mean_level, one_of

LONGEST = 10_000


class TextOptions(OptionsForm):
    """How much may be written."""

    is_empty_default = True
    longest = Number(label="Characters, at most", required=True, min_value=1, max_value=LONGEST, initial=1000)


class FreeText(ResponseKind):
    """What was written, without white space around it."""

    slug = "text"
    title = "Text"
    summary = "A text that workers write, such as a reason or a correction."
    ask = "Write something for every statement"
    template = "rate/responses/text.html"
    instrument = "4. N/A (there is no rating instrument)"
    elicitation = "5. Qualitative feedback"
    is_written = True
    options = TextOptions

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return how many characters there may be."""
        return {"longest": TextOptions.value_of(settings, "longest")}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> str | None:
        """Return the text."""
        text = one_of(sent).replace("\r\n", "\n").replace("\0", "").strip()
        longest: int = TextOptions.value_of(settings, "longest")
        if len(text) > longest:
            raise BadAnswerError(f"The text has {len(text):,} characters, at most {longest:,} are kept. Shorten it.")
        return text or None

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return how long it may be."""
        return f"a text of up to {TextOptions.value_of(settings, 'longest'):,} characters"

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return a short remark."""
        longest: int = TextOptions.value_of(settings, "longest")
        return [("Simulated: fine." if mean_level(levels) >= 50 else "Simulated: poor.")[:longest]]
