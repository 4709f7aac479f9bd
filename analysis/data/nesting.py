"""Objects of JSON that hold the answers of several raters: a list of annotations, or lists of scores by criterion."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from analysis.data.choices import Choices
from analysis.data.finding import WORKER, plain_name
from analysis.data.values import CanRead, are_answers
from evalsite.lib.tables import Table, TableError
from evalsite.lib.tables.formats import open_source
from evalsite.lib.tables.json_lines import read_objects
from evalsite.lib.tables.table import TextBuilder, cell_text, check_names

Object = Mapping[str, object]
Cells = dict[str, str]

PLACE = "rater"
"""The column of raters that have no names: their places in the lists."""
_LOOKED_AT = 50
_WORKERS = {plain_name(name) for name in ("worker", *WORKER)}


def read_nested(
    path: Path, can_read: CanRead, choices: Choices, name: str | None = None, max_bytes: int | None = None
) -> Table | None:
    """Return a file of such objects as a table with a row for each rater's answers; None if it is no such file.

    `can_read`: whether the response method reads a cell as it is; `choices`: how others are read, as far as somebody
    said it. Lists of other things are nobody's answers.

    An object whose values are objects with the same keys 0, 1, 2 … is a table by its columns, as pandas writes it. An
    object with one list of objects gives a row for each of these; one whose lists have the same number of values,
    at the top or together in an object, gives a row for each place; an object of objects, a row for each of its keys.
    Objects without answers have no row. All columns are text.
    """
    source = open_source(path, name, max_bytes)
    if source.format != "jsonl":
        return None
    try:
        beginning = [record for _, record in islice(read_objects(source), _LOOKED_AT)]
    except TableError:
        return None  # the reader of tables raises it
    is_by_columns = len(beginning) == 1 and bool(_by_columns(beginning[0]))
    key = next(filter(None, (_key(record, can_read, choices) for record in beginning)), "")
    if not key and not is_by_columns:
        return None
    builders: dict[str, TextBuilder] = {}
    numbers, n = array("q"), 0
    for number, record in read_objects(source):
        for row in map(_flat, _by_columns(record)) if is_by_columns else _rows(record, key):
            for column in row:
                if column not in builders:
                    builders[column] = TextBuilder()
                    for _ in range(n):
                        builders[column].append("")
            for column, builder in builders.items():
                builder.append(row.get(column, ""))
            numbers.append(number)
            n += 1
    if not n:
        return None
    check_names(source.file, list(builders))
    text = {column: builder.column() for column, builder in builders.items()}
    return Table(source.file, "jsonl", list(text), text, {}, lambda rows: [numbers[row] for row in rows])


def _key(record: Object, can_read: CanRead, choices: Choices) -> str:
    """Return the key of what holds several raters' answers; "." for lists of the record itself, "" for none."""

    def are_answered(objects: Iterable[Object]) -> bool:
        cells: dict[str, list[str]] = {}
        for each in objects:
            for name, value in each.items():
                cells.setdefault(name, []).append(_text(value))
        return any(are_answers(each, can_read, choices) for each in cells.values())

    for key, value in record.items():
        held = [each for _, each in _by_rater(value)]
        if held and are_answered(held):
            return key
    lists = [each for _, each in _by_rater(record)]
    return "." if len(lists) > 1 and are_answered(lists) else ""


def _rows(record: Object, key: str) -> Iterator[Cells]:
    """Yield the rows of a record: its own values, and those of one rater each."""
    held = record if key == "." else record.get(key)
    own = {name: each for name, each in record.items() if name != key and not (key == "." and isinstance(each, list))}
    for rater, answers in _by_rater(held):
        worker = {} if any(plain_name(name) in _WORKERS for name in answers) else {PLACE: rater}
        taken = {name if name not in own else f"{key}.{name}": each for name, each in answers.items()}
        yield _flat({**own, **worker, **taken})


def _by_columns(record: Object) -> list[Object]:
    """Return the rows of a table that is an object of columns, each an object by the number of its row; else none."""
    columns = {name: each for name, each in record.items() if isinstance(each, dict)}
    keys = [list(each) for each in columns.values()]
    if len(columns) < 2 or len(columns) < len(record) or not keys[0] or any(each != keys[0] for each in keys):
        return []
    if keys[0] != [str(k) for k in range(len(keys[0]))]:
        return []
    return [{name: each[key] for name, each in columns.items()} for key in keys[0]]


def _by_rater(held: object) -> Iterator[tuple[str, Object]]:
    """Yield the name or the place of each rater, and what they answered."""
    if isinstance(held, list):
        yield from ((str(place), each) for place, each in enumerate(held, start=1) if isinstance(each, dict))
    elif isinstance(held, dict):
        lists = {name: each for name, each in held.items() if isinstance(each, list)}
        if lists and len({len(each) for each in lists.values()}) == 1:
            for place in range(len(next(iter(lists.values())))):
                yield str(place + 1), {name: each[place] for name, each in lists.items()}
        elif not lists:
            yield from ((name, each) for name, each in held.items() if isinstance(each, dict))


def _flat(record: Object) -> Cells:
    cells: Cells = {}
    for name, value in record.items():
        if isinstance(value, dict):
            cells |= {f"{name}.{inner}": _text(each) for inner, each in value.items()}
        else:
            cells[name] = _text(value)
    return cells


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else cell_text(value)
