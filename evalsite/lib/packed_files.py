"""Files of one zip, taken out one by one and found by names as people write them. Names are never paths on the disk."""

import difflib
import re
import stat
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing, shorten, whole_file_error

MOST_FILES = 20_000
_ENCRYPTED = 0x1
# What no picture, sound or text reaches; a file of zeros is packed a thousandfold.
_MOST_PACKED, _LEAST_BOMB = 200, 1 << 20
DAMAGED = (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error)
"""What a damaged zip, or a member of it, raises."""
_NEAR, _MOST_NEAR = 0.6, 3
_DRIVE = re.compile("[a-zA-Z]:")


def members_of(path: Path, file: str, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file in a zip, which the person knows as `file`.

    Hidden files and what macOS adds are left out. Raises TableError, with the name, for a file that is encrypted, a
    link, twice there, packed more than 200 times or whose path leads out of the archive; and for over `max_bytes`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [each for each in archive.infolist() if not each.is_dir() and not _is_hidden(each.filename)]
            if len(members) > MOST_FILES:
                raise _refused(file, f"there are {len(members):,} files in it, and at most {MOST_FILES:,} are read")
            seen: set[str] = set()
            left = max_bytes
            for member in members:
                name = _checked(member, file)
                if name in seen:
                    raise _refused(file, f"“{shorten(name)}” is in it twice")
                seen.add(name)
                with archive.open(member) as handle:
                    content = handle.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise _refused(file, f"unpacked it has more than {max_bytes / 1e6:,.0f} MB. Give fewer at once")
                yield name, content
    except DAMAGED:
        message = "the archive is damaged. Pack the files again."
        raise whole_file_error(file, "corrupt", message) from None


def _is_hidden(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.name.startswith(".") or "__MACOSX" in path.parts


def _checked(member: zipfile.ZipInfo, file: str) -> str:
    """Return the path of a file in an archive; raise TableError for one that may do harm."""
    name = plain_path(member.filename)
    shown = shorten(member.filename)
    if member.flag_bits & _ENCRYPTED:
        raise _refused(file, f"“{shown}” has a password. Pack it without one")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise _refused(file, f"“{shown}” is a link. Pack the file itself")
    is_absolute = member.filename.startswith(("/", "\\")) or _DRIVE.match(name)
    if is_absolute or ".." in name.split("/") or not name:
        raise _refused(file, f"“{shown}” is a path that leads out of the archive. Pack the folder itself")
    if member.file_size > max(_LEAST_BOMB, _MOST_PACKED * member.compress_size):
        raise _refused(file, f"“{shown}” is packed more than {_MOST_PACKED} times, as no real file is. Leave it out")
    return name


def _refused(file: str, text: str) -> Exception:
    return whole_file_error(file, "archive", f"{text}.")


def plain_path(name: str) -> str:
    """Return a path as it is compared: with slashes, composed characters, and no dot before it."""
    parts = unicodedata.normalize("NFC", name.strip()).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", "."))


class PackedFiles:
    """The files of one zip by name; `taken` are those that were asked for."""

    def __init__(self, path: Path | None) -> None:
        self._archive = zipfile.ZipFile(path) if path else None
        self.names: Sequence[str] = self._archive.namelist() if self._archive else ()
        self.taken: set[str] = set()
        self._by_path, self._by_name = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for name in self.names:
            self._by_path[name.casefold()].append(name)
            self._by_name[PurePosixPath(name).name.casefold()].append(name)

    def find(self, name: str) -> str:
        """Return the file that a cell means, with or without its folder, whatever its capitals.

        Raises DomainError `no_file` if there is none, with those whose names are near, or if there are several.
        """
        wanted = plain_path(name)
        if wanted in self._by_path.get(wanted.casefold(), ()):
            return wanted
        last = PurePosixPath(wanted).name.casefold() if "/" not in wanted else ""
        found = self._by_path.get(wanted.casefold()) or self._by_name.get(last) or self._below(wanted)
        if len(found) == 1:
            return found[0]
        if found:
            raise _no_file(f"several files may be meant: {listing(found)}. Write the folder, too")
        if not self.names:
            raise _no_file(f"no file was uploaded with the table. Upload “{shorten(name)}” with it, in a zip")
        near = self._near(wanted)
        hint = f"Is it {' or '.join(f'“{shorten(each)}”' for each in near)}?" if near else "Add it, or correct the name"
        raise _no_file(f"no file “{shorten(name)}” was uploaded with the table. {hint}".rstrip("."))

    def _below(self, wanted: str) -> list[str]:
        """Return the files whose paths end with this one: archives may have a folder around everything, or lack one."""
        path = wanted.casefold()
        found = [name for name in self.names if name.casefold().endswith(f"/{path}")]
        return found or [name for name in self.names if "/" in path and path.endswith(f"/{name.casefold()}")]

    def _near(self, wanted: str) -> list[str]:
        names = {PurePosixPath(name).name.casefold(): name for name in self.names[:2_000]}
        close = difflib.get_close_matches(PurePosixPath(wanted).name.casefold(), names, _MOST_NEAR, _NEAR)
        return [names[each] for each in close]

    def read(self, name: str) -> bytes:
        """Return the content of one of `names`."""
        assert self._archive
        self.taken.add(name)
        return self._archive.read(name)

    def close(self) -> None:
        """Close the zip."""
        if self._archive:
            self._archive.close()


def _no_file(message: str) -> DomainError:
    return DomainError("no_file", message)
