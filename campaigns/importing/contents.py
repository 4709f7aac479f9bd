"""What a file holds once it is read and checked: sources, systems and outputs, and HITs where they came with it."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from campaigns.blocks import find_highlights
from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Kind
from campaigns.formats import get_format
from evalsite.lib.env import ask_to_set
from evalsite.lib.words import counted

Codes = NDArray[np.int64]
_SHOWN = 5
_ROUNDED_TO = 10_000
LONGEST_TEXT = 20_000
"""Characters of a field or an output, unless a server's settings say otherwise. Drawing grows with them: with a text of
20,000 a page takes 0.5 s, and its images 0.6 s and 90 MB; with one of 200,000 it takes 8 s, 7 s and 330 MB."""


def too_long(label: str, n: int, longest: int, times: int = 1) -> str:
    """Say that a text has more characters than workers can be shown: so many times as a text may have."""
    enough = -(-n // times // _ROUNDED_TO) * _ROUNDED_TO  # one value for texts of about the same length
    return (
        f"the {label} has {n:,} characters, and at most {longest * times:,} are shown to workers. Shorten it, or leave "
        f"it out. Or: {ask_to_set('LONGEST_TEXT', str(enough))}"
    )


@dataclass(frozen=True)
class SourceText:
    """A source's name and its fields; an empty field is left out.

    `document`: the document that it is of, "" if none; a document's sources are in the order of the file.
    `attributes` say more of it, by name, and are not shown; none is empty.
    """

    name: str
    fields: dict[str, str]
    document: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Existing:
    """What a campaign holds already, to which a file is added."""

    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of each source, by name
    outputs: frozenset[tuple[str, str]] = frozenset()  # names of source and system
    documents: Mapping[str, str] = field(default_factory=dict)  # of each source that is of one, by name
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of each source, by name


@dataclass(frozen=True)
class Notice:
    """Something a person should know about a file that was imported."""

    code: str
    message: str

    def to_json(self) -> dict[str, str]:
        """Return the notice as a JSON object."""
        return {"code": self.code, "message": self.message}


@dataclass(frozen=True)
class Contents:
    """Sources and outputs. Output i is `texts[i]`, of system `system[i]` for source `source[i]`.

    `degraded`: the degraded version of each output that the file has, "" where there is none; empty without any.
    """

    sources: list[SourceText]
    systems: list[str]
    source: Codes
    system: Codes
    texts: list[str]
    notices: tuple[Notice, ...] = ()
    degraded: Sequence[str] = ()

    def outputs(self) -> Iterator[tuple[int, int, str]]:
        """Yield source, system and text of each output, in the order of the file."""
        return zip(self.source.tolist(), self.system.tolist(), self.texts, strict=True)


@dataclass(frozen=True)
class GivenItem:
    """One position of a HIT that came with a file. `output` is an index into the contents' outputs.

    A tutorial item has no output, and `fields` of its own.
    """

    kind: Kind
    output: int | None
    text: str
    twin_position: int | None = None
    fields: Mapping[str, str] | None = None


@dataclass(frozen=True)
class GivenHit:
    """A HIT that came with a file: its items in order, and how many workers are asked for."""

    items: tuple[GivenItem, ...]
    n_workers: int = 1

    def count(self, kind: Kind) -> int:
        """Return how many items are of a kind."""
        return sum(item.kind is kind for item in self.items)


def notices_of(contents: Contents, screen: Screen, *, is_sample: bool = False) -> list[Notice]:
    """Return what a person should know about sources and outputs in which nothing is wrong.

    `is_sample`: the outputs are those that HITs came with, so that nobody expects one of each system for each source.
    """
    found = [*contents.notices]
    for each in screen.fields:
        if each.marks and (n_unmarked := _count_unmarked(contents.sources, each.name, each.marks)):
            marked = next((other.label for other in screen.fields if other.name == each.marks), each.marks)
            found.append(
                Notice(
                    "unmarked",
                    f"{counted(n_unmarked, 'source')}: the {marked.lower()} does not occur in the "
                    f"{each.label.lower()}, so nothing is highlighted for workers.",
                )
            )
    if n_same := _count_same_as_reference(contents, screen.reference_field):
        found.append(
            Notice(
                "same_as_reference", f"{counted(n_same, 'output')} {_are(n_same)} identical to the source's reference."
            )
        )
    if alike := _look_alike(contents.systems):
        pairs = ", ".join(f"“{first}” and “{second}”" for first, second in alike[:_SHOWN])
        more = f" and {len(alike) - _SHOWN:,} more" if len(alike) > _SHOWN else ""
        found.append(
            Notice(
                "look_alike",
                f"Systems whose names differ in capitals, spaces or characters that look the same, and that are "
                f"compared as different systems: {pairs}{more}. If they are one, correct the file.",
            )
        )
    is_sample = is_sample or not get_format(screen.output_format).is_shared
    if lacking := [] if is_sample else _lacking(contents):
        names = ", ".join(f"“{name}” for {counted(n, 'source')}" for name, n in lacking[:_SHOWN])
        more = f" and {len(lacking) - _SHOWN:,} more" if len(lacking) > _SHOWN else ""
        found.append(
            Notice("incomplete", f"Not every system has an output for every source. There is none of: {names}{more}.")
        )
    return found


def _count_unmarked(sources: Sequence[SourceText], name: str, marks: str) -> int:
    """Count the sources that have a text to mark, other than yes or no, which does not occur in the field."""
    n = 0
    for source in sources:
        marked = source.fields.get(marks, "").strip()
        # Would it be marked if the field were it?
        if marked and find_highlights(marked, marked) and marked not in source.fields.get(name, ""):
            n += 1
    return n


def _count_same_as_reference(contents: Contents, reference_field: str) -> int:
    if not reference_field:
        return 0
    references = [source.fields.get(reference_field) for source in contents.sources]
    return sum(references[source] == text for source, _, text in contents.outputs())


def _look_alike(systems: Sequence[str]) -> list[tuple[str, str]]:
    """Return each system whose name reads like that of an earlier one, after it."""
    first: dict[str, str] = {}
    pairs = ((first.setdefault(_as_read(name), name), name) for name in systems)
    return [(earlier, name) for earlier, name in pairs if earlier != name]


def _as_read(name: str) -> str:
    """Return a name without capitals, spacing, characters that are not seen, and other ways of writing the same."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(char for char in folded if not char.isspace() and unicodedata.category(char) != "Cf")


def _lacking(contents: Contents) -> list[tuple[str, int]]:
    """Return the systems without an output for some of the sources, and for how many, the most lacking first."""
    counts = np.bincount(contents.system, minlength=len(contents.systems))
    lacking = Counter(dict(zip(contents.systems, (len(contents.sources) - counts).tolist(), strict=True)))
    return [(name, n) for name, n in lacking.most_common() if n]


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
