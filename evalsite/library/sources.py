"""Responses that are no files, as files: there is one way in, and it reads files."""

import json
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalsite.lib.errors import DomainError
from evalsite.lib.tables.archives import unpack
from evalsite.library.hub import PREFIX, read_hub

_UNNAMED = "__index_level_"


class Folder:
    """A folder for files that are made; it goes with the object."""

    def __init__(self) -> None:
        self.path: Path = Path(tempfile.mkdtemp(prefix="responses-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def as_file(source: Any, folder: Path, name: str = "data") -> Path:
    """Return the path of a file with what is in `source`; one that is made lies in `folder`.

    Parameters
    ----------
    source : str or Path, DataFrame, Arrow table, Dataset, list of dicts, or dict of columns
        A file (also packed), a dataset of the Hub as `read_hub` takes it (`hf://owner/name/split`), or a table:
        whatever has `__arrow_c_stream__`, as those of pandas, polars, PyArrow and Hugging Face have.
    folder : Path
    name : str
        What messages call a table that has no file.

    Raises
    ------
    DomainError
        `no_table` for anything else; of the Hub those of `read_hub`.
    """
    if isinstance(source, str) and source.startswith(PREFIX):
        source = read_hub(source)
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        return path if path.is_dir() else unpack(path, folder, path.name)[0]
    if isinstance(source, Sequence) and source and all(isinstance(row, Mapping) for row in source):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in source), "utf-8")
        return path
    return _write_parquet(_as_arrow(source), folder / f"{name}.parquet")


def _as_arrow(source: Any) -> Any:
    """Return a table of Arrow with the columns that have names."""
    import pyarrow

    if type(source).__module__.startswith("datasets."):
        source = source.with_format("arrow")[:]
    if not isinstance(source, Mapping) and not hasattr(source, "__arrow_c_stream__"):
        raise DomainError(
            "no_table",
            f"{type(source).__name__} is no table. Give the path of a file, a DataFrame, an Arrow table, a Dataset, or "
            "a list of dicts, one a row.",
        )
    table = pyarrow.table(dict(source) if isinstance(source, Mapping) else source)
    return table.select([column for column in table.column_names if not column.startswith(_UNNAMED)])


def _write_parquet(table: Any, path: Path) -> Path:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path)
    return path
