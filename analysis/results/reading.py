"""Results of stored reports: those of this version as they are stored, those of earlier ones made once."""

from dataclasses import replace
from typing import Any

from analysis.methods import method_of
from analysis.questions import sections_of_questions
from analysis.results.replication import RunAgreement, replication_section
from analysis.results.result import Result
from analysis.results.stored import Report, current, result_of
from analysis.stats.procedures import ALPHA
from evalsite.lib.typed_json import from_json, to_json


def read_result(report: Report) -> Result:
    """Return the result of a stored report with its sections, whatever version and method made it."""
    return result_of(report) if "sections" in report else _complete(current(report))


def read_part(report: Report) -> Result:
    """Return what a report says that has not all its parts: its ranking and what it finds, without sections."""
    return _found(current(report))


def completed(report: Report) -> dict[str, Any]:
    """Return a report with what is said of it, and the sections that show it, as it is stored."""
    result = _complete(report)
    said = {name: getattr(result, name) for name in ("findings", "headline", "paper", "sections")}
    return {**report, **to_json(said)}


def _found(report: Report) -> Result:
    method, result = method_of(report), result_of(report)
    result = replace(result, headline=method.headline(report))
    return replace(result, findings=method.findings(result))


def _complete(report: Report) -> Result:
    method, stored = method_of(report), report.get("replication")
    replication = replication_section(stored and from_json(stored, RunAgreement))
    sections = [*method.sections(report), *sections_of_questions(report), *replication]
    result = replace(_found(report), sections=sections)
    return replace(result, paper=method.paper(result))


def _printed_pair(pair: Report) -> dict[str, Any]:
    """Return a pair as it is printed: the better system by its score, and whether the two differ."""
    tests = {name: pair[name] for name in ("p", "p_holm", "p_studies") if name in pair}
    return {
        **dict(zip(("better", "worse"), pair["systems"], strict=True)),
        "difference": pair["difference"],
        **dict(zip(("low", "high"), pair["interval"], strict=True)),
        **tests,
        "differs": pair["p_holm"] is not None and pair["p_holm"] < ALPHA,
    }


def printed(report: Report, findings: list[str]) -> dict[str, Any]:
    """Return what `manage.py analyse --format json` prints of a report that finds this."""
    pairs = [_printed_pair(pair) for pair in report["pairs"]]
    parts = {name: report[name] for name in ("groups", "replication") if name in report}
    return {**report["summary"], "findings": findings, "pairs": pairs, **parts}
