"""Arrays of NumPy as those of Arrow and back, by their memory.

Arrow's own conversions import pandas wherever it is installed, which takes longer than the analysis of a small file.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def from_arrow(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return numbers or truth values without missing ones, (n,); of a whole array a view that is read only.

    >>> from_arrow(pa.chunked_array([[1.5], [2.5, 3.5]])).tolist()
    [1.5, 2.5, 3.5]
    >>> from_arrow(pa.array([True, False])).tolist()
    [True, False]
    """
    if pa.types.is_boolean(column.type):
        return from_arrow(column.cast(pa.uint8())).view(np.bool_)
    if isinstance(column, pa.Array):
        return np.from_dlpack(column)
    return np.concatenate([np.empty(0, column.type.to_pandas_dtype()), *map(np.from_dlpack, column.chunks)])


def mask_to_arrow(mask: NDArray[np.bool_]) -> pa.BooleanArray:
    """Return truth values as Arrow filters by them.

    >>> mask_to_arrow(np.array([True, False, True])).to_pylist()
    [True, False, True]
    """
    bits = np.packbits(mask, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), mask.size, [None, pa.py_buffer(bits)])


def texts_to_arrow(cells: Sequence[str]) -> pa.LargeStringArray:
    """Return texts as a column of `large_string`.

    >>> texts_to_arrow(["a", "", "né"]).to_pylist()
    ['a', '', 'né']
    """
    encoded = [cell.encode() for cell in cells]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(cell) for cell in encoded], out=ends[1:])
    return pa.LargeStringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))
