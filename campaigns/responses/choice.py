"""Options of which one, or several, are chosen."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import LongText, OptionsForm, Switch, Text
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

FEWEST, MOST, LONGEST = 2, 40, 200
_NONE = "none of these"


class ChoiceOptions(OptionsForm):
    """What may be chosen."""

    is_empty_default = True
    options = LongText(
        label="Options", required=True, max_length=8000, initial="yes\nno", help_text=f"One a line: up to {MOST}."
    )
    field = Text(
        label="Field with the options",
        max_length=100,
        help_text="Of each source, with its own options, one a line. Empty: the options above are those of all.",
    )
    correct = Text(
        label="Field with the good options",
        max_length=100,
        help_text="Of each source, one a line; workers do not see it. Empty: it is not known which are good.",
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
    table = "answers"
    options = ChoiceOptions

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse too few or too many options, long ones, and two of one name."""
        if cls._field(settings):
            return
        check_lines("Options", cls._listed(settings), fewest=FEWEST, most=MOST, longest=LONGEST)

    @classmethod
    def _listed(cls, settings: Settings, subject: Subject = NOTHING) -> list[str]:
        """Return the options, none of these last."""
        none = [label] if (label := cls._none(settings)) else []
        if not (field := cls._field(settings)):
            return [*lines_of(ChoiceOptions.value_of(settings, "options")), *none]
        return list(dict.fromkeys([*lines_of(subject.source.get(field, ""))[:MOST], *none]))

    @classmethod
    def _field(cls, settings: Settings) -> str:
        """Return the field of the source that has the options, "" where all have the same."""
        return (ChoiceOptions.value_of(settings, "field") or "").strip()

    @classmethod
    def _is_several(cls, settings: Settings) -> bool:
        return bool(ChoiceOptions.value_of(settings, "is_several"))

    @classmethod
    def _none(cls, settings: Settings) -> str:
        """Return what none of these is called; it can be chosen wherever a source may have no option."""
        label = (ChoiceOptions.value_of(settings, "none_label") or "").strip()
        return label or (_NONE if cls._field(settings) else "")

    @classmethod
    def needs_subject(cls, settings: Settings) -> bool:
        """Tell whether each source has options of its own."""
        return bool(cls._field(settings))

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return the options, and whether several may be chosen."""
        return cls.shown_with(settings, NOTHING)

    @classmethod
    def shown_with(cls, settings: Settings, subject: Subject) -> dict[str, Any]:
        """Return the options of a source, and whether several may be chosen."""
        return {"options": cls._listed(settings, subject), "is_several": cls._is_several(settings)}

    @classmethod
    def offered(cls, settings: Settings) -> list[str] | None:
        """Return the options, none of these last; None where each source has its own."""
        return None if cls._field(settings) else cls._listed(settings)

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> str | list[str] | None:
        """Return what was chosen."""
        options = cls._listed(settings, subject)
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
    def cells(cls, value: Any, settings: Settings, subject: Subject) -> tuple[str, str]:
        """Return what was chosen and what is good, as lists in JSON; none of these is, where no option is."""
        field = (ChoiceOptions.value_of(settings, "correct") or "").strip()
        good = _good_in_json(subject.source.get(field, ""), cls._none(settings)) if field else ""
        chosen = value if isinstance(value, list) else [value]
        return _in_json(*chosen), good

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return the options."""
        each = "any" if cls._is_several(settings) else "one"
        if field := cls._field(settings):
            return f"{each} of the options of the source (its field “{field}”), or “{cls._none(settings)}”"
        return f"{each} of the options {quoted(cls._listed(settings))}"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return the options."""
        if cls._field(settings):
            return "open", cls.describe(settings)
        options = cls._listed(settings)
        return str(len(options)), "; ".join(options)

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the option whose share of the slider the level lies in, from the last to the first."""
        options = cls._listed(settings, subject)
        return [options[-1 - step_of(levels, len(options))]]


@lru_cache(1000)
def _in_json(*options: str) -> str:
    return json.dumps(options, ensure_ascii=False)


@lru_cache(1000)
def _good_in_json(text: str, none: str) -> str:
    return _in_json(*(lines_of(text) or [none]))
