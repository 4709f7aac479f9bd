"""Taking ratings files in."""

import hashlib
import tempfile
from pathlib import Path
from typing import IO

from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from analysis.models import RatingsFile
from analysis.ratings.columns import REQUIRED, ColumnMapping, columns_of, guess_mapping, guess_scores
from analysis.ratings.scales import Scale
from campaigns.protocols import list_protocols
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import WINDOWS_1252, Preview, lines_if_windows, preview

_CHUNK = 1 << 20
_LONGEST_TITLE = 200


def upload_ratings(*, owner: User, upload: UploadedFile, title: str = "") -> RatingsFile:
    """Keep an uploaded ratings file and guess what its columns mean; its encoding stays open if it is not UTF-8.

    Raises TableError if it is not a table at all; nothing is kept then. Its rows are checked by the run.
    """
    name = Path(upload.name or "ratings").name
    with tempfile.NamedTemporaryFile(prefix="ratings-") as copy:
        digest = hashlib.sha256()
        for chunk in upload.chunks(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
        copy.flush()
        is_windows = bool(lines_if_windows(copy.name, name))
        sample = preview(copy.name, name, encoding=WINDOWS_1252 if is_windows else None)
        copy.seek(0)
        ratings_file = RatingsFile(
            owner=owner,
            title=(title.strip() or Path(name).stem)[:_LONGEST_TITLE],
            name=name[-255:],
            size=upload.size or 0,
            sha256=digest.hexdigest(),
            columns=sample.columns,
            mapping=_guess(sample),
            encoding="" if is_windows else "utf-8",
        )
        return keep_file(ratings_file, copy)


def _guess(sample: Preview) -> ColumnMapping:
    """Return what the columns of a file are likely to mean, for a person to correct."""
    criteria = [criterion for protocol in list_protocols() for criterion in protocol.criteria]
    mapping = guess_mapping(sample.columns, [text for each in criteria for text in (each.name, each.statement)])
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
