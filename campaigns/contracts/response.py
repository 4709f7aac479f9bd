"""The contract of a response kind: how a worker answers a criterion, and what an answer is worth."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm
from evalsite.lib.errors import DomainError

Settings = Mapping[str, Any]


class BadAnswerError(DomainError):
    """An answer that the page cannot have sent, such as a score beyond the end of a scale. Code `bad_answer`."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_answer", message)


class ResponseKind(ABC):
    """One way to answer a criterion: a slider, labelled points, a number, options, a text.

    `options` are its settings, as a form; settings may lack some, which then have their defaults. `template` draws it
    on a worker's page: its inputs have the name `name`, and it has what `shown` returns as `shown`. `needs_script`:
    without the page's script its inputs do nothing. `ask` says what somebody has to do who has not answered.
    `is_written`: answers are in the worker's own words, which may be personal data. `instrument` and `elicitation`
    answer questions 4.3.5 and 4.3.8 of the Human Evaluation Datasheet (HEDS 3.0).
    """

    do_not_call_in_templates: ClassVar[bool] = True
    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    ask: ClassVar[str]
    template: ClassVar[str]
    instrument: ClassVar[str]
    elicitation: ClassVar[str] = "1. (Dis)agreement with quality statement"
    is_written: ClassVar[bool] = False
    needs_script: ClassVar[bool] = False
    options: ClassVar[type[OptionsForm]] = OptionsForm

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Raise DomainError `bad_option` if these settings cannot be meant together."""
        cls.shown(settings)

    @classmethod
    def shown(cls, settings: Settings) -> Any:
        """Return what the template needs of the settings."""
        return settings

    @classmethod
    @abstractmethod
    def clean(cls, sent: Sequence[str], settings: Settings) -> Any:
        """Return the canonical value, as JSON, of what a form sent; None if nothing was answered.

        Raises BadAnswerError.
        """

    @classmethod
    def score(cls, value: Any, settings: Settings) -> float | None:
        """Return the number that analysis takes a value for; None where it is no number."""
        return None

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float] | None:
        """Return the least and the greatest score; None where values have no score, or one without bounds."""
        return None

    @classmethod
    def ends(cls, settings: Settings) -> tuple[str, str] | None:
        """Return what the least and the greatest score are called; None where there are no bounds."""
        return None

    @classmethod
    @abstractmethod
    def describe(cls, settings: Settings) -> str:
        """Return how workers answer, in words that fit after “by”: for papers and datasheets."""

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return how many different answers there are, and which, for a datasheet."""
        return "N/A", "N/A"

    @classmethod
    @abstractmethod
    def simulate(cls, level: int, settings: Settings, rng: Generator) -> list[str]:
        """Return what a form sends for a worker who would put a slider at `level`, 0–100."""


def lines_of(text: str) -> list[str]:
    """Return the lines of an option that is a list, without empty ones."""
    return [line for line in (each.strip() for each in text.splitlines()) if line]


def check_lines(label: str, lines: Sequence[str], *, fewest: int, most: int, longest: int) -> None:
    """Raise DomainError `bad_option` for too few or too many lines of an option, two of one text, or long ones."""
    if not fewest <= len(lines) <= most:
        raise DomainError("bad_option", f"{label}: write {fewest} to {most}, one a line; there are {len(lines)}.")
    if len(set(lines)) < len(lines):
        raise DomainError("bad_option", f"{label}: two are the same. Give each its own words.")
    if long := next((line for line in lines if len(line) > longest), ""):
        raise DomainError(
            "bad_option", f"{label}: “{long[:40]}…” has {len(long)} characters, at most {longest} are kept."
        )


def one_of(sent: Sequence[str]) -> str:
    """Return the one value that was sent, "" if none was; raise BadAnswerError if there are several."""
    if len(sent) > 1:
        raise BadAnswerError("One answer was expected, and several were sent.")
    return sent[0] if sent else ""
