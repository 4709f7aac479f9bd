"""Taking ratings files in."""

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

from django.conf import settings as django_settings
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from analysis.data.choices import Choices
from analysis.data.finding import plain_name
from analysis.data.layout import SHAPES, Shape
from analysis.data.loading import SCORE_NAMES
from analysis.data.ratings.columns import (
    COLUMNS,
    NAMES,
    REQUIRED,
    ColumnMapping,
    columns_of,
    guess_mapping,
    guess_scores,
)
from analysis.data.ratings.scales import Scale
from analysis.data.reading import LongTable, read_long
from analysis.data.scores import DataFile, ScoreFile, Scores, layout_of
from analysis.data.tasks import task_columns
from analysis.data.tools import Wanted, find_made, several_files
from analysis.data.tools.converting import convert, write_table
from analysis.data.values import is_number
from analysis.methods import get_method
from analysis.models import RatingsFile
from campaigns.contracts.protocol import CriterionSpec
from campaigns.design.composition import KINDS
from campaigns.protocols import list_protocols
from campaigns.responses import get_response_kind
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import (
    WINDOWS_1252,
    Opening,
    Preview,
    Table,
    TableError,
    TableWarning,
    lines_if_windows,
    preview,
)
from evalsite.lib.tables.archives import unpack
from evalsite.lib.tables.errors import shorten

_CHUNK = 1 << 20
_LONGEST_TITLE = 200
_LONGEST_NAME = 80
_WINDOWS = TableWarning("windows", "The file is not UTF-8 and was read as Windows-1252, which Excel on Windows writes.")
_PLAIN_SHAPES = {SHAPES[shape] for shape in (Shape.LONG, Shape.CRITERIA)}
_LARGE = 20_000_000
"""Bytes of a file that is not read whole while somebody waits, if it may be kept as it is."""
_NAMES = {**NAMES, "source": SCORE_NAMES["source"], "document": SCORE_NAMES["document"]}


def upload_ratings(
    *,
    owner: User,
    upload: UploadedFile,
    title: str = "",
    items: UploadedFile | None = None,
    more: Sequence[UploadedFile] = (),
    **said: Any,
) -> RatingsFile:
    """Keep an uploaded ratings file and guess what its columns mean; its encoding stays open if it is not UTF-8.

    A file of another tool is kept as tables, one for each kind of response in it, and the first of them is returned; so
    is a file of scores with several answers in a row, or of several tasks, one table for each. `said` is what somebody
    said of how it is read, fields of `Choices`; `items` is the file of what was annotated, `more` are further files,
    which are read with the first one.
    Raises TableError if it is not a table at all, another tool's that cannot be read, or has answers that stand twice,
    and DomainError for choices that it cannot have; nothing is kept then. The rows of a table are checked by the run.
    """
    with tempfile.TemporaryDirectory(prefix="ratings-") as folder:
        path, name, sha256 = _unpacked(upload, Path(folder, "file"))
        beside = _unpacked(items, Path(folder, "items"))[0] if items else None
        others = [_unpacked(each, Path(folder, f"more-{n}"))[0] for n, each in enumerate(more)]
        title = title.strip() or Path(name).stem
        choices = Choices(items=beside, more=tuple(others), **{"splits_tasks": True, **said})
        about = {"tool": "", "name": name, "sha256": sha256, "columns": dict(choices.columns)}
        if made := find_made(path, name=name, columns=choices.columns, items=beside, more=others):
            return _keep_all(_of_tool(convert(made), about | {"tool": made.tool}), owner, title)
        is_windows = bool(lines_if_windows(path, name))
        if is_windows and choices.encoding is None:
            choices = replace(choices, encoding=WINDOWS_1252)
        tables, is_usual = _read_scores(path, choices)
        if is_windows and not isinstance(choices.encoding, Opening):  # else a person is asked about its encoding first
            is_usual |= all(each.reading.shape in _PLAIN_SHAPES for each in tables)
        if not is_usual:
            return _keep_all(_of_tasks(tables, about, [_WINDOWS] if is_windows else []), owner, title)
        if isinstance(choices.encoding, Opening):
            message = "Delimiter and sheet are chosen of files of scores. Save the sheet as a CSV file of its own."
            raise DomainError("unused_option", message)
        if others:
            raise several_files()
        sample = preview(path, name, encoding=WINDOWS_1252 if is_windows else None)
        ratings_file = RatingsFile(
            owner=owner,
            title=title[:_LONGEST_TITLE],
            name=name[-255:],
            size=path.stat().st_size,
            sha256=sha256,
            columns=sample.columns,
            mapping=_guess(sample, choices),
            encoding="" if is_windows else "utf-8",
            reading=tables[0].reading.to_json() if tables and not is_windows else {},
        )
        with path.open("rb") as content:
            return keep_file(ratings_file, content)


