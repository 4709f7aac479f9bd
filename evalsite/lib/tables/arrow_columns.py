"""Arrow columns as the project's columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from evalsite.lib.tables.arrow_arrays import from_arrow, mask_to_arrow
from evalsite.lib.tables.errors import CellProblems
from evalsite.lib.tables.table import (
    Floats,
    TextColumn,
    add_bad_numbers,
    bad_number_message,
    cell_text,
    clean_cell,
    text_column,
)

# Arrow waits a second, in which the next arrays are made from the columns.
if pa.default_memory_pool().backend_name == "jemalloc":
    pa.jemalloc_set_decay_ms(100)

_BEGINNING = 4096
# What a cell begins and ends with that is clean for certain, as bytes.
_CLEAN_ENDS = np.array([0x21 <= byte < 0x7F and byte != ord("'") for byte in range(256)])


@dataclass(frozen=True)
class ArrowNumbers:
    """Numbers as Arrow read them: `is_missing` is true for an empty cell, not for one that says NaN; None if no
    cell is empty."""

    values: Floats
    is_missing: NDArray[np.bool_] | None

    def take(self, rows: NDArray[np.int64]) -> "ArrowNumbers":
        """Return the chosen rows."""
        return ArrowNumbers(self.values[rows], None if self.is_missing is None else self.is_missing[rows])

    def checked(self, name: str, problems: CellProblems) -> Floats:
        """Return the values, NaN where they are missing or not finite; each such cell is a problem.

        One that says NaN is missing, too, as programs write it.
        """
        is_finite = np.isfinite(self.values)
        if is_finite.all():
            return self.values
        bad = np.flatnonzero(~is_finite)
        is_missing = np.zeros(bad.size, bool) if self.is_missing is None else self.is_missing[bad]
        says_nan = np.isnan(self.values[bad]) & ~is_missing
        problems.add(bad[says_nan], name, "missing_number", lambda row, other: bad_number_message("nan"))
        bad, is_missing = bad[~says_nan], is_missing[~says_nan]
        add_bad_numbers(bad, is_missing, name, problems, lambda row: str(self.values[row]))
        return np.where(is_finite, self.values, np.nan)


def arrow_numbers(column: pa.ChunkedArray) -> ArrowNumbers:
    """Return a column of floats or whole numbers."""
    is_missing = from_arrow(column.is_null()) if column.null_count else None
    numbers = column.cast(pa.float64(), safe=False)
    return ArrowNumbers(from_arrow(numbers.fill_null(np.nan) if column.null_count else numbers), is_missing)


def arrow_text(column: pa.ChunkedArray) -> TextColumn:
    """Return any column of single values as text; raise TypeError if a value is not one value."""
    if not pa.types.is_dictionary(column.type):
        if pa.types.is_large_string(column.type) and _is_mostly_distinct(column):
            return _text_of_cells(column.to_pylist())
        # Encoded in one piece: Arrow copies the dictionary for each further one.
        encoded = column.combine_chunks().dictionary_encode()
        column = encoded if isinstance(encoded, pa.ChunkedArray) else pa.chunked_array([encoded])
    column = column.unify_dictionaries()
    if not column.num_chunks:
        return TextColumn(np.empty(0, np.int32), [])
    labels = [cell_text(value) for value in column.chunk(0).dictionary.to_pylist()]
    pieces = [_codes(chunk.indices, len(labels)) for chunk in column.chunks]
    return text_column(np.concatenate(pieces), [*labels, ""])


def clean_cells(column: pa.ChunkedArray) -> pa.LargeStringArray | None:
    """Return the cells of a column of `large_string` without codes, which cost more than they tell of long texts.

    None where many cells are the same, or some would be changed or refused: those are for `arrow_text`.
    """
    if not _is_mostly_distinct(column):
        return None
    cells = pa.concat_arrays(column.chunks)
    _, offsets, content = cells.buffers()
    if content is None:
        return None
    ends = np.frombuffer(offsets, np.int64)[cells.offset : cells.offset + len(cells) + 1]
    text = np.frombuffer(content, np.uint8)
    if not text[ends[0] : ends[-1]].all():  # no NUL
        return None
    first, last = ends[:-1][np.diff(ends) > 0], ends[1:][np.diff(ends) > 0] - 1
    may_change = ~(_CLEAN_ENDS[text[first]] & _CLEAN_ENDS[text[last]])
    doubtful = cells.filter(mask_to_arrow(np.diff(ends) > 0)).filter(mask_to_arrow(may_change)).to_pylist()
    return None if any(cell != clean_cell(cell) for cell in doubtful) else cells


def _is_mostly_distinct(column: pa.ChunkedArray) -> bool:
    beginning = column.slice(0, _BEGINNING)
    return 2 * int(compute.count_distinct(beginning).as_py()) > len(beginning)


def _text_of_cells(cells: Sequence[str]) -> TextColumn:
    """Return cells as a column: a dictionary of Python is quicker than Arrow's where few are the same."""
    code_of: dict[str, int] = {}
    codes = [code_of.setdefault(cell, len(code_of)) for cell in cells]
    return text_column(np.array(codes, np.int32), list(code_of))


def _codes(indices: pa.Array, missing: int) -> NDArray[np.integer]:
    if indices.null_count:
        indices = compute.fill_null(indices.cast(pa.int32()), missing)
    return from_arrow(indices).astype(np.int32, copy=False)
