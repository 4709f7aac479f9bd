"""Exports of Label Studio: JSON (tasks with their annotations), JSON-MIN and CSV (an annotation a row).

Choices, ratings, numbers and pairwise choices become answers, whose criterion is the name of their tag (`from_name`);
labels in a text become marks. Offsets count UTF-16 code units, as in browsers.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from analysis.data.tools.about import ANSWER
from analysis.data.tools.items import Items, Mark
from analysis.data.tools.made import Beginning, Made, cells_of
from analysis.data.tools.records import Record, as_dict, as_list, as_text, browser_offset, read_records
from analysis.stats.scores import MOST_LEVELS
from evalsite.lib.tables import preview, read_columns
from evalsite.lib.tables.errors import listing, shorten

TOOL = "Label Studio"
READS_SEVERAL = False
_FLAT = {"annotation_id", "annotator", "lead_time"}
_NO_DATA = _FLAT | {"id", "created_at", "updated_at", "predictions", "agreement", "inner_id", "total_annotations"}
_ANSWERS = ("choices", "rating", "number", "selected")
_LONGEST_LEVEL = 100


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like an export of Label Studio."""
    record = beginning.record
    if record is None:
        return set(beginning.header) >= _FLAT
    is_task = isinstance(record.get("data"), dict) and isinstance(record.get("annotations"), list)
    return is_task or record.keys() >= _FLAT


def read(beginning: Beginning) -> Made:
    """Return the answers and marks of an export."""
    made = Made(beginning.file, TOOL)
    if beginning.record is not None and "annotations" in beginning.record:
        _read_tasks(beginning, made)
    else:
        _read_flat(beginning, made)
    return made


def _read_tasks(beginning: Beginning, made: Made) -> None:
    tasks = list(read_records(beginning.path, beginning.file))
    columns = dict.fromkeys(name for _, task in tasks for name in as_dict(task.get("data")))
    items = Items.of(made, list(columns), beginning.columns)
    has_marks = any(_is_mark(result) for _, task in tasks for each in _annotations(task) for result in _results(each))
    n_cancelled, unread = 0, set()
    for number, task in tasks:
        data = {name: as_text(value) for name, value in as_dict(task.get("data")).items()}
        for annotation in _annotations(task):
            if annotation.get("was_cancelled"):
                n_cancelled += 1
                continue
            worker = _worker(annotation.get("completed_by"))
            if not worker:
                message = "an annotation does not say who made it. Export the tasks with their annotators."
                made.refuse(number, "completed_by", "no_worker", message)
                continue
            answers, marks, others = _read_results(_results(annotation), data.get(items.found.get("target", ""), ""))
            unread |= others
            name = as_text(task.get("id")) or str(number)
            items.add_answers(number, worker, name, data, answers)
            if has_marks:
                items.add_marks(number, worker, name, data, marks)
    if n_cancelled:
        made.warn("cancelled", f"Annotations that were skipped by their workers, which are left out: {n_cancelled:,}.")
    _warn_unread(made, unread)


def _warn_unread(made: Made, unread: Iterable[str]) -> None:
    if names := sorted(unread):
        made.warn(
            "unread",
            f"Results that are neither choices, ratings, numbers nor labels, and are left out: {listing(names)}.",
        )


def _annotations(task: Record) -> list[Record]:
    return [each for each in as_list(task.get("annotations")) if isinstance(each, dict)]


def _results(annotation: Record) -> list[Record]:
    return [each for each in as_list(annotation.get("result")) if isinstance(each, dict)]


def _worker(by: object) -> str:
    """Return who made an annotation: an id, or an object with one."""
    fields = as_dict(by)
    return next((text for key in ("email", "username", "id") if (text := as_text(fields.get(key)))), as_text(by))


def _is_mark(result: Record) -> bool:
    return bool(_labels(as_dict(result.get("value"))))


def _labels(value: Record) -> list[str]:
    """Return the labels of a marked region, under whatever name its tag has."""
    if not {"start", "end"} <= value.keys():
        return []
    found = value.get("labels") or value.get("hypertextlabels") or []
    return [text for each in as_list(found) if (text := as_text(each))]


