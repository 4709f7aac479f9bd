"""The one way out for tables: CSV and XLSX that a spreadsheet cannot mistake for formulas."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, TextIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from evalsite.lib.tables.blocks import Block, in_blocks, lines, spread_any

# A formula (OWASP, CSV injection): also behind white space, which some programs leave out, and in full width, which
# some read as the same. Or what looks neutralised already: it gets one more, so that `restore` gives it back.
_FORMULA = re.compile(r"'*([\t\r\n]|[\s\ufeff]*[=+\-@＝＋－＠])")

_QUOTE, _QUOTED = '"', re.compile('[,"\r\n]')
# In lines of cells: all that the two above can find, and more. Each character by itself is found in no time.
_PERHAPS_CHANGED, _PERHAPS_FIRST = ',"\r\t=+@＝＋－＠', re.compile(r"\n(?:[-'\ufeff]|[^\S\n])")
_ROWS_AT_ONCE = 1_000


def neutralise(cell: Any) -> Any:
    """Return text that a spreadsheet would run as a formula behind an apostrophe, anything else as it is."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def restore(cell: str) -> str:
    """Return a cell's text without the apostrophe that `neutralise` put before it."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_csv(stream: TextIO, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV (RFC 4180, UTF-8); numbers in full precision, None as an empty cell."""
    for block in in_blocks(chain([header], rows)):
        stream.writelines(csv_texts(block))


def csv_texts(block: Block) -> Iterator[str]:
    """Yield rows of a block as lines of CSV: quoted where they must be, neutralised, None as an empty cell."""
    texts = [_csv_cells if len(block) > 1 else _only_cells] * len(block)
    for some in lines(block, texts, ",", _ROWS_AT_ONCE):
        yield "\r\n".join(chain(some, [""]))


def _csv_cells(column: Sequence[Any]) -> Sequence[str]:
    kinds = set(map(type, column))
    if kinds <= {int, float}:
        return list(map(str, column))
    if kinds == {str}:  # most columns have no cell to change, which is seen sooner of all together
        text = "\n".join(chain([""], column))
        is_plain = text.count("\n") == len(column) and not any(each in text for each in _PERHAPS_CHANGED)
        if is_plain and not _PERHAPS_FIRST.search(text):
            return column
    return spread_any(column, _csv_cell)


def _only_cells(column: Sequence[Any]) -> Sequence[str]:
    return [cell or '""' for cell in _csv_cells(column)]  # else the row would be an empty line


def _csv_cell(cell: Any) -> str:
    text = "" if cell is None else str(neutralise(cell))
    return f'"{text.replace(_QUOTE, _QUOTE * 2)}"' if _QUOTED.search(text) else text


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook; `formats` are the number formats of its columns, `widths` their widths in characters."""

    title: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]
    formats: Sequence[str] = ()
    widths: Sequence[int] = ()


# What Excel allows: the length of a sheet's name, characters not in it, and characters in a cell.
_LONGEST_SHEET, _LONGEST_CELL = 31, 32_767
_PROPERTIES = "docProps/core.xml"
_TIMES = re.compile(rb"<dcterms:(created|modified)\b.*?</dcterms:\1>")
_NOT_IN_SHEET = re.compile(r"[\\/*?:\[\]\x00-\x1f]")


def sheet_names(titles: Sequence[str]) -> list[str]:
    """Return names that sheets of one workbook may have: at most 31 characters, different in any case of letters."""
    names: list[str] = []
    for title in titles:
        clean = _NOT_IN_SHEET.sub(" ", title).strip(" '") or "Sheet"
        clean = f"{clean}_" if clean.casefold() == "history" else clean  # Excel keeps this name for itself
        name, k = clean[:_LONGEST_SHEET].rstrip(" '"), 2
        while _is_taken(name, names):
            name, k = f"{clean[: _LONGEST_SHEET - len(str(k)) - 1].rstrip()} {k}", k + 1
        names.append(name)
    return names


def _is_taken(name: str, names: Collection[str]) -> bool:
    return name.casefold() in {each.casefold() for each in names}


def write_xlsx(stream: IO[bytes], sheets: Sequence[Sheet]) -> None:
    """Write a workbook (Office Open XML), row by row, so that memory does not grow with the rows; the same
    sheets give the same bytes.

    Numbers are numbers, to 16 digits, shown in the column's format; None, NaN and infinity are empty cells. Text is
    text, also where it begins with "="; characters that XML does not allow become U+FFFD, and a text is cut where
    Excel's cells end.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook(write_only=True)
    bold = Font(bold=True)

    def made(page: Any, value: Any, number_format: str = "") -> Any:
        if value is None or (isinstance(value, float) and not isfinite(value)):
            return None
        if isinstance(value, str):
            cell = WriteOnlyCell(page)
            cell.value = ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)[:_LONGEST_CELL]
            cell.data_type = "s"
            return cell
        cell = WriteOnlyCell(page, value)
        if isinstance(value, float) and number_format:
            cell.number_format = number_format
        return cell

    for name, sheet in zip(sheet_names([sheet.title for sheet in sheets]), sheets, strict=True):
        page = book.create_sheet(name)
        page.freeze_panes = "A2"
        for k, width in enumerate(sheet.widths, start=1):
            page.column_dimensions[get_column_letter(k)].width = width
        header = [made(page, text) for text in sheet.header]
        for cell in header:
            cell.font = bold
        page.append(header)
        formats = [*sheet.formats, *[""] * (len(sheet.header) - len(sheet.formats))]
        for row in sheet.rows:
            page.append([made(page, value, shown) for value, shown in zip(row, formats, strict=True)])
    with TemporaryFile() as draft:
        book.save(draft)
        _without_times(draft, stream)


def _without_times(book: IO[bytes], stream: IO[bytes]) -> None:
    """Copy a workbook without the time at which it was made, so that the same tables give the same bytes."""
    with ZipFile(book) as source, ZipFile(stream, "w") as target:
        for name in source.namelist():
            part = ZipInfo(name)  # of 1 January 1980
            part.compress_type = ZIP_DEFLATED
            if name == _PROPERTIES:
                target.writestr(part, _TIMES.sub(b"", source.read(name)))
                continue
            with source.open(name) as content, target.open(part, "w") as copy:
                copyfileobj(content, copy)
