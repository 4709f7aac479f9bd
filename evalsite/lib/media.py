"""Where uploads and results are kept: on the disk, below MEDIA_ROOT, or in a bucket (`evalsite.lib.bucket`).

Names have slashes and no beginning slash: `uploads/…`, `runs/<id>/report.json`. Single uploads go through the fields of
models and `default_storage`; folders of results, and what is measured or saved of everything, through `get_media`.
"""

import os
import posixpath
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Protocol, cast
from uuid import uuid4

from django.core.files.storage import FileSystemStorage, storages

from evalsite.lib.drafts import draft_of
from evalsite.lib.private_files import PRIVATE_FOLDER


class MediaAwayError(ConnectionError):
    """The bucket does not answer, or refuses: nothing is known of its files. Another attempt may succeed."""


class Replacement(Protocol):
    """All files anew: put them into `folder`, call `prepare`, then `finish`. Until then the former ones stay."""

    folder: Path

    def prepare(self) -> None:
        """Do what may fail for want of a network."""

    def finish(self) -> None:
        """Let the files of `folder`, and no others, be those that are kept."""


class MediaStorage(Protocol):
    """What both kinds of storage do besides what Django asks of one; all but `fault` may raise MediaAwayError."""

    def path(self, name: str) -> str:
        """Return where a file is on this machine, copied there if need be; it may raise FileNotFoundError."""

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""

    def find(self, folder: str, name: str) -> Path | None:
        """Return where a file of a folder is on this machine; None if the folder has none of this name."""

    def read(self, name: str) -> bytes:
        """Return what is in a file; raise OSError if it cannot be read."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, or replace it in one step; raise OSError if it cannot be written."""

    def sizes(self, folder: str = "") -> Iterator[tuple[str, int]]:
        """Yield the name below a folder, and the size in bytes, of each file; what goes away meanwhile is left out."""

    def new_folder(self, name: str) -> AbstractContextManager[Path]:
        """Give a folder of this machine in which a folder is written; what is not kept of it goes in the end."""

    def ready(self, draft: Path, name: str) -> Callable[[], None]:
        """Prepare to keep the files of `draft` as those of a folder; what is returned does it, and needs no network."""

    def make(self, folder: str, name: str, source: str, maker: Callable[[Path, str], bool]) -> Path | None:
        """Have a file of a folder made that follows from its file `source`; return where it is on this machine.

        `maker` takes a folder with that file and the name, and returns False if it makes none of that name.
        """

    def delete_folder(self, name: str) -> None:
        """Delete the files of a folder, and what writers that were lost have left of it."""

    def files(self) -> AbstractContextManager[Iterator[tuple[str, Path]]]:
        """Yield name and path of each file, in order; a path is there until the next is asked for."""

    def replacing(self) -> AbstractContextManager[Replacement]:
        """Replace all files."""

    def fault(self) -> str:
        """Return why files cannot be written, in words; "": they can."""


def get_media() -> MediaStorage:
    """Return where uploads and results are kept."""
    return cast(MediaStorage, storages["default"])


def file_sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield path below a folder of this machine and size of each file; what goes away meanwhile is left out."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)  # noqa: PTH118 there may be a hundred thousand
            try:
                yield os.path.relpath(path, folder), os.lstat(path).st_size
            except OSError:
                continue


def is_below(folder: str, name: str) -> bool:
    """Tell whether a name that somebody sent is that of a file in the folder."""
    return posixpath.normpath(f"{folder}/{name}").startswith(f"{folder}/") and "\0" not in name and "\\" not in name


class DiskStorage(FileSystemStorage):
    """Files below MEDIA_ROOT."""

    @property
    def _root(self) -> Path:
        return Path(self.location)

    def find(self, folder: str, name: str) -> Path | None:
        """Return the path of a file, which no link takes out of its folder."""
        root = (self._root / folder).resolve()
        try:
            path = (root / name).resolve()
            return path if path.is_relative_to(root) and path.is_file() else None
        except (OSError, ValueError):  # a name that no file system takes
            return None

    def read(self, name: str) -> bytes:
        """Return what is in a file."""
        return (self._root / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write a file beside its place, and move it there."""
        with draft_of(self._root / name) as draft:
            draft.write_bytes(content)

    def sizes(self, folder: str = "") -> Iterator[tuple[str, int]]:
        """Yield names and sizes."""
        yield from file_sizes(self._root / folder)

    @contextmanager
    def new_folder(self, name: str) -> Iterator[Path]:
        """Give a folder beside the one to come, on the same disk."""
        folder = self._root / name
        # A worker that lost its lease may still be writing: each has a folder of its own, and only one is kept.
        draft = folder.with_name(f"{folder.name}.{uuid4().hex}")
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def ready(self, draft: Path, name: str) -> Callable[[], None]:
        """Return what moves the draft to its place."""

        def keep() -> None:
            shutil.rmtree(self._root / name, ignore_errors=True)
            draft.rename(self._root / name)

        return keep

    def make(self, folder: str, name: str, source: str, maker: Callable[[Path, str], bool]) -> Path | None:
        """Have the file made in the folder itself."""
        place = (self._root / folder).resolve()
        return place / name if maker(place, name) else None

    def delete_folder(self, name: str) -> None:
        """Delete a folder and its drafts."""
        folder = self._root / name
        shutil.rmtree(folder, ignore_errors=True)
        for draft in folder.parent.glob(f"{folder.name}.*"):
            shutil.rmtree(draft, ignore_errors=True)

    @contextmanager
    def files(self) -> Iterator[Iterator[tuple[str, Path]]]:
        """Give all files; a folder of a restore that was broken off is none."""
        yield self._files()

    def _files(self) -> Iterator[tuple[str, Path]]:
        for folder, folders, names in os.walk(self._root):
            if Path(folder) == self._root:
                folders[:] = [name for name in folders if not name.startswith(".")]
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(self._root).as_posix(), path

    @contextmanager
    def replacing(self) -> Iterator[Replacement]:
        """Give a folder below MEDIA_ROOT, which may be a disk of its own."""
        with TemporaryDirectory(prefix=".restore-", dir=self._root) as folder:
            yield _DiskReplacement(self._root, Path(folder))

    def fault(self) -> str:
        """Try a file."""
        try:
            with TemporaryFile(dir=self._root):
                return ""
        except OSError as error:
            return f"Nothing can be written to {self._root} ({error.strerror})"


class _DiskReplacement:
    def __init__(self, root: Path, place: Path) -> None:
        self._root, self._old, self.folder = root, place / "old", place / "new"

    def prepare(self) -> None:
        """Nothing: to move folders is quick."""

    def finish(self) -> None:
        self._old.mkdir(mode=PRIVATE_FOLDER)
        for entry in self._root.iterdir():
            if not entry.name.startswith("."):
                entry.rename(self._old / entry.name)
        for entry in self.folder.glob("*"):
            entry.rename(self._root / entry.name)
