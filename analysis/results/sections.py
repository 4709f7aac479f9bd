"""What a result is made of: sections with a finding in words, tables and figures. Pure: numbers without formats.

Methods and questions make sections. `analysis.results.exports` writes any section as CSV, LaTeX and text, and
`templates/analysis/section.html` shows it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from campaigns.contracts.result_pages import OWN_PAGE
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import load, name_of
from evalsite.lib.typed_json import from_json, to_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


class Output(Flag):
    """Where a table is found."""

    FILES = auto()  # CSV and LaTeX, beside the report and in the replication package
    TERMINAL = auto()  # what `manage.py analyse` prints
    PAGE = auto()
    SHOWN = FILES | PAGE
    PRINTED = FILES | TERMINAL
    EVERYWHERE = FILES | TERMINAL | PAGE


class Range(NamedTuple):
    """Two numbers that a page shows in one cell; both are None where they are not known."""

    low: float | None
    high: float | None


Cell = str | int | float | Range | None


@dataclass(frozen=True)
class Column:
    """A column: its heading, how many decimals its floats have, whether they are p-values or its cells name workers."""

    name: str
    decimals: int = 3
    is_p: bool = False
    hint: str = ""
    is_worker: bool = False


def in_percent(share: float | None) -> float | None:
    """Return a share of 1 as a number of per cent; None stays None."""
    return None if share is None else 100 * share


@dataclass(frozen=True)
class Table:
    """A table: its file name, what it is called, caption, columns, rows, and the rows under which a rule runs.

    The column at the place `row_name` names the row. None is a dash.
    """

    name: str
    title: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    rules: frozenset[int] = frozenset()
    output: Output = Output.EVERYWHERE
    row_name: int = 0

    @property
    def words(self) -> frozenset[int]:
        """The places of the columns that have words."""
        return frozenset(
            place
            for row in self.rows
            for place, cell in enumerate(row)
            if isinstance(cell, str) and any(map(str.isalpha, cell))
        )


def _luminance(colour: tuple[float, float, float]) -> float:
    """Return the relative luminance of WCAG 2.2 of a colour."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


class Theme(NamedTuple):
    """Colours of a figure: ink, faint lines, paper, the accent of what passes and the colour of what fails."""

    ink: str
    faint: str
    paper: str
    accent: str
    warn: str

    def text_on(self, colour: str | tuple[float, float, float, float]) -> str:
        """Return the ink or the paper, whichever is read more easily on a colour, a name or RGB from 0 to 1."""
        from matplotlib.colors import to_rgb

        def contrast(text: str) -> float:
            low, high = sorted(map(_luminance, (to_rgb(colour), to_rgb(text))))
            return (high + 0.05) / (low + 0.05)

        return max(self.ink, self.paper, key=contrast)

    def canvas(self, width: float, height: float) -> "tuple[Drawing, Axes]":
        """Return an empty figure of so many inches, in these colours."""
        figure, [axes] = self.grid(1, width, height)
        return figure, axes

    def grid(self, n: int, width: float, height: float) -> "tuple[Drawing, list[Axes]]":
        """Return a figure of n panels, three in a row, each of so many inches, in these colours."""
        from analysis.results.figures import grid  # it imports matplotlib

        shape = _shape(n)
        size = shape[1] * width, shape[0] * height
        return grid(n, shape, size, ink=self.ink, faint=self.faint, paper=self.paper)


def _shape(n: int) -> tuple[int, int]:
    """Return in how many rows and columns n panels stand."""
    return -(-n // _PANELS_IN_ROW), min(n, _PANELS_IN_ROW)


class _Measured(Exception):  # noqa: N818 (no error)
    """The inches of a figure that was about to be drawn."""


class _Ruler(Theme):
    """A theme that draws nothing: it says how large the figure would be."""

    def grid(self, n: int, width: float, height: float) -> "tuple[Drawing, list[Axes]]":
        """Raise the size of the figure."""
        n_rows, n_columns = _shape(n)
        raise _Measured(n_columns * width, n_rows * height)


_PANELS_IN_ROW = 3
_CSS_PIXELS = 96
COLUMN_IN = 4.6
"""Width in inches of a figure for a column of a paper: at 8.4 cm, texts of 8.5 points are printed with six or more."""
LIGHT = Theme(ink="#1c2126", faint="#dedad1", paper="#ffffff", accent="#0f5f6b", warn="#a3271f")
DARK = Theme(ink="#e7e5e0", faint="#373d44", paper="#1c2024", accent="#74c5cf", warn="#f4998f")
_RULER = _Ruler(*LIGHT)


@dataclass(frozen=True)
class Picture:
    """What a figure shows, as data: the function that draws it, and what this takes, by the names of its parameters.

    The function is named by its place, so one that moves or goes has its former name in `_MOVED`.
    """

    drawn_by: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, draw: "Callable[..., Drawing]", *args: object, **options: object) -> "Picture":
        """Return what a function draws of these arguments, which are stored as JSON, and of a `theme`."""
        bound = inspect.signature(draw).bind_partial(*args, **options)
        return cls(name_of(f"{draw.__module__}.{draw.__qualname__}"), to_json(bound.arguments))

    def __call__(self, theme: Theme) -> "Drawing":
        """Return the drawing in the colours of a theme; raise DomainError unless the function is one that draws."""
        try:
            draw = load(_MOVED.get(self.drawn_by, self.drawn_by))
            taken = inspect.signature(draw).parameters
            kinds = {parameter: taken[parameter].annotation for parameter in (*self.values, "theme")}
        except (ImportError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise DomainError("unreadable_result", f"{self.drawn_by} draws no such figure.") from error
        values = {parameter: from_json(value, kinds[parameter]) for parameter, value in self.values.items()}
        drawing: Drawing = draw(**values, theme=theme)
        return drawing


_MOVED = {"analysis.methods.preference_sections.draw_matrix": "analysis.methods.preference.draw_matrix"}
"""Where functions are now that results of before name otherwise."""


@dataclass(frozen=True)
class Figure:
    """A figure: its file name, what it is called, what draws it, and what it shows in words."""

    name: str
    title: str
    draw: Picture
    alt: str
    caption: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """Its width and height on a page, in pixels, without drawing it."""
        try:
            self.draw(_RULER)
        except _Measured as measured:
            width, height = measured.args
            return round(_CSS_PIXELS * width), round(_CSS_PIXELS * height)
        raise AssertionError(f"“{self.name}” is drawn on no grid of its theme.")


@dataclass(frozen=True)
class Section:
    """A result.

    `page`: the slug of the page that shows it (`RESULT_PAGES`), by default one of its own; "" if none does.
    """

    slug: str
    title: str
    finding: str = ""
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    page: str = OWN_PAGE

    @property
    def is_empty(self) -> bool:
        """Whether a page has nothing to show of it."""
        return not (self.finding or self.tables_shown or self.figures)

    @property
    def tables_shown(self) -> list[Table]:
        """The tables that a page shows."""
        return [table for table in self.tables if Output.PAGE in table.output]

    @property
    def is_beside(self) -> bool:
        """Whether a page has its one figure beside its one table, which is narrow."""
        shown = self.tables_shown
        return len(shown) == len(self.figures) == 1 and len(shown[0].columns) <= 2
