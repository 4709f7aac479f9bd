"""The contract of a format: how a field or an output is read from a file, shown, degraded and given to a judge."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar, Literal, Protocol, TypeVar

from numpy.random import Generator

from campaigns.contracts.chat import Speaker
from campaigns.design.degradation import STEPS_TO_20, RunLengths, degrade
from campaigns.design.errors import DesignError
from campaigns.design.prose import degrade_stretches, without_marks
from campaigns.design.seeds import draw_below
from campaigns.design.style import count_words
from campaigns.design.words import seconds_to_read

Made = TypeVar("Made")
Unit = TypeVar("Unit")
_ATTEMPTS, _ONE_OF = 8, 3


class Files(Protocol):
    """The files of a campaign whose values name some: those that come with a table, by name, and those kept, by digest.

    All may raise OSError where the storage cannot be read.
    """

    def take(self, name: str, make: Callable[[bytes], Made]) -> Made:
        """Return what `make` makes of a file that came with the table, once for each; `name` as a cell has it.

        Raises DomainError `no_file` if there is none, or several that may be meant, and what `make` raises.
        """

    def note(self, text: str) -> None:
        """Add a notice about the file that is being taken to those of the import: “{file}: {text}”."""

    def keep(self, content: bytes) -> str:
        """Keep a file with the campaign; return its SHA-256, 64 hexadecimal digits. It is stored with what names it."""

    def read(self, digest: str) -> bytes:
        """Return a file that is kept; raise FileNotFoundError if there is none."""


@dataclass(frozen=True)
class ShownFile:
    """A file that is shown: its digest, width and height in pixels; `alt` is its description, "" without one."""

    digest: str
    width: int
    height: int
    alt: str = ""


@dataclass(frozen=True)
class Block:
    """One text on a worker's page; `highlights` are starts and ends in `text`. `is_output`: it is what is rated.

    A turn of a dialogue is a block of its own: `speaker` says it, and the turns of one `dialogue`, named by its
    heading, follow one another. Of what a file calls the speakers nothing is shown. `format` renders it, if it has
    markup. `is_drawn`: it is shown as an image of text. `key`: its place in a HIT, "" where that does not matter.
    `fold`: it is folded under these words, open at first if `is_open`. `turn`: the number of the reply or step that
    ends with it, of those that criteria may be asked of (`ContentFormat.turns`), 0 for none.
    `file`: the file that is shown; `text` is then its description, "" without one.
    """

    name: str
    label: str
    text: str
    highlights: tuple[tuple[int, int], ...] = ()
    is_output: bool = False
    speaker: Speaker | None = None
    dialogue: str = ""
    format: str = "text"
    is_drawn: bool = True
    key: str = ""
    fold: str = ""
    is_open: bool = False
    turn: int = 0
    file: ShownFile | None = None


@dataclass(frozen=True)
class Place:
    """Where something is shown: its name and heading, and what is highlighted in it.

    `is_output`: it is rated. `is_drawn`: as an image of text, if its format can be. `before`: the blocks above it.
    """

    name: str
    label: str
    is_output: bool = False
    is_drawn: bool = True
    highlights: tuple[tuple[int, int], ...] = ()
    before: Sequence[Block] = ()


@dataclass(frozen=True)
class Degradation:
    """What an output is degraded with: chance, texts of other sources, and the campaign's files where values name some.

    `draw` returns all of these texts, in an order of chance; it raises DomainError `no_donor` if there are none.
    """

    rng: Generator
    draw: Callable[[], Sequence[str]]
    files: Files | None = None

    def replaced(self, text: str, lengths: RunLengths) -> str:
        """Return the text with a run of words replaced by words of another text; raise DesignError."""
        first, *further = self.draw()
        return degrade(text, first, self.rng, lengths, further_donors=further)

    def replaced_in_markup(
        self,
        text: str,
        stretches: Sequence[tuple[int, int]],
        lengths: RunLengths,
        words_of: Callable[[str], str],
        structure_of: Callable[[str], object],
    ) -> str:
        """Return the text with words of its stretches replaced by words of another text, its structure as it was.

        `stretches`: starts and ends of its prose, ascending. Raises DesignError, and DomainError as `draw` does.
        """
        structure = structure_of(text)
        donors = Degradation(self.rng, lambda: [without_marks(words_of(each)) for each in self.draw()])
        for _ in range(_ATTEMPTS):
            worse = degrade_stretches(text, stretches, lambda prose: donors.replaced(prose, lengths))
            if structure_of(worse) == structure:
                return worse
        raise DesignError("degraded_equals_original", "no words of other texts leave its markup as it is")

    def exchanged(
        self, units: Sequence[Unit], places: Sequence[int], replaced: Callable[[Unit, str], Unit | None]
    ) -> list[Unit]:
        """Return units, such as messages, of which one in three of those at `places`, at least one, is another.

        `replaced` returns a unit with another text in it, None if it would read the same. No text is used twice unless
        there are too few. Raises DesignError where no text makes another unit, or nothing has a place, and DomainError
        as `draw` does.
        """
        if not places:
            raise DesignError("nothing_to_degrade", "nothing in it is such that another could take its place")
        changed, left, donors = list(units), list(places), list(self.draw())
        for _ in range(ceil(len(places) / _ONE_OF)):
            place = left.pop(draw_below(len(left), self.rng))
            made = ((text, unit) for text in donors if (unit := replaced(changed[place], text)) is not None)
            found = next(made, None)
            if found is None:
                raise DesignError("degraded_equals_original", "all texts that could take its place read like its own")
            text, changed[place] = found
            donors.remove(text)
            donors.append(text)
        return changed


class ContentFormat:
    """What a field of a source, or an output, is: a text, a whole dialogue, Markdown …

    Values are kept as text, in one form: that which `read` returns. What a method does not override is as for a text.

    `is_for_fields`, `is_for_outputs`: where it may be. `is_drawable`: workers may be shown it as an image of text.
    `is_one_text`: metrics may compare it with a reference, word by word. `is_shared`: several systems have an output of
    it for one source (a whole dialogue is with one system). `has_lists`: cells of files may be lists, which are read as
    their JSON. `of_dialogue`: "whole" of transcripts of a person and a chatbot, "reply" of what ends the one above it.
    `has_parts`: it is made of several texts, each of which gives words to degraded outputs. `n_words`: how many words
    one is assumed to have before data are there. `lengths`: of the runs of words that are replaced; `degraded` says,
    after “a degraded output has”, what else. `spans`: what marked characters count in. `counted`: what `style_of` says.
    `turn`: what one of its `turns` is called, "" if it has none. `times_as_long`: as a text, it may be at most, since
    what is folded and not drawn costs less. `style`, `script`: static files of its own, which only pages that show it
    load. `hint`: how a cell of a file spells it, in HTML, if that is not plain.
    """

    do_not_call_in_templates: ClassVar[bool] = True
    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    is_for_fields: ClassVar[bool] = True
    is_for_outputs: ClassVar[bool] = True
    is_drawable: ClassVar[bool] = False
    is_one_text: ClassVar[bool] = True
    is_shared: ClassVar[bool] = True
    has_lists: ClassVar[bool] = False
    of_dialogue: ClassVar[Literal["", "whole", "reply"]] = ""
    has_parts: ClassVar[bool] = False
    n_words: ClassVar[int] = 50
    lengths: ClassVar[RunLengths] = STEPS_TO_20
    degraded: ClassVar[str] = "a run of words replaced by words of another text"
    spans: ClassVar[str] = "characters of the text as it is written"
    counted: ClassVar[tuple[str, ...]] = ("words",)
    turn: ClassVar[str] = ""
    times_as_long: ClassVar[int] = 1
    style: ClassVar[str] = ""
    script: ClassVar[str] = ""
    hint: ClassVar[str] = ""

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return what is kept of a cell that is not empty; `read` of that is the same again.

        Raises DomainError `bad_<slug>` with what is wrong, in words that follow “cannot be read:”, without a full stop.
        """
        return text

    @classmethod
    def blocks(cls, value: str, place: Place) -> list[Block]:
        """Return what workers are shown of a value, and judges are given the texts of."""
        return [
            Block(
                place.name,
                place.label,
                value,
                place.highlights,
                place.is_output,
                format=cls.slug,
                is_drawn=place.is_drawn and cls.is_drawable,
            )
        ]

    @classmethod
    def html(cls, text: str) -> str:
        """Return a block's text as HTML that cannot do harm; "" where it is shown as it is written.

        It must not tell more than what is read: no comment, no class that depends on a system. A format that has texts
        of another one, as messages in Markdown, gives their blocks that `format` (`campaigns.formats.first_of`).
        """
        return ""

    @classmethod
    def turns(cls, value: str) -> list[str]:
        """Return the replies or steps that criteria may be asked of; the last block of each has its number, from 1."""
        return []

    @classmethod
    def words(cls, value: str) -> str:
        """Return what is read of a value, without markup: what takes time, and what metrics compare."""
        return value

    @classmethod
    def seconds(cls, value: str) -> float:
        """Return how long a careful person takes to take it in."""
        return seconds_to_read(cls.words(value))

    @classmethod
    def style_of(cls, value: str) -> dict[str, float]:
        """Return how long a value is and how it is set, by the names in `counted`.

        Votes are adjusted for it, and systems compared by its groups.
        """
        return {"words": float(count_words(cls.words(value)))}

    @classmethod
    def parts(cls, value: str) -> list[str]:
        """Return the texts that give words to degraded outputs; none where nothing can be degraded."""
        return [value] if value.strip() else []

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return a worse value that differs from this one; raise DesignError or DomainError where there is none."""
        return by.replaced(value, cls.lengths)

    @classmethod
    def example(cls, text: str) -> str:
        """Return a value that says this, for files that show what can be imported and for simulated campaigns."""
        return text


class FileFormat(ContentFormat, ABC):
    """A format whose values name files, such as pictures.

    A cell has the name of a file that was uploaded with the table (`owns`, `read_file`), and each worker is `served`
    another file of the same look, in one of the `widths`, in pixels.
    """

    widths: ClassVar[tuple[int, ...]]

    @classmethod
    @abstractmethod
    def owns(cls, head: bytes) -> bool:
        """Tell by its first 512 bytes whether a file may be one of its values, or was meant to be."""

    @classmethod
    @abstractmethod
    def read_file(cls, text: str, files: Files, *, alt: str = "") -> str:
        """Return what is kept of a cell that names a file; `alt` describes that file. Raises as `read` does."""

    @classmethod
    @abstractmethod
    def served(cls, content: bytes, width: int, salt: bytes) -> tuple[bytes, str]:
        """Return a kept file as one worker is sent it, and its type: with another salt other bytes of another digest.

        Their number must say nothing that is not seen.
        """

    @classmethod
    @abstractmethod
    def attached(cls, content: bytes) -> tuple[bytes, str]:
        """Return a kept file as a judge is sent it beside the prompt, and its type."""

    @classmethod
    @abstractmethod
    def n_tokens(cls, file: ShownFile) -> int:
        """Return about how many tokens of a judge's prompt a file takes."""

    @classmethod
    @abstractmethod
    def file_html(cls, block: Block, addresses: Sequence[tuple[int, str]], *, is_text: bool = False) -> str:
        """Return the HTML that shows a file from its addresses, by width; `is_text`: what describes it, too."""
