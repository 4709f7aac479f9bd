"""Tables from files: CSV, TSV, JSON, Excel and Parquet, as columns of text and numbers."""

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
