"""Files of other tools, read as they are: which tool a file is of, and its rows in the columns that are used here.

A module for each tool: `is_file` tells by its beginning whether a file is one, `read` returns what was found in it.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from analysis.data.tools import appraise_scores, argilla, doccano, factgenie, label_studio, mturk, pearmut, potato
from analysis.data.tools.about import ANSWER
from analysis.data.tools.made import Beginning, Made, Wanted, rows_of_criteria
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Table, TableError
from evalsite.lib.tables.formats import Source, open_source

__all__ = ["Made", "Wanted", "find_made", "read_made", "rows_of_criteria", "several_files"]


class _Tool(Protocol):
    TOOL: str
    READS_SEVERAL: bool

    def is_file(self, beginning: Beginning) -> bool: ...

    def read(self, beginning: Beginning) -> Made: ...


_TOOLS: tuple[_Tool, ...] = (appraise_scores, label_studio, potato, mturk, argilla, factgenie, pearmut, doccano)
_LONGEST_BEGINNING, _LONGEST_OBJECT = 1 << 22, 1 << 26


def read_made(
    path: str | Path,
    wanted: Wanted,
    *,
    name: str | None = None,
    encoding: str | None = None,
    max_bytes: int | None = None,
    columns: Mapping[str, str] | None = None,
    items: Path | None = None,
    more: Sequence[Path] = (),
) -> Table | None:
    """Return the rows of a kind of a file of another tool, all columns as text; None if it is of none of them.

    Parameters and errors are those of `find_made`.
    """
    made = find_made(path, name=name, encoding=encoding, max_bytes=max_bytes, columns=columns, items=items, more=more)
    return made.table(wanted) if made else None


def find_made(
    path: str | Path,
    *,
    name: str | None = None,
    encoding: str | None = None,
    max_bytes: int | None = None,
    columns: Mapping[str, str] | None = None,
    items: Path | None = None,
    more: Sequence[Path] = (),
) -> Made | None:
    """Return what a file of another tool has; None if it is of none of them.

    `columns`: those that somebody named, by what they are; `score` is the criterion that is wanted. `items`: a file of
    what was annotated, where the tool does not write it. `more`: further files of the same kind, where the tool writes
    one for each annotator or part of a campaign.

    What is wrong with the file is raised when its tables are asked for. Raises TableError for a file that cannot be
    read at all, DomainError `bad_columns` for a column that is not there, `unused_option` for items without a use.
    """
    beginning = _beginning(Path(path), name, encoding, max_bytes, columns or {}, items, more)
    tool = next((tool for tool in _TOOLS if beginning and tool.is_file(beginning)), None)
    if items is not None and tool is not potato:
        raise DomainError("unused_option", f"--items says nothing about {name or Path(path).name}. Leave it out.")
    if more and tool and not tool.READS_SEVERAL:
        raise several_files()
    return replace(tool.read(beginning), answer=beginning.columns.get(ANSWER, "")) if tool and beginning else None


def several_files() -> DomainError:
    """Return the error of several files that are not read together."""
    several = ", ".join(tool.TOOL for tool in _TOOLS if tool.READS_SEVERAL)
    message = f"Several files are read together where they hold scores, or are all of one of {several}. Give one."
    return DomainError("several_files", message)


def _beginning(
    path: Path,
    name: str | None,
    encoding: str | None,
    max_bytes: int | None,
    columns: Mapping[str, str],
    items: Path | None,
    more: Sequence[Path],
) -> Beginning | None:
    """Return the beginning of a file; None for one that can be of no tool, or that is none at all."""
    file = name or path.name
    about = {"encoding": encoding, "max_bytes": max_bytes, "columns": columns, "items": items, "more": more}
    try:
        source = open_source(path, name, max_bytes, encoding)
    except TableError:
        return None
    if source.is_array:
        return Beginning(path, file, is_array=True, record=_first_object(path), **about)  # type: ignore[arg-type]
    if source.format == "jsonl":
        return Beginning(path, file, record=_first_object(path), **about)  # type: ignore[arg-type]
    if source.format != "delimited":
        return None
    return Beginning(path, file, rows=_first_rows(source), **about)  # type: ignore[arg-type]


def _first_object(path: Path) -> Mapping[str, object]:
    """Return the first object of a file, without reading more than the beginning of the file if that is enough."""
    with path.open(encoding="utf-8-sig", errors="replace") as handle:
        text = handle.read(_LONGEST_BEGINNING).lstrip().removeprefix("[").lstrip()
        first = _object_in(text)
        # A file that is one object, as the state of an annotator is, may be long.
        return first if first is not None else _object_in(text + handle.read(_LONGEST_OBJECT)) or {}


def _object_in(text: str) -> dict[str, object] | None:
    """Return the object with which a text begins; None if there is none."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_rows(source: Source) -> list[list[str]]:
    """Return the first two rows that are not blank."""
    rows: list[list[str]] = []
    with source.open_text() as handle:
        first = handle.readline(_LONGEST_BEGINNING)
        handle.seek(0)
        try:
            for row in csv.reader(handle, delimiter=max(",\t;", key=first.count)):
                if any(row):
                    rows.append(row)
                if len(rows) == 2:
                    break
        except csv.Error:
            return []
    return rows
