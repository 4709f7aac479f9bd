"""Annotations of Pearmut: a line for each document that a user submitted, or the download, {campaign: [lines]}.

`annotation` is parallel to `item`: for each model its score or sliders, and its error spans. They count the UTF-16
code units that a browser shows, without line breaks, and end with their last one; those behind the text are of a
token such as [missing], and of the output as a whole. A line with __RESET__ cancels the user's earlier ones.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.data.tools.items import Items, Mark
from analysis.data.tools.made import Beginning, Made
from analysis.data.tools.records import Record, as_dict, as_list, as_text, read_records
from evalsite.lib.tables.errors import listing

TOOL = "Pearmut"
READS_SEVERAL = True
_DATA = {"system": "model", "source": "item_id", "target": "tgt", "source_text": "src"}
_RESET, _MOST_TOKENS = "__RESET__", 20
_NOT_OF_THE_CAMPAIGN = ("welcome_", "random_", "goodbye_")
_LINE = {"user_id", "item_i", "annotation"}


def is_file(beginning: Beginning) -> bool:
    """Tell whether a file looks like annotations of Pearmut."""
    record = beginning.record or {}
    return record.keys() >= _LINE or (not beginning.is_array and _is_download(record))


def _is_download(record: Any) -> bool:
    lines = [line for each in record.values() for line in as_list(each)]
    return bool(lines) and all(as_dict(line).keys() >= _LINE for line in lines)


def read(beginning: Beginning) -> Made:
    """Return the scores and marks of all files, of each output those that its user submitted last."""
    made = Made(beginning.file, TOOL)
    lines = [line for file in beginning.files() for line in _lines(file)]
    campaigns = list(dict.fromkeys(campaign for _, campaign, _ in lines))
    if len(campaigns) > 1:
        made.warn("campaigns", f"Campaigns that are read together, each with its own sources: {listing(campaigns)}.")
    items = Items.of(made, list(_DATA.values()), _DATA | dict(beginning.columns))
    submitted: dict[tuple[str, ...], dict[tuple[int, str], tuple[int, Record, Record]]] = {}
    n_again = n_checks = 0
    for number, campaign, line in lines:
        worker, place = as_text(line.get("user_id")), as_text(line.get("item_i"))
        if place.startswith(_NOT_OF_THE_CAMPAIGN):
            n_checks += 1
            continue
        if line.get("annotation") == _RESET:
            submitted.pop((campaign, worker, place), None)
            continue
        shown, annotated = as_list(line.get("item")), line.get("annotation")
        if not worker or not isinstance(annotated, list) or len(shown) != len(annotated):
            message = "the line needs user_id, and lists item and annotation of one length. Download it again."
            made.refuse(number, "annotation", "no_annotations", message)
            continue
        outputs = submitted.setdefault((campaign, worker, place), {})
        for k, (item, by_model) in enumerate(zip(shown, annotated, strict=True)):
            if as_dict(item).get("validation"):
                n_checks += 1
                continue
            for model, said in as_dict(by_model).items():  # null where an item was skipped
                n_again += (k, model) in outputs
                outputs[k, model] = number, as_dict(item), as_dict(said)
    rows = [(key, *each) for key, outputs in submitted.items() for each in outputs.items()]
    has_marks = any(said.get("error_spans") for *_, (_, _, said) in rows)
    for (campaign, worker, _), (_, model), (number, item, said) in rows:
        source = as_text(item.get("item_id")) or as_text(item.get("src"))
        if not source:
            message = "an item has neither item_id nor src. Add the item_id that it has in the campaign's file."
            made.refuse(number, "item_id", "no_source", message)
            continue
        output = as_dict(item.get("tgt")).get(model)
        text = output if isinstance(output, str) else ""
        task = f"{campaign}:{source}" if len(campaigns) > 1 else source
        data = {"model": model, "item_id": task, "tgt": text, "src": as_text(item.get("src"))}
        sliders = {"score": said.get("score")} | as_dict(said.get("sliders"))
        answers = {name: answer for name, value in sliders.items() if (answer := as_text(value))}
        if answers:
            items.add_answers(number, worker, task, data, answers)
        if has_marks:
            marks = [_mark(as_dict(span), text) for span in as_list(said.get("error_spans"))]
            items.add_marks(number, worker, task, data, marks)
    if n_checks:
        made.warn("quality_control", f"Items of tutorials and attention checks, which are left out: {n_checks:,}.")
    if n_again:
        made.warn("revised", f"Outputs that a user annotated again, whose last annotations count: {n_again:,}.")
    return made


def _lines(file: Beginning) -> Iterator[tuple[int, str, Record]]:
    """Yield number, campaign and content of each line; a file of lines is called as its campaign."""
    if not _is_download(file.record or {}):
        yield from ((number, Path(file.file).stem, line) for number, line in read_records(file.path, file.file))
        return
    ((_, campaigns),) = read_records(file.path, file.file, is_one=True)
    for campaign, lines in campaigns.items():
        for number, line in enumerate(as_list(lines), start=1):
            yield number, campaign, as_dict(line)


def _mark(span: Record, text: str) -> Mark:
    """Return a mark, in characters; one that is no place at all has the start −1.

    >>> _mark({"start_i": 2, "end_i": 3, "severity": "minor"}, "a\\nbcd")[:2]
    (3, 5)
    """
    units = [k for k, c in enumerate(text) if c != "\n" for _ in range(1 + (ord(c) > 0xFFFF))]
    labels = [label] if (label := as_text(span.get("category")).strip("/")) else []
    severity = as_text(span.get("severity"))
    start, end = span.get("start_i"), span.get("end_i")
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        return Mark(-1, -1, labels, severity)
    if end < len(units):
        return Mark(units[start], units[end] + 1, labels, severity)
    is_of_whole = bool(text) and len(units) <= start and end < len(units) + _MOST_TOKENS
    return Mark(start, end + 1, labels, severity, is_of_whole)
