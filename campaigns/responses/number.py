"""A number that is typed: counts, and magnitude estimation."""

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from numpy.random import Generator

from campaigns.contracts.options import OptionsForm, Switch, Text
from campaigns.contracts.response import NOTHING, BadAnswerError, ResponseKind, Settings, Subject, mean_level, one_of
from evalsite.lib.errors import DomainError

_MAGNITUDES = "magnitudes"
LARGEST = Decimal(1_000_000_000)
_DOUBLES_IN = 25  # points of a slider
_PLAIN = re.compile(r"[+-]?\d{1,10}([.,]\d{1,6})?", re.ASCII)
_THOUSANDS = re.compile(r",\d{3}$", re.ASCII)


@lru_cache(256)
def _read(text: str) -> Decimal:
    """Return a number in digits, with a decimal point or comma; raise ValueError.

    A comma before three digits may separate thousands, so such a number is refused.
    """
    plain = text.strip().replace("−", "-")
    if not _PLAIN.fullmatch(plain) or _THOUSANDS.search(plain):
        raise ValueError(text)
    number = Decimal(plain.replace(",", "."))
    if abs(number) > LARGEST:
        raise ValueError(text)
    return number


class Bound(Text):
    """An end of the numbers that may be typed, or none."""

    def read(self, value: Any) -> Any:
        """Return the number; None for no end."""
        text = str(super().read(value))
        if not text:
            return None
        try:
            return _read(text)
        except ValueError:
            raise ValidationError(f"A number such as 0 or 2.5, not {text}.") from None

    def clean(self, value: Any) -> Any:
        """Refuse what is no number."""
        self.read(value)
        return super().clean(value)


class NumberOptions(OptionsForm):
    """Which numbers may be typed."""

    least = Bound(label="Least", initial="0", help_text="Empty: no bound.")
    greatest = Bound(label="Greatest", help_text="Without both bounds, numbers are kept and not turned into z scores.")
    unit = Text(label="Unit", max_length=40, help_text="Shown after the number, such as errors.")
    is_whole = Switch(label="Whole numbers only", initial="yes")
    reference = Bound(
        label="Value of the reference",
        help_text="For magnitudes: what number the reference has, such as 100, of which workers say how many times as "
        "good an output is. Shown below the number; the least has to be above 0.",
    )


