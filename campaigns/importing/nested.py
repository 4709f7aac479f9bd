"""JSON in which the outputs of a source are a list of objects: one output a row."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

from evalsite.lib.tables import TableError
from evalsite.lib.tables.formats import open_source
from evalsite.lib.tables.json_lines import read_objects

Object = Mapping[str, object]

_LOOKED_AT = 50
# Keys of a turn of a dialogue, or of a step of an agent: a list of such objects is one text.
_TURN = {
    *("speaker", "role", "from", "sender", "author", "participant", "user", "agent"),
    *("action", "observation", "thought", "tool", "tool_name", "tool_calls"),
}
_SYSTEMS = ("system", "system_id", "system_name", "model", "model_id", "model_name", "engine", "name")
_OUTPUTS = ("output", "prediction", "text", "hypothesis", "response", "generated", "translation", "summary", "answer")


def find_list(path: Path, name: str | None = None) -> str:
    """Return the key of the only list of objects that every object at the beginning of a file of JSON has, "" if none.

    A list of turns or steps is none: it is a dialogue, or what an agent did.
    """
    try:
        source = open_source(path, name)
        if source.format != "jsonl":
            return ""
        beginning = [record for _, record in islice(read_objects(source), _LOOKED_AT)]
    except TableError:
        return ""  # the reader of tables raises it
    keys = [{key for key, value in record.items() if _objects(value)} for record in beginning]
    shared = set.intersection(*keys) if keys else set()
    return shared.pop() if len(shared) == 1 else ""


def _objects(value: object) -> bool:
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) for each in value):
        return False
    return not any(_TURN & {str(key).casefold() for key in each} for each in value)


def write_unfolded(path: Path, key: str, stream: IO[str], name: str | None = None) -> None:
    """Write JSON Lines with an object for each output, with the other cells of its source.

    The keys of the list are called `system` and `output` where it is clear which is which, and these names are free.
    """
    source = open_source(path, name)
    records = [record for _, record in read_objects(source)]
    own = {each for record in records for each in record} - {key}
    called = _called([list(_outputs(record, key)) for record in records], own, key)
    for record in records:
        about = {name: value for name, value in record.items() if name != key}
        for output in _outputs(record, key):
            row = about | {called[inner]: value for inner, value in output.items()}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _outputs(record: Object, key: str) -> Iterator[Object]:
    held = record.get(key)
    if isinstance(held, list):
        yield from (each for each in held if isinstance(each, dict))


def _called(records: Sequence[Sequence[Object]], own: set[str], key: str) -> dict[str, str]:
    """Return what each key of the listed objects is called as a column."""
    inner = list(dict.fromkeys(name for outputs in records for each in outputs for name in each))
    called = {name: name if name not in own else f"{key} {name}" for name in inner}
    system = _first(inner, _SYSTEMS) or _only(name for name in inner if _recurs(records, name))
    output = _first([name for name in inner if name != system], _OUTPUTS) or _only(
        name for name in inner if name != system and not _recurs(records, name)
    )
    for name, column in ((system, "system"), (output, "output")):
        if name and column not in own and column not in called.values():
            called[name] = column
    return called


def _first(names: Sequence[str], wanted: Sequence[str]) -> str:
    plain = {name.casefold(): name for name in names}
    return next((plain[name] for name in wanted if name in plain), "")


def _only(names: Iterator[str]) -> str:
    found = list(names)
    return found[0] if len(found) == 1 else ""


def _recurs(records: Sequence[Sequence[Object]], name: str) -> bool:
    """Return whether the outputs of nearly every source have the same values of a key: the names of systems."""
    values = [frozenset(str(each.get(name)) for each in outputs) for outputs in records]
    return len(values) > 1 and len(set(values)) == 1
