"""What a file of sources and outputs looks like: its format, its columns and what each is used for."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from campaigns.contracts.attributes import OF_RATERS, plain_attribute, problems_of_names
from campaigns.contracts.protocol import Field, Screen
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.writing import restore

APPRAISE = "appraise"
MAX_COLUMNS = 300

# What a column may be used for; a role of one field is `FIELD` and the field's name.
SOURCE, SYSTEM, OUTPUT, SYSTEM_OUTPUT, NEW_FIELD, FIELD = "source", "system", "output", "system-output", "new", "field:"
DOCUMENT, ATTRIBUTE, ALTERNATIVE, DEGRADED = "document", "attribute", "alt", "degraded"
# `image_alt` describes what the column `image` holds.
_ALTERNATIVE = re.compile(r"(.+?)[\s_.-]*alt(?:ernative)?(?:[\s_-]*text)?", re.IGNORECASE)

# How files name the objects, or begin the columns, that hold an output of each system.
_OUTPUT_OBJECTS = re.compile(
    r"(outputs?|systems?|models?|predictions?|hypothes[ei]s|responses?|generated|candidates?)\.", re.IGNORECASE
)
_RESERVED = {"output"}
_UNDESCRIBED = {"", SOURCE, DOCUMENT, ATTRIBUTE, ALTERNATIVE, SYSTEM}


@dataclass(frozen=True)
class FileLayout:
    """What a file's columns are used for.

    `roles` has the columns that are used, each with its role; `labels` the headings of new fields, by column. A file of
    the format `APPRAISE` has no columns; its HITs come with it. `encoding` is that of text without a mark; "" if the
    file is not UTF-8 and nobody has said yet what it is.
    """

    format: str
    columns: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"

    @property
    def has_hits(self) -> bool:
        """Whether the file brings its own HITs."""
        return self.format == APPRAISE

    @property
    def shape(self) -> Literal["long", "wide"]:
        """Long: an output a row. Wide: a source a row, with an output of each system."""
        return "wide" if SYSTEM_OUTPUT in self.roles.values() else "long"

    @property
    def source(self) -> str:
        """The column of source ids, or ""."""
        return self._column_of(SOURCE)

    @property
    def document(self) -> str:
        """The column that says which document a source is of, or ""."""
        return self._column_of(DOCUMENT)

    @property
    def attributes(self) -> list[str]:
        """The columns that say more of sources, which workers are not shown."""
        return [column for column in self.columns if self.roles.get(column) == ATTRIBUTE]

    @property
    def alternatives(self) -> dict[str, str]:
        """The columns with alternative texts, each by the column whose files it describes."""
        found = (column for column, role in self.roles.items() if role == ALTERNATIVE)
        return {own: column for column in found if (own := described_by(column, self.columns))}

    @property
    def system(self) -> str:
        """The column of systems' names, in long form."""
        return self._column_of(SYSTEM)

    @property
    def output(self) -> str:
        """The column of outputs, in long form."""
        return self._column_of(OUTPUT)

    @property
    def degraded(self) -> str:
        """The column of degraded outputs, in long form, or ""."""
        return self._column_of(DEGRADED)

    @property
    def systems(self) -> dict[str, str]:
        """The systems' columns and names, in wide form."""
        return {column: system_name(column) for column in self.columns if self.roles.get(column) == SYSTEM_OUTPUT}

    def new_fields(self, screen: Screen) -> dict[str, Field]:
        """Return the fields that the screen does not have yet, by column; none of them is required."""
        taken = {*screen.field_names, *_RESERVED}
        fields: dict[str, Field] = {}
        for column in self.columns:
            if self.roles.get(column) == NEW_FIELD:
                name = _free_name(column, taken)
                taken.add(name)
                fields[column] = Field(name, self.labels.get(column) or default_label(column), is_required=False)
        return fields

    def extended(self, screen: Screen) -> Screen:
        """Return the screen with the new fields at its end."""
        return replace(screen, fields=(*screen.fields, *self.new_fields(screen).values()))

    def with_new_fields(self, screen: Screen) -> "FileLayout":
        """Return the layout for the extended screen, in which the new fields are fields like others."""
        new = {column: FIELD + each.name for column, each in self.new_fields(screen).items()}
        return replace(self, roles={**self.roles, **new}, labels={})

    def fields(self, screen: Screen) -> dict[str, str]:
        """Return the column of each field that the file has, new ones of the screen included."""
        old = {role.removeprefix(FIELD): column for column, role in self.roles.items() if role.startswith(FIELD)}
        new = {each.name: column for column, each in self.new_fields(screen).items()}
        return old | new

    def items(self, screen: Screen, rows: Sequence[Mapping[str, str]]) -> list[list[tuple[str, str]]]:
        """Return what a worker reads of rows, {column: cell}: heading and text, in the order of the screen.

        Of a wide file, the output of its first system.
        """
        column_of = self.fields(screen)
        shown = [(each.label, column_of.get(each.name, "")) for each in self.extended(screen).fields if each.is_shown]
        shown.append((screen.output_label, self.output or next(iter(self.systems), "")))
        return [[(label, row[own]) for label, own in shown if row.get(own)] for row in rows]

    def to_json(self) -> dict[str, Any]:
        """Return the layout as the JSON object that `from_json` reads."""
        return {
            "format": self.format,
            "columns": list(self.columns),
            "roles": dict(self.roles),
            "labels": dict(self.labels),
            "encoding": self.encoding,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "FileLayout":
        """Return the layout that `to_json` gave."""
        encoding = data.get("encoding", "utf-8")
        return cls(data["format"], tuple(data["columns"]), data["roles"], data["labels"], encoding)

    def _column_of(self, role: str) -> str:
        return next((column for column, its_role in self.roles.items() if its_role == role), "")


def described_by(column: str, columns: Iterable[str]) -> str:
    """Return the column that another one describes, by its name: `image` for `image_alt`; "" if there is none."""
    if match := _ALTERNATIVE.fullmatch(column):
        return next((each for each in columns if each.casefold() == match[1].casefold()), "")
    return ""


def system_name(column: str) -> str:
    """Return the name of the system whose outputs a column holds: `outputs.GPT-4` holds those of GPT-4."""
    # A CSV file that was written for spreadsheets has an apostrophe before a name like “-large”.
    return _OUTPUT_OBJECTS.sub("", column, count=1) if is_in_output_object(column) else restore(column)


def is_in_output_object(column: str) -> bool:
    """Tell whether a column's name says that it holds outputs: `outputs.GPT-4`."""
    match = _OUTPUT_OBJECTS.match(column)
    return match is not None and match.end() < len(column)


def default_label(column: str) -> str:
    """Return the heading that a column's name makes: `gold_answer` makes “Gold answer”."""
    words = re.sub(r"[\W_]+", " ", column).strip() or column
    return words[:1].upper() + words[1:]


def _free_name(column: str, taken: set[str]) -> str:
    """Return a name for the field of a column that no other field has."""
    name = re.sub(r"\W+", "_", column.strip()).strip("_").lower() or "field"
    n = 1
    while (free := name if n == 1 else f"{name}_{n}") in taken:
        n += 1
    return free


def check_layout(layout: FileLayout, screen: Screen, *, is_open: bool) -> None:
    """Raise DomainError `bad_mapping` if these columns cannot give sources and outputs.

    `is_open`: new fields are allowed. Required fields may be missing: sources that are there already have them.
    """
    allowed = {"", SOURCE, DOCUMENT, ATTRIBUTE, ALTERNATIVE, SYSTEM, OUTPUT, DEGRADED, SYSTEM_OUTPUT}
    allowed |= {FIELD + name for name in screen.field_names}
    if is_open:
        allowed.add(NEW_FIELD)
    roles = list(layout.roles.values())
    if unknown := set(layout.roles) - set(layout.columns):
        raise _bad(f"The file has no column “{sorted(unknown)[0]}”.")
    if unknown := set(roles) - allowed:
        raise _bad(f"A column cannot be used as “{sorted(unknown)[0]}”.")
    for role in roles:
        if role not in {SYSTEM_OUTPUT, NEW_FIELD, ATTRIBUTE, ALTERNATIVE} and roles.count(role) > 1:
            twice = [f"“{column}”" for column, its_role in layout.roles.items() if its_role == role]
            raise _bad(f"{' and '.join(twice)} are chosen for the same thing. Choose one of them.")
    for column in (column for column, role in layout.roles.items() if role == ALTERNATIVE):
        if layout.roles.get(described_by(column, layout.columns), "") in _UNDESCRIBED:
            raise _bad(f"“{column}” describes no column that is used: one of alternative texts is called NAME_alt.")
    for _, message in problems_of_names(layout.attributes):
        raise _bad(message)
    if OF_RATERS in map(plain_attribute, layout.attributes):
        raise _bad(f"An attribute of sources cannot be called “{OF_RATERS}”: raters have pools. Give it another name.")
    if layout.shape == "wide":
        _check_wide(layout)
    else:
        _check_long(layout, screen)


def _check_wide(layout: FileLayout) -> None:
    if layout.degraded:
        raise _bad("Degraded outputs need a row for each output: choose the columns of systems and of outputs.")
    if layout.system or layout.output:
        raise _bad(
            "Choose one: a column of systems and a column of outputs (one output a row), or columns that each hold "
            "one system's outputs (one source a row)."
        )
    names = list(layout.systems.values())
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise _bad(f"Two columns hold outputs of “{twice[0]}”. Leave one of them out, or rename it in the file.")


def _check_long(layout: FileLayout, screen: Screen) -> None:
    if not layout.output and not layout.system:
        raise _bad(
            "Choose the outputs: a column of systems and a column of outputs, or columns that each hold "
            "one system's outputs."
        )
    if not layout.output:
        raise _bad("Choose the column that holds the outputs.")
    if not layout.system:
        raise _bad("Choose the column that tells which system an output is of.")
    if not layout.source and not layout.fields(screen):
        raise _bad("Choose the column of source ids: nothing else tells which outputs are for the same source.")


def _bad(message: str) -> DomainError:
    return DomainError("bad_mapping", message)


def missing_fields(layout: FileLayout, screen: Screen) -> list[Field]:
    """Return the required fields of the screen for which no column is chosen."""
    there = layout.fields(screen)
    return [each for each in screen.fields if each.is_required and each.name not in there]
