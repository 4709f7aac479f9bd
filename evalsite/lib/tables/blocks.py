"""Tables as blocks of columns: what is done to a cell is done once for each value that its column has in a block."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

Block = Sequence[Sequence[Any]]
"""The columns of some rows, all of one length, in the order of the table's columns."""
H = TypeVar("H", bound=Hashable)
V = TypeVar("V")


def spread(column: Iterable[H], made: Callable[[H], V]) -> list[V]:
    """Return what is made of each cell; it is made once of equal ones.

    >>> spread(["b", "a", "b"], str.upper)
    ['B', 'A', 'B']
    """
    column = list(column)
    known = {cell: made(cell) for cell in set(column)}
    return list(map(known.__getitem__, column))


def spread_any(column: Sequence[Any], made: Callable[[Any], V]) -> list[V]:
    """Return what is made of each cell, of whatever kinds they are: 1, 1.0 and True are equal, but no equal text."""
    kinds = set(map(type, column))
    if kinds <= {str, type(None)} or kinds <= {int, type(None)}:
        return spread(column, made)
    return list(map(made, column))


def in_blocks(rows: Iterable[Sequence[Any]], n_at_once: int = 1_000) -> Iterator[Block]:
    """Yield rows as blocks of so many at most, one after the other as they are asked for."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, n_at_once)):
        yield list(zip(*chunk, strict=True))


def in_rows(blocks: Iterable[Block]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of blocks."""
    return chain.from_iterable(zip(*block, strict=True) for block in blocks)


def parts(blocks: Iterable[Block], n_at_once: int) -> Iterator[Block]:
    """Yield blocks in parts of so many rows at most, so that what is made of one stays small."""
    for block in blocks:
        n_rows = len(block[0]) if block else 0
        for first in range(0, n_rows, n_at_once):
            is_whole = n_rows <= n_at_once
            yield block if is_whole else [column[first : first + n_at_once] for column in block]
