"""The files that values of a campaign name: taken from what came with a table, kept with a row each, read by digest."""

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from django.core.files import File
from django.db import transaction

from campaigns.importing.contents import Notice
from campaigns.models import Campaign, StoredFile
from evalsite.jobs.files import delete_files, delete_on_commit
from evalsite.lib.media import get_media
from evalsite.lib.packed_files import PackedFiles
from evalsite.lib.tables.errors import listing

Made = TypeVar("Made")
_SHOWN = 5


class CampaignFiles:
    """The `Files` of a campaign while an import or a build goes on; what is kept stays on this machine until `written`.

    `packed`: a zip of those that came with a table. `on_taken` is called for each of them, with how many were before.
    """

    def __init__(
        self, campaign: Campaign, packed: Path | None = None, on_taken: Callable[[int, int], None] = lambda *_: None
    ) -> None:
        self._campaign, self._on_taken = campaign, on_taken
        self._packed = PackedFiles(packed)
        self._made: dict[str, Any] = {}
        self._notes: dict[str, list[str]] = defaultdict(list)
        self._current = ""
        self._folder = tempfile.TemporaryDirectory(prefix="files-")
        self._new: dict[str, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._packed.close()
        self._folder.cleanup()

    def take(self, name: str, make: Callable[[bytes], Made]) -> Made:
        """Return what is made of a file that came with the table: see `Files`."""
        found = self._packed.find(name)
        if found not in self._made:
            self._on_taken(len(self._made), len(self._packed.names))
            self._current = found
            self._made[found] = make(self._packed.read(found))
        return self._made[found]

    def note(self, text: str) -> None:
        """Say something of the file that is being taken."""
        self._notes[text].append(self._current)

    def keep(self, content: bytes) -> str:
        """Keep a file; return its digest."""
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self._new:
            self._new[digest] = Path(self._folder.name, digest)
            self._new[digest].write_bytes(content)
        return digest

    def read(self, digest: str) -> bytes:
        """Return a file that is kept, or will be; raise FileNotFoundError."""
        return self._new[digest].read_bytes() if digest in self._new else read_file(self._campaign, digest)

    def notices(self) -> list[Notice]:
        """Return what was said of files, and which of them no cell names."""
        found = [Notice("file_note", f"{_first(names)}: {text}.") for text, names in self._notes.items()]
        if extra := [name for name in self._packed.names if name not in self._packed.taken]:
            found.append(Notice("extra_files", f"No cell names these files, which were left out: {_first(extra)}."))
        return found

    @contextmanager
    def written(self, *, is_made: bool = False) -> Iterator[list[StoredFile]]:
        """Write the files that were kept, and give their rows, not stored yet; delete them if the body fails."""
        rows: list[StoredFile] = []
        try:
            for digest, path in self._new.items():
                row = StoredFile(campaign=self._campaign, digest=digest, size=path.stat().st_size, is_made=is_made)
                with path.open("rb") as content:
                    row.file.save(digest, File(content), save=False)
                rows.append(row)
            yield rows
        except BaseException:
            delete_files([row.file.name for row in rows if row.file.name], [])
            raise


def _first(names: list[str]) -> str:
    return listing(names[:_SHOWN]) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")


def read_file(campaign: Campaign, digest: str) -> bytes:
    """Return a file of a campaign by its digest; raise FileNotFoundError. One query."""
    names = StoredFile.objects.filter(campaign=campaign, digest=digest).values_list("file", flat=True)
    if name := names.first():
        return get_media().read(name)
    raise FileNotFoundError(f"The campaign has no file {digest}.")


def store_files(campaign: Campaign, rows: list[StoredFile]) -> None:
    """Store rows of files that are written; those that the campaign has already stay as they are. In a transaction."""
    known = set(campaign.files.values_list("digest", flat=True))
    StoredFile.objects.bulk_create([row for row in rows if row.digest not in known], batch_size=500)
    delete_on_commit(*(row.file.name or "" for row in rows if row.digest in known))


def drop_files(campaign: Campaign, *, only_made: bool = False) -> None:
    """Delete rows of files, inside a transaction, and on commit the files that no other campaign has."""
    if names := own_names(campaign, only_made=only_made):
        delete_on_commit(*names)
    rows = campaign.files.filter(is_made=True) if only_made else campaign.files.all()
    rows._raw_delete(rows.db)


def own_names(campaign: Campaign, *, only_made: bool = False) -> list[str]:
    """Return the names of the files that no other campaign has. One query, or two if there are any."""
    rows = campaign.files.filter(is_made=True) if only_made else campaign.files.all()
    names = set(rows.values_list("file", flat=True))
    if not names:
        return []
    of_others = StoredFile.objects.exclude(campaign=campaign).filter(file__in=rows.values("file"))
    return sorted(names - set(of_others.values_list("file", flat=True)))


@transaction.atomic
def copy_files(campaign: Campaign, copy: Campaign) -> None:
    """Let a copy have the files, too: rows of its own, for the same files."""
    StoredFile.objects.bulk_create(
        (
            StoredFile(campaign=copy, digest=row.digest, file=row.file.name, size=row.size, is_made=row.is_made)
            for row in campaign.files.iterator(2_000)
        ),
        batch_size=500,
    )
