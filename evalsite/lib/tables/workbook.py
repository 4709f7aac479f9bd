"""The parts of an .xlsx file, opened with care: a workbook is a zip of XML, and both can be bombs.

openpyxl builds a tree of each row and reads styles and strings whole; here everything is streamed and nothing
is inflated beyond a limit. python-calamine reads a sheet in a seventh of the time, but a file of 5 kB with a value in
the last cell makes it ask for 512 GB and ends the process, and formulas and errors come as empty cells.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from xml.parsers import expat

from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900
from openpyxl.utils.escape import unescape

from evalsite.lib.tables.errors import TableError, whole_file_error
from evalsite.lib.tables.formats import Source, broken_workbook

MAX_INFLATED_BYTES = 1 << 30
MAX_STRINGS_BYTES = 1 << 28
MAX_RATIO = 200
MAX_CELL = 1 << 16
"""Excel's own limit is 32,767 characters in a cell."""

_SMALL_ENOUGH = 1 << 26
_CHUNK = 1 << 16
_STYLES_BYTES = 1 << 24

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    expat.ExpatError,
    KeyError,
    IndexError,
    ValueError,
    OverflowError,
)

StartElement = Callable[[str, dict[str, str]], None]
EndElement = Callable[[str], None]
Text = Callable[[str], None]


