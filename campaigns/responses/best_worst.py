"""Which of several outputs is the best, and which the worst (Louviere & Woodworth 1991)."""

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm, Text
from campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    Comparison,
    ResponseKind,
    Settings,
    Subject,
    ordered_by_level,
    place_of,
)

FEWEST, MOST, LONGEST = 3, 10, 40
BEST, WORST = "best", "worst"


class BestWorstOptions(OptionsForm):
    """What the two are called."""

    is_empty_default = True
    best_label = Text(label="Best", required=True, max_length=LONGEST, initial="Best")
    worst_label = Text(label="Worst", required=True, max_length=LONGEST, initial="Worst")


class BestWorst(ResponseKind):
    """The places of the best and of the worst output, by these names."""

    slug = "best_worst"
    title = "Best and worst"
    summary = f"The best and the worst of {FEWEST} to {MOST} outputs."
    ask = "Choose the best and the worst"
    template = "rate/responses/best_worst.html"
    instrument = "1. Multiple-choice options"
    elicitation = "3. Relative quality estimation (including ranking)"
    compares = (FEWEST, MOST)
    table = "choices"
    options = BestWorstOptions

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return what the two are called."""
        return {"ends": list(cls._ends(settings).items())}

    @classmethod
    def _ends(cls, settings: Settings) -> dict[str, str]:
        return {end: BestWorstOptions.value_of(settings, f"{end}_label") for end in (BEST, WORST)}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> dict[str, int] | None:
        """Return both places, of texts such as “best:2” and “worst:1”."""
        ends, found = cls._ends(settings), dict[str, int]()
        for text in filter(None, sent):
            end, _, place = text.partition(":")
            if end not in ends:
                raise BadAnswerError(f"“{text[:40]}” says neither the best nor the worst.")
            if end in found:
                raise BadAnswerError(f"Choose one output as “{ends[end]}”: several were sent.")
            found[end] = place_of(place, subject)
        if not found:
            return None
        if missing := [label for end, label in ends.items() if end not in found]:
            raise BadAnswerError(f"No output was chosen as “{missing[0]}”. Choose one.")
        if found[BEST] == found[WORST]:
            raise BadAnswerError(f"One output cannot be both “{ends[BEST]}” and “{ends[WORST]}”. Choose two.")
        if len(subject.outputs) < FEWEST:
            raise BadAnswerError(f"A best and a worst need {FEWEST} outputs, and {len(subject.outputs)} are shown.")
        return {end: found[end] for end in ends}

    @classmethod
    def sent(cls, value: dict[str, int]) -> list[str]:
        """Return both places as the form sends them."""
        return [f"{end}:{place}" for end, place in value.items()]

    @classmethod
    def compared(cls, value: dict[str, int], n_outputs: int) -> Comparison:
        """Return the best as first, the worst as third, and all others as second."""
        rank_of = {value[BEST]: 1, value[WORST]: 3}
        return Comparison(tuple(rank_of.get(place, 2) for place in range(1, n_outputs + 1)))

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return what the two are called."""
        return "choosing one output as “{}” and another one as “{}”".format(*cls._ends(settings).values())

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return how many there are for n outputs."""
        return "n(n − 1) for n outputs", "the best output and the worst one"

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the outputs with the highest and the lowest level; chance decides between equal ones."""
        order = ordered_by_level(levels, rng)
        return cls.sent({BEST: order[0], WORST: order[-1]})
