"""Labels to codes that do not depend on the order of the rows."""

from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import dense_ranks, occurring
from evalsite.lib.tables import TextColumn

Int = NDArray[np.integer]

_MAX_KEY = 2**62


def sorted_codes(column: TextColumn) -> tuple[NDArray[np.int32], list[str]]:
    """Return codes, (n_rows,), into the sorted labels."""
    order = sorted(range(len(column.labels)), key=column.labels.__getitem__)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return rank[column.codes], [column.labels[code] for code in order]


def used_codes(codes: Int, labels: Sequence[str]) -> tuple[NDArray[np.int32], list[str]]:
    """Return the codes, (n_rows,), into the labels that some row has, and these labels in their order."""
    occurs = occurring(codes, len(labels))
    if occurs.all():
        return codes.astype(np.int32, copy=False), list(labels)
    place = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return place[codes], list(compress(labels, occurs))


def combined(parts: Sequence[tuple[Int, int]]) -> tuple[NDArray[np.int64], int]:
    """Return one number for each row's combination of codes, in their order, and how many there may be.

    Each part is codes, (n_rows,), from 0, and the number of codes.
    """
    first, size = parts[0]
    key = first.astype(np.int64)
    for codes, n_codes in parts[1:]:
        if size * n_codes > _MAX_KEY:
            key, size = dense_ranks(key, size)
        key *= n_codes
        key += codes
        size *= n_codes
    return key, size


def first_rows(codes: Int, n_codes: int) -> NDArray[np.int64]:
    """Return the first row of each code, (n_codes,); every code occurs."""
    first = np.empty(n_codes, np.int64)
    # Assigned from the last row to the first, so that the first row's assignment is the one that stays.
    first[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    return first
