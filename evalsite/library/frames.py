"""Tables and figures of results, as notebooks show them and other libraries take them."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from analysis.results import exports
from analysis.results.sections import LIGHT, Cell, Column, Figure, Range, Table


class Frame:
    """A table of a result: `columns`, `rows` and a `caption`; a missing value is None.

    >>> frame = Frame.of("scores", {"system": ["a", "b"], "score": [0.5, None]})
    >>> frame["score"]
    [0.5, None]
    >>> print(frame.to_markdown())
    | system | score |
    |---|---|
    | a | 0.500 |
    | b |  |
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    @classmethod
    def of(cls, name: str, columns: Mapping[str, Sequence[Cell]], caption: str = "") -> "Frame":
        """Return a table of columns that are equally long."""
        rows = list(zip(*columns.values(), strict=True))
        return cls(Table(name, name, caption, [Column(column) for column in columns], rows))

    @property
    def name(self) -> str:
        """The name of its files."""
        return self._table.name

    @property
    def caption(self) -> str:
        """What it shows."""
        return self._table.caption

    @property
    def columns(self) -> list[str]:
        """The headings."""
        return [column.name for column in self._table.columns]

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The rows, a value for each column."""
        return [tuple(row) for row in self._table.rows]

    def __len__(self) -> int:
        return len(self._table.rows)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.to_dicts())

    def __getitem__(self, column: str) -> list[Cell]:
        """Return the values of a column; raise KeyError with the columns there are."""
        if column not in self.columns:
            raise KeyError(f"There is no column “{column}”. The columns are: {', '.join(self.columns)}.")
        place = self.columns.index(column)
        return [row[place] for row in self._table.rows]

    def __repr__(self) -> str:
        return exports.to_text(self._table)

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        cells = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        heads = "".join(f"<th>{escape(name)}</th>" for name in head)
        return (
            f"<table><caption>{escape(self.caption)}</caption><thead><tr>{heads}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )

    def _cells(self) -> list[list[str]]:
        """Return the headings, then the rows, as text."""
        return [self.columns, *exports.formatted(self._table, missing="")]

    def to_dicts(self) -> list[dict[str, Cell]]:
        """Return the rows, each by the headings."""
        return [dict(zip(self.columns, row, strict=True)) for row in self._table.rows]

    def _values(self) -> dict[str, list[Any]]:
        """Return the columns, a range of two numbers as a column for either."""
        values: dict[str, list[Any]] = {}
        for name in self.columns:
            cells = self[name]
            if any(isinstance(cell, Range) for cell in cells):
                ends = [cell if isinstance(cell, Range) else Range(None, None) for cell in cells]
                values |= {f"{name} (low)": [end.low for end in ends], f"{name} (high)": [end.high for end in ends]}
            elif any(isinstance(cell, str) for cell in cells):
                values[name] = [cell if cell is None else str(cell) for cell in cells]
            else:  # of whole numbers and others, all are such
                is_float = any(isinstance(cell, float) for cell in cells)
                values[name] = [float(c) if is_float and isinstance(c, int) else c for c in cells]
        return values

    def to_arrow(self) -> Any:
        """Return a table of PyArrow, numbers in full precision."""
        import pyarrow

        return pyarrow.table(self._values())

    def to_pandas(self) -> Any:
        """Return a DataFrame of pandas, which must be installed."""
        import pandas

        return pandas.DataFrame(self._values())

    def to_polars(self) -> Any:
        """Return a DataFrame of polars, which must be installed."""
        import polars

        return polars.DataFrame(self._values())

    def to_csv(self) -> str:
        """Return it as CSV, numbers in full precision."""
        return exports.to_csv(self._table)

    def to_latex(self) -> str:
        """Return it as a table of LaTeX for the package booktabs."""
        return exports.to_latex(self._table)

    def to_markdown(self) -> str:
        """Return it as a table of Markdown."""
        head, *rows = [[cell.replace("|", r"\|") for cell in row] for row in self._cells()]
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, *rows)).replace(
            "\n", f"\n|{'---|' * len(head)}\n", 1
        )


class Drawing:
    """A figure of a result: it shows itself in a notebook. `texts` has every character that it draws."""

    def __init__(self, figure: Figure, texts: str) -> None:
        self._figure, self._texts = figure, texts

    @property
    def name(self) -> str:
        """The name of its files."""
        return self._figure.name

    def __repr__(self) -> str:
        return self._figure.alt

    def _repr_svg_(self) -> str:
        with TemporaryDirectory() as folder:
            return self.save(Path(folder) / "figure.svg").read_text("utf-8")

    def save(self, path: str | Path) -> Path:
        """Draw it into a file, SVG, PDF or PNG by its suffix; return the path."""
        path = Path(path)
        path.write_bytes(exports.figure_bytes(self._figure, path.suffix, LIGHT, texts=self._texts))
        return path