def _read_scores(path: Path, choices: Choices) -> tuple[list[LongTable], bool]:
    """Return the scores of a file, a table for each task, and whether it may be kept as it is: with one answer a row,
    or one column of scores for each criterion, of one task. No tables of a file that has no scores, or is large.

    Raises TableError for answers that stand twice, and for anything wrong with a file that cannot be kept as it is.
    """
    scores = Scores(is_number, [text for each in _rated() for text in (each.name, each.statement)])
    look = ScoreFile(DataFile(path), _NAMES, choices.for_file(path), scores).look()
    beginning, layout = look.beginning, look.layout
    there = {name for each in layout.answers for name in each.says} | layout.roles.keys()
    is_of_other_method = any(get_method(each.method).fits(beginning.columns) for each in list_protocols())
    if not layout.answers or "worker" not in there or is_of_other_method:
        return [], True
    is_plain = (
        look.nested is None
        and layout.shape in (Shape.LONG, Shape.CRITERIA)
        and {"worker", "system"} <= set(layout.roles)
    )
    is_said = (choices.shape, choices.words, choices.missing, choices.decimal, choices.twice, choices.by, choices.more)
    says_nothing = not any(is_said) and not isinstance(choices.encoding, Opening)
    is_usual = is_plain and says_nothing
    if is_usual and path.stat().st_size > _LARGE and not task_columns(beginning.columns, layout.columns, choices):
        return [], True
    try:
        tables = read_long(path, _NAMES, choices, scores)
    except TableError as error:
        if is_usual and error.code != "twice":
            return [], True  # the run will say what is wrong, by row and column
        raise
    if not all(is_number(label) for each in tables for label in each.table.text["score"].labels):
        return [], True
    return tables, is_usual and len(tables) == 1


