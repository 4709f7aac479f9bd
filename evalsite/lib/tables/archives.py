"""Files that come packed: one in .gz, one or several in .zip. Paths in a zip are never paths on the disk."""

import gzip
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from evalsite.lib.tables.errors import listing, shorten, whole_file_error

Files = Mapping[str, bytes]
"""Contents by name."""
MOST_BYTES = 1 << 34
"""Unpacked, where nobody sets a limit."""
_GZIP, _CHUNK = b"\x1f\x8b", 1 << 20


def unpack(path: Path, folder: Path, file: str, max_bytes: int = MOST_BYTES) -> tuple[Path, str]:
    """Return the only file in a .gz or .zip, unpacked into a new folder in `folder`, and its name; others as they are.

    `file` is the name that the person knows. Raises TableError for an archive that is damaged, has several files, or
    more than `max_bytes` unpacked.
    """
    if not path.is_file():
        return path, file  # the reader of tables says what is wrong
    with path.open("rb") as handle:
        is_gzip = handle.read(len(_GZIP)) == _GZIP
    folder = Path(tempfile.mkdtemp(dir=folder))  # packed files of one name stay apart
    if is_gzip:
        name = Path(file).name.removesuffix(".gz") or "unpacked"
        return _gunzip(path, folder / name, file, max_bytes), name
    files = read_archive(path, file, max_bytes)
    if files is None:
        return path, file
    if len(files) > 1:
        message = f"there are several files in this archive: {listing(files)}. Give one of them."
        raise whole_file_error(file, "archive", message)
    ((name, content),) = files.items()
    (folder / name).write_bytes(content)
    return folder / name, name


def _gunzip(path: Path, unpacked: Path, file: str, max_bytes: int) -> Path:
    n = 0
    try:
        with gzip.open(path) as packed, unpacked.open("wb") as copy:
            while chunk := packed.read(_CHUNK):
                n += len(chunk)
                if n > max_bytes:
                    raise _too_large(file, max_bytes)
                copy.write(chunk)
    except (OSError, EOFError, zlib.error):
        message = "the archive is damaged or cut short. Pack the file again."
        raise whole_file_error(file, "corrupt", message) from None
    return unpacked


def _too_large(file: str, max_bytes: int) -> Exception:
    message = f"unpacked it has more than {max_bytes / 1e6:,.0f} MB. Give fewer files at once, or split it."
    return whole_file_error(file, "too_large", message)


def is_packed(path: Path) -> bool:
    """Tell whether a file is a zip of files, and no workbook."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
        return True  # a damaged one
    return not any(name.startswith(("xl/", "[Content_Types]")) or name == "mimetype" for name in names)


def read_archive(path: Path, file: str, max_bytes: int) -> Files | None:
    """Return the files in a zip, by their names without folders; None for a file that is none, or is a workbook.

    Hidden files and what macOS adds are left out. Raises TableError if it is damaged, has a password, is empty, has two
    files of one name, or more than `max_bytes` unpacked.
    """
    if not is_packed(path):
        return None
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            left = max_bytes
            for member in archive.infolist():
                name = Path(member.filename).name
                if member.is_dir() or name.startswith(".") or member.filename.startswith("__MACOSX"):
                    continue
                if name in found:
                    raise whole_file_error(file, "same_name", f"two files in it are called “{shorten(name)}”.")
                with archive.open(member) as handle:
                    found[name] = handle.read(left + 1)
                left -= len(found[name])
                if left < 0:
                    raise _too_large(file, max_bytes)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, ValueError):
        message = "the archive is damaged, or has a password. Pack the files again, without one."
        raise whole_file_error(file, "corrupt", message) from None
    if not found:
        raise whole_file_error(file, "empty_file", "there is no file in this archive.")
    return found
