"""The one way out: any section as text, CSV, LaTeX, XLSX and figures, and a report as a folder of them."""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from zlib import crc32

import msgspec

from analysis.results.reading import read_result
from analysis.results.result import Result
from analysis.results.sections import DARK, LIGHT, Cell, Figure, Output, Section, Table, Theme
from analysis.results.stored import document_of
from evalsite.lib.drafts import draft_of
from evalsite.lib.tables.writing import Sheet, sheet_names, write_csv, write_xlsx

REPORT, _FIGURES, _TABLES = "report.json", "figures", "tables"
WORKBOOK = "tables.xlsx"
"""The file that holds all tables of a report, in its folder."""
_drawing = Lock()  # matplotlib's settings are those of the whole process
# Below 255 bytes in any script, with what is added to it.
_LONGEST_NAME = 50
_ABOUT, _WIDEST = "About", 60
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "α": r"$\alpha$",
    }
)


def dump_json(document: Any) -> str:
    """Return JSON as every output of evalsite has it: the same document gives the same bytes."""
    # `json` indents in Python, which takes ten times as long.
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return msgspec.json.format(text, indent=2) + "\n"


def to_csv(table: Table) -> str:
    """Return a table as CSV, numbers in full precision."""
    stream = io.StringIO(newline="")
    write_csv(stream, [column.name for column in table.columns], table.rows)
    return stream.getvalue()


def to_text(table: Table) -> str:
    """Return a table in aligned columns, with a line under each cluster, and its caption."""
    cells = [[column.name for column in table.columns], *formatted(table, missing="–")]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.columns))]
    is_text = _text_columns(table)

    def line(row: list[str]) -> str:
        return "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, is_text, strict=True)
        ).rstrip()

    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    lines = [line(cells[0]), rule]
    for k, row in enumerate(cells[1:]):
        lines += [line(row), rule] if k in table.rules and k + 1 < len(table.rows) else [line(row)]
    return "\n".join([*lines, table.caption]) + "\n"


def to_latex(table: Table) -> str:
    """Return a table as a LaTeX table for the booktabs package."""
    columns = "".join("l" if is_text else "r" for is_text in _text_columns(table))
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(escape_latex(column.name) for column in table.columns) + r" \\", r"\midrule"]
    for k, row in enumerate(formatted(table, missing="--")):
        lines.append(" & ".join(map(escape_latex, row)) + r" \\")
        lines += [r"\midrule"] if k in table.rules and k + 1 < len(table.rows) else []
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{escape_latex(table.caption)}}}"]
    label = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "-" for c in table.name)
    return "\n".join([*lines, rf"\label{{tab:{label}}}", r"\end{table}"]) + "\n"


def to_xlsx(tables: Sequence[Table]) -> bytes:
    """Return a workbook of a sheet for each table, and a last one with what the sheets show: titles and captions."""
    names = sheet_names([*(table.title for table in tables), _ABOUT])
    about = [(name, table.title, table.caption) for name, table in zip(names, tables, strict=False)]
    stream = io.BytesIO()
    write_xlsx(
        stream,
        [
            *(
                Sheet(
                    table.title,
                    [column.name for column in table.columns],
                    table.rows,
                    formats=[f"0.{'0' * column.decimals}" for column in table.columns],
                    widths=_widths(table),
                )
                for table in tables
            ),
            Sheet(_ABOUT, ("Sheet", "Table", "Caption"), about, widths=(32, 32, 100)),
        ],
    )
    return stream.getvalue()


_WRITERS: dict[str, Callable[[Table], str | bytes]] = {
    ".csv": to_csv,
    ".tex": to_latex,
    ".xlsx": lambda table: to_xlsx([table]),
}


def _widths(table: Table) -> list[int]:
    """Return how wide each column of a sheet is, in characters."""
    cells = [[column.name for column in table.columns], *formatted(table, missing="")]
    return [min(max(len(row[k]) for row in cells), _WIDEST) + 2 for k in range(len(table.columns))]


def _text_columns(table: Table) -> list[bool]:
    return [all(isinstance(row[k], str) for row in table.rows) for k in range(len(table.columns))]


def formatted(table: Table, missing: str) -> list[list[str]]:
    """Return the cells of a table as text, floats with the decimals of their column."""

    def text(cell: Cell, decimals: int) -> str:
        return missing if cell is None else f"{cell:.{decimals}f}" if isinstance(cell, float) else str(cell)

    return [[text(c, column.decimals) for c, column in zip(row, table.columns, strict=True)] for row in table.rows]


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is; a number's hyphen becomes a minus."""
    if text.startswith("-") and text[1:].replace(".", "", 1).isdigit():
        return f"${text}$"
    return text.translate(_LATEX)


def table_files(result: Result) -> Sequence[tuple[str, str]]:
    """Return file name and content of every table of a result, as CSV and as LaTeX."""
    return [
        (f"{file_name(table.name)}{suffix}", content(table))
        for table in result.tables_in(Output.FILES)
        for suffix, content in ((".csv", to_csv), (".tex", to_latex))
    ]