class Workbook:
    """The first sheet of a workbook and what is needed to read its cells."""

    def __init__(self, source: Source, archive: zipfile.ZipFile) -> None:
        self._source = source
        self._archive = archive
        self.sheets: list[tuple[str, str]] = []
        self.epoch = CALENDAR_WINDOWS_1900
        self._read_sheets()
        self.date_styles = self._date_styles()

    def parse(self, part: str, start: StartElement, end: EndElement, text: Text) -> Iterator[None]:
        """Feed one XML part to the handlers, chunk by chunk; element names come without their namespace.

        Raises TableError for a document type declaration: spreadsheet programs write none, entity bombs need
        one.
        """
        parser = expat.ParserCreate()

        def start_root(name: str, attributes: dict[str, str]) -> None:
            # Few programs give all names a prefix; without one, no name is cut.
            is_prefixed = ":" in name
            parser.StartElementHandler = start_prefixed if is_prefixed else start
            parser.EndElementHandler = (lambda name: end(name.rpartition(":")[2])) if is_prefixed else end
            parser.StartElementHandler(name, attributes)

        def start_prefixed(name: str, attributes: dict[str, str]) -> None:
            start(name.rpartition(":")[2], attributes)

        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.StartElementHandler = start_root
        parser.CharacterDataHandler = text
        with self._archive.open(part) as handle:
            while chunk := handle.read(_CHUNK):
                parser.Parse(chunk, False)
                yield
            parser.Parse(b"", True)
            yield

    def shared_strings(self, n_needed: int | None = None) -> list[str]:
        """Return the shared strings, the first `n_needed` at least."""
        part = "xl/sharedStrings.xml"
        if part not in self._archive.namelist():
            return []
        self._limit(part, MAX_STRINGS_BYTES)
        strings: list[str] = []
        text = TextParts(strings.append, "si")
        for _ in self.parse(part, text.start, text.end, text.text):
            if n_needed is not None and len(strings) >= n_needed:
                break
        return strings

    def _read_sheets(self) -> None:
        targets: dict[str, str] = {}
        names: list[tuple[str, str]] = []

        def relation(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship":
                targets[attributes["Id"]] = attributes["Target"]

        def sheet(name: str, attributes: dict[str, str]) -> None:
            if name == "sheet":
                key = next(value for key, value in attributes.items() if key.endswith(":id"))
                names.append((attributes.get("name", ""), key))
            elif name == "workbookPr" and attributes.get("date1904") in {"1", "true"}:
                self.epoch = CALENDAR_MAC_1904

        self._parse_small("xl/_rels/workbook.xml.rels", relation)
        self._parse_small("xl/workbook.xml", sheet)
        for name, key in names:
            target = targets[key]
            path = PurePosixPath("xl", target) if not target.startswith("/") else PurePosixPath(target[1:])
            # Chart sheets have no cells.
            if "chartsheet" not in target:
                self.sheets.append((name, str(path)))
        if not self.sheets:
            raise KeyError("no sheet")

    def _date_styles(self) -> set[str]:
        """Return the style numbers, as text, whose number format is a date."""
        if "xl/styles.xml" not in self._archive.namelist():
            return set()
        formats = {str(key): code for key, code in BUILTIN_FORMATS.items()}
        styles: list[str] = []
        inside: list[str] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            inside.append(name)
            if name == "numFmt" and "numFmts" in inside:
                formats[attributes["numFmtId"]] = attributes["formatCode"]
            elif name == "xf" and inside[-2] == "cellXfs":
                styles.append(attributes.get("numFmtId", "0"))

        def end(name: str) -> None:
            inside.pop()

        self._parse_small("xl/styles.xml", start, end)
        return {str(place) for place, key in enumerate(styles) if is_date_format(formats.get(key, "General"))}

    def _parse_small(self, part: str, start: StartElement, end: EndElement = lambda name: None) -> None:
        self._limit(part, _STYLES_BYTES)
        for _ in self.parse(part, start, end, lambda text: None):
            pass

    def _limit(self, part: str, n_bytes: int) -> None:
        if self._archive.getinfo(part).file_size > n_bytes:
            raise _bomb(self._source.file, f"its part {part} inflates to more than {n_bytes >> 20} MB")

    def _refuse_doctype(self, *declaration: object) -> None:
        raise whole_file_error(
            self._source.file,
            "xml_bomb",
            "the workbook declares XML entities, which no spreadsheet program does. Open it in Excel and "
            "save it again.",
        )


class TextParts:
    """Joins the runs of text in one element, leaving out phonetic hints."""

    def __init__(self, on_text: Callable[[str], None], element: str) -> None:
        self._on_text = on_text
        self._element = element
        self._parts: list[str] = []
        self._n_letters = 0
        self._n_phonetic = 0
        self._is_text = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        if name == self._element:
            self._parts.clear()
            self._n_letters = 0
        elif name == "rPh":
            self._n_phonetic += 1
        self._is_text = name == "t" and not self._n_phonetic

    def end(self, name: str) -> None:
        """Take the end of an element."""
        if name == self._element:
            self._on_text(unescape("".join(self._parts)))
        elif name == "rPh":
            self._n_phonetic -= 1
        self._is_text = False

    def text(self, data: str) -> None:
        """Take a piece of text; raise ValueError beyond what a cell can hold."""
        if self._is_text:
            self._parts.append(data)
            self._n_letters += len(data)
            if self._n_letters > MAX_CELL:
                raise ValueError("too long a text")


@contextmanager
def open_workbook(source: Source) -> Iterator[Workbook]:
    """Open a workbook whose directory promises a bearable size.

    Anything that proves to be broken while it is open becomes a TableError. `zipfile` never inflates a part
    beyond the size that the directory promises, so a lying directory ends as a broken file.
    """
    try:
        with source.path.open("rb") as handle, zipfile.ZipFile(handle) as archive:
            _refuse_bombs(source, archive)
            yield Workbook(source, archive)
    except TableError:
        raise
    except _BROKEN:
        raise broken_workbook(source.file) from None


def _refuse_bombs(source: Source, archive: zipfile.ZipFile) -> None:
    n_bytes = sum(info.file_size for info in archive.infolist())
    if n_bytes > MAX_INFLATED_BYTES:
        raise _bomb(source.file, f"it inflates to {n_bytes / 1e9:.1f} GB")
    if n_bytes > _SMALL_ENOUGH and n_bytes > MAX_RATIO * source.n_bytes:
        raise _bomb(source.file, f"it inflates to {n_bytes / source.n_bytes:,.0f} times its size")


def _bomb(file: str, why: str) -> TableError:
    return whole_file_error(
        file,
        "zip_bomb",
        f"the workbook is too large to open: {why}. Save the sheet as CSV UTF-8 and give that.",
    )