class Number(ResponseKind):
    """A number, whole or with at most six decimals. One whose least is above 0 is a magnitude."""

    slug = "number"
    title = "Number"
    summary = "A number that workers type, with bounds and a unit if it has them."
    ask = "Write a number for every statement"
    template = "rate/responses/number.html"
    instrument = "5. Other: a field for a number"
    elicitation = "2. Direct quality estimation"
    also_in = ("counts", _MAGNITUDES)
    options = NumberOptions

    @classmethod
    def _limits(cls, settings: Settings) -> tuple[Decimal | None, Decimal | None]:
        return NumberOptions.value_of(settings, "least"), NumberOptions.value_of(settings, "greatest")

    @classmethod
    def _reference(cls, settings: Settings) -> Decimal | None:
        found: Decimal | None = NumberOptions.value_of(settings, "reference")
        return found

    @classmethod
    def _is_magnitude(cls, settings: Settings) -> bool:
        least, _ = cls._limits(settings)
        return least is not None and least > 0

    @classmethod
    def is_in(cls, table: str, settings: Settings) -> bool:
        """Tell whether its answers may be rows of a table: magnitudes are above 0."""
        return super().is_in(table, settings) and (table != _MAGNITUDES or cls._is_magnitude(settings))

    @classmethod
    def cells(cls, value: float, settings: Settings, subject: Subject) -> tuple[float, float | None]:
        """Return the number, and what the reference has."""
        reference = cls._reference(settings)
        return value, None if reference is None else float(reference)

    @classmethod
    def is_testable(cls, settings: Settings) -> bool:
        """Numbers between bounds can be tested, and magnitudes."""
        return cls.bounds(settings) is not None or cls._is_magnitude(settings)

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse bounds in the wrong order, and parts of whole numbers as bounds of such."""
        least, greatest = cls._limits(settings)
        if least is not None and greatest is not None and least >= greatest:
            raise DomainError("bad_option", f"Greatest: it must be above {least}, the least.")
        if NumberOptions.value_of(settings, "is_whole"):
            for name, bound in (("Least", least), ("Greatest", greatest)):
                if bound is not None and bound != bound.to_integral_value():
                    raise DomainError("bad_option", f"{name}: {bound} is no whole number, and only those are allowed.")
        reference = cls._reference(settings)
        if reference is not None and (reference <= 0 or not cls._is_magnitude(settings)):
            raise DomainError("bad_option", "Value of the reference: it and the least number must be above 0.")

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return the bounds in words, the unit, and whether only digits are needed."""
        least, greatest = cls._limits(settings)
        ends = {"from": least, "to": greatest} if least is not None else {"of at most": greatest}
        if greatest is None:
            ends = {"of at least": least}
        bounds = " ".join(f"{word} {end}" for word, end in ends.items() if end is not None)
        is_whole = NumberOptions.value_of(settings, "is_whole")
        return {
            "bounds": f"{'A whole number' if is_whole else 'A number'}{f' {bounds}' if bounds else ''}",
            "unit": NumberOptions.value_of(settings, "unit"),
            "reference": cls._reference(settings),
            "mode": "numeric" if is_whole and least is not None and least >= 0 else "text",
        }

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> int | float | None:
        """Return the number, an int where only whole ones may be typed."""
        text = one_of(sent).strip()
        if not text:
            return None
        wanted = cls.shown(settings)["bounds"]
        try:
            number = _read(text)
        except ValueError:
            raise BadAnswerError(f"{wanted} is needed, not “{text[:20]}”.") from None
        least, greatest = cls._limits(settings)
        is_whole = NumberOptions.value_of(settings, "is_whole")
        is_outside = (least is not None and number < least) or (greatest is not None and number > greatest)
        if is_outside or (is_whole and number != number.to_integral_value()):
            raise BadAnswerError(f"{wanted} is needed, not {text}.")
        return int(number) if is_whole else float(number)

    @classmethod
    def score(cls, value: float, settings: Settings) -> float:
        """Return the number."""
        return value

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float] | None:
        """Return the bounds, if there are both."""
        least, greatest = cls._limits(settings)
        return None if least is None or greatest is None else (float(least), float(greatest))

    @classmethod
    def ends(cls, settings: Settings) -> tuple[str, str] | None:
        """Return the bounds with the unit, if there are both."""
        least, greatest = cls._limits(settings)
        unit = NumberOptions.value_of(settings, "unit")
        return None if least is None or greatest is None else (f"{least} {unit}".strip(), f"{greatest} {unit}".strip())

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return which numbers."""
        shown = cls.shown(settings)
        reference = f", where a reference has {shown['reference']}" if shown["reference"] is not None else ""
        return f"{shown['bounds'].lower()}{f' ({unit})' if (unit := shown['unit']) else ''}{reference}"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return the numbers, and how many whole ones there are between two bounds."""
        least, greatest = cls._limits(settings)
        is_counted = NumberOptions.value_of(settings, "is_whole") and least is not None and greatest is not None
        size = str(int(greatest - least) + 1) if is_counted and least is not None and greatest is not None else "open"
        return size, cls.describe(settings)

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the number at that share of the bounds; without bounds, from the least or 0 on.

        Beside a reference, which is at 50, one that is twice as large for every 25 points.
        """
        least, greatest = cls._limits(settings)
        low = least if least is not None else min(Decimal(0), greatest or Decimal(0))
        high = greatest if greatest is not None else low + 100
        number = low + (high - low) * mean_level(levels) / 100
        if (reference := cls._reference(settings)) is not None:
            number = reference * Decimal(2 ** ((mean_level(levels) - 50) / _DOUBLES_IN))
            number = max(low, min(number, LARGEST if greatest is None else greatest))
        is_whole = NumberOptions.value_of(settings, "is_whole")
        return [str(number.to_integral_value() if is_whole else round(number, 6))]