def write_report(folder: Path, result: Result) -> None:
    """Write a result as JSON, and its tables as CSV and LaTeX, into a folder.

    The folder is made; files of the same names are replaced.
    """
    tables_folder = folder / _TABLES
    tables_folder.mkdir(parents=True, exist_ok=True)
    (folder / REPORT).write_text(dump_json(document_of(result)), encoding="utf-8")
    for name, content in table_files(result):
        (tables_folder / name).write_text(content, encoding="utf-8", newline="")


def write_figures(folder: Path, result: Result) -> None:
    """Write every figure of a result as SVG, PDF and PNG into a folder, as `write_report` does."""
    from analysis.results.figures import fonts_for, save  # it imports matplotlib

    (folder / _FIGURES).mkdir(parents=True, exist_ok=True)
    with fonts_for(dump_json(document_of(result))):
        for figure in result.figures:
            drawing = figure.draw(LIGHT)
            for name in figure_files(figure):
                save(drawing, folder / name)


def figure_files(figure: Figure) -> list[str]:
    """Return the names of a figure's files, for print and light pages, in the folder of its report."""
    return [f"{_FIGURES}/{file_name(figure.name)}{suffix}" for suffix in (".svg", ".pdf", ".png")]


def _drawn_files(figure: Figure) -> dict[str, Theme]:
    """Return the names of all files of a figure, that for dark pages among them, and in which colours each is."""
    return dict.fromkeys(figure_files(figure), LIGHT) | {f"{_FIGURES}/{file_name(figure.name)}-dark.svg": DARK}


def draw_figure(folder: Path, name: str) -> bool:
    """Draw a figure's file into the folder of its report, unless it is there; return False if there is no such figure.

    A name may also be that of the SVG for dark pages. Threads that want a figure at once wait for one of them; if
    another process draws it, too, one file replaces the other.
    """
    try:
        text = (folder / REPORT).read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    drawn: dict[str, tuple[Figure, Theme]] = {}
    for figure in read_result(json.loads(text)).figures:
        drawn |= {path: (figure, theme) for path, theme in _drawn_files(figure).items()}
    if name not in drawn:
        return False
    figure, theme = drawn[name]
    path = folder / name
    with _drawing:
        from analysis.results.figures import fonts_for, save  # it imports matplotlib, which takes half a second

        if not path.is_file():
            with draft_of(path) as draft, fonts_for(text):
                save(figure.draw(theme), draft)
    return True


def section_file(sections: Sequence[Section], name: str, *, texts: str = "") -> bytes | None:
    """Return a file of a table (CSV, LaTeX, XLSX) or of a figure (SVG, also for dark pages, PDF, PNG) of some sections.

    It is named as in the folder of a report (`tables/power.csv`) or without that folder (`power.csv`), and made anew
    each time; None if there is no such file. `texts` has every character of the figures that is not in their titles.
    """
    for section in sections:
        for table in section.tables:
            for path in table_paths(table):
                if Output.FILES in table.output and name in (path, Path(path).name):
                    content = _WRITERS[Path(path).suffix](table)
                    return content.encode() if isinstance(content, str) else content
        for figure in section.figures:
            for path, theme in _drawn_files(figure).items():
                if name in (path, Path(path).name):
                    return figure_bytes(figure, Path(path).suffix, theme, texts=figure.title + texts)
    return None


def figure_bytes(figure: Figure, suffix: str, theme: Theme, *, texts: str) -> bytes:
    """Return a drawn figure as SVG, PDF or PNG; `texts` has every character that it shows."""
    with _drawing, TemporaryDirectory() as folder:
        from analysis.results.figures import fonts_for, save  # it imports matplotlib, which takes half a second

        path = Path(folder) / f"figure{suffix}"
        with fonts_for(texts):
            save(figure.draw(theme), path)
        return path.read_bytes()


def table_paths(table: Table) -> list[str]:
    """Return the names of a table's files in the folder of its report."""
    return [f"{_TABLES}/{file_name(table.name)}{suffix}" for suffix in _WRITERS]


def make_workbook(folder: Path, name: str) -> bool:
    """Write a table, or all of them, as XLSX into the folder of its report; return False if there is no such file.

    It is made when it is first asked for, as `draw_figure` does.
    """
    try:
        tables = read_result(json.loads((folder / REPORT).read_text(encoding="utf-8"))).tables_in(Output.FILES)
    except FileNotFoundError:
        return False
    wanted = {WORKBOOK: tables} | {table_paths(table)[-1]: [table] for table in tables}
    if name not in wanted:
        return False
    with draft_of(folder / name) as draft:
        draft.write_bytes(to_xlsx(wanted[name]))
    return True


def file_name(title: str) -> str:
    """Return a title as a safe file name; of titles that differ, the names differ."""
    safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in title)[:_LONGEST_NAME]
    return safe if safe == title else f"{safe}-{crc32(title.encode()):08x}"
