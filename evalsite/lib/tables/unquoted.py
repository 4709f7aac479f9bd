"""Tab-separated text without quoting, as MQM files are: a quotation mark is one, and a row is a line."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from evalsite.lib.tables.arrow_arrays import mask_to_arrow
from evalsite.lib.tables.arrow_columns import arrow_text, clean_cells
from evalsite.lib.tables.delimited import BLOCK_BYTES, utf8_path, without_remark
from evalsite.lib.tables.formats import Source
from evalsite.lib.tables.table import Table, TextColumn, find_columns, text_column


def read(source: Source, columns: Sequence[str], without_codes: Collection[str] = ()) -> Table | None:
    """Return columns as text, leaving out lines of white space; those `without_codes` as `cells`, where that pays.

    None for a file that is no text or UTF-16, has no rows, a line with more or fewer cells than the first, or one of
    megabytes: the reader of quoted files says what is wrong with it. Raises TableError if a column is missing.
    """
    if source.encoding == "utf-16":
        return None
    with source.open_text() as handle:
        names = [cell.strip() for cell in handle.readline(BLOCK_BYTES).split("\t")]
        below = next(filter(str.strip, handle), "")
    header = without_remark(names, below.count("\t") + 1)
    places = find_columns(source.file, header, columns)
    try:
        arrow = _read_arrow(source, len(header), places)
    except (pa.ArrowException, UnicodeError):
        return None
    read_cells = {name: clean_cells(arrow[str(place)]) for name, place in places.items() if name in without_codes}
    cells = {name: each for name, each in read_cells.items() if each is not None}
    text = {name: arrow_text(arrow[str(place)]) for name, place in places.items() if name not in cells}
    if (blank := _blank_rows(source, len(header), text)) is not None:
        text = {name: text_column(np.delete(each.codes, blank), each.labels) for name, each in text.items()}
        is_kept = np.ones(arrow.num_rows, bool)
        is_kept[blank] = False
        cells = {name: each.filter(mask_to_arrow(is_kept)) for name, each in cells.items()}
    if not next(iter(text.values())).codes.size:
        return None
    return Table(source.file, "tsv", header, text, {}, partial(_locate, source), cells=cells)


def _read_arrow(source: Source, n_cells: int, places: dict[str, int]) -> pa.Table:
    with utf8_path(source) as path:
        try:
            return _parse(path, n_cells, places)
        except pa.ArrowInvalid:
            with path.open(encoding="utf-8") as lines:  # the handler of lines is called with text alone
                for _ in lines:
                    pass
            return _parse(path, n_cells, places, invalid_row_handler=_skip_blank)


def _parse(path: Path, n_cells: int, places: dict[str, int], **options: Any) -> pa.Table:
    with pa.OSFile(str(path)) as handle:
        return arrow_csv.read_csv(
            handle,
            arrow_csv.ReadOptions(
                block_size=BLOCK_BYTES, column_names=[str(place) for place in range(n_cells)], skip_rows=1
            ),
            arrow_csv.ParseOptions(delimiter="\t", quote_char=False, **options),
            # As text, not as codes of text: marked texts are nearly all different.
            arrow_csv.ConvertOptions(
                include_columns=[str(place) for place in places.values()],
                column_types={str(place): pa.large_string() for place in places.values()},
                strings_can_be_null=False,
            ),
        )


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def _blank_rows(source: Source, n_cells: int, text: dict[str, TextColumn]) -> NDArray[np.int64] | None:
    """Return the rows that were read of lines of tabs and spaces; None if there are none."""
    if not all("" in each.labels for each in text.values()):
        return None
    is_blank = [not line.strip() for _, line in _lines(source) if line and line.count("\t") == n_cells - 1]
    return np.flatnonzero(is_blank)


def _locate(source: Source, rows: Sequence[int]) -> list[int]:
    numbers = [number for number, line in _lines(source) if line.strip()]
    return [numbers[row] for row in rows]


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines below the first, without their ends, with their numbers."""
    encoding = "utf-8-sig" if source.encoding == "utf-8" else source.encoding
    with source.path.open(encoding=encoding) as handle:
        next(handle)
        for number, line in enumerate(handle, start=2):
            yield number, line.removesuffix("\n")
