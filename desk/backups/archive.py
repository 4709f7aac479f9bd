"""The file of a backup: a ZIP archive of files with their checksums, and a manifest that says what made it."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import IO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError  # noqa: N812

from evalsite.lib.drafts import draft_of
from evalsite.lib.errors import DomainError
from evalsite.lib.private_files import PRIVATE_FILE

FORMAT = 1
"""The layout of archives; one of a higher number needs a later version of evalsite."""
MANIFEST = "manifest.json"
_BLOCK = 2**20


@dataclass(frozen=True)
class Origin:
    """What a backup was made of.

    `migrations` are (app, name) of those that the database had; `key` is a fingerprint of SECRET_KEY.
    """

    evalsite: str
    made_at: str
    database: str
    migrations: list[tuple[str, str]]
    key: str


class ArchiveWriter:
    """Adds files to an archive and keeps their sizes and checksums."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self.files: dict[str, tuple[int, str]] = {}

    def add(self, name: str, path: Path) -> None:
        """Add the file at `path` under a name with slashes; one that is gone is left out."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return
        with file, self._member(name) as member:
            self.files[name] = _copy(file, member)

    def finish(self, origin: Origin) -> None:
        """Write the manifest."""
        with self._member(MANIFEST) as member:
            text = json.dumps({"format": FORMAT, **asdict(origin), "files": self.files}, indent=1)
            member.write(text.encode())

    @contextmanager
    def _member(self, name: str) -> Iterator[IO[bytes]]:
        info = ZipInfo(name)
        info.compress_type = ZIP_DEFLATED
        info.external_attr = PRIVATE_FILE << 16
        with self._archive.open(info, "w", force_zip64=True) as member:
            yield member


@contextmanager
def writing_archive(path: Path) -> Iterator[ArchiveWriter]:
    """Write an archive that only its owner may read; it is at `path` once it is whole, and only without an error."""
    with draft_of(path) as draft:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        with ZipFile(draft, "w", compresslevel=1) as archive:
            yield ArchiveWriter(archive)


class ArchiveReader:
    """An archive whose files are what the manifest says."""

    def __init__(self, archive: ZipFile, origin: Origin, files: dict[str, tuple[int, str]]) -> None:
        self._archive = archive
        self.origin = origin
        self.files = files

    @property
    def n_bytes(self) -> int:
        """What all files take once they are out of the archive."""
        return sum(size for size, _ in self.files.values())

    def below(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, with those in folders of it."""
        return [name for name in self.files if name.startswith(f"{folder}/")]

    def extract(self, name: str, to: Path) -> None:
        """Write a file to a path that only its owner may read; the folders above are made."""
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        to.touch(mode=PRIVATE_FILE)
        with self._archive.open(name) as member, to.open("wb") as file:
            _copy(member, file)

    def check_files(self) -> None:
        """Raise DomainError if a file is not as long, or not the same, as when it was put in."""
        for name, (size, digest) in self.files.items():
            try:
                with self._archive.open(name) as member:
                    is_same = _copy(member, None) == (size, digest)
            except (BadZipFile, ZlibError, EOFError, KeyError, OSError):
                is_same = False
            if not is_same:
                raise _damaged(f"its file {name} is not what was put in")


@contextmanager
def reading_archive(path: Path) -> Iterator[ArchiveReader]:
    """Open an archive and read its manifest; raise DomainError if it is damaged, no backup, or of a later format."""
    try:
        archive = ZipFile(path)
    except FileNotFoundError:
        raise DomainError("backup_missing", f"There is no file {path}.") from None
    except (BadZipFile, OSError) as error:
        raise _damaged(f"it cannot be opened as a ZIP archive ({error})") from None
    with archive:
        try:
            manifest = json.loads(archive.read(MANIFEST))
        except (KeyError, ValueError, BadZipFile, ZlibError, EOFError, OSError):
            raise _damaged(f"it has no readable {MANIFEST}, so evalsite did not write it, or not all of it") from None
        yield _read_manifest(archive, manifest)


def _read_manifest(archive: ZipFile, manifest: dict) -> ArchiveReader:
    try:
        if manifest["format"] > FORMAT:
            text = f"evalsite {manifest['evalsite']} wrote this backup, in a format that this version does not know."
            raise DomainError("backup_newer", f"{text} Install that version or a later one, then restore.")
        names = [field for field in Origin.__dataclass_fields__ if field != "migrations"]
        migrations = [(app, name) for app, name in manifest["migrations"]]
        origin = Origin(migrations=migrations, **{name: manifest[name] for name in names})
        files = {name: (size, digest) for name, (size, digest) in manifest["files"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _damaged(f"its {MANIFEST} cannot be read") from None
    for name in files:
        if name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
            raise _damaged(f"its file {name} would be written outside the data folder")
    return ArchiveReader(archive, origin, files)


def _damaged(why: str) -> DomainError:
    return DomainError("backup_damaged", f"The backup is damaged: {why}. Nothing was changed. Use another backup.")


def _copy(source: IO[bytes], to: IO[bytes] | None) -> tuple[int, str]:
    """Copy block by block; return the number of bytes and their SHA-256."""
    digest, n_bytes = hashlib.sha256(), 0
    while block := source.read(_BLOCK):
        digest.update(block)
        n_bytes += len(block)
        if to:
            to.write(block)
    return n_bytes, digest.hexdigest()
