"""Names that do not tell who a worker is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from analysis.results.stored import Report
from annotation.worker_names import worker_digits

_NAMING = (
    ("worker_table",),
    ("labels", "workers"),
    ("criteria", "labels", "workers"),
    ("questions", "circular_triads", "workers"),
)
"""The parts of a report whose rows name a worker each: keys, one in the other; lists between them are gone through."""


def anonymise(workers: Collection[str]) -> dict[str, str]:
    """Return for each worker a name that does not tell who they are: a number and a keyed hash.

    The hash is the same for the same worker in every file of one server (`worker_digits`). The numbers keep the
    workers' order, on which the order of sums, and so the last bit of a result, depends.
    """
    width = len(str(len(workers)))
    return {worker: f"w{k:0{width}d}-{worker_digits(worker)}" for k, worker in enumerate(sorted(workers), start=1)}


def workers_of(report: Report) -> list[str]:
    """Return the workers that a report names."""
    return [row["worker"] for path in _NAMING for row in _rows(report, path)]


def _rows(part: Any, path: Sequence[str]) -> Iterator[Report]:
    if isinstance(part, list):
        for each in part:
            yield from _rows(each, path)
    elif isinstance(part, Mapping):
        if not path:
            yield part
        elif path[0] in part:
            yield from _rows(part[path[0]], path[1:])


def anonymous_report(report: Report, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the report with its workers renamed, and without the texts that may name one."""
    settings = report["settings"]
    excluded = {names.get(worker, "?"): reason for worker, reason in settings["excluded"].items()}
    found = dict(report)
    for path in _NAMING:
        found = _renamed(found, path, names)
    if "sections" in report:
        found["sections"] = [
            section | {"tables": [_table_renamed(table, names) for table in section["tables"]]}
            for section in report["sections"]
        ]
    return {
        **found,
        "warnings": [warning | {"examples": []} for warning in report["warnings"]],
        "settings": settings | {"excluded": excluded},
    }


def _table_renamed(table: Report, names: Mapping[str, str]) -> Report:
    """Return a table of stored sections with the workers renamed in its columns of workers."""
    columns = enumerate(table["columns"])
    # Of a table that was stored before columns said it, those of this heading.
    places = [k for k, column in columns if column.get("is_worker", column["name"].casefold() == "worker")]
    if not places:
        return table
    rows = [[names.get(c, c) if k in places else c for k, c in enumerate(row)] for row in table["rows"]]
    return {**table, "rows": rows}


def _renamed(part: Any, path: Sequence[str], names: Mapping[str, str]) -> Any:
    """Return a part of a report with the workers of the rows renamed that the path leads to."""
    if isinstance(part, list):
        return [_renamed(each, path, names) for each in part]
    if not isinstance(part, dict) or (path and path[0] not in part):
        return part
    if not path:
        return part | {"worker": names[part["worker"]]}
    return part | {path[0]: _renamed(part[path[0]], path[1:], names)}


def anonymous_settings(settings: Report) -> dict[str, Any]:
    """Return a run's settings with the excluded workers renamed."""
    excluded = settings["excluded"]
    names = anonymise(excluded)
    return {**settings, "excluded": {names[worker]: reason for worker, reason in excluded.items()}}
