"""Taking ratings files in."""

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from analysis.data.tools import Wanted, find_made
from analysis.data.tools.converting import convert, write_table
from analysis.models import RatingsFile
from analysis.ratings.columns import COLUMNS, REQUIRED, ColumnMapping, columns_of, guess_mapping, guess_scores
from analysis.ratings.scales import Scale
from campaigns.contracts.protocol import CriterionSpec
from campaigns.protocols import list_protocols
from campaigns.responses import get_response_kind
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import WINDOWS_1252, Preview, Table, lines_if_windows, preview

_CHUNK = 1 << 20
_LONGEST_TITLE = 200


def upload_ratings(
    *,
    owner: User,
    upload: UploadedFile,
    title: str = "",
    columns: Mapping[str, str] | None = None,
    items: UploadedFile | None = None,
) -> RatingsFile:
    """Keep an uploaded ratings file and guess what its columns mean; its encoding stays open if it is not UTF-8.

    A file of another tool is kept as tables, one for each kind of response in it, and the first of them is returned.
    Of such a file, `columns` are those that somebody named, `items` is the file of what was annotated.
    Raises TableError if it is not a table at all, or another tool's that cannot be read, and DomainError `bad_columns`
    or `unused_option`; nothing is kept then. The rows of a table are checked by the run.
    """
    name = Path(upload.name or "ratings").name
    with tempfile.TemporaryDirectory(prefix="ratings-") as folder:
        path, sha256 = _copy(upload, Path(folder, "ratings"))
        beside = _copy(items, Path(folder, Path(items.name or "items").name))[0] if items else None
        title = title.strip() or Path(name).stem
        if made := find_made(path, name=name, columns=columns, items=beside):
            about = {"tool": made.tool, "name": name, "sha256": sha256, "columns": dict(columns or {})}
            return _keep_made(convert(made), about, owner, title)
        if columns:
            message = (
                f"{name} is of no other tool that is read here. Leave the columns out: the next page asks for them."
            )
            raise DomainError("unused_option", message)
        is_windows = bool(lines_if_windows(path, name))
        sample = preview(path, name, encoding=WINDOWS_1252 if is_windows else None)
        ratings_file = RatingsFile(
            owner=owner,
            title=title[:_LONGEST_TITLE],
            name=name[-255:],
            size=upload.size or 0,
            sha256=sha256,
            columns=sample.columns,
            mapping=_guess(sample),
            encoding="" if is_windows else "utf-8",
        )
        with path.open("rb") as content:
            return keep_file(ratings_file, content)


def _copy(upload: UploadedFile, path: Path) -> tuple[Path, str]:
    """Write an upload to a path; return the path and the SHA-256."""
    digest = hashlib.sha256()
    with path.open("wb") as copy:
        for chunk in upload.chunks(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
    return path, digest.hexdigest()


def _keep_made(tables: Mapping[Wanted, Table], about: dict[str, Any], owner: User, title: str) -> RatingsFile:
    """Keep each table of a file of another tool; return the first one."""
    kept: list[RatingsFile] = []
    try:
        with transaction.atomic():
            for wanted, table in tables.items():
                warnings = [{"code": each.code, "message": each.message} for each in table.warnings]
                made_from = about | {"responses": str(wanted), "warnings": warnings}
                more = f" ({wanted})" if len(tables) > 1 else ""
                with tempfile.TemporaryDirectory(prefix="ratings-") as folder:
                    path = Path(folder, "made.csv")
                    with path.open("w", encoding="utf-8", newline="") as stream:
                        write_table(stream, tables, wanted)
                    kept.append(_keep_table(path, made_from, owner, title[: _LONGEST_TITLE - len(more)] + more))
    except BaseException:
        for each in kept:
            each.file.delete(save=False)
        raise
    return kept[0]


def _keep_table(path: Path, made_from: dict[str, Any], owner: User, title: str) -> RatingsFile:
    sample = preview(path)
    with path.open("rb") as content:
        ratings_file = RatingsFile(
            owner=owner,
            title=title,
            name=f"{Path(made_from['name']).stem[:200]}-{made_from['responses'].replace(' ', '-')}.csv",
            size=path.stat().st_size,
            sha256=hashlib.file_digest(content, "sha256").hexdigest(),
            columns=sample.columns,
            mapping={name: name for name in COLUMNS if name in sample.columns},
            made_from=made_from,
        )
        content.seek(0)
        return keep_file(ratings_file, content)


def _guess(sample: Preview) -> ColumnMapping:
    """Return what the columns of a file are likely to mean, for a person to correct."""
    criteria = [each for protocol in list_protocols() for each in protocol.criteria if _has_scores(each)]
    mapping = guess_mapping(sample.columns, [text for each in criteria for text in (each.name, each.statement)])
    scores = guess_scores(sample, mapping)
    return {**mapping, "scores": scores} if scores else mapping


def _has_scores(criterion: CriterionSpec) -> bool:
    return get_response_kind(criterion.response).bounds(criterion.settings) is not None


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
