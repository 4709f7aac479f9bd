"""CSV files that are not UTF-8: whether they may be Windows-1252, as Excel on Windows writes them."""

import codecs
import re
from collections.abc import Iterator
from functools import partial
from typing import Literal

from evalsite.lib.tables.errors import Problem, TableError
from evalsite.lib.tables.formats import Source

WINDOWS_1252: Literal["windows-1252"] = "windows-1252"

_CHUNK = 1 << 20
_N_LINES, _LONGEST_LINE = 5, 160
# As Python reads bytes that are not UTF-8: each is half a surrogate pair, and these five are no letter in Windows-1252.
_FOREIGN = re.compile("[\udc80-\udcff]")
_UTF8 = re.compile("[^\x00-\x7f\udc80-\udcff]")
_UNDEFINED = re.compile("[\udc81\udc8d\udc8f\udc90\udc9d]")
_LINE_END = re.compile("[\r\n]")


class NotUtf8Error(TableError):
    """A CSV file is not UTF-8 and may be Windows-1252; `lines` are some of its lines, read so."""

    def __init__(self, file: str, lines: list[str]) -> None:
        self.lines = lines
        shown = "; ".join(f"“{line}”" for line in lines)
        message = (
            f"the file is not UTF-8. Read as Windows-1252, which Excel on Windows writes, it has lines like these: "
            f"{shown}. If they are right, have it read so (on the command line: --encoding {WINDOWS_1252}). If not, "
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
        lines.append(" ".join(line.encode("utf-8", "surrogateescape").decode(WINDOWS_1252).split()))
    return lines
