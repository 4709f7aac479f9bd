"""Annotations of Potato: `annotated_instances` as JSON Lines, CSV or TSV, or the `user_state.json` of Potato 2.

That is a file for each annotator, in which `instance_id_to_label_to_value` and `instance_id_to_span_to_value` have
pairs of what was asked and the answer for each item. JSON Lines have `label_annotations`, {schema: {label: value}}, and
`span_annotations`; tables have a column `schema:::label` for each label. What the items are about is in the file of
items that was annotated: its columns are joined by the id. Offsets count UTF-16 code units, as in browsers.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from analysis.data.tools.items import Items, Mark
from analysis.data.tools.made import Beginning, Made, cells_of
from analysis.data.tools.records import Record, as_dict, as_list, as_text, browser_offset, read_records
from evalsite.lib.tables import preview, read_columns
from evalsite.lib.tables.errors import shorten

TOOL = "Potato"
READS_SEVERAL = True
_USERS = ("user", "user_id", "annotator")
_IDS = ("instance_id", "id")
_OWN = {*_USERS, *_IDS, "label_annotations", "span_annotations", "behavioral_data", "displayed_text"}
_STATE, _STATE_SPANS = "instance_id_to_label_to_value", "instance_id_to_span_to_value"
_LABEL = ":::"
_LEVEL = re.compile(r"(?:scale|level|option)[_ ]?(\d+)", re.IGNORECASE)
_YES = {"true", "on", "1", "yes"}
_TEXT_BOXES = {"text_box", "textbox", "free_response", "text"}


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like annotations of Potato."""
    if beginning.record is not None:
        return "label_annotations" in beginning.record or _STATE in beginning.record
    header = beginning.header
    return "instance_id" in header and any(_LABEL in name for name in header)


def read(beginning: Beginning) -> Made:
    """Return the answers and marks of a file, and of further ones of other annotators."""
    made = Made(beginning.file, TOOL)
    rows = [row for each in beginning.files() for row in _rows(each, made)]
    extra = _items(beginning)
    columns = dict.fromkeys(name for _, row in rows for name in as_dict(row.get("data")))
    columns |= dict.fromkeys(name for each in extra.values() for name in each)
    items = Items.of(made, [*columns, "displayed_text"], {"target": "displayed_text", **beginning.columns})
    has_marks = any(_spans(row) for _, row in rows)
    for number, row in rows:
        worker, task = row["user"], next((text for name in _IDS if (text := as_text(row.get(name)))), "")
        if not worker or not task:
            column = "instance_id" if worker else "user"
            made.refuse(number, column, "no_label", f"the row has no {column}. Add it, or delete the row.")
            continue
        if extra and task not in extra:
            message = f"the file of items has no item “{shorten(task)}”. Add it there, or delete the row."
            made.refuse(number, "instance_id", "unknown_item", message)
            continue
        data = {name: as_text(value) for name, value in as_dict(row.get("data")).items()} | extra.get(task, {})
        data["displayed_text"] = as_text(row.get("displayed_text"))
        answers = {
            name: said for name, labels in row["label_annotations"].items() if (said := _answer(as_dict(labels)))
        }
        items.add_answers(number, worker, task, data, answers)
        if has_marks:
            text = data.get(items.found.get("target", ""), "")
            items.add_marks(number, worker, task, data, [_mark(span, text) for span in _spans(row)])
    return made


def _folder(beginning: Beginning, made: Made) -> str:
    """Return the folder that a file is in: Potato writes a file in the folder of each user."""
    folder = beginning.path.resolve().parent.name if beginning.path.name.startswith("annotated_instances") else ""
    if folder:
        message = f"The file does not say who annotated: the name of its folder, {shorten(folder)}, is taken."
        made.warn("worker_of_folder", message)
    return folder


def _rows(beginning: Beginning, made: Made) -> Iterator[tuple[int, Record]]:
    """Yield each annotated item with its number, as in JSON Lines; who annotated is in `user`."""
    record = beginning.record
    read = _of_table if record is None else _of_state if _STATE in record else _of_lines
    for number, row in read(beginning, made):
        user = next((text for name in _USERS if (text := as_text(row.get(name)))), "") or _folder(beginning, made)
        yield number, row | {"user": user}


def _of_lines(beginning: Beginning, made: Made) -> Iterator[tuple[int, Record]]:
    """Yield the lines of JSON Lines; what is not Potato's own is in `data`."""
    for number, record in read_records(beginning.path, beginning.file):
        if not isinstance(record.get("label_annotations"), dict):
            message = "there are no label_annotations. Export the annotations again."
            made.refuse(number, "label_annotations", "no_annotations", message)
            continue
        data = as_dict(record.get("data")) | {k: v for k, v in record.items() if k not in _OWN and k != "data"}
        yield number, record | {"data": data}


