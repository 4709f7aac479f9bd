"""Batch results of Mechanical Turk with many items in a row: `Answer.item_17_adequacy`, `Input.item_17_system`.

The number stands before or after the name: `item_17_adequacy`, `17_adequacy`, `adequacy_17`. Crowd forms write all
answers as JSON into `Answer.taskAnswers`, and a radio button as an object, or columns, of its values with true and
false. What is not numbered is of all items of the row.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.data.tools.about import ANSWER, find_about, require_about
from analysis.data.tools.made import Beginning, Made, Wanted, cells_of
from analysis.data.tools.records import as_dict, as_text
from analysis.stats.scores import MOST_LEVELS
from evalsite.lib.tables import preview, read_columns
from evalsite.lib.tables.errors import listing
from evalsite.lib.tables.table import check_text

TOOL = "Mechanical Turk"
READS_SEVERAL = False
_OWN = ("HITId", "AssignmentId", "WorkerId")
_STATUS = "AssignmentStatus"
_ANSWER, _INPUT, _JSON = "Answer.", "Input.", "Answer.taskAnswers"
_BEFORE = re.compile(r"(?:(?:item|output|segment|question|q|i)[_.-]?)?(\d{1,4})[_.-](.+)", re.IGNORECASE | re.ASCII)
_AFTER = re.compile(r"(.+?)[_.-]?(\d{1,4})", re.ASCII)
_LONGEST_LEVEL = 100
_ITEM_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)

Named = tuple[str, str]
"""Number of an item, "" for none, and the name of what is said of it."""


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like batch results with several items in a row."""
    header = beginning.header
    if not set(header) >= set(_OWN):
        return False
    inputs = {numbered(name.removeprefix(_INPUT))[0] for name in header if name.startswith(_INPUT)} - {""}
    answers = {numbered(_stem(name))[0] for name in header if name.startswith(_ANSWER)} - {""}
    return _JSON in header or bool(inputs & answers) or len(answers) > 1


def numbered(name: str) -> Named:
    """Return the number of the item in a column's name, and the rest.

    >>> numbered("item_17_adequacy"), numbered("adequacy_17"), numbered("comment")
    (('17', 'adequacy'), ('17', 'adequacy'), ('', 'comment'))
    """
    if before := _BEFORE.fullmatch(name):
        return before[1], before[2]
    if after := _AFTER.fullmatch(name):
        return after[2], after[1]
    return "", name


def _stem(column: str) -> str:
    """Return the name of an answer, without the value of a radio button: `Answer.item_1_adequacy.5`."""
    return column.removeprefix(_ANSWER).partition(".")[0]


def read(beginning: Beginning) -> Made:
    """Return a row for each answer about each item."""
    made = Made(beginning.file, TOOL)
    sample = preview(beginning.path, beginning.file, 0, max_bytes=beginning.max_bytes, encoding=beginning.encoding)
    used = [name for name in sample.columns if name in (*_OWN, _STATUS) or name.startswith((_ANSWER, _INPUT))]
    table = read_columns(beginning.path, used, beginning.file, encoding=beginning.encoding)
    data = list(dict.fromkeys(numbered(name.removeprefix(_INPUT))[1] for name in used if name.startswith(_INPUT)))
    columns = beginning.columns.items()
    chosen = {name: numbered(column.removeprefix(_INPUT))[1] for name, column in columns if name != ANSWER}
    found = find_about(data, chosen)
    require_about(made, found, ["system"], data)
    rows = []
    n_rejected = 0
    for number, cells in cells_of(table, used):
        if cells.get(_STATUS, "").casefold() == "rejected":
            n_rejected += 1
        else:
            rows.append((number, cells, _answers(number, cells, made)))
    if n_rejected:
        made.warn("rejected", f"Rejected assignments, which are left out: {n_rejected:,}.")
    criteria = _criteria([answers for _, _, answers in rows], made)
    for number, cells, answers in rows:
        _add_row(made, number, cells, {key: each for key, each in answers.items() if key[1] in criteria}, found)
    return made


