"""What differs between two runs of the same ratings."""

from typing import Any

from analysis.models import AnalysisRun
from analysis.ratings.scales import FULL, words
from analysis.words import protocol_title, worker_test_name

ALPHA = 0.05
"""Where a difference between two systems counts as a conclusion."""
_COUNTED = ("passed", "trusted")


def what_changed(run: AnalysisRun, before: AnalysisRun) -> dict[str, Any]:
    """Compare a finished run with an earlier one.

    Returns `settings` (those that differ, in words), `workers_gained` and `workers_lost` (whose ratings count
    now and did not, or the reverse), `pairs_gained` and `pairs_lost` (conclusions that hold now and did not, or the
    reverse), `n_moved` (systems in another place) and `systems` ({name: {"rank", "z"}}: places won, z now minus then;
    None where one has no score).
    """
    now, then = run.report or {}, before.report or {}
    systems = _system_changes(now["summary"]["systems"], then["summary"]["systems"])
    workers_now, workers_then = _counted(now), _counted(then)
    pairs_now, pairs_then = _conclusions(now), _conclusions(then)
    return {
        "settings": settings_changes(before, run),
        "workers_gained": sorted(workers_now - workers_then),
        "workers_lost": sorted(workers_then - workers_now),
        "pairs_gained": [pair for pair in pairs_now if pair not in pairs_then],
        "pairs_lost": [pair for pair in pairs_then if pair not in pairs_now],
        "n_moved": sum(bool(change["rank"]) for change in systems.values()),
        "systems": systems,
    }


def _system_changes(now: list[dict[str, Any]], then: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    places = {row["system"]: place for place, row in enumerate(then) if row["z"] is not None}
    scores = {row["system"]: row["z"] for row in then}
    changes = {}
    for place, row in enumerate(now):
        name, old = row["system"], scores.get(row["system"])
        is_known = row["z"] is not None and old is not None
        changes[name] = {
            "rank": places[name] - place if is_known else None,
            "z": row["z"] - old if is_known else None,
        }
    return changes


def _counted(report: dict[str, Any]) -> set[str]:
    """Return the workers whose ratings count."""
    return {row["worker"] for row in report["worker_table"] if row["verdict"] in _COUNTED and row["excluded"] is None}


def _conclusions(report: dict[str, Any]) -> dict[tuple[str, str], None]:
    """Return each pair of which the first beats the second, in rank order."""
    significance = report["summary"]["significance"]
    order = significance["order"]
    return {
        (order[i], order[j]): None
        for i, row in enumerate(significance["p"])
        for j, p in enumerate(row)
        if p is not None and p < ALPHA
    }


def settings_changes(before: AnalysisRun, after: AnalysisRun) -> list[dict[str, str]]:
    """Return each setting that differs, in words; of two runs without their reports."""
    old, new = _in_words(before), _in_words(after)
    return [{"name": name, "before": old[name], "after": new[name]} for name in new if old[name] != new[name]]


def _in_words(run: AnalysisRun) -> dict[str, str]:
    settings = run.settings
    criteria = [
        c["name"] + (" (negative)" if c["is_negative"] else "") + ("" if c["is_in_worker_test"] else " (not in test)")
        for c in settings["criteria"]
    ]
    return {
        "Protocol": protocol_title(settings["protocol"]),
        "Criteria": ", ".join(criteria),
        "Worker test": worker_test_name(settings["worker_test"]["preset"]),
        "α": f"{settings['worker_test']['alpha']:g}",
        "Unit": settings["unit"],
        "Kinds behind z": ", ".join(settings["standardised_kinds"]),
        "Excluded by hand": ", ".join(sorted(settings["excluded"])) or "nobody",
        "Scale": words(settings.get("scale") or FULL),
        "Columns": ", ".join(
            f"{role} = {' and '.join(column) if role == 'scores' else column}"
            for role, column in sorted(run.mapping.items())
        ),
    }
