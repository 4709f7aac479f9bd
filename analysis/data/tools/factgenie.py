"""Annotations of factgenie: JSON Lines, an output of a system on each, with what one annotator marked in it.

`type` of a mark is the index of its category in `annotation_span_categories`, which the metadata of each line have.
Sliders and options are answers, whose criterion is their label. Files before version 1 have `setup` and `example_id`.
"""

from analysis.data.tools.items import Items, Mark
from analysis.data.tools.made import Beginning, Made
from analysis.data.tools.records import Record, as_dict, as_list, as_text, browser_offset, read_records
from evalsite.lib.tables.errors import shorten

TOOL = "factgenie"
READS_SEVERAL = True
_DATA = {"system": "setup_id", "source": "example_idx", "document": "dataset", "target": "output"}


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like annotations of factgenie."""
    record = beginning.record or {}
    has_system = "setup_id" in record or "setup" in record
    return has_system and {"dataset", "split"} <= record.keys() and isinstance(record.get("annotations"), list)


def read(beginning: Beginning) -> Made:
    """Return the marks and answers of all files."""
    made = Made(beginning.file, TOOL)
    items = Items.of(made, list(_DATA.values()), _DATA | dict(beginning.columns))
    lines = [line for file in beginning.files() for line in read_records(file.path, file.file)]
    has_several = len({_data(record)["dataset"] for _, record in lines}) > 1
    for number, record in lines:
        metadata, data = as_dict(record.get("metadata")), _data(record)
        worker = as_text(metadata.get("annotator_id")) or as_text(record.get("annotator_id"))
        if not worker:
            made.refuse(number, "annotator_id", "no_worker", "the line does not say who annotated. Add it.")
            continue
        if not data["example_idx"] or not isinstance(record.get("annotations"), list):
            message = "the line has no example_idx or no list of annotations. Export the campaign again."
            made.refuse(number, "annotations", "no_annotations", message)
            continue
        if has_several:  # each counts its examples from 0
            data["example_idx"] = f"{data['dataset']}:{data['example_idx']}"
        answers = {
            as_text(each.get("label")): said
            for name in ("sliders", "options")
            for each in map(as_dict, as_list(record.get(name)))
            if (said := as_text(each.get("value")))
        }
        if answers:
            items.add_answers(number, worker, data["example_idx"], data, answers)
        found = metadata.get("annotation_span_categories") or record.get("annotation_span_categories")
        names = [as_text(as_dict(each).get("name")) for each in as_list(found)]
        marks = [_mark(as_dict(each), data["output"], names, number, made) for each in record["annotations"]]
        items.add_marks(number, worker, data["example_idx"], data, [mark for mark in marks if mark])
    return made


def _data(record: Record) -> dict[str, str]:
    """Return what a line is about; the text as it is, because offsets count its spaces."""
    example = next((text for name in ("example_idx", "example_id") if (text := as_text(record.get(name)))), "")
    parts = [text for name in ("dataset", "split") if (text := as_text(record.get(name)))]
    system = as_text(record.get("setup_id")) or as_text(as_dict(record.get("setup")).get("id"))
    output = record.get("output")
    text = output if isinstance(output, str) else ""
    return {"setup_id": system, "example_idx": example, "dataset": "/".join(parts), "output": text}


def _mark(each: Record, output: str, names: list[str], number: int, made: Made) -> Mark | None:
    """Return a mark: from where it starts, in characters or as browsers count, as long as its text is."""
    text, start, index = each.get("text"), each.get("start"), as_text(each.get("type"))
    is_known = index.isdecimal() and len(index) < 10 and (not names or int(index) < len(names))
    if not is_known or not isinstance(text, str) or not text:
        message = (
            f"“{shorten(str(each))}” is no mark. It needs text, start, and a type that is the number of one of the "
            f"{len(names)} categories, from 0."
        )
        made.refuse(number, "annotations", "bad_span", message)
        return None
    if not names:
        message = "The file does not name the categories of its marks: their numbers are taken."
        made.warn("no_categories", message)
    first = browser_offset(output, start)
    if type(start) is int and output.startswith(text, start):  # marks of language models count characters
        first = start
    return Mark(first, first + len(text), [names[int(index)] if names else index])
