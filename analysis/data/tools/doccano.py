"""Exports of doccano: an object for each text, as JSON Lines or an array; a file for each annotator, or `all`.

Labels of a sequence are marks: `label` has [start, end, label], `entities` the same or objects with `start_offset`.
Labels of a text (`label`, `cats`) are answers. Other columns are what was imported beside the text. Offsets count
UTF-16 code units, as in browsers (doccano/doccano issue 2290).
"""

from pathlib import Path
from typing import Any

from analysis.data.tools.items import Items, Mark
from analysis.data.tools.made import Beginning, Made
from analysis.data.tools.records import Record, as_list, as_text, browser_offset, read_records
from evalsite.lib.tables.errors import shorten

TOOL = "doccano"
READS_SEVERAL = True
_LABELS, _MARKS = ("label", "cats"), ("label", "entities")
_OWN = {*_LABELS, *_MARKS, "id", "relations", "Comments"}


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like an export of doccano."""
    record = beginning.record or {}
    labels = [record[name] for name in (*_LABELS, *_MARKS) if name in record]
    return {"id", "text"} <= record.keys() and bool(labels) and all(_are_labels(each) for each in labels)


def read(beginning: Beginning) -> Made:
    """Return the marks and answers of each annotator's file."""
    made = Made(beginning.file, TOOL)
    found = [
        (number, Path(file.file).stem, record)
        for file in beginning.files()
        for number, record in read_records(file.path, file.file)
    ]
    workers = ", ".join(dict.fromkeys(shorten(worker) for _, worker, _ in found))
    message = f"The file does not say who annotated: the name of each file is taken ({workers})."
    made.warn("worker_of_file", message)
    columns = dict.fromkeys(name for _, _, record in found for name in record if name not in _OWN)
    items = Items.of(made, list(columns), {"target": "text", **beginning.columns})
    has_marks = any(_marks(record) for *_, record in found)
    n_empty = 0
    for number, worker, record in found:
        task, text = as_text(record.get("id")), record.get("text")
        lists = [record[name] for name in (*_LABELS, "entities") if name in record]
        if not task or not isinstance(text, str) or not lists or not all(map(_are_labels, lists)):
            message = "the row needs an id, a text, and a list of labels. Export the dataset again."
            made.refuse(number, "label", "no_annotations", message)
            continue
        data = {name: as_text(record.get(name)) for name in columns} | {"text": text}
        answers = {name: "; ".join(said) for name in _LABELS if (said := _names(record.get(name)))}
        if answers:
            items.add_answers(number, worker, task, data, answers)
        if has_marks:
            parts = _marks(record)
            marks = [Mark(browser_offset(text, a), browser_offset(text, b), [label]) for a, b, label in parts]
            items.add_marks(number, worker, task, data, marks)
        n_empty += not any(lists)
    if n_empty:
        as_what = "are taken for texts without an error" if has_marks else "are left out"
        fix = " If some were not annotated, export only approved documents." if has_marks else ""
        made.warn("no_label", f"Texts without a label, which {as_what}: {n_empty:,}.{fix}")
    return made


def _are_labels(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) or bool(_mark_parts(each)) for each in value)


def _names(value: object) -> list[str]:
    return [text for each in as_list(value) if isinstance(each, str) and (text := each.strip())]


def _marks(record: Record) -> list[tuple[Any, Any, str]]:
    """Return start, end and label of every mark in a text."""
    return [parts for name in _MARKS for each in as_list(record.get(name)) if (parts := _mark_parts(each))]


def _mark_parts(each: Any) -> tuple[Any, Any, str] | None:
    """Return start, end and label of a mark; None for what is none."""
    if isinstance(each, list) and len(each) == 3 and isinstance(each[2], str):
        return each[0], each[1], each[2]
    if isinstance(each, dict) and {"start_offset", "end_offset"} <= each.keys():
        return each["start_offset"], each["end_offset"], as_text(each.get("label"))
    return None
