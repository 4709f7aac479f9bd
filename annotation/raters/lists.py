"""Lists of raters as people paste or upload them: a name, an e-mail address, or both, and attributes on each line."""

import csv
import re
import tempfile
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from campaigns.contracts.attributes import LONGEST_VALUE, problems_of_names
from evalsite.lib.tables.errors import whole_file_error
from evalsite.lib.tables.formats import WINDOWS_1252, open_source, windows_lines
from evalsite.lib.tables.reading import preview
from evalsite.lib.tables.writing import restore

LONGEST_RATER_NAME = 100
MOST_RATERS = 2000
MOST_BYTES = 2**20
_SHOWN = 20
_NAMES = {"name", "rater"}
_EMAILS = {"email", "e-mail", "mail", "email address", "e-mail address"}
PROGRESS_COLUMNS = ("link", "state", "hits_finished", "hits_left", "last_seen")
"""What a downloaded list says of each rater besides; it is ignored when the list comes back."""
# `Ada Lovelace <ada@example.org>`, as mail programs write it.
_MAILBOX = re.compile(r'"?([^"<>]*?)"?\s*<([^<>\s]+@[^<>\s]+)>')


@dataclass(frozen=True)
class RaterEntry:
    """Somebody to invite. `line` is where the list has them, 0 if there is no list.

    `attributes` say more of them, such as their pool, by name; an empty one is deleted.
    """

    name: str
    email: str = ""
    line: int = 0
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The line, as the beginning of a message about it."""
        return f"Line {self.line}: " if self.line else ""


@dataclass(frozen=True)
class _Header:
    """Which columns hold names and e-mail addresses, the first one that is not empty counts, and what others are."""

    delimiter: str
    names: list[int]
    emails: list[int]
    attributes: dict[int, str]

    def with_attributes(self, wanted: Container[str]) -> "_Header":
        """Return the header with those further columns only that are wanted, in lower case."""
        return replace(self, attributes={k: cell for k, cell in self.attributes.items() if cell.casefold() in wanted})


@dataclass(frozen=True)
class EntryProblem:
    """Why a line is no rater, and how to fix it. A line of 0 is the whole list."""

    line: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}" if self.line else self.message


def by_name(names: Iterable[str]) -> list[RaterEntry]:
    """Return raters of whom no more than their names is known."""
    return [RaterEntry(name) for name in names]


def read_raters(text: str, attributes: Sequence[str] = ()) -> tuple[list[RaterEntry], list[EntryProblem]]:
    """Return the raters of a list, and everything that is wrong with it.

    The delimiter is a comma, a semicolon or a tab. A first line such as `name,email,pool` says what the columns are;
    without one, the cell with “@” is the e-mail address. A rater without a name is called by the address. Of other
    columns, which may say who somebody is, those named in `attributes` are kept.
    """
    lines = [(number, tidy(line)) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line.strip(" ,;")]
    header = _find_header(lines[0][1]) if lines else None
    wanted, others = {each.casefold(): each for each in attributes}, {}
    if header:
        others, header = header.attributes, header.with_attributes(wanted)
    there = {cell.casefold() for cell in others.values()}
    missing = [each for key, each in wanted.items() if key not in there] if lines else []
    entries = []
    for number, line in lines[1:] if header else lines:
        name, email, own = _by_column(line, header) if header else (*_by_content(line), {})
        entries.append(RaterEntry(name or email, email, number, own))
    problems = find_problems(entries, list(header.attributes.values()) if header else None)
    return entries, [*(_missing(each, list(others.values())) for each in missing), *problems]


def _missing(attribute: str, others: Sequence[str]) -> EntryProblem:
    there = f"Its further columns are: {', '.join(map(_quote, others))}." if others else "It has no further columns."
    return EntryProblem(0, "no_attribute", f"The list has no column {_quote(attribute)} to keep. {there}")


def find_problems(entries: Sequence[RaterEntry], attributes: Sequence[str] | None = None) -> list[EntryProblem]:
    """Return everything that is wrong with a list, by line.

    `attributes`: their names as the first line has them; None: those of the entries.
    """
    names = {name: None for entry in entries for name in entry.attributes} if attributes is None else attributes
    problems = [EntryProblem(0, code, text) for code, text in problems_of_names(list(names))]
    problems += [problem for entry in entries for problem in _problems_of(entry)]
    wrong = {problem.line for problem in problems}
    problems += _find_duplicates(entry for entry in entries if entry.line not in wrong)
    if len(entries) > MOST_RATERS:
        message = f"These are {len(entries):,} raters; at most {MOST_RATERS:,} are added at once. Split the list."
        problems.append(EntryProblem(0, "too_many", message))
    return sorted(problems, key=lambda problem: problem.line)


def read_rater_file(content: bytes, file: str) -> tuple[str, bool]:
    """Return the text of a file of raters, and whether it had to be read as Windows-1252.

    Rows of an Excel workbook become lines. Raises TableError for a file that is no list.
    """
    with tempfile.TemporaryDirectory(prefix="raters-") as folder:
        path = Path(folder, "list")
        path.write_bytes(content)
        source = open_source(path, file, MOST_BYTES)
        if source.format == "xlsx":
            shown = preview(path, file, MOST_RATERS + 1)
            return "\n".join("\t".join(cells) for cells in [shown.columns, *shown.rows]), False
        if source.format != "delimited":
            raise whole_file_error(
                file, "not_a_list", "this is no list of raters. Give CSV, TSV, text or Excel (.xlsx)."
            )
        if windows_lines(source):
            return content.decode(WINDOWS_1252), True
        with source.open_text() as stream:
            text = stream.read()
    if any("\udc80" <= c <= "\udcff" for c in text):
        raise whole_file_error(file, "encoding", "the text is not UTF-8. Save the file as CSV UTF-8.")
    return text, False


def tidy(line: str) -> str:
    """Return a line in composed characters, its white space single, without marks that cannot be seen; tabs stay."""
    visible = "".join(c for c in unicodedata.normalize("NFC", line) if c.isspace() or unicodedata.category(c)[0] != "C")
    return "\t".join(" ".join(cell.split()) for cell in visible.split("\t")).strip()


def _cells_of(line: str, delimiter: str = "") -> tuple[str, list[str]]:
    """Return the delimiter of a line, that of the first line if it has some, and its cells."""
    if not delimiter or delimiter not in line:
        delimiter = next((each for each in "\t;," if each in line), ",")
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # a cell of more than 131,072 characters, which is no rater
        cells = [line]
    return delimiter, [restore(cell.strip()) for cell in cells]


def _find_header(line: str) -> _Header | None:
    """Return what each column is, if a line says which of them has names or e-mail addresses."""
    delimiter, cells = _cells_of(line)
    names, emails = ([k for k, cell in enumerate(cells) if cell.casefold() in of] for of in (_NAMES, _EMAILS))
    if not names and not emails:
        return None
    known = {*_NAMES, *_EMAILS, *PROGRESS_COLUMNS, ""}
    return _Header(delimiter, names, emails, {k: cell for k, cell in enumerate(cells) if cell.casefold() not in known})


def _by_column(line: str, header: _Header) -> tuple[str, str, dict[str, str]]:
    cells = dict(enumerate(_cells_of(line, header.delimiter)[1]))
    name, email = (next((cells[k] for k in of if cells.get(k)), "") for of in (header.names, header.emails))
    return name, email, {attribute: cells.get(k, "") for k, attribute in header.attributes.items()}


def _by_content(line: str) -> tuple[str, str]:
    if mailbox := _MAILBOX.fullmatch(line):
        return mailbox[1], mailbox[2]
    delimiter, cells = _cells_of(line)
    cells = [cell for cell in cells if cell]
    emails = [cell for cell in cells if "@" in cell]
    names = [cell for cell in cells if "@" not in cell]
    if not emails and len(names) > 1 and delimiter != ",":  # “Lovelace, Ada” is a name
        return ", ".join(names[:-1]), names[-1]
    return ", ".join(names), " ".join(emails)


def _problems_of(entry: RaterEntry) -> Iterator[EntryProblem]:
    name, email = entry.name, entry.email
    if not name:
        yield EntryProblem(entry.line, "no_name", "This line has neither a name nor an e-mail address.")
    elif email.count("@") > 1:
        text = f"{_quote(email)} seems to be several e-mail addresses. Put each on its own line."
        yield EntryProblem(entry.line, "several", text)
    elif email and not is_email(email):
        yield EntryProblem(entry.line, "bad_email", f"{_quote(email)} is not an e-mail address.")
    if len(name) > LONGEST_RATER_NAME:
        text = f"{_quote(name)} has {len(name)} characters; at most {LONGEST_RATER_NAME} are possible. Shorten it."
        yield EntryProblem(entry.line, "too_long", text)
    if ":" in name:
        yield EntryProblem(entry.line, "colon", f"{_quote(name)} contains “:”, which a name cannot have. Leave it out.")
    for attribute, value in entry.attributes.items():
        if len(value) > LONGEST_VALUE:
            text = f"{_quote(attribute)} has {len(value)} characters; at most {LONGEST_VALUE} are possible. Shorten it."
            yield EntryProblem(entry.line, "long_value", text)
        elif "@" in value and is_email(value):
            text = f"{_quote(value)} is an e-mail address, which cannot be an attribute. Call its column `email`."
            yield EntryProblem(entry.line, "email_value", text)


def _find_duplicates(entries: Iterable[RaterEntry]) -> Iterator[EntryProblem]:
    """Yield a problem for each name or address that an earlier line has, whatever the capitals."""
    lines: dict[str, int] = {}
    for entry in entries:
        for text in dict.fromkeys((entry.name.casefold(), entry.email.casefold())):
            if text and (first := lines.setdefault(text, entry.line)) != entry.line:
                shown = _quote(entry.name if text == entry.name.casefold() else entry.email)
                yield EntryProblem(entry.line, "duplicate", f"{shown} is on line {first} already. Delete one of them.")


def is_email(text: str) -> bool:
    """Return whether a text looks like an e-mail address."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _quote(text: str) -> str:
    return f"“{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}”"