def _add_row(
    made: Made,
    number: int,
    cells: Mapping[str, str],
    answers: Mapping[Named, tuple[str, str]],
    found: Mapping[str, str],
) -> None:
    inputs = {
        numbered(name.removeprefix(_INPUT)): (cell, name) for name, cell in cells.items() if name.startswith(_INPUT)
    }
    own = {"worker": "WorkerId", "hit": "HITId", "assignment": "AssignmentId"}
    for (item, criterion), (answer, column) in answers.items():
        row = {name: cells[own_column] for name, own_column in own.items()} | {"criterion": criterion, "score": answer}
        called = own | {"criterion": column, "score": column}
        row |= {"position": item} if item else {}
        for name, rest in found.items():
            if name in ("system", "source", "document", "kind"):
                cell, column_of = (
                    inputs.get((item, rest)) or inputs.get(("", rest)) or ("", f"{_INPUT}item_{item}_{rest}")
                )
                row[name], called[name] = cell, column_of
        if problem := check_text(list(row.values())):
            made.refuse(number, column, "encoding", problem)
        else:
            made.add(Wanted.SCORES, number, row, called)


def _answers(number: int, cells: Mapping[str, str], made: Made) -> dict[Named, tuple[str, str]]:
    """Return what a row answers, with the column that says it; empty cells are no answers."""
    found: dict[Named, tuple[str, str]] = {}
    buttons: dict[str, set[str]] = defaultdict(set)
    for name, cell in cells.items():
        if name.startswith(_ANSWER) and name != _JSON and "." in name.removeprefix(_ANSWER):
            buttons[_stem(name)].add(cell.casefold())
    for name, cell in cells.items():
        if not name.startswith(_ANSWER) or name == _JSON or not cell:
            continue
        stem, _, value = name.removeprefix(_ANSWER).partition(".")
        if value and buttons[stem] <= {"true", "false", ""}:
            if cell.casefold() == "true":
                found[numbered(stem)] = value, name
        else:
            found[numbered(name.removeprefix(_ANSWER))] = cell, name
    for stem, answer in _json_answers(number, cells.get(_JSON, ""), made):
        found[numbered(stem)] = answer, _JSON
    return found


def _json_answers(number: int, cell: str, made: Made) -> Iterator[tuple[str, str]]:
    """Yield name and value of each answer of a crowd form."""
    if not cell:
        return
    try:
        given = json.loads(cell)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, list | dict):
        made.refuse(number, _JSON, "bad_json", "the cell is not JSON. Download the results again.")
        return
    for each in given if isinstance(given, list) else [given]:
        for name, value in as_dict(each).items():
            yield from _values(name, value)


def _values(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the value of an answer: of an object of true and false the name that is true, of another each in it."""
    if not isinstance(value, dict):
        if text := as_text(value):
            yield name, text
        return
    if value and all(isinstance(each, bool) for each in value.values()):
        yield from ((name, option) for option, is_on in value.items() if is_on)
        return
    for inner, each in value.items():
        if text := as_text(each):
            yield f"{name}_{inner}", text


def _criteria(rows: Sequence[Mapping[Named, tuple[str, str]]], made: Made) -> set[str]:
    """Return the names of the answers that are scores: numbers, or a few levels that recur."""
    cells: dict[str, list[str]] = defaultdict(list)
    for answers in rows:
        for (_, name), (answer, _) in answers.items():
            cells[name].append(answer)
    found = set()
    for name, given in cells.items():
        n_numbers = sum(bool(_ITEM_NUMBER.fullmatch(cell)) for cell in given)
        levels = {*given}
        recurs = 2 * len(levels) <= len(given) or len(given) == 1
        is_level = recurs and len(levels) <= MOST_LEVELS and all(len(level) <= _LONGEST_LEVEL for level in levels)
        if 2 * n_numbers > len(given) or is_level:
            found.add(name)
    if others := sorted(cells.keys() - found):
        made.warn("unread", f"Answers that are neither numbers nor a few levels, and are left out: {listing(others)}.")
    return found
