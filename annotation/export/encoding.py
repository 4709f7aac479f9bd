"""Rows as files, in pieces that can be sent as they are made: CSV, JSON Lines, Parquet."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from evalsite.lib.tables.writing import neutralise_row

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1_000
_BATCHES_OF_PARQUET = 50
"""Of a row group."""
_COMPRESSION = "zstd"


def csv_pieces(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield a table as CSV (RFC 4180, UTF-8) whose cells no spreadsheet takes for formulas."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(columns)
    remaining = iter(rows)
    while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
        writer.writerows(map(neutralise_row, chunk))
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def tsv_pieces(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield a table as tab-separated text without quoting, as MQM files are; tabs and line breaks become spaces."""
    remaining = chain([columns], rows)
    while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
        yield "".join("\t".join(map(_one_line, row)) + "\n" for row in chunk).encode()


def _one_line(cell: Any) -> str:
    return " ".join(str(cell).replace("\t", " ").splitlines())


def json_pieces(records: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield records as JSON Lines."""
    dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    remaining = iter(records)
    while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
        yield "".join(dump(record) + "\n" for record in chunk).encode()


def as_records(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield each row as a record."""
    return (dict(zip(columns, row, strict=True)) for row in rows)


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


def parquet_pieces(schema: "pa.Schema", rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield a table as Parquet, one row group at a time."""
    from pyarrow import Table, parquet

    pipe = _Pipe()
    batches = _batches(schema, rows)
    with parquet.ParquetWriter(pipe, schema, compression=_COMPRESSION) as writer:
        while group := list(islice(batches, _BATCHES_OF_PARQUET)):
            writer.write_table(Table.from_batches(group).combine_chunks())
            yield pipe.take()
    yield pipe.take()


def _batches(schema: "pa.Schema", rows: Iterable[Sequence[Any]]) -> Iterator["pa.RecordBatch"]:
    """Yield rows as columns, few at a time: as objects of Python they take ten times the memory."""
    from pyarrow import RecordBatch

    remaining = iter(rows)
    while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
        columns = [_array(cells, kind) for cells, kind in zip(zip(*chunk, strict=True), schema.types, strict=True)]
        yield RecordBatch.from_arrays(columns, schema=schema)


def _array(cells: Sequence[Any], kind: "pa.DataType") -> "pa.Array":
    """Return cells as a column; times come as text."""
    import pyarrow as pa

    return pa.array(cells).cast(kind) if pa.types.is_timestamp(kind) else pa.array(cells, kind)
