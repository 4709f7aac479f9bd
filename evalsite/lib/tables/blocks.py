"""Tables as blocks of columns: what is done to a cell is done once for each value that its column has in a block."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Block = Sequence[Sequence[Any]]
"""The columns of some rows, all of one length, in the order of the table's columns."""
H = TypeVar("H", bound=Hashable)
V = TypeVar("V")
ToTexts = Callable[[Sequence[Any]], Sequence[str]]


class Coded(Sequence[V]):
    """A column whose row k has `values[codes[k]]`, such as the system of each row's item. Values may be equal.

    Columns that are about the same have the same array of codes.
    """

    __slots__ = ("codes", "values")

    def __init__(self, values: Sequence[V], codes: "npt.NDArray[np.integer]") -> None:
        self.values, self.codes = values, codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, k: int) -> V: ...
    @overload
    def __getitem__(self, k: slice) -> "Coded[V]": ...
    def __getitem__(self, k: int | slice) -> "V | Coded[V]":
        return Coded(self.values, self.codes[k]) if isinstance(k, slice) else self.values[self.codes[k]]

    def __iter__(self) -> Iterator[V]:
        return map(self.values.__getitem__, self.codes.tolist())


def distinct(column: Sequence[H]) -> set[H]:
    """Return the values of a column, of a coded one also those that no row has."""
    return set(column.values if isinstance(column, Coded) else column)


def spread(column: Sequence[H], made: Callable[[H], V]) -> Sequence[V]:
    """Return what is made of each cell; it is made once of equal ones, and of each value of a coded column.

    >>> spread(["b", "a", "b"], str.upper)
    ['B', 'A', 'B']
    """
    if isinstance(column, Coded):
        return Coded(list(map(made, column.values)), column.codes)
    known = {cell: made(cell) for cell in set(column)}
    return list(map(known.__getitem__, column))


def spread_any(column: Sequence[Any], made: Callable[[Any], V]) -> Sequence[V]:
    """Return what is made of each cell, of whatever kinds they are: 1, 1.0 and True are equal, but no equal text."""
    if isinstance(column, Coded) or _are_alike(column):
        return spread(column, made)
    return list(map(made, column))


def _are_alike(column: Sequence[Any]) -> bool:
    kinds = set(map(type, column))
    return kinds <= {str, type(None)} or kinds <= {int, type(None)}


def zipped(*columns: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
    """Return columns side by side as one, coded if they have the same codes."""
    coded = [each for each in columns if isinstance(each, Coded)]
    if len(coded) == len(columns) and len({id(each.codes) for each in coded}) == 1:
        return Coded(list(zip(*(each.values for each in coded), strict=True)), coded[0].codes)
    return list(zip(*columns, strict=True))


def lines(block: Block, texts: Sequence[ToTexts], separator: str, n_at_once: int) -> Iterator[Iterator[str]]:
    """Yield the rows of a block as text, so many at a time, so that what is made of them stays small.

    `texts`: what makes text of the cells of each column. Values of neighbours with the same codes are joined once.
    """
    columns: list[tuple[Sequence[Any], ToTexts]] = []
    for column, made in zip(block, texts, strict=True):
        if not isinstance(column, Coded):
            columns.append((column, made))
            continue
        values, last = made(column.values), columns[-1][0] if columns else None
        if isinstance(last, Coded) and last.codes is column.codes:
            values = list(map(separator.join, zip(last.values, values, strict=True)))
            columns.pop()
        columns.append((Coded(values, column.codes), list))
    for first in range(0, len(block[0]) if block else 0, n_at_once):
        part = [made(column[first : first + n_at_once]) for column, made in columns]
        yield map(separator.join, zip(*part, strict=True))


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
