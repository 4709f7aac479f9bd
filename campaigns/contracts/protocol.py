"""The contract of a protocol: a kind of evaluation, and what it presets for a campaign."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from campaigns.design.composition import POOL_OF_100, Mix

WorkerTest = Literal["paired-wilcoxon", "unpaired-ranksum", "paired-t"]


@dataclass(frozen=True)
class CriterionSpec:
    """One statement that a worker agrees with on a 0–100 slider.

    `is_negative`: agreement is bad, so analysis reverses the score to 100 − x.
    `is_in_worker_test`: its ratings enter the worker test.
    """

    name: str
    statement: str
    is_negative: bool = False
    is_in_worker_test: bool = True


@dataclass(frozen=True)
class Field:
    """One text of a source.

    `name` is its key in the imported data, `label` its heading on the worker's page. `marks` names the field whose
    text is highlighted in this one. A field that is not shown may still give references, donors or highlights.
    """

    name: str
    label: str
    is_required: bool = True
    is_shown: bool = True
    marks: str = ""


@dataclass(frozen=True)
class Screen:
    """What a worker is shown: the fields of the source in order, then the output.

    `reference_field` is the field whose text replaces the output in reference items ("" where there are none).
    `donor_field` is the field of another source that gives the run of words of a degraded output ("": another
    source's output, of a human system if there is one).
    """

    fields: tuple[Field, ...] = ()
    output_label: str = "Text"
    reference_field: str = ""
    donor_field: str = ""

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


@dataclass(frozen=True)
class Block:
    """One text on a worker's page; `highlights` are starts and ends in `text`. `is_output`: it is what is rated."""

    name: str
    label: str
    text: str
    highlights: tuple[tuple[int, int], ...] = field(default=())
    is_output: bool = False


def blocks_of(screen: Screen, fields: Mapping[str, str], text: str) -> list[Block]:
    """Return what a worker is shown of a source and of an output, its text as shown; empty fields are left out."""
    blocks = [
        Block(each.name, each.label, fields[each.name], find_highlights(fields[each.name], fields.get(each.marks, "")))
        for each in screen.fields
        if each.is_shown and fields.get(each.name)
    ]
    return [*blocks, Block("output", screen.output_label, text, is_output=True)]


def find_highlights(text: str, marked: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of the first place where `marked` stands in `text`, whole words if possible; or none.

    An answer of yes or no stands nowhere, or by chance: it is not marked (METHOD §2).
    """
    marked = marked.strip()
    if not marked or marked.casefold() in {"yes", "no"}:
        return ()
    found = [match.start() for match in re.finditer(f"(?={re.escape(marked)})", text)]
    whole = [start for start in found if _is_whole(text, start, start + len(marked))]
    return tuple((start, start + len(marked)) for start in (whole or found)[:1])


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether neither end of a stretch cuts a word."""
    return not (start and text[start - 1].isalnum()) and not text[end : end + 1].isalnum()


class Protocol:
    """A kind of evaluation: its title and summary, and what a new campaign of it starts from.

    `is_live`: workers meet the systems themselves, so that there are no outputs to import.
    `has_open_screen`: its campaigns may change which fields there are.
    """

    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    criteria: ClassVar[tuple[CriterionSpec, ...]]
    worker_test: ClassVar[WorkerTest]
    alpha: ClassVar[float] = 0.05
    screen: ClassVar[Screen] = Screen()
    mix: ClassVar[Mix] = POOL_OF_100
    instructions: ClassVar[str] = ""
    is_live: ClassVar[bool] = False
    has_open_screen: ClassVar[bool] = False
