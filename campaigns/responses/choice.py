"""Options of which one, or several, are chosen."""

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import LongText, OptionsForm, Switch, Text
from campaigns.contracts.response import BadAnswerError, ResponseKind, Settings, check_lines, lines_of, one_of

FEWEST, MOST, LONGEST = 2, 40, 200


class ChoiceOptions(OptionsForm):
    """What may be chosen."""

    is_empty_default = True
    options = LongText(
        label="Options", required=True, max_length=8000, initial="yes\nno", help_text=f"One a line: up to {MOST}."
    )
    is_several = Switch(label="Several may be chosen")
    none_label = Text(
        label="None of these", max_length=LONGEST, help_text="What this is called, if it may be chosen. Empty: not."
    )


class Choice(ResponseKind):
    """The option that was chosen or, where several may be, a list of them in the order of the options."""

    slug = "choice"
    title = "Options"
    summary = "One or several of some options, with none of these if you offer it."
    ask = "Choose an answer for every statement"
    template = "rate/responses/choice.html"
    instrument = "1. Multiple-choice options"
    elicitation = "7. Output classification or labelling"
    options = ChoiceOptions

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse too few or too many options, long ones, and two of one name."""
        check_lines("Options", cls._listed(settings), fewest=FEWEST, most=MOST, longest=LONGEST)

    @classmethod
    def _listed(cls, settings: Settings) -> list[str]:
        """Return the options, none of these last."""
        none = cls._none(settings)
        return [*lines_of(ChoiceOptions.value_of(settings, "options")), *([none] if none else [])]

    @classmethod
    def _is_several(cls, settings: Settings) -> bool:
        return bool(ChoiceOptions.value_of(settings, "is_several"))

    @classmethod
    def _none(cls, settings: Settings) -> str:
        return (ChoiceOptions.value_of(settings, "none_label") or "").strip()

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return the options, and whether several may be chosen."""
        return {"options": cls._listed(settings), "is_several": cls._is_several(settings)}

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings) -> str | list[str] | None:
        """Return what was chosen."""
        options = cls._listed(settings)
        wanted = [text for text in sent if text]
        if unknown := [text for text in wanted if text not in options]:
            raise BadAnswerError(f"“{unknown[0][:40]}” is none of the options.")
        if not cls._is_several(settings):
            return one_of(wanted) or None
        chosen = [option for option in options if option in wanted]
        if len(chosen) > 1 and (none := cls._none(settings)) in chosen:
            raise BadAnswerError(f"Choose “{none}” alone, or options without it.")
        return chosen or None

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return the options."""
        listed = ", ".join(f"“{option}”" for option in cls._listed(settings))
        return f"{'any' if cls._is_several(settings) else 'one'} of the options {listed}"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return the options."""
        options = cls._listed(settings)
        return str(len(options)), "; ".join(options)

    @classmethod
    def simulate(cls, level: int, settings: Settings, rng: Generator) -> list[str]:
        """Return the option whose share of the slider the level lies in, from the last to the first."""
        options = cls._listed(settings)
        return [options[-1 - min(level * len(options) // 100, len(options) - 1)]]
