"""Which of two outputs is better; perhaps how much, perhaps neither."""

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm, Switch
from campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    Comparison,
    ResponseKind,
    Settings,
    Subject,
    mean_level,
    one_of,
    quoted,
)

TIE, NEITHER = "tie", "neither"
MUCH, SLIGHTLY = "much", "slightly"
# Of simulated workers, who would put sliders at some points: up to how many apart outputs seem the same, from how many
# on one seems much better, and below which neither seems good.
_SAME, _FAR, _LOW = 4, 25, 15


class PreferenceOptions(OptionsForm):
    """What may be said besides which one is better."""

    is_empty_default = True
    has_strength = Switch(label="Ask how much better it is", help_text="Much or slightly.")
    may_tie = Switch(label="A tie may be chosen", initial="yes")
    may_be_neither = Switch(label="“Neither is good” may be chosen")


class Preference(ResponseKind):
    """The place of the better output, with how much better it is if that is asked; or that neither is."""

    slug = "preference"
    title = "Preference"
    summary = "Which of two outputs is better, with how much better, a tie, or neither if you offer it."
    ask = "Choose an answer for every statement"
    template = "rate/responses/preference.html"
    instrument = "1. Multiple-choice options"
    elicitation = "3. Relative quality estimation (including ranking)"
    compares = (2, 2)
    table = "votes"
    options = PreferenceOptions

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return what may be chosen: the value, and the words that follow the letter of an output or stand alone."""
        return {"choices": [(value, _place(value), words) for value, words in _choices(settings).items()]}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> str | None:
        """Return what was chosen, such as “1”, “2 slightly” or “tie”."""
        text = one_of(sent)
        if not text:
            return None
        choices = _choices(settings)
        if text not in choices:
            raise BadAnswerError(f"“{text[:40]}” cannot be chosen. Choose one of the {len(choices)} answers.")
        if len(subject.outputs) != 2:
            raise BadAnswerError(f"Two outputs are compared, and {len(subject.outputs)} are shown.")
        return text

    @classmethod
    def compared(cls, value: str, n_outputs: int) -> Comparison:
        """Return who is better, and how much."""
        place, strength = _place(value), value.partition(" ")[2]
        ranks = {1: (1, 2), 2: (2, 1)}.get(place, (1, 1))
        return Comparison(ranks, strength if place else "", is_neither_good=value == NEITHER)

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return what may be chosen."""
        return f"choosing one of {quoted(_in_words(settings))}"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return what may be chosen."""
        choices = _in_words(settings)
        return str(len(choices)), "; ".join(choices)

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the output with the higher level; where levels are close, a tie or either one."""
        choices, (first, second) = _choices(settings), levels
        if NEITHER in choices and mean_level(levels) < _LOW:
            return [NEITHER]
        if TIE in choices and abs(first - second) <= _SAME:
            return [TIE]
        better = "1" if first > second or (first == second and rng.random() < 0.5) else "2"
        if better in choices:
            return [better]
        return [f"{better} {MUCH if abs(first - second) >= _FAR else SLIGHTLY}"]


def _choices(settings: Settings) -> dict[str, str]:
    """Return the values that may be chosen, in the order of the page, with words."""

    def has(name: str) -> bool:
        return bool(PreferenceOptions.value_of(settings, name))

    has_strength = has("has_strength")
    first = {f"1 {how}": f"is {how} better" for how in (MUCH, SLIGHTLY)} if has_strength else {"1": "is better"}
    second = {f"2 {how}": f"is {how} better" for how in (SLIGHTLY, MUCH)} if has_strength else {"2": "is better"}
    tie = {TIE: "Both are equally good"} if has("may_tie") else {}
    neither = {NEITHER: "Neither is good"} if has("may_be_neither") else {}
    return first | tie | second | neither


def _place(value: str) -> int:
    """Return the place that a value names, 0 if it names none."""
    return int(value[0]) if value[0].isdigit() else 0


def _in_words(settings: Settings) -> list[str]:
    letters = {0: "", 1: "A ", 2: "B "}
    return [f"{letters[_place(value)]}{words}" for value, words in _choices(settings).items()]
