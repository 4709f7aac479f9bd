"""The first of an output's replies or steps that is wrong."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm, Text
from campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    ResponseKind,
    Settings,
    Subject,
    mean_level,
    one_of,
    quoted,
)

_LONGEST, _LONGEST_NUMBER = 100, 6
_NONE = "none"
_HIGHEST = 100


class StepOptions(OptionsForm):
    """What replies or steps are called."""

    is_empty_default = True
    word = Text(label="One of them is called", max_length=_LONGEST, initial="Step")
    none_label = Text(label="None is wrong", max_length=_LONGEST, initial="No step is wrong")


class ShownSteps(NamedTuple):
    """What may be chosen: numbers with what they are called, and what none is called."""

    steps: list[tuple[int, str]]
    none_label: str


class FirstWrongStep(ResponseKind):
    """The number of a step, and of how many: `{"step": 3, "of": 12}`; `step` is None where none is wrong.

    The score is the share of steps before it, in per cent: 0 for the first step, 100 for none.
    """

    slug = "step"
    title = "First wrong step"
    summary = "Which of the steps of an agent, or of the replies in a conversation, is the first that is wrong."
    ask = "Choose a step for every statement"
    template = "rate/responses/step.html"
    instrument = "1. Multiple-choice options"
    elicitation = "7. Output classification or labelling"
    table = "answers"
    also_in = ("scores",)
    is_of_text = True
    needs_turns = True
    options = StepOptions

    @classmethod
    def needs_subject(cls, settings: Settings) -> bool:
        """Outputs have different numbers of steps."""
        return True

    @classmethod
    def shown(cls, settings: Settings) -> ShownSteps:
        """Return what none is called: there is no step without an output."""
        return cls.shown_with(settings, NOTHING)

    @classmethod
    def shown_with(cls, settings: Settings, subject: Subject) -> ShownSteps:
        """Return the steps of an output."""
        word = StepOptions.value_of(settings, "word")
        steps = [(number, f"{word} {number}") for number in range(1, subject.n_turns + 1)]
        return ShownSteps(steps, StepOptions.value_of(settings, "none_label"))

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> dict[str, int | None] | None:
        """Return the step; refuse one that is not there."""
        text = one_of(sent)
        if not text:
            return None
        if text == _NONE:
            return {"step": None, "of": subject.n_turns}
        is_number = len(text) <= _LONGEST_NUMBER and text.isascii() and text.isdigit()
        if not is_number or not 1 <= int(text) <= subject.n_turns:
            raise BadAnswerError(f"There is no step “{text[:20]}”, only 1 to {subject.n_turns}, or none.")
        return {"step": int(text), "of": subject.n_turns}

    @classmethod
    def sent(cls, value: Any) -> list[str]:
        """Return the number of the step."""
        return [_NONE if value["step"] is None else str(value["step"])]

    @classmethod
    def cells(cls, value: Any, settings: Settings, subject: Subject) -> tuple[str, str]:
        """Return what was chosen, and that none is good: the share of outputs in which nothing is wrong."""
        none = StepOptions.value_of(settings, "none_label")
        chosen = none if value["step"] is None else f"{StepOptions.value_of(settings, 'word')} {value['step']}"
        return json.dumps([chosen], ensure_ascii=False), json.dumps([none], ensure_ascii=False)

    @classmethod
    def score(cls, value: Any, settings: Settings) -> float:
        """Return the share of steps before it, in per cent."""
        return float(_HIGHEST) if value["step"] is None else (value["step"] - 1) / value["of"] * _HIGHEST

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float]:
        """Return the shares."""
        return 0, _HIGHEST

    @classmethod
    def ends(cls, settings: Settings) -> tuple[str, str]:
        """Return what the shares mean."""
        return "the first one is wrong", StepOptions.value_of(settings, "none_label")

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return what is chosen, and what it is worth."""
        word, none = (StepOptions.value_of(settings, name) for name in ("word", "none_label"))
        return f"the first wrong {word.lower()}, or {quoted([none])}; its score is the share before it, in per cent"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return the steps, as many as an output has."""
        return "open", f"the number of a {StepOptions.value_of(settings, 'word').lower()}, or none"

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the step at that share of the output, none at its end."""
        place = mean_level(levels) * (subject.n_turns + 1) // _HIGHEST
        return [_NONE if place >= subject.n_turns else str(place + 1)]
