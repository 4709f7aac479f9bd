"""The one way out for tables: CSV that a spreadsheet cannot mistake for formulas."""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

# A formula (OWASP, CSV injection): also behind white space, which some programs leave out, and in full width, which
# some read as the same. Or what looks neutralised already: it gets one more, so that `restore` gives it back.
_FORMULA = re.compile(r"'*([\t\r\n]|[\s\ufeff]*[=+\-@＝＋－＠])")


def neutralise(cell: Any) -> Any:
    """Return text that a spreadsheet would run as a formula behind an apostrophe, anything else as it is."""
    if not isinstance(cell, str) or cell[:1].isalnum():  # most cells: the search takes five times as long
        return cell
    return f"'{cell}" if _FORMULA.match(cell) else cell


def restore(cell: str) -> str:
    """Return a cell's text without the apostrophe that `neutralise` put before it."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_csv(stream: TextIO, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV (RFC 4180, UTF-8); numbers in full precision, None as an empty cell."""
    writer = csv.writer(stream)
    writer.writerow([neutralise(cell) for cell in header])
    writer.writerows([neutralise(cell) for cell in row] for row in rows)
