"""Parquet, whose footer says how large the file becomes when it is read."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from evalsite.lib.tables.arrow_columns import arrow_numbers, arrow_text
from evalsite.lib.tables.errors import CellProblems, Problem, TableError, shorten, whole_file_error
from evalsite.lib.tables.formats import Source
from evalsite.lib.tables.table import (
    Floats,
    Progress,
    Table,
    TextBuilder,
    TextColumn,
    cell_text,
    check_names,
    find_columns,
    no_rows,
)

MAX_ROWS = 50_000_000
MAX_INFLATED_BYTES = 4 << 30

_READ_ERRORS = (pa.ArrowException, OSError, TypeError, ValueError)


def preview(source: Source, n_rows: int) -> tuple[str, list[str], list[list[str]]]:
    """Return format, columns and the first rows."""
    # Buffered streams: reading twenty rows does not fetch whole column chunks.
    try:
        with parquet.ParquetFile(source.path, buffer_size=1 << 16, pre_buffer=False) as file:
            names = _checked_names(source, file, range(file.metadata.num_columns))
            batch = next(file.iter_batches(batch_size=n_rows), None) if n_rows else None
            columns = [] if batch is None else [column.to_pylist()[:n_rows] for column in batch.columns]
    except _READ_ERRORS as error:
        raise _damaged(source, error) from None
    return "parquet", names, [[_shown(cell) for cell in row] for row in zip(*columns, strict=True)]


def read(
    source: Source,
    columns: Sequence[str],
    numeric: Sequence[str],
    problems: CellProblems,
    on_progress: Progress | None,
    *,
    lists: Collection[str] = (),
) -> Table:
    """Return the wanted columns; bad numbers are added to `problems`.

    Raises TableError for a damaged file, nested columns and a file that inflates to more than 4 GiB or 50
    million rows.
    """
    text: dict[str, TextColumn] = {}
    values: dict[str, Floats] = {}
    try:
        with parquet.ParquetFile(source.path) as probe:
            raw_names = probe.schema_arrow.names
            names = _checked_names(source, probe, ())
            places = find_columns(source.file, names, columns)
            _refuse_nested(source, probe.schema_arrow, places, lists)
            wanted = {raw_names[place] for place in places.values()}
            flat = {name for name in wanted if not _is_json(probe.schema_arrow.field(name).type)}
            leaves = range(probe.metadata.num_columns)
            _refuse_bombs(source, probe, [i for i in leaves if probe.schema.column(i).path.split(".")[0] in wanted])
            if not probe.metadata.num_rows:
                raise no_rows(source.file)
        # Strings stay dictionaries: one long text repeated in every row is not multiplied.
        with parquet.ParquetFile(source.path, read_dictionary=sorted(flat)) as file:
            for n_done, (name, place) in enumerate(places.items()):
                column = file.read(columns=[raw_names[place]]).column(0)
                # Damaged files hold dictionary codes without a label, or columns of several lengths.
                column.validate(full=True)
                if len(column) != file.metadata.num_rows:
                    raise ValueError("a column has too few values")
                if name in numeric and _is_number(column.type):
                    values[name] = arrow_numbers(column).checked(name, problems)
                elif _is_json(column.type):
                    text[name] = _as_json(column)
                else:
                    text[name] = arrow_text(_decoded(column))
                if on_progress is not None:
                    on_progress((n_done + 1) / len(places))
    except _READ_ERRORS as error:
        raise _damaged(source, error) from None
    return Table(
        file=source.file,
        format="parquet",
        columns=names,
        text=text,
        numbers=values,
        # As in a text file of the same rows: the header is row 1.
        locate=lambda rows: [row + 2 for row in rows],
    )


def _checked_names(source: Source, file: parquet.ParquetFile, leaves: Sequence[int]) -> list[str]:
    names = [name.strip() for name in file.schema_arrow.names]
    check_names(source.file, names)
    _refuse_bombs(source, file, leaves)
    return names


def _refuse_bombs(source: Source, file: parquet.ParquetFile, leaves: Sequence[int]) -> None:
    meta = file.metadata
    if meta.num_rows > MAX_ROWS:
        raise whole_file_error(
            source.file,
            "too_large",
            f"the file has {meta.num_rows:,} rows, the limit is {MAX_ROWS:,}. Split it.",
        )
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    n_bytes = sum(group.column(leaf).total_uncompressed_size for group in groups for leaf in leaves)
    if n_bytes > MAX_INFLATED_BYTES:
        raise whole_file_error(
            source.file,
            "too_large",
            f"the file inflates to {n_bytes / 1e9:.1f} GB, the limit is {MAX_INFLATED_BYTES / 1e9:.1f} GB. Leave out "
            "columns that are not ratings, or split it.",
        )


def _refuse_nested(source: Source, schema: pa.Schema, places: dict[str, int], lists: Collection[str]) -> None:
    types = {name: schema.field(place).type for name, place in places.items()}
    nested = [
        name for name, kind in types.items() if pa.types.is_nested(kind) and not (name in lists and _is_json(kind))
    ]
    if nested:
        fix = "Write one value in each cell: text or a number."
        raise TableError(
            source.file,
            [Problem(1, name, f"the column holds lists or records. {fix}", "nested") for name in nested],
        )


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _is_json(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_struct(kind)


def _as_json(column: pa.ChunkedArray) -> TextColumn:
    """Return lists and records as their JSON text."""
    builder = TextBuilder()
    for chunk in column.chunks:
        for cell in chunk.to_pylist():
            builder.append("" if cell is None else _json(cell))
    return builder.column()


def _json(cell: Any) -> str:
    return json.dumps(_without_missing(cell), ensure_ascii=False, default=str)


def _without_missing(cell: Any) -> Any:
    """Return a cell without the parts that a record has only because others have them; types say how deep it is."""
    if isinstance(cell, dict):
        return {name: _without_missing(value) for name, value in cell.items() if value is not None}
    return [_without_missing(each) for each in cell] if isinstance(cell, list) else cell


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return bytes as text: some writers do not mark strings as such."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column.cast(pa.string()).dictionary_encode()
    return column


def _shown(cell: object) -> str:
    if isinstance(cell, list | dict):
        return _json(cell)
    try:
        return cell_text(cell)
    except TypeError:
        return shorten(str(cell), 80)


def _damaged(source: Source, error: Exception) -> TableError:
    reason = shorten(str(error), 200)
    return whole_file_error(
        source.file,
        "corrupt",
        f"the Parquet file cannot be read ({reason}). Write it again, or save it as CSV.",
    )
