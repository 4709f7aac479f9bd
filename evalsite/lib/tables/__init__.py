"""Tables from files: CSV, TSV, JSON Lines, Excel and Parquet, as columns of text and numbers."""

from evalsite.lib.tables.errors import CellProblems, Problem, TableError
from evalsite.lib.tables.reading import Preview, preview, read_columns
from evalsite.lib.tables.table import Table, TableWarning, TextColumn

__all__ = [
    "CellProblems",
    "Preview",
    "Problem",
    "Table",
    "TableError",
    "TableWarning",
    "TextColumn",
    "preview",
    "read_columns",
]
