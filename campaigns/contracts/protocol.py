"""The contract of a protocol: a kind of evaluation, and what it presets for a campaign."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal

from campaigns.contracts.chat import ChatRules
from campaigns.design.composition import POOL_OF_100, Mix
from campaigns.design.paging import PageKind

Counted = Literal["outputs", "ratings"]
Written = Literal[
    "answers", "questions", "translations", "summaries", "texts", "documents", "replies", "dialogues", "chats",
    "traces", "code", "captions",
]  # fmt: skip
"""What systems wrote; with `chats` people talk with them."""
Task = Literal["slider", "points", "compare", "rank", "best-worst", "mark", "correct", "count", "choose", "chat"]
"""What people do with it."""


DEFAULT_KIND = "slider"
"""The response kind of a criterion of which nobody says another."""
DEFAULT_METHOD = "direct_assessment"
"""The response method where nobody says another."""


class Scope(StrEnum):
    """What a criterion is asked of, and how often."""

    OUTPUT = "output"  # each output
    TURN = "turn"  # each reply of a chatbot, or step of an agent, once the chat is over or below each
    PAGE = "page"  # all that is shown at once: the comparison, the document
    ASSIGNMENT = "assignment"  # the whole HIT, on its last page


@dataclass(frozen=True)
class CriterionSpec:
    """One statement or question, and how workers answer it: by a response kind with settings.

    `is_negative`: agreement is bad, so analysis reverses the score: 100 − x on a slider.
    `is_in_worker_test`: its ratings enter the worker test. `scope`: what it is asked of. `shown_on`: the name of an
    earlier criterion of the protocol; it is asked only if the answer to that one is among `shown_values`.
    `is_required`: an item cannot be left without an answer.
    """

    name: str
    statement: str
    is_negative: bool = False
    is_in_worker_test: bool = True
    response: str = DEFAULT_KIND
    settings: Mapping[str, Any] = field(default_factory=dict)
    scope: str = Scope.OUTPUT.value
    shown_on: str = ""
    shown_values: tuple[str, ...] = ()
    is_required: bool = True


@dataclass(frozen=True)
class Field:
    """One text of a source.

    `name` is its key in the imported data, `label` its heading on the worker's page. `marks` names the field whose
    text is highlighted in this one. A field that is not shown may still give references, donors or highlights.
    `format` is one of `campaigns.formats`. `is_drawn`: workers are shown an image of the text, if its format can be
    drawn: it cannot be copied, and neither bots nor screen readers read it.
    """

    name: str
    label: str
    is_required: bool = True
    is_shown: bool = True
    marks: str = ""
    format: str = "text"
    is_drawn: bool = True


@dataclass(frozen=True)
class Screen:
    """What a worker is shown: the fields of the source in order, then the output.

    `reference_field` is the field whose text replaces the output in reference items ("" where there are none).
    `donor_field` is the field of another source that gives the run of words of a degraded output ("": another
    source's output, of a human system if there is one). `output_format` and `is_output_drawn` are as of a field.
    """

    fields: tuple[Field, ...] = ()
    output_label: str = "Text"
    reference_field: str = ""
    donor_field: str = ""
    output_format: str = "text"
    is_output_drawn: bool = True

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the fields and of the output, each once."""
        return tuple(dict.fromkeys([*(field.format for field in self.fields), self.output_format]))

    @property
    def field_names(self) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(field.name for field in self.fields)

    def to_json(self) -> dict[str, Any]:
        """Return the screen as the JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Screen":
        """Return the screen that `to_json` gave."""
        fields = tuple(Field(**each) for each in data.get("fields", ()))
        return cls(**{**data, "fields": fields})


FEEDBACK_NOTE = """\
On the last page there is a box for feedback. Please write there if something was unclear or did not work.
"""
"""How the instructions of every protocol end."""


@dataclass(frozen=True)
class Paper:
    """The publication that a protocol follows: as it is cited, and its address."""

    cite: str
    url: str = ""


_BLANK = re.compile(r"\[\[[^\[\]\n]+\]\](?!\()")  # before a parenthesis it is a link, such as “[[1]](https://…)”


def find_blanks(text: str) -> list[str]:
    """Return the blanks that a researcher has to fill in, such as `[[target language]]`, in order and each once."""
    return list(dict.fromkeys(_BLANK.findall(text)))


class Protocol:
    """A kind of evaluation: its title and summary, and what a new campaign of it starts from.

    `instructions` are in Markdown, for people whose English is a second language. They say nothing that could make a
    worker look for quality-control items. What only the researcher knows is a blank (`find_blanks`).
    `chat`: workers chat with the systems themselves, by these rules, so that there are no outputs to import.
    `n_counts`: what n of a system means where the study prints it: rated outputs, or ratings, one a criterion.
    `page_kind`: what workers see at once, in comparisons `outputs_per_page`; the mix counts pages.
    `has_open_screen`: its campaigns may change which fields there are.
    `method`: how its responses are analysed (`analysis.methods`), with `method_options`.

    What helps to choose it; a protocol may do without: `writes`, what it is for (nothing: whatever systems wrote), and
    `tasks`, what people do; `good_for`, in one sentence; `paper`, which it follows; `names` by which people search for
    it, beside its title; `picture`, a static file of 480 × 300 pixels that shows the worker's page.
    """

    do_not_call_in_templates: ClassVar[bool] = True
    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    criteria: ClassVar[tuple[CriterionSpec, ...]]
    worker_test: ClassVar[str]  # of `campaigns.design.worker_test`
    alpha: ClassVar[float] = 0.05
    n_counts: ClassVar[Counted] = "outputs"
    screen: ClassVar[Screen] = Screen()
    page_kind: ClassVar[PageKind] = PageKind.OUTPUT
    outputs_per_page: ClassVar[int] = 2
    mix: ClassVar[Mix] = POOL_OF_100
    instructions: ClassVar[str] = ""
    chat: ClassVar[ChatRules | None] = None
    has_open_screen: ClassVar[bool] = False
    method: ClassVar[str] = DEFAULT_METHOD
    method_options: ClassVar[Mapping[str, Any]] = {}
    writes: ClassVar[tuple[Written, ...]] = ()
    tasks: ClassVar[tuple[Task, ...]] = ()
    good_for: ClassVar[str] = ""
    paper: ClassVar[Paper | None] = None
    names: ClassVar[tuple[str, ...]] = ()
    picture: ClassVar[str] = ""
