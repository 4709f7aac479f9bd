"""Records of Argilla as `dataset.records.to_json` writes them, and the older ones of Argilla 1.

`responses` has for each question a list of values with who gave them; in Argilla 1 it is a list with the `values` of
each user, some discarded. Ratings and labels are answers, whose criterion is the question; spans are marks. Offsets
count UTF-16 code units, as in browsers (argilla-io/argilla issue 5729). Metadata and fields say what a record is about.
"""

from collections import defaultdict
from typing import Any

from analysis.data.tools.items import Items, Mark
from analysis.data.tools.made import Beginning, Made
from analysis.data.tools.records import Record, as_dict, as_list, as_text, browser_offset, read_records
from evalsite.lib.tables.errors import listing

TOOL = "Argilla"
READS_SEVERAL = False
_IDS = ("id", "external_id", "_server_id")
_LEFT_OUT = {"discarded", "draft"}


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like records of Argilla."""
    record = beginning.record or {}
    is_record = isinstance(record.get("fields"), dict) and isinstance(record.get("responses"), dict | list)
    return is_record and bool(record.keys() & {"metadata", "suggestions"})


def read(beginning: Beginning) -> Made:
    """Return the answers and marks of all records."""
    made = Made(beginning.file, TOOL)
    records = list(read_records(beginning.path, beginning.file))
    about = {number: as_dict(record.get("fields")) | as_dict(record.get("metadata")) for number, record in records}
    items = Items.of(made, list(dict.fromkeys(name for each in about.values() for name in each)), beginning.columns)
    given = [(number, record, _given(record)) for number, record in records]
    values = [(name, value) for *_, users in given for said in users.values() for name, value in said.items()]
    spans = {name for name, value in values if any(_is_mark(each) for each in as_list(value))}
    for number, record, users in given:
        data = {name: as_text(value) for name, value in about[number].items()}
        target = items.found.get("target", "")
        text = about[number].get(target)
        if isinstance(text, str):
            data[target] = text  # as it is: offsets count its spaces
        task = next((found for name in _IDS if (found := as_text(record.get(name)))), str(number))
        for worker, said in users.items():
            if worker in ("", "None"):
                message = "a response does not say who gave it (user_id). Export the records with their users."
                made.refuse(number, "responses", "no_worker", message)
                continue
            answers = {name: answer for name, value in said.items() if name not in spans and (answer := _answer(value))}
            if answers:
                items.add_answers(number, worker, task, data, answers)
            if marked := [name for name in said if name in spans]:
                marks = [_mark(each, data.get(target, "")) for name in marked for each in as_list(said[name])]
                items.add_marks(number, worker, task, data, marks)
    if unread := sorted({name for name, value in values if name not in spans and value and not _answer(value)}):
        message = f"Questions with answers other than ratings, labels and spans, which are left out: {listing(unread)}."
        made.warn("unread", message)
    if n_others := sum(_status(each) in _LEFT_OUT for _, record in records for each in _responses(record)):
        made.warn("cancelled", f"Responses that were discarded or not submitted, which are left out: {n_others:,}.")
    return made


def _responses(record: Record) -> list[Record]:
    """Return the responses to all questions: of a list, or of a list for each question."""
    responses = record.get("responses")
    lists = [responses] if isinstance(responses, list) else as_dict(responses).values()
    return [each for part in lists for each in as_list(part) if isinstance(each, dict)]


def _status(response: Record) -> str:
    return as_text(response.get("status")).casefold()


def _given(record: Record) -> dict[str, dict[str, Any]]:
    """Return what each user answered to each question."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    responses = record.get("responses")
    named = as_dict(responses) or {"": as_list(responses)}
    for question, each in ((name, each) for name, part in named.items() for each in as_list(part)):
        if not isinstance(each, dict) or _status(each) in _LEFT_OUT:
            continue
        values = {name: as_dict(said).get("value") for name, said in as_dict(each.get("values")).items()}
        found[as_text(each.get("user_id"))] |= {question: each.get("value")} if question else values
    return found


def _answer(value: object) -> str:
    """Return the answer to a question: a value, or labels; "" for a ranking."""
    return "; ".join(filter(None, map(as_text, value))) if isinstance(value, list) else as_text(value)


def _is_mark(each: object) -> bool:
    return isinstance(each, dict) and {"start", "end"} <= each.keys()


def _mark(each: object, text: str) -> Mark:
    fields = as_dict(each)
    start, end = (browser_offset(text, fields.get(name)) for name in ("start", "end"))
    return Mark(start, end, [as_text(fields.get("label"))])
