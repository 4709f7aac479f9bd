"""Outputs as translation systems write them: a text file for each system, a line a segment, as one table.

Which file is which follows from its name: `source.txt` or `newstest.src.en`, `ref.de`, `docs.txt` (the document of each
line); the others are systems. Blank lines at the same places of all files stand between documents.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from evalsite.lib.tables import Problem, TableError
from evalsite.lib.tables.archives import Files
from evalsite.lib.tables.errors import listing, whole_file_error

_SOURCE, _REFERENCE, _DOCUMENTS = "source", "reference", "document"
_NAMES = {
    _SOURCE: {"src", "source", "sources", "input", "inputs", "original"},
    _REFERENCE: {"ref", "refs", "reference", "references", "gold"},
    _DOCUMENTS: {"doc", "docs", "docid", "docids", "document", "documents", "documentids"},
}
_ENDINGS = {"txt", "hyp", "hypo", "hypothesis", "out", "output", "outputs", "tok", "detok", "sgm", "plain"}
TABLES = {".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".xlsx", ".parquet"}
"""How the names of tables end."""


def the_only_table(files: Files) -> str:
    """Return the name of the only file of several, or of a zip, that is no text file; "" if there is none."""
    tables = [name for name in files if Path(name).suffix.lower() in TABLES]
    return tables[0] if len(files) == len(tables) == 1 else ""


def write_table(files: Files, file: str, stream: IO[str]) -> None:
    """Write outputs as CSV, one a row: source_id, document and reference if there are any, source, system, output.

    Sources are numbered by their lines. Raises TableError for files without sources or systems, of different lengths,
    not in UTF-8, and for a table among several files.
    """
    roles = {name: _role(name) for name in files}
    if tables := [name for name in files if Path(name).suffix.lower() in TABLES]:
        message = f"{listing(tables)} is a table. Give it alone, or text files with a line for each segment."
        raise whole_file_error(file, "mixed_files", message)
    of = {role: [name for name in files if roles[name] == role] for role in (_SOURCE, _REFERENCE, _DOCUMENTS, "")}
    if len(of[_SOURCE]) != 1 or not of[""]:
        message = (
            "one of several text files must hold the sources, and be called source.txt or src.txt; the others are "
            f"outputs, called by their systems. The files are {listing(files)}."
        )
        raise whole_file_error(file, "no_sources", message)
    lines = {name: _lines(name, content) for name, content in files.items()}
    _refuse_lengths(lines, of[_SOURCE][0])
    keeps, document = _documents(lines, of)
    systems = _system_names(of[""])
    references = {f"reference{f' {n}' if n > 1 else ''}": name for n, name in enumerate(of[_REFERENCE], start=1)}
    names = ["source_id", *(["document"] if document else []), "source", *references, "system", "output"]
    writer = csv.writer(stream)
    writer.writerow(names)
    for number, k in enumerate(keeps, start=1):
        about = [number, *([document[k]] if document else []), lines[of[_SOURCE][0]][k]]
        about += [lines[name][k] for name in references.values()]
        for name in of[""]:
            writer.writerow([*about, systems[name], lines[name][k]])


def _role(name: str) -> str:
    parts = {re.sub(r"[\d_-]+$", "", part) for part in Path(name).name.casefold().split(".")}
    return next((role for role, names in _NAMES.items() if parts & names), "")


def _lines(name: str, content: bytes) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise whole_file_error(name, "encoding", f"{name} is not UTF-8. Save it as UTF-8.") from None
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


def _refuse_lengths(lines: Mapping[str, list[str]], source: str) -> None:
    n = len(lines[source])
    problems = [
        Problem(
            None,
            None,
            f"{name} has {len(each):,} lines, and {source} has {n:,}. Each file needs a line for each segment.",
            "different_lengths",
        )
        for name, each in lines.items()
        if len(each) != n
    ]
    if problems or not n:
        raise TableError(source, problems or [Problem(None, None, "the file is empty.", "empty_file")])


def _documents(lines: Mapping[str, list[str]], of: Mapping[str, Sequence[str]]) -> tuple[list[int], list[str]]:
    """Return the lines that are segments, and the document of each line; none without documents."""
    n = len(lines[of[_SOURCE][0]])
    if of[_DOCUMENTS]:
        return list(range(n)), [line.split("\t")[0].strip() for line in lines[of[_DOCUMENTS][0]]]
    blank = [k for k in range(n) if not any(each[k].strip() for each in lines.values())]
    keeps = [k for k in range(n) if k not in set(blank)]
    place = 0
    document = []
    for k in range(n):
        place += k in set(blank)
        document.append(f"document {place + 1}")
    return keeps, document if blank else []


def _system_names(names: Sequence[str]) -> dict[str, str]:
    """Return the system of each file: its name without what all files share, endings and words for outputs.

    >>> _system_names(["news.hyp.alpha.de", "news.hyp.beta.de"])
    {'news.hyp.alpha.de': 'alpha', 'news.hyp.beta.de': 'beta'}
    """
    parts = {name: [part for part in Path(name).name.split(".") if part.casefold() not in _ENDINGS] for name in names}
    if len(names) > 1:
        while all(len(each) > 1 for each in parts.values()) and len({each[0] for each in parts.values()}) == 1:
            parts = {name: each[1:] for name, each in parts.items()}
        while all(len(each) > 1 for each in parts.values()) and len({each[-1] for each in parts.values()}) == 1:
            parts = {name: each[:-1] for name, each in parts.items()}
    return {name: ".".join(each) or Path(name).stem for name, each in parts.items()}
