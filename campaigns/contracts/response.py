"""The contract of a response kind: how a worker answers a criterion, and what an answer is worth."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm
from evalsite.lib.errors import DomainError

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Subject:
    """What a criterion is asked of: outputs as shown, in the order shown, and what the first was made from.

    `n_turns`: how many replies or steps it has, of a page with one output, where a response kind `needs_turns`.
    """

    outputs: tuple[str, ...] = ()
    source: Mapping[str, str] = field(default_factory=dict)
    n_turns: int = 0


NOTHING = Subject()


class Comparison(NamedTuple):
    """What an answer says of the outputs that it compares: their ranks in the order of the page, 1 for the best.

    Equal ranks are ties. `strength`: how much better the first one is, if that was asked. `is_neither_good`: of a tie.
    """

    ranks: tuple[int, ...]
    strength: str = ""
    is_neither_good: bool = False


class BadAnswerError(DomainError):
    """An answer that the page cannot have sent, such as a score beyond the end of a scale. Code `bad_answer`."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_answer", message)


class ResponseKind(ABC):
    """One way to answer a criterion: a slider, labelled points, a number, options, a text.

    `options` are its settings, as a form; settings may lack some, which then have their defaults. `template` draws it
    on a worker's page: its inputs have the name `name`, and it has what `shown_with` returns as `shown`.
    `needs_script`: without the page's script its inputs do nothing. `script`, `style`: static files of its own, which
    only pages that ask for it load (static/js/answers.js). `ask` says what somebody has to do who has not answered.
    `is_written`: answers are in the worker's own words, which may be personal data. `instrument` and `elicitation`
    answer questions 4.3.5 and 4.3.8 of the Human Evaluation Datasheet (HEDS 3.0). `table` names the table of responses
    that its answers are rows of (`annotation.export.tables.TABLES`), `also_in` others where they may be, too.

    `compares`: the fewest and the most outputs that it compares; None if it is about one, or all as a whole.
    `is_of_text`: it is about the text of one output, so of nothing where several are shown or chats have none.
    `needs_turns`: it is about single replies or steps of an output, so the subject says how many there are.
    `marks_text`: workers mark what they judge, so texts are shown as text; the template has the `subject`.
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
    table: ClassVar[str] = "scores"
    also_in: ClassVar[tuple[str, ...]] = ()
    needs_script: ClassVar[bool] = False
    script: ClassVar[str] = ""
    style: ClassVar[str] = ""
    compares: ClassVar[tuple[int, int] | None] = None
    is_of_text: ClassVar[bool] = False
    needs_turns: ClassVar[bool] = False
    marks_text: ClassVar[bool] = False
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
    def needs_subject(cls, settings: Settings) -> bool:
        """Tell whether the template needs what the criterion is asked of, as `subject`; by default to mark it."""
        return cls.marks_text

    @classmethod
    def shown_with(cls, settings: Settings, subject: Subject) -> Any:
        """Return what the template needs; by default `shown`. `subject` is `NOTHING` unless it `needs_subject`."""
        return cls.shown(settings)

    @classmethod
    def marked_texts(cls, settings: Settings, subject: Subject) -> dict[str, str]:
        """Return the texts in which workers mark errors, by what values call their sides; none by default."""
        return {}

    @classmethod
    @abstractmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> Any:
        """Return the canonical value, as JSON, of what a form sent about a subject; None if nothing was answered.

        Raises BadAnswerError.
        """

    @classmethod
    def sent(cls, value: Any) -> list[str]:
        """Return what a form sends for a value."""
        return [str(each) for each in value] if isinstance(value, list) else [str(value)]

    @classmethod
    def without_words(cls, value: Any) -> Any:
        """Return a value of a kind that `is_written` without the worker's own words."""
        return "[erased]"

    @classmethod
    def is_in(cls, table: str, settings: Settings) -> bool:
        """Tell whether its answers, by these settings, may be rows of a table."""
        return table in (cls.table, *cls.also_in)

    @classmethod
    def cells(cls, value: Any, settings: Settings, subject: Subject) -> tuple[Any, ...] | None:
        """Return what the row of an answer has in its own columns of `table`; None for no row."""
        return (value,)

    @classmethod
    def score(cls, value: Any, settings: Settings) -> float | None:
        """Return the number that analysis takes a value for; None where it is no number."""
        return None

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float] | None:
        """Return the least and the greatest score; None where values have no score, or one without bounds."""
        return None

    @classmethod
    def levels(cls, settings: Settings) -> Mapping[int, str] | None:
        """Return what each score is called, lowest first, where a worker chooses among a few; else None."""
        return None

    @classmethod
    def offered(cls, settings: Settings) -> list[str] | None:
        """Return what may be chosen, in order, where these are options that all outputs have; else None."""
        return None

    @classmethod
    def is_testable(cls, settings: Settings) -> bool:
        """Tell whether a worker test can say that a degraded output was answered worse: by scores or comparisons."""
        return cls.bounds(settings) is not None or cls.compares is not None

    @classmethod
    def ends(cls, settings: Settings) -> tuple[str, str] | None:
        """Return what the least and the greatest score are called; None where there are no bounds."""
        return None

    @classmethod
    def compared(cls, value: Any, n_outputs: int) -> Comparison | None:
        """Return what a value says of the outputs of its page; None of kinds that compare none."""
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
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return what a form sends for a worker who would put sliders at these `levels`, 0–100, one for each output."""


def mean_level(levels: Sequence[int]) -> int:
    """Return where one slider would be that is about all outputs."""
    return round(sum(levels) / len(levels))


def step_of(levels: Sequence[int], n_steps: int) -> int:
    """Return which of so many equal parts of a slider one would be in that is about all outputs, from 0."""
    return min(mean_level(levels) * n_steps // 100, n_steps - 1)


def quoted(words: Iterable[str]) -> str:
    """Return words of a page in a row, each in quotation marks."""
    return ", ".join(f"“{each}”" for each in words)


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


def place_of(text: str, subject: Subject) -> int:
    """Return the place on the page that a form sent, from 1; raise BadAnswerError if no output is shown there."""
    n = len(subject.outputs)
    if not (len(text) <= 2 and text.isascii() and text.isdigit() and 1 <= int(text) <= n):
        raise BadAnswerError(f"There is no output “{text[:20]}” on this page, only 1 to {n}.")
    return int(text)


def ordered_by_level(levels: Sequence[int], rng: Generator) -> list[int]:
    """Return the places of outputs, from 1, the highest level first; chance decides between equal levels."""
    chance = rng.permutation(len(levels))
    return sorted(range(1, len(levels) + 1), key=lambda place: (-levels[place - 1], chance[place - 1]))
