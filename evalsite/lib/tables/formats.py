"""Which kind of file this is and how its text is encoded, by its content: names lie.

CSV files that are not UTF-8 may be Windows-1252, as Excel on Windows writes them.
"""

import codecs
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Literal

from evalsite.lib.tables.errors import Problem, TableError, shorten, whole_file_error

Format = Literal["delimited", "jsonl", "xlsx", "parquet"]
READABLE = "CSV, TSV, JSON Lines, a JSON array of objects, Excel (.xlsx) or Parquet"
SUFFIXES = ".csv,.tsv,.txt,.jsonl,.ndjson,.json,.xlsx,.parquet,.gz,.zip"
"""Of the files that a browser offers first; what a file is follows from its content."""

WINDOWS_1252: Literal["windows-1252"] = "windows-1252"

_HEAD = 1 << 13
_ARCHIVES = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"Rar!": "RAR",
}
_ARRAY = re.compile(r"\[\s*([{\[\"\d\]]|$)")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")

_CHUNK = 1 << 20
_N_LINES, _LONGEST_LINE = 5, 160
# As Python reads bytes that are not UTF-8: each is half a surrogate pair; these five are not letters in Windows-1252.
_FOREIGN = re.compile("[\udc80-\udcff]")
_UTF8 = re.compile("[^\x00-\x7f\udc80-\udcff]")
_UNDEFINED = re.compile("[\udc81\udc8d\udc8f\udc90\udc9d]")
_LINE_END = re.compile("[\r\n]")


@dataclass(frozen=True)
class Source:
    """One file to read: where it is, the name that the person knows, what it is and how its text is
    encoded. `is_array`: its objects of JSON are one array, not one on each line. `delimiter` and `sheet` are those of
    an `Opening`."""

    path: Path
    file: str
    format: Format
    encoding: str
    n_bytes: int
    is_array: bool = False
    delimiter: str = ""
    sheet: str = ""

    def open_text(self) -> IO[str]:
        """Open a text file for the slow readers; bytes that are not text in its encoding become lone surrogates."""
        if self.encoding == "utf-16":
            return self.path.open(encoding="utf-16", errors="replace", newline="")
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return self.path.open(encoding=encoding, errors="surrogateescape", newline="")


class Opening(str):
    """The encoding of a text file, "" for UTF-8, and what else somebody said of how a file is opened.

    `delimiter`: what is between the cells of a text file. `sheet`: the name of a workbook's sheet. "": what it looks
    like.
    """

    __slots__ = ("delimiter", "sheet")
    delimiter: str
    sheet: str

    def __new__(cls, encoding: str = "", *, delimiter: str = "", sheet: str = "") -> "Opening":
        """Return the encoding with the rest."""
        opening = super().__new__(cls, encoding)
        opening.delimiter, opening.sheet = delimiter, sheet
        return opening

    @property
    def says_nothing(self) -> bool:
        """Whether all is what it looks like."""
        return not (self or self.delimiter or self.sheet)


def open_source(
    path: str | Path, name: str | None = None, max_bytes: int | None = None, encoding: str | None = None
) -> Source:
    """Return what a file is, by its beginning.

    `encoding` is that of a text file without a mark of its own, UTF-8 by default, or an `Opening`.

    Raises TableError for a file that is missing, empty, over `max_bytes` or of a kind that is not read here;
    the message says how to turn it into one that is.
    """
    path = Path(path)
    file = name or path.name
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            message = "this is not a regular file. Write the table into a file first, and name that."
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
            f"the file has {_megabytes(n_bytes)}, the limit is {_megabytes(max_bytes)}. Leave out columns that are "
            "not ratings, save it as Parquet, or split it.",
        )
    if not head:
        raise whole_file_error(file, "empty_file", "the file is empty. Export it again and check that it has rows.")
    said = encoding if isinstance(encoding, Opening) else Opening(encoding or "")
    about = {"delimiter": said.delimiter, "sheet": said.sheet}
    return _sniff(Source(path, file, "delimited", str(said) or "utf-8", n_bytes, **about), head)  # type: ignore[arg-type]