def _read_results(results: Sequence[Record], text: str) -> tuple[dict[str, str], list[Mark], set[str]]:
    """Return answers by criterion, marks, and the names of what was not read.

    A choice with the id of a mark is about it: its severity.
    """
    answers: dict[str, list[str]] = defaultdict(list)
    severities: dict[str, str] = {}
    marks = []
    unread = set()
    regions = {as_text(result.get("id")) for result in results if _is_mark(result)} - {""}
    for result in results:
        value, name = as_dict(result.get("value")), as_text(result.get("from_name")) or as_text(result.get("type"))
        if _is_mark(result):
            marks.append((as_text(result.get("id")), value))
        elif (said := _answer(value)) and as_text(result.get("id")) in regions:
            severities[as_text(result.get("id"))] = said
        elif said:
            answers[name].append(said)
        elif not (value.keys() & set(_ANSWERS)):
            unread.add(shorten(name))
    read = [_mark(value, text, severities.get(region, "")) for region, value in marks]
    return {name: "; ".join(each) for name, each in answers.items()}, read, unread


def _answer(value: Record) -> str:
    """Return what was chosen, "" for nothing."""
    for name in _ANSWERS:
        if name in value:
            given = value[name]
            return "; ".join(map(as_text, given)) if isinstance(given, list) else as_text(given)
    return ""


def _mark(value: Record, text: str, severity: str = "") -> Mark:
    offsets = value.get("globalOffsets") or value
    start, end = (browser_offset(text, as_dict(offsets).get(name)) for name in ("start", "end"))
    return Mark(start, end, _labels(value), severity)


def _read_flat(beginning: Beginning, made: Made) -> None:
    rows = list(_flat_rows(beginning))
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    data = [name for name in columns if name and name not in _NO_DATA]
    items = Items.of(made, data, beginning.columns, _NO_DATA)
    text = items.found.get("target", "")
    asked = beginning.columns.get(ANSWER)
    results = [asked] if asked else _result_columns(data, rows, items.found.values())
    has_marks = any(_is_span(row.get(name)) for _, row in rows for name in results)
    for number, row in rows:
        cells = {name: as_text(value) for name, value in row.items()}
        worker, task = _worker(row.get("annotator")), cells.get("id") or str(number)
        if not worker:
            made.refuse(number, "annotator", "no_worker", "the cell is empty. Fill it in, or delete the row.")
            continue
        answers = {name: said for name in results if (said := _flat_answer(row.get(name)))}
        marks = [
            _mark(value, cells.get(text, ""))
            for name in results
            for value in as_list(row.get(name))
            if isinstance(value, dict) and _labels(value)
        ]
        items.add_answers(number, worker, task, cells, answers)
        if has_marks:
            items.add_marks(number, worker, task, cells, marks)
    if results:
        made.warn("answers", f"Columns that are taken for answers: {listing(results)}.")


def _flat_rows(beginning: Beginning) -> Iterable[tuple[int, Record]]:
    """Yield each annotation with its number; cells that are JSON lists or objects as such."""
    if beginning.record is not None:
        yield from read_records(beginning.path, beginning.file)
        return
    names = [name for name in preview(beginning.path, beginning.file, 0, encoding=beginning.encoding).columns if name]
    table = read_columns(
        beginning.path, names, beginning.file, max_bytes=beginning.max_bytes, encoding=beginning.encoding
    )
    for number, cells in cells_of(table, names):
        yield number, {name: _parsed(cell) for name, cell in cells.items()}


def _parsed(cell: str) -> Any:
    if cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell


def _result_columns(data: Sequence[str], rows: Sequence[tuple[int, Record]], taken: Collection[str]) -> list[str]:
    """Return the columns that hold answers: lists and objects, and texts of which there are few."""
    found = []
    for name in data:
        values = [row[name] for _, row in rows if row.get(name) not in (None, "")]
        texts = {as_text(value) for value in values if not isinstance(value, list | dict)}
        is_nested = any(_flat_answer(value) or _is_span(value) for value in values if isinstance(value, list | dict))
        has_few = 0 < len(texts) <= MOST_LEVELS and all(len(text) <= _LONGEST_LEVEL for text in texts)
        if name not in taken and (is_nested or has_few):
            found.append(name)
    return found


def _is_span(value: object) -> bool:
    return any(isinstance(each, dict) and bool(_labels(each)) for each in as_list(value))


def _flat_answer(value: object) -> str:
    """Return the answer of a cell: a value, {"choices": […]} or [{"rating": 4}]."""
    if isinstance(value, dict):
        return _answer(value)
    if isinstance(value, list):
        said = [_answer(each) if isinstance(each, dict) else as_text(each) for each in value]
        return "; ".join(filter(None, said))
    return as_text(value)
