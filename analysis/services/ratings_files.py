"""Taking ratings files in."""

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from analysis.models import RatingsFile
from analysis.ratings.columns import REQUIRED, guess_mapping
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.reading import preview

_CHUNK = 1 << 20
_LONGEST_TITLE = 200


def upload_ratings(*, owner: User, upload: UploadedFile, title: str = "") -> RatingsFile:
    """Keep an uploaded ratings file and guess what its columns mean.

    Raises TableError if it is no table at all; nothing is kept then. Its rows are checked by the run.
    """
    name = Path(upload.name or "ratings").name
    with tempfile.NamedTemporaryFile(prefix="ratings-") as copy:
        digest = hashlib.sha256()
        for chunk in upload.chunks(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
        copy.flush()
        columns = list(preview(Path(copy.name), name).columns)
        copy.seek(0)
        ratings_file = RatingsFile(
            owner=owner,
            title=(title.strip() or Path(name).stem)[:_LONGEST_TITLE],
            name=name[-255:],
            size=upload.size or 0,
            sha256=digest.hexdigest(),
            columns=columns,
            mapping=guess_mapping(columns),
        )
        return keep_file(ratings_file, copy)


def keep_file(ratings_file: RatingsFile, content: IO[bytes]) -> RatingsFile:
    """Store a new ratings file with its content; leave nothing behind if that fails."""
    ratings_file.file.save(ratings_file.name, File(content), save=False)
    try:
        ratings_file.save(force_insert=True)
    except BaseException:
        ratings_file.file.delete(save=False)
        raise
    return ratings_file


@transaction.atomic
def map_columns(*, ratings_file: RatingsFile, mapping: Mapping[str, str]) -> None:
    """Say which column of the file is which; later runs use it, earlier ones keep theirs.

    Raises DomainError `bad_mapping` if a required column is left out, none such exists, or one is used twice.
    """
    chosen = {role: column for role, column in mapping.items() if column}
    if missing := [role for role in REQUIRED if role not in chosen]:
        raise DomainError("bad_mapping", f"Choose the column for: {', '.join(missing)}.")
    if unknown := set(chosen.values()) - set(ratings_file.columns):
        raise DomainError("bad_mapping", f"The file has no column “{sorted(unknown)[0]}”.")
    columns = list(chosen.values())
    if twice := sorted({column for column in columns if columns.count(column) > 1}):
        raise DomainError("bad_mapping", f"The column “{twice[0]}” is chosen twice. Each column means one thing.")
    ratings_file.mapping = chosen
    ratings_file.save(update_fields=["mapping"])