def _sniff(source: Source, head: bytes) -> Source:
    """Return the source with its format and encoding, by its beginning."""
    file = source.file
    if head.startswith(b"PK"):
        _refuse_unless_workbook(source.path, file)
        return replace(source, format="xlsx", encoding="utf-8")
    if head.startswith(b"PAR1"):
        return replace(source, format="parquet", encoding="utf-8")
    _refuse_other_binaries(file, head)
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        raise whole_file_error(file, "encoding", "the text is UTF-32. Save it as UTF-8.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _sniff_text(replace(source, encoding="utf-16"), head.decode("utf-16", "ignore"))
    if head[1:8:2].count(0) == len(head[1:8:2]) or head[:8:2].count(0) == len(head[:8:2]):
        raise whole_file_error(file, "encoding", "the text is UTF-16 without its mark. Save it as UTF-8.")
    if head.startswith(b"\xef\xbb\xbf"):
        source = replace(source, encoding="utf-8")
    return _sniff_text(source, head.decode("utf-8-sig", "replace"))


def _refuse_other_binaries(file: str, head: bytes) -> None:
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise whole_file_error(
            file,
            "old_excel",
            "this is an old Excel workbook (.xls) or one with a password. Open it in Excel and save it as .xlsx "
            "without a password, or as CSV UTF-8.",
        )
    if head.startswith(b"PARE"):
        raise whole_file_error(file, "encrypted", "this Parquet file is encrypted. Write it again without encryption.")
    for magic, kind in _ARCHIVES.items():
        if head.startswith(magic):
            raise whole_file_error(
                file, "archive", f"this is a {kind} archive. Unpack it and give the file that is inside."
            )


def _sniff_text(source: Source, text: str) -> Source:
    file = source.file
    start = text.lstrip()
    if not start and len(text) < _HEAD // 4:
        raise whole_file_error(file, "empty_file", "the file holds only white space. Export it again.")
    if start.startswith("%PDF") or len(_CONTROL.findall(text)) > len(text) // 100:
        raise whole_file_error(file, "binary", f"this is not a table of text. Give {READABLE}.")
    if start.startswith("<"):
        raise whole_file_error(file, "markup", f"this is a web page or XML. Save the table as {READABLE}.")
    is_array = _ARRAY.match(start) is not None
    return replace(source, format="jsonl" if is_array or start.startswith("{") else "delimited", is_array=is_array)


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


class NotUtf8Error(TableError):
    """A CSV file is not UTF-8 and may be Windows-1252; `lines` are some of its lines, read so."""

    def __init__(self, file: str, lines: list[str]) -> None:
        self.lines = lines
        shown = "; ".join(f"“{line}”" for line in lines)
        message = (
            f"the file is not UTF-8. In Windows-1252, which Excel on Windows writes, it has lines like these: "
            f"{shown}. If these are right, choose it (--encoding {WINDOWS_1252} on the command line). If not, "
            "save the file as CSV UTF-8."
        )
        super().__init__(file, [Problem(None, None, message, "encoding")])


def windows_lines(source: Source) -> list[str]:
    """Return up to 5 lines, as Windows-1252, of a CSV file that is not UTF-8 and may be Windows-1252; else [].

    A file with any letter in UTF-8 is not: it mixes encodings. JSON is UTF-8 by its standard. Reads the whole file.
    """
    lines: list[str] = []
    if source.format != "delimited" or source.encoding != "utf-8":
        return lines
    for text in _decoded(source):
        if text.isascii():
            continue
        if _UTF8.search(text) or _UNDEFINED.search(text):
            return []
        if len(lines) < _N_LINES:
            lines += _foreign_lines(text, _N_LINES - len(lines))
    return lines


def _decoded(source: Source) -> Iterator[str]:
    """Yield the file's text in chunks, bytes that are not UTF-8 as lone surrogates; without the mark of UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
    with source.path.open("rb") as handle:
        for chunk in iter(partial(handle.read, _CHUNK), b""):
            yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _foreign_lines(text: str, n: int) -> list[str]:
    """Return the first `n` lines with letters that are not UTF-8, as Windows-1252; of long lines what is around one."""
    lines: list[str] = []
    place = 0
    while len(lines) < n and (found := _FOREIGN.search(text, place)):
        begin = max(text.rfind("\n", 0, found.start()), text.rfind("\r", 0, found.start())) + 1
        line_end = _LINE_END.search(text, found.end())
        place = line_end.start() if line_end else len(text)
        begin = max(begin, found.start() - _LONGEST_LINE // 2)
        line = text[begin : min(place, begin + _LONGEST_LINE)]
        lines.append(shorten(line.encode("utf-8", "surrogateescape").decode(WINDOWS_1252), _LONGEST_LINE))
    return lines
