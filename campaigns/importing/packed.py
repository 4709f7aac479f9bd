"""Files that come with a table whose cells name them: recognised by their content, and packed into one zip."""

import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from campaigns.contracts.format import FileFormat
from campaigns.formats import list_formats
from campaigns.importing.line_by_line import TABLES
from evalsite.lib.packed_files import DAMAGED, members_of, plain_path
from evalsite.lib.tables.archives import is_packed
from evalsite.lib.tables.errors import listing, shorten, whole_file_error

_HEAD = 512
Given = tuple[str, Path]
"""The name of a file as the person knows it, and where it is."""


def is_owned(head: bytes) -> bool:
    """Tell by its beginning whether a file is what a cell names, not a table or a text."""
    return any(each.owns(head) for each in list_formats() if issubclass(each, FileFormat))


def take_out(given: Sequence[Given], folder: Path, max_bytes: int) -> tuple[list[Given], Path | None]:
    """Return the tables among files that were uploaded together, and a zip of the others, if cells may name any.

    Zips are unpacked. Where nothing is what a cell names, the files stay as they are given. Raises TableError for a zip
    that `members_of` refuses or more than `max_bytes` in all, for two files of one name, and without exactly one table.
    """
    zips = {path for _, path in given if is_packed(path)}
    if not any(_has_owned(path, name, path in zips) for name, path in given):
        return list(given), None
    tables: list[Given] = []
    packed, names = folder / "packed.zip", set[str]()
    left = max_bytes
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for file, path in given:
            found = members_of(path, file, left) if path in zips else [(plain_path(file), path.read_bytes())]
            for name, content in found:
                left -= len(content)
                if Path(name).suffix.lower() in TABLES and not is_owned(content[:_HEAD]):
                    tables.append((Path(name).name, folder / f"table-{len(tables)}"))
                    tables[-1][1].write_bytes(content)
                    continue
                if name in names:
                    message = f"two files are called “{shorten(name)}”. Give each a name of its own."
                    raise whole_file_error(file, "same_name", message)
                names.add(name)
                archive.writestr(name, content)
    if len(tables) != 1:
        first = given[0][0]
        if not tables:
            text = "there are pictures, but no table that names them. Upload the table with them."
            raise whole_file_error(first, "no_table", text)
        text = f"there are several tables: {listing([name for name, _ in tables])}. Give one with its pictures."
        raise whole_file_error(first, "mixed_files", text)
    return tables, packed


def _has_owned(path: Path, file: str, is_zip: bool) -> bool:
    if not is_zip:
        with path.open("rb") as handle:
            return is_owned(handle.read(_HEAD))
    with suppress(*DAMAGED), zipfile.ZipFile(path) as archive:  # the reader of archives says what is wrong with it
        return any(_is_owned_member(archive, member) for member in archive.infolist())
    return False


def _is_owned_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    try:
        with archive.open(member) as handle:
            return is_owned(handle.read(_HEAD))
    except DAMAGED:
        return Path(member.filename).suffix.lower() in _SUFFIXES


# Of files that cannot be read, as they are encrypted or damaged.
_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg"}
