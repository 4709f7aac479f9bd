"""Sources and outputs from tables: one output a row (long), or one source a row with a column for each system (wide).

Every bad cell is named, by row and column; nothing is returned of a file in which anything is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from campaigns.contracts.attributes import LONGEST_VALUE
from campaigns.contracts.format import ContentFormat, FileFormat, Files
from campaigns.contracts.protocol import Field, Screen
from campaigns.formats import get_format
from campaigns.importing.contents import (
    LONGEST_TEXT,
    Codes,
    Contents,
    Existing,
    Notice,
    SourceText,
    too_long,
)
from campaigns.importing.layout import FileLayout, system_name
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import CellProblems, Problem, Table, TableError, TextColumn, read_columns
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.table import text_column

LONGEST_NAME = 200
# Of one campaign: as many as an analysis compares, each with every other one.
MAX_SYSTEMS = 500
_LONG_ATTRIBUTE = f"an attribute has at most {LONGEST_VALUE} characters. Shorten it, or do not use the column."
Progress = Callable[[float], None]


def read_contents(
    path: str | Path,
    layout: FileLayout,
    screen: Screen,
    *,
    name: str | None = None,
    existing: Existing | None = None,
    longest_text: int = LONGEST_TEXT,
    on_progress: Progress | None = None,
    files: Files | None = None,
) -> Contents:
    """Return what a table holds; raise TableError that names every bad cell.

    `screen` is the campaign's, without the layout's new fields. `existing`: what the file is added to. Then a source
    that is there already needs no fields, but must have no others, and an output that is there already is refused.
    A text of more than `longest_text` characters is refused. Of formats that take files, cells name some of `files`;
    without these they are what is kept of such a cell.
    Without a column of source ids sources get numbers: in wide form each row is one, in long form rows with the same
    fields are. Where one id is in several documents, sources are called `document:id`.
    """
    problems = CellProblems()
    outputs = list(layout.systems) if layout.shape == "wide" else [layout.system, layout.output, layout.degraded]
    of_sources = (layout.source, layout.document, *layout.fields(screen).values(), *layout.attributes)
    wanted = [column for column in (*of_sources, *outputs) if column]
    formats = _formats(layout, screen)
    wanted += [alt for column in formats if (alt := layout.alternatives.get(column))]
    lists = [column for column, each in formats.items() if each.format.has_lists]
    table = read_columns(
        path, wanted, name, on_progress=on_progress, lists=lists, encoding=layout.encoding, problems=problems
    )
    for column, each in formats.items():
        described = table.text.get(layout.alternatives.get(column, "")) if files else None
        table.text[column] = each.read(table.text[column], column, problems, files, described)
    reader = _Reader(table, layout, screen, existing or Existing(), problems)
    reader.check_lengths(longest_text)
    return reader.contents()


@dataclass(frozen=True)
class _Formatted:
    """What a column holds, and what people call that."""

    format: type[ContentFormat]
    label: str
    is_output: bool

    def read(
        self, column: TextColumn, name: str, problems: CellProblems, files: Files | None, alt: TextColumn | None
    ) -> TextColumn:
        """Return a column as the format keeps it, with a problem for each cell that cannot be read; "" stays ""."""
        wrong: dict[int, DomainError] = {}
        alts = [""] * len(column.labels)
        if alt is not None:
            column, alts = _paired(column, alt)
        labels = list(column.labels)
        for code, text in enumerate(column.labels):
            try:
                labels[code] = self._value(text, alts[code], files) if text else ""
            except DomainError as error:
                wrong[code] = error
        rows = np.flatnonzero(np.isin(column.codes, list(wrong)))
        if rows.size:
            error_code = next(iter(wrong.values())).code
            problems.add(rows, name, error_code, lambda row, _: self._sentence(wrong[int(column.codes[row])]))
        return text_column(column.codes, labels)

    def _value(self, text: str, alt: str, files: Files | None) -> str:
        if files is not None and issubclass(self.format, FileFormat):
            return self.format.read_file(text, files, alt=alt)
        return self.format.read(text, is_output=self.is_output)

    def _sentence(self, error: DomainError) -> str:
        return f"the {self.label.lower()} cannot be read: {error.message}."


def _paired(column: TextColumn, alt: TextColumn) -> tuple[TextColumn, list[str]]:
    """Return a column with a label for each pair of a cell and what describes it, and these descriptions."""
    pairs, codes = np.unique(column.codes.astype(np.int64) * len(alt.labels) + alt.codes, return_inverse=True)
    own, described = (pairs // len(alt.labels)).tolist(), (pairs % len(alt.labels)).tolist()
    return TextColumn(codes.astype(np.int32), [column.labels[code] for code in own]), [
        alt.labels[code] for code in described
    ]


def _formats(layout: FileLayout, screen: Screen) -> dict[str, _Formatted]:
    """Return what each column of fields and outputs holds."""
    fields = {each.name: each for each in layout.extended(screen).fields}
    of_fields = {column: fields[name] for name, column in layout.fields(screen).items() if name in fields}
    outputs = layout.systems if layout.shape == "wide" else [layout.output, layout.degraded]
    output = _Formatted(get_format(screen.output_format), screen.output_label, is_output=True)
    found = {
        column: _Formatted(get_format(each.format), each.label, is_output=False) for column, each in of_fields.items()
    }
    return {column: each for column, each in (found | dict.fromkeys(outputs, output)).items() if column}


@dataclass(frozen=True)
class _Sources:
    """The source of each row; of each source the row on which it begins, ascending, its name and its document."""

    of_row: Codes
    first: Codes
    names: list[str]
    documents: list[str]


@dataclass(frozen=True)
class _Outputs:
    """As in `Contents`, each with its row."""

    systems: list[str]
    source: Codes
    system: Codes
    texts: list[str]
    row: Codes
    degraded: Sequence[str] = ()


class _Reader:
    """One table on its way to sources and outputs; what is wrong is gathered in `problems`."""

    def __init__(
        self, table: Table, layout: FileLayout, screen: Screen, existing: Existing, problems: CellProblems
    ) -> None:
        self._table = table
        self._layout = layout
        self._fields = layout.fields(screen)
        self._screen = layout.extended(screen)
        self._existing = existing
        self._problems = problems
        self._notices: list[Notice] = []

    def check_lengths(self, longest: int) -> None:
        """Add a problem for each text with more characters."""
        labels = {self._fields[each.name]: each.label for each in self._screen.fields if each.name in self._fields}
        outputs = self._layout.systems if self._layout.shape == "wide" else [self._layout.output, self._layout.degraded]
        formats = _formats(self._layout, self._screen)
        for name, label in (labels | dict.fromkeys(filter(None, outputs), "output")).items():
            column = self._table.text[name]
            lengths = np.array([len(text) for text in column.labels])[column.codes]
            times = formats[name].format.times_as_long
            say = _too_long(label.lower(), lengths, longest, times)
            self._problems.add(np.flatnonzero(lengths > longest * times), name, "long_text", say)

        for name in self._layout.attributes:
            column = self._table.text[name]
            lengths = np.array([len(text) for text in column.labels])[column.codes]
            too_long = np.flatnonzero(lengths > LONGEST_VALUE)
            self._problems.add(too_long, name, "long_attribute", lambda row, _: _LONG_ATTRIBUTE)

    def contents(self) -> Contents:
        """Check everything else; return the contents or raise TableError."""
        sources = self._sources()
        for each in self._screen.fields:
            self._check_field(each, sources)
        for name in self._layout.attributes:
            self._check_same(name, name, sources, self._existing.attributes, name)
        outputs = self._wide_outputs(sources) if self._layout.shape == "wide" else self._long_outputs(sources)
        self._check_outputs_are_new(sources, outputs)
        self._problems.raise_for(self._table)
        return Contents(
            sources=[
                SourceText(name, self._texts(row), document, self._attributes(row))
                for name, row, document in zip(sources.names, sources.first, sources.documents, strict=True)
            ],
            systems=outputs.systems,
            source=outputs.source,
            system=outputs.system,
            texts=outputs.texts,
            degraded=outputs.degraded,
            notices=(*(Notice(each.code, each.message) for each in self._table.warnings), *self._notices),
        )

    # --- Sources

    def _sources(self) -> _Sources:
        """Tell the sources apart, by id or else by their fields."""
        document = self._table.text.get(self._layout.document) if self._layout.document else None
        if document is not None:
            self._check_lengths_of_names(document, self._layout.document, "document's name")
        if self._layout.source:
            of_row, first, names = self._named_sources(document)
        elif self._layout.shape == "wide":
            of_row = first = np.arange(self._table.n_rows)
            names = [str(number) for number in range(1, len(first) + 1)]
        else:
            of_row = np.zeros(self._table.n_rows, np.int64)
            parts = [self._table.text[name] for name in self._fields.values()] + ([document] if document else [])
            for column in parts:
                of_row, first = _in_order(of_row * len(column.labels) + column.codes)
            names = [str(number) for number in range(1, len(first) + 1)]
        documents = [_cell(document, row) for row in first] if document else [""] * len(first)
        before = self._existing.documents
        moved = [k for k, name in enumerate(names) if documents[k] and before.get(name, documents[k]) != documents[k]]
        self._problems.add(
            first[moved],
            self._layout.document,
            "document_changed",
            lambda row, _: "the campaign has another document for this source. Give it the same, or another source id.",
        )
        return _Sources(of_row, first, names, documents)

    def _named_sources(self, document: TextColumn | None) -> tuple[Codes, Codes, list[str]]:
        """Return sources by id, or by document and id where one id is in several documents."""
        column = self._table.text[self._layout.source]
        self._check_names(column, self._layout.source, "source id")
        of_row, first = _in_order(column.codes)
        names = [_cell(column, row) for row in first]
        if document is None or (document.codes == document.codes[first][of_row]).all():
            return of_row, first, names
        of_row, first = _in_order(document.codes.astype(np.int64) * len(column.labels) + column.codes)
        names = [":".join(filter(None, (_cell(document, row), _cell(column, row)))) for row in first]
        if len(set(names)) < len(names):
            again = next(place for place, name in enumerate(names) if name in names[:place])
            message = f"document and source id together are “{shorten(names[again])}” twice. Change one of them."
            raise TableError(self._table.file, [Problem(None, self._layout.source, message, "duplicate_source")])
        too_long = first[[len(name) > LONGEST_NAME for name in names]]
        message = f"document and source id together have at most {LONGEST_NAME} characters. Shorten one of them."
        self._problems.add(too_long, self._layout.source, "long_name", lambda row, _: message)
        self._notices.append(
            Notice("ids_of_documents", "Source ids occur in several documents: sources are called document:id.")
        )
        return of_row, first, names

    def _texts(self, row: int) -> dict[str, str]:
        """Return the fields of the source that begins on a row."""
        cells = {name: _cell(self._table.text[column], row) for name, column in self._fields.items()}
        return {each.name: cells[each.name] for each in self._screen.fields if cells.get(each.name)}

    def _attributes(self, row: int) -> dict[str, str]:
        """Return the attributes of the source that begins on a row."""
        cells = {name: _cell(self._table.text[name], row) for name in self._layout.attributes}
        return {name: cell for name, cell in cells.items() if cell}

    def _check_field(self, field: Field, sources: _Sources) -> None:
        """Add problems of a field: required and empty, not the same in all rows of a source, not as it was before."""
        known = self._existing.fields
        is_known = np.array([name in known for name in sources.names], bool)
        label, name = field.label.lower(), self._fields.get(field.name)
        if name is None:
            if field.is_required:
                self._problems.add(
                    sources.first[~is_known],
                    self._layout.source,
                    "new_source",
                    lambda row, _: (
                        f"this source is new, and no column gives its {label}. Correct the id, or choose the column."
                    ),
                )
            return
        column = self._table.text[name]
        own = column.codes[sources.first]
        if field.is_required:
            self._problems.add(
                sources.first[_is_empty(column)[own] & ~is_known],
                name,
                "empty_field",
                lambda row, _: f"the {label} is empty, and every source needs one. Write it, or leave the source out.",
            )
        self._check_same(name, label, sources, known, field.name)

    def _check_same(
        self, name: str, label: str, sources: _Sources, known: Mapping[str, Mapping[str, str]], key: str
    ) -> None:
        """Add problems of a column: not the same in all rows of a source, or not as it was, {source: {key: text}}."""
        column = self._table.text[name]
        own = column.codes[sources.first]
        differs = np.flatnonzero(column.codes != own[sources.of_row])
        self._problems.add(
            differs,
            name,
            "field_differs",
            lambda row, other: (
                f"the {label} is not that of row {other}, which has the same source id. Give the source one "
                f"{label}, or each source an id of its own."
            ),
            sources.first[sources.of_row[differs]],
        )
        before = [known.get(source, {}).get(key, "") for source in sources.names]
        changed = [k for k, old in enumerate(before) if old and column.labels[own[k]] not in ("", old)]
        self._problems.add(
            sources.first[changed],
            name,
            "field_changed",
            lambda row, _: f"the campaign has another {label} for this source. Give it the same, or another source id.",
        )

    # --- Outputs

    def _long_outputs(self, sources: _Sources) -> _Outputs:
        systems, texts = self._table.text[self._layout.system], self._table.text[self._layout.output]
        self._check_names(systems, self._layout.system, "system's name")
        if len(systems.labels) > MAX_SYSTEMS:
            raise TableError(self._table.file, [_too_many_systems(self._layout.system, len(systems.labels))])
        self._problems.add(
            np.flatnonzero(_is_empty(texts)[texts.codes]),
            self._layout.output,
            "empty_output",
            lambda row, _: "the output is empty. Write it, or delete the row.",
        )
        system, first = _in_order(systems.codes)
        _, first_of_pair, pair = np.unique(sources.of_row * len(first) + system, return_index=True, return_inverse=True)
        again = np.flatnonzero(first_of_pair[pair] != np.arange(len(pair)))
        self._problems.add(
            again,
            self._layout.system,
            "duplicate_output",
            lambda row, other: (
                f"“{shorten(_cell(systems, row))}” has an output for this source in row {other} already. Delete one of "
                "them."
            ),
            first_of_pair[pair[again]],
        )
        return _Outputs(
            systems=[_cell(systems, row) for row in first],
            source=sources.of_row,
            system=system,
            texts=[texts.labels[code] for code in texts.codes],
            row=np.arange(self._table.n_rows),
            degraded=self._degraded(texts),
        )

    def _degraded(self, texts: TextColumn) -> list[str]:
        """Return the degraded version of each output, "" where there is none; add a problem for each that is none."""
        if not (name := self._layout.degraded):
            return []
        column = self._table.text[name]
        found = [column.labels[code] for code in column.codes]
        same = [row for row, text in enumerate(found) if text and text == texts.labels[texts.codes[row]]]
        self._problems.add(
            np.array(same, np.int64),
            name,
            "same_degraded",
            lambda row, _: "the degraded output is the output itself. Make it worse, or leave the cell empty.",
        )
        return found

    def _wide_outputs(self, sources: _Sources) -> _Outputs:
        again = np.flatnonzero(sources.first[sources.of_row] != np.arange(self._table.n_rows))
        self._problems.add(
            again,
            self._layout.source,
            "duplicate_source",
            lambda row, other: (
                f"source “{shorten(sources.names[sources.of_row[row]])}” is in row {other} already. Each row is a "
                "source of its own: delete one of them, or correct the id."
            ),
            sources.first[sources.of_row[again]],
        )
        columns = self._layout.systems
        texts = [self._table.text[name] for name in columns]
        for name, column in zip(columns, texts, strict=True):
            self._problems.add(
                np.flatnonzero(_is_empty(column)[column.codes]),
                name,
                "empty_output",
                lambda row, _: (
                    "the output is empty. Write it; or, if this system has none for this source, give the outputs one "
                    "a row and leave this one out."
                ),
            )
            if len(system_name(name)) > LONGEST_NAME:
                problem = Problem(
                    1, name, f"a system's name has at most {LONGEST_NAME} characters. Shorten it.", "long_name"
                )
                raise TableError(self._table.file, [problem])
        n_rows, n_systems = self._table.n_rows, len(columns)
        return _Outputs(
            systems=list(columns.values()),
            source=np.repeat(sources.of_row, n_systems),
            system=np.tile(np.arange(n_systems), n_rows),
            texts=[column.labels[column.codes[row]] for row in range(n_rows) for column in texts],
            row=np.repeat(np.arange(n_rows), n_systems),
        )

    def _check_outputs_are_new(self, sources: _Sources, outputs: _Outputs) -> None:
        """Add a problem for each output that the campaign has already."""
        known = self._existing.outputs
        if not known:
            return
        pairs = zip(outputs.source.tolist(), outputs.system.tolist(), outputs.row.tolist(), strict=True)
        bad: dict[int, list[int]] = {}
        for source, system, row in pairs:
            if (sources.names[source], outputs.systems[system]) in known:
                bad.setdefault(system, []).append(row)
        columns = list(self._layout.systems) or [self._layout.system] * len(outputs.systems)
        for system, rows in bad.items():
            self._problems.add(np.array(rows), columns[system], "known_output", _known_output(outputs.systems[system]))

    # --- Problems

    def _check_names(self, column: TextColumn, name: str, what: str) -> None:
        """Add a problem for each cell that is empty or too long for a name."""
        self._problems.add(
            np.flatnonzero(_is_empty(column)[column.codes]),
            name,
            "empty_name",
            lambda row, _: f"the {what} is empty. Write it, or delete the row.",
        )
        self._check_lengths_of_names(column, name, what)

    def _check_lengths_of_names(self, column: TextColumn, name: str, what: str) -> None:
        """Add a problem for each cell that is too long for a name."""
        lengths = np.array([len(label) for label in column.labels])[column.codes]
        self._problems.add(
            np.flatnonzero(lengths > LONGEST_NAME),
            name,
            "long_name",
            lambda row, _: (
                f"the {what} “{shorten(_cell(column, row))}” has {lengths[row]:,} characters, and at most "
                f"{LONGEST_NAME} are kept. Shorten it, or choose another column."
            ),
        )


def _in_order(codes: NDArray[np.integer]) -> tuple[Codes, Codes]:
    """Return the codes numbered from 0 in the order in which they first occur, and where each first occurs."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[inverse], first[order].astype(np.int64)


def _cell(column: TextColumn, row: int) -> str:
    return column.labels[column.codes[row]]


def _is_empty(column: TextColumn) -> NDArray[np.bool_]:
    """Tell of each label whether it is empty."""
    return np.array([not label for label in column.labels], bool)


def _too_long(label: str, lengths: Codes, longest: int, times: int) -> Callable[[int, int | None], str]:
    return lambda row, _: too_long(label, int(lengths[row]), longest, times)


def _known_output(system: str) -> Callable[[int, int | None], str]:
    return lambda row, _: (
        f"the campaign has an output of “{shorten(system)}” for this source already. Delete it here, or replace "
        "what is there with this file."
    )


def _too_many_systems(column: str, n: int) -> Problem:
    message = (
        f"there are {n:,} systems, and at most {MAX_SYSTEMS:,} are compared. Is this the column of systems? "
        "Choose another one."
    )
    return Problem(None, column, message, "too_many_systems")
