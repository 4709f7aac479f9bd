"""Tables as files, in pieces that can be sent as they are made: CSV, JSON Lines, Parquet."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

from evalsite.lib.tables.blocks import Block, Coded, ToTexts, lines, parts, spread_any
from evalsite.lib.tables.writing import csv_texts

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1_000
_ROWS_OF_PARQUET = 50_000
"""Of a row group."""
_COMPRESSION = "zstd"


def csv_pieces(columns: Sequence[str], blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield a table as CSV (RFC 4180, UTF-8) whose cells no spreadsheet takes for formulas."""
    before = "".join(csv_texts([[name] for name in columns]))
    for text in chain.from_iterable(map(csv_texts, blocks)):
        yield (before + text).encode()
        before = ""
    yield before.encode()


def tsv_pieces(columns: Sequence[str], blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield a table as tab-separated text without quoting, as MQM files are; tabs and line breaks become spaces."""

    def cells(column: Sequence[Any]) -> Sequence[str]:
        return spread_any(column, _one_line)

    for block in chain([[[name] for name in columns]], blocks):
        for some in lines(block, [cells] * len(columns), "\t", _ROWS_AT_ONCE):
            yield "\n".join(chain(some, [""])).encode()


def _one_line(cell: Any) -> str:
    return " ".join(str(cell).replace("\t", " ").splitlines())


def json_pieces(columns: Sequence[str], blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield the rows of a table as JSON Lines; of columns of one name, the last."""
    place = {name: k for k, name in enumerate(columns)}
    members = [_members(name) for name in place]
    for block in blocks:
        for some in lines([block[k] for k in place.values()], members, ", ", _ROWS_AT_ONCE):
            yield "".join(f"{{{row}}}\n" for row in some).encode()


def _members(name: str) -> ToTexts:
    """Return what makes members of JSON objects of the cells of a column."""
    key = _json(name)
    return lambda column: spread_any(column, lambda cell: f"{key}: {_json(cell)}")


_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _json(cell: Any) -> str:
    """Return a cell as JSON; of a finite number, without asking what else it may be."""
    return float.__repr__(cell) if type(cell) is float and isfinite(cell) else _dump(cell)


class _Pipe(io.RawIOBase):
    """What was written and not yet taken. A Parquet file is written from its beginning to its end."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._n_written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._n_written += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._n_written

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def parquet_pieces(schema: "pa.Schema", blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield a table as Parquet, one row group at a time: as objects of Python its rows take ten times the memory."""
    from pyarrow import RecordBatch, Table, parquet

    pipe = _Pipe()
    group: list[RecordBatch] = []
    missing = _ROWS_OF_PARQUET
    with parquet.ParquetWriter(pipe, schema, compression=_COMPRESSION) as writer:
        for block in parts(blocks, _ROWS_AT_ONCE):
            arrays = [_array(cells, kind) for cells, kind in zip(block, schema.types, strict=True)]
            batch = RecordBatch.from_arrays(arrays, schema=schema)
            group.append(batch.slice(0, missing))
            missing -= batch.num_rows
            if missing <= 0:
                writer.write_table(Table.from_batches(group).combine_chunks())
                yield pipe.take()
                group, missing = [batch.slice(batch.num_rows + missing)], _ROWS_OF_PARQUET + missing
        if missing < _ROWS_OF_PARQUET:
            writer.write_table(Table.from_batches(group).combine_chunks())
            yield pipe.take()
    yield pipe.take()


def _array(cells: Sequence[Any], kind: "pa.DataType") -> "pa.Array":
    """Return cells as a column; times come as text, and so does a number that is not known, as ""."""
    import pyarrow as pa

    if isinstance(cells, Coded):
        return _array(cells.values, kind).take(pa.array(cells.codes))
    if pa.types.is_floating(kind) and "" in cells:
        cells = [None if cell == "" else cell for cell in cells]
    return pa.array(cells).cast(kind) if pa.types.is_timestamp(kind) else pa.array(cells, kind)
