"""Tables from files: CSV, TSV, JSON, Excel and Parquet, as columns of text and numbers."""

import os
import sys

# Before Arrow is imported: of what Arrow's threads have freed, its default allocator may keep hundreds of megabytes
# until the process ends. This one gives it back soon; it is part of Arrow on Linux.
if sys.platform == "linux":
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")

from evalsite.lib.tables.errors import CellProblems, Problem, TableError
from evalsite.lib.tables.formats import WINDOWS_1252, NotUtf8Error, Opening
from evalsite.lib.tables.reading import Preview, if_windows, lines_if_windows, preview, read_columns
from evalsite.lib.tables.table import Table, TableWarning, TextColumn

__all__ = [
    "WINDOWS_1252",
    "CellProblems",
    "NotUtf8Error",
    "Opening",
    "Preview",
    "Problem",
    "Table",
    "TableError",
    "TableWarning",
    "TextColumn",
    "if_windows",
    "lines_if_windows",
    "preview",
    "read_columns",
]