def _unpacked(upload: UploadedFile, folder: Path) -> tuple[Path, str, str]:
    """Write an upload into a new folder; return path and name of what it holds, and the SHA-256 of what was sent."""
    folder.mkdir()
    name, digest = Path(upload.name or "ratings").name, hashlib.sha256()
    path = folder / name[-_LONGEST_NAME:]
    with path.open("wb") as copy:
        for chunk in upload.chunks(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
    return *unpack(path, folder, name, django_settings.MAX_UPLOAD_MB * 2**20), digest.hexdigest()


class _Table(NamedTuple):
    """A table that is kept instead of the file that it was made from; `part`: which of several it is."""

    part: str
    made_from: dict[str, Any]
    write: Callable[[TextIO], None]
    reading: dict[str, Any] = {}


def _of_tool(tables: Mapping[Wanted, Table], about: dict[str, Any]) -> list[_Table]:
    """Return the tables of a file of another tool."""
    return [
        _Table(str(wanted), about | _made(str(wanted), table), partial(write_table, tables=tables, wanted=wanted))
        for wanted, table in tables.items()
    ]


def _of_tasks(tables: Sequence[LongTable], about: dict[str, Any], said: Sequence[TableWarning]) -> list[_Table]:
    """Return the tables of the tasks of a file of scores; `said`: warnings of the file as a whole."""
    for each in tables:
        each.table.warnings.extend(said)
    return [
        _Table(
            each.task,
            about | _made(str(Wanted.SCORES), each.table) | {"task": each.task},
            partial(write_table, tables={Wanted.SCORES: each.table}, wanted=Wanted.SCORES),
            each.reading.to_json(),
        )
        for each in tables
    ]


def _made(responses: str, table: Table) -> dict[str, Any]:
    warnings = [{"code": each.code, "message": each.message} for each in table.warnings]
    return {"responses": responses, "warnings": warnings}


def _keep_all(tables: Sequence[_Table], owner: User, title: str) -> RatingsFile:
    """Keep tables instead of the file that they were made from; return the first one."""
    kept: list[RatingsFile] = []
    try:
        with transaction.atomic():
            for each in tables:
                more = f" ({shorten(each.part)})" if len(tables) > 1 else ""
                with tempfile.TemporaryDirectory(prefix="ratings-") as folder:
                    path = Path(folder, "made.csv")
                    with path.open("w", encoding="utf-8", newline="") as stream:
                        each.write(stream)
                    kept.append(_keep_table(path, each, owner, title[: _LONGEST_TITLE - len(more)] + more))
    except BaseException:
        for file in kept:
            file.file.delete(save=False)
        raise
    return kept[0]


def _keep_table(path: Path, table: _Table, owner: User, title: str) -> RatingsFile:
    sample = preview(path)
    part = table.made_from.get("task") or table.made_from["responses"]
    with path.open("rb") as content:
        ratings_file = RatingsFile(
            owner=owner,
            title=title,
            name=f"{Path(table.made_from['name']).stem[:200]}-{shorten(part).replace(' ', '-')}.csv",
            size=path.stat().st_size,
            sha256=hashlib.file_digest(content, "sha256").hexdigest(),
            columns=sample.columns,
            mapping={name: name for name in COLUMNS if name in sample.columns},
            made_from=table.made_from,
            reading=table.reading,
        )
        content.seek(0)
        return keep_file(ratings_file, content)


def _rated() -> list[CriterionSpec]:
    known = (each for protocol in list_protocols() for each in protocol.criteria)
    return [each for each in known if get_response_kind(each.response).bounds(each.settings) is not None]


def _guess(sample: Preview, choices: Choices) -> ColumnMapping:
    """Return what the columns of a file are likely to mean, for a person to correct."""
    known = [text for each in _rated() for text in (each.name, each.statement)]
    roles = layout_of(sample, NAMES, choices, Scores(is_number, known)).roles
    mapping = dict(guess_mapping(sample.columns, known, named=roles))
    place = sample.columns.index(mapping["kind"]) if "kind" in mapping else 0
    kinds = {row[place].casefold() for row in sample.rows if "kind" in mapping and place < len(row)}
    if kinds - KINDS.keys() - {""} and plain_name(mapping["kind"]) != "kind":
        del mapping["kind"]  # such as types of texts
    scores = guess_scores(sample, mapping)
    return {**mapping, "scores": scores} if scores else mapping


def keep_file(ratings_file: RatingsFile, content: IO[bytes]) -> RatingsFile:
    """Store a new ratings file with its content; leave nothing behind if that fails."""
    ratings_file.file.save(ratings_file.name, File(content), save=False)
    try:
        ratings_file.save(force_insert=True)
    except BaseException:
        ratings_file.file.delete(save=False)
        raise
    return ratings_file


def read_as(*, ratings_file: RatingsFile, encoding: str) -> None:
    """Say which encoding a file has; raise DomainError `bad_encoding` if it is none that was offered."""
    if ratings_file.encoding or encoding != WINDOWS_1252:
        raise DomainError("bad_encoding", "Choose the encoding that is offered, or save the file as UTF-8.")
    ratings_file.encoding = encoding
    ratings_file.save(update_fields=["encoding"])


@transaction.atomic
def map_columns(*, ratings_file: RatingsFile, mapping: ColumnMapping, scale: Scale | None = None) -> None:
    """Say which column of the file is which, and the scale of its scores; later runs use it, earlier ones keep theirs.

    Raises DomainError `bad_mapping` if a required column is left out, none such exists, or one is used twice.
    """
    chosen = {role: column for role, column in mapping.items() if column}
    if missing := [role for role in REQUIRED if role not in chosen and not (role == "score" and "scores" in chosen)]:
        raise DomainError("bad_mapping", f"Choose the column for: {', '.join(missing)}.")
    columns = columns_of(chosen)
    if unknown := set(columns) - set(ratings_file.columns):
        raise DomainError("bad_mapping", f"The file has no column “{sorted(unknown)[0]}”.")
    if twice := sorted({column for column in columns if columns.count(column) > 1}):
        raise DomainError("bad_mapping", f"The column “{twice[0]}” is chosen twice. Each column has one meaning.")
    ratings_file.mapping = chosen
    ratings_file.scale = list(scale) if scale else None
    ratings_file.save(update_fields=["mapping", "scale"])
