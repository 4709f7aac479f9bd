"""Which kind of file this is, told by its content: names lie."""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from evalsite.lib.tables.errors import TableError, whole_file_error

Format = Literal["delimited", "jsonl", "xlsx", "parquet"]

_HEAD = 1 << 13
_ARCHIVES = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"Rar!": "RAR",
}
_READABLE = "CSV, TSV, JSON Lines, Excel (.xlsx) or Parquet"
_ARRAY = re.compile(r"\[\s*([{\[\"\d\]]|$)")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True)
class Source:
    """One file to read: where it is, the name that the person knows, what it is and how its text is
    encoded."""

    path: Path
    file: str
    format: Format
    encoding: str
    n_bytes: int

    def open_text(self) -> IO[str]:
        """Open a text file for the slow readers; bytes that are no text in its encoding become lone surrogates."""
        if self.encoding == "utf-16":
            return self.path.open(encoding="utf-16", errors="replace", newline="")
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return self.path.open(encoding=encoding, errors="surrogateescape", newline="")


def open_source(
    path: str | Path, name: str | None = None, max_bytes: int | None = None, encoding: str | None = None
) -> Source:
    """Look at the beginning of a file and return what it is.

    `encoding` is that of a text file without a mark of its own; UTF-8 by default.

    Raises TableError for a file that is missing, empty, over `max_bytes` or of a kind that is not read here;
    the message says how to turn it into one that is.
    """
    path = Path(path)
    file = name or path.name
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            message = "this is no regular file. Write the table into a file first, and name that."
            raise whole_file_error(file, "unreadable", message)
        n_bytes = path.stat().st_size
        with path.open("rb") as handle:
            head = handle.read(_HEAD)
    except OSError as error:
        raise whole_file_error(
            file,
            "unreadable",
            f"the file cannot be opened ({error.strerror}). Check its name and who may read it.",
        ) from None
    if max_bytes is not None and n_bytes > max_bytes:
        raise whole_file_error(
            file,
            "too_large",
            f"the file has {_megabytes(n_bytes)}, the limit is {_megabytes(max_bytes)}. Leave out columns "
            "that are not "
            "ratings, save it as Parquet, or split it.",
        )
    if not head:
        raise whole_file_error(file, "empty_file", "the file is empty. Export it again and check that it has rows.")
    format_, marked = _sniff(path, file, head, encoding or "utf-8")
    return Source(path, file, format_, marked, n_bytes)


def _sniff(path: Path, file: str, head: bytes, encoding: str) -> tuple[Format, str]:
    if head.startswith(b"PK"):
        _refuse_unless_workbook(path, file)
        return "xlsx", "utf-8"
    if head.startswith(b"PAR1"):
        return "parquet", "utf-8"
    _refuse_other_binaries(file, head)
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        raise whole_file_error(file, "encoding", "the text is UTF-32. Save it as UTF-8.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _sniff_text(file, head.decode("utf-16", "ignore")), "utf-16"
    if head[1:8:2].count(0) == len(head[1:8:2]) or head[:8:2].count(0) == len(head[:8:2]):
        raise whole_file_error(file, "encoding", "the text is UTF-16 without its mark. Save it as UTF-8.")
    if head.startswith(b"\xef\xbb\xbf"):
        encoding = "utf-8"
    return _sniff_text(file, head.decode("utf-8-sig", "replace")), encoding


def _refuse_other_binaries(file: str, head: bytes) -> None:
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise whole_file_error(
            file,
            "old_excel",
            "this is an old Excel workbook (.xls) or one with a password. Open it in Excel and save it as "
            ".xlsx without a "
            "password, or as CSV UTF-8.",
        )
    if head.startswith(b"PARE"):
        raise whole_file_error(file, "encrypted", "this Parquet file is encrypted. Write it again without encryption.")
    for magic, kind in _ARCHIVES.items():
        if head.startswith(magic):
            raise whole_file_error(
                file, "archive", f"this is a {kind} archive. Unpack it and give the file that is inside."
            )


def _sniff_text(file: str, text: str) -> Format:
    start = text.lstrip()
    if not start and len(text) < _HEAD // 4:
        raise whole_file_error(file, "empty_file", "the file holds only white space. Export it again.")
    if start.startswith("%PDF") or len(_CONTROL.findall(text)) > len(text) // 100:
        raise whole_file_error(file, "binary", f"this is not a table of text. Give {_READABLE}.")
    if start.startswith("<"):
        raise whole_file_error(file, "markup", f"this is a web page or XML. Save the table as {_READABLE}.")
    if _ARRAY.match(start):
        raise whole_file_error(
            file,
            "json_array",
            "this is one JSON array; JSON Lines has one object on each line. Convert it with: jq -c '.[]' "
            "old.json > "
            'new.jsonl, or in pandas: to_json(path, orient="records", lines=True).',
        )
    return "jsonl" if start.startswith("{") else "delimited"


def _refuse_unless_workbook(path: Path, file: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise broken_workbook(file) from None
    if "xl/workbook.xml" in names or "xl/_rels/workbook.xml.rels" in names:
        return
    if "xl/workbook.bin" in names or "mimetype" in names or "content.xml" in names:
        raise whole_file_error(
            file,
            "other_workbook",
            "this kind of workbook is not read. Save it as Excel (.xlsx) or as CSV UTF-8.",
        )
    raise whole_file_error(file, "archive", "this is a zip archive. Unpack it and give the file that is inside.")


def broken_workbook(file: str) -> TableError:
    """Return the error of a workbook that is damaged."""
    return whole_file_error(
        file,
        "corrupt",
        "the workbook is damaged or cut short. Open it in Excel, save it again, or upload it again.",
    )


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
