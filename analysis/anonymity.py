"""Names that do not tell who a worker is."""

from collections.abc import Collection, Mapping
from typing import Any

from annotation.worker_names import worker_digits

_NAMING = ("worker_table",)
"""The parts of a report that name workers."""


def anonymise(workers: Collection[str]) -> dict[str, str]:
    """Return for each worker a name that does not tell who they are: a number and a keyed hash.

    The hash is the same for the same worker in every file of one server (`worker_digits`). The numbers keep the
    workers' order, on which the order of sums, and so the last bit of a result, depends.
    """
    width = len(str(len(workers)))
    return {worker: f"w{k:0{width}d}-{worker_digits(worker)}" for k, worker in enumerate(sorted(workers), start=1)}


def workers_of(report: Mapping[str, Any]) -> list[str]:
    """Return the workers that a report names."""
    return [row["worker"] for key in _NAMING for row in report.get(key, [])]


def anonymous_report(report: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the report with its workers renamed, and without the texts that may name one."""
    settings = report["settings"]
    excluded = {names.get(worker, "?"): reason for worker, reason in settings["excluded"].items()}
    return {
        **report,
        **{key: [row | {"worker": names[row["worker"]]} for row in report[key]] for key in _NAMING if key in report},
        "warnings": [warning | {"examples": []} for warning in report["warnings"]],
        "settings": settings | {"excluded": excluded},
    }


def anonymous_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's settings with the excluded workers renamed."""
    excluded = settings["excluded"]
    names = anonymise(excluded)
    return {**settings, "excluded": {names[worker]: reason for worker, reason in excluded.items()}}
