"""Files of other tools as tables of evalsite's own: one for each kind of response, which is read as any other file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TextIO

from analysis.data.tools.made import Made, Wanted
from evalsite.lib.tables import Table
from evalsite.lib.tables.writing import write_csv

ERRORS = "errors"
"""What the column of errors is called that are marked beside scores."""
_OF_SCORES, _OF_ERRORS = ("worker", "system", "document", "source"), ("rater", "system", "doc", "seg_id")
_NO_DOCUMENT, _ORDINARY = "-", ("", "ordinary")
_OF_ERROR = ("side", "start", "end", "severity", "category")


def convert(made: Made) -> dict[Wanted, Table]:
    """Return every table of a file of another tool, scores first, votes last.

    Raises TableError for what is wrong with the file, and if there is no response in it.
    """
    all_of_it = replace(made, answer="")  # only answers about criteria can be chosen
    found = {
        wanted: (made if wanted is Wanted.SCORES else all_of_it).table(wanted) for wanted in Wanted if made.has(wanted)
    }
    return found or {Wanted.SCORES: made.table(Wanted.SCORES)}


def write_table(stream: TextIO, tables: Mapping[Wanted, Table], wanted: Wanted) -> None:
    """Write one of these tables as CSV; scores with the errors, as JSON, that their worker marked in the same output.

    The cell of an output for which no marks were asked is empty.
    """
    table = tables[wanted]
    if wanted is not Wanted.SCORES or Wanted.SPANS not in tables:
        write_csv(stream, table.columns, (list(row.values()) for row in _rows(table)))
        return
    marked: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in _rows(tables[Wanted.SPANS]):
        errors = marked.setdefault(_output(row, _OF_ERRORS), [])
        if row["severity"] != "No-error":
            errors.append({name: row.get(name, "") for name in _OF_ERROR})

    def rows() -> Iterator[list[str]]:
        for row in _rows(table):
            errors = marked.get(_output(row, _OF_SCORES)) if row.get("kind", "") in _ORDINARY else None
            yield [*row.values(), "" if errors is None else json.dumps(errors, ensure_ascii=False)]

    write_csv(stream, [*table.columns, ERRORS], rows())


def _output(row: Mapping[str, str], names: Sequence[str]) -> tuple[str, str, str, str]:
    """Return worker, system, document and segment of a row: a source may be called `document:segment`."""
    worker, system, document, segment = (row.get(name, "") for name in names)
    document = "" if document == _NO_DOCUMENT else document
    return worker, system, document, segment.removeprefix(f"{document}:")


def _rows(table: Table) -> Iterator[dict[str, str]]:
    columns = {name: (table.text[name].labels, table.text[name].codes.tolist()) for name in table.columns}
    for row in range(table.n_rows):
        yield {name: labels[codes[row]] for name, (labels, codes) in columns.items()}