def _of_table(beginning: Beginning, made: Made) -> Iterator[tuple[int, Record]]:
    """Yield the rows of a table; what is not Potato's own is in `data`."""
    for number, cells in _table(beginning, beginning.path, beginning.file):
        labels: dict[str, dict[str, str]] = defaultdict(dict)
        for name, cell in cells.items():
            schema, colons, label = name.partition(_LABEL)
            if colons and cell:
                labels[schema][label] = cell
        own: Record = {name: cell for name, cell in cells.items() if name in _OWN}
        own["span_annotations"] = _parsed(own.get("span_annotations", ""), number, made)
        data = {name: cell for name, cell in cells.items() if name not in _OWN and _LABEL not in name}
        yield number, own | {"label_annotations": labels, "data": data}


def _of_state(beginning: Beginning, made: Made) -> Iterator[tuple[int, Record]]:
    """Yield each item that an annotator of Potato 2 has answered, numbered by its place in the order of theirs."""
    ((_, state),) = read_records(beginning.path, beginning.file, is_one=True)
    worker, spans = as_text(state.get("user_id")), as_dict(state.get(_STATE_SPANS))
    if not isinstance(answered := state.get(_STATE), dict):
        message = f"{beginning.file} has no answers. Give the user_state.json of each annotator."
        made.refuse(None, _STATE, "no_annotations", message)
        return
    for number, (task, pairs) in enumerate(answered.items(), start=1):
        labels: dict[str, Record] = defaultdict(dict)
        for asked, value in _pairs(pairs):
            labels[as_text(asked.get("schema"))][as_text(asked.get("name"))] = value
        marks = [asked | {"annotation": asked.get("name")} for asked, _ in _pairs(spans.get(task))]
        yield number, {"user": worker, "id": task, "label_annotations": labels, "span_annotations": marks, "data": {}}


def _pairs(value: Any) -> list[tuple[Record, Any]]:
    """Return pairs of what was asked and the answer, of a list of lists."""
    return [(each[0], each[1]) for each in as_list(value) if len(as_list(each)) > 1 and isinstance(each[0], dict)]


def _parsed(cell: str, number: int, made: Made) -> Any:
    try:
        return json.loads(cell) if cell else {}
    except (ValueError, RecursionError):
        made.refuse(number, "span_annotations", "bad_span", "the cell is not JSON. Export the annotations again.")
        return {}


def _items(beginning: Beginning) -> dict[str, dict[str, str]]:
    """Return the data of each item by its id, of the file of items; empty without one."""
    if beginning.items is None:
        return {}
    found = {}
    for _, cells in _table(beginning, beginning.items, beginning.items.name):
        name = next((cells[name] for name in _IDS if cells.get(name)), "")
        found[name] = {key: cell for key, cell in cells.items() if key not in _OWN}
    return found


def _table(beginning: Beginning, path: Any, file: str) -> Iterator[tuple[int, dict[str, str]]]:
    names = [name for name in preview(path, file, 0, encoding=beginning.encoding).columns if name]
    return cells_of(read_columns(path, names, file, lists=names, encoding=beginning.encoding), names)


def _answer(labels: Record) -> str:
    """Return what labels of a schema say: their names, or the number of a level or slider.

    >>> _answer({"scale_4": "4"}), _answer({"positive": "true", "other": ""}), _answer({"slider": 63})
    ('4', 'positive', '63')
    """
    said = []
    for name, value in labels.items():
        text = as_text(value)
        if not text or text.casefold() == "false" or name.casefold() in _TEXT_BOXES:
            continue
        level = _LEVEL.fullmatch(name)
        is_own = text.casefold() in _YES or text == name
        said.append(level[1] if level else name if is_own else text)
    return "; ".join(said)


def _spans(row: Record) -> Sequence[Record]:
    """Return the marked spans: a list, or a list for each schema or field."""
    given = row.get("span_annotations")
    lists = [given] if isinstance(given, list) else list(as_dict(given).values())
    return [span for each in lists for span in as_list(each) if isinstance(span, dict)]


def _mark(span: Record, text: str) -> Mark:
    start, end = (browser_offset(text, span.get(name)) for name in ("start", "end"))
    names = (as_text(span.get(key)) for key in ("annotation", "label", "name"))
    schema = as_text(span.get("schema"))
    label = next(filter(None, names), schema)
    return Mark(start, end, [label], as_text(span.get("severity")))
