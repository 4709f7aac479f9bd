"""Results of stored reports: those of this version as they are stored, those of earlier ones made once."""

from dataclasses import replace
from typing import Any

from analysis.methods import get_method
from analysis.questions import sections_of_questions
from analysis.results.replication import RunAgreement, replication_section
from analysis.results.result import Pair, Result
from analysis.results.stored import Report, document_of, result_of
from evalsite.lib.typed_json import from_json


def read_result(report: Report) -> Result:
    """Return the result of a stored report with its sections, whatever version and method made it."""
    return result_of(report) if "sections" in report else completed(result_of(report))


def concluded(result: Result) -> Result:
    """Return a result with what it finds."""
    method = get_method(result.settings.method)
    result = replace(result, headline=method.headline(result))
    return replace(result, findings=method.findings(result))


def completed(result: Result) -> Result:
    """Return a result with what is said of it, and the sections that show it."""
    method, stored = get_method(result.settings.method), result.own.get("replication")
    replication = replication_section(stored and from_json(stored, RunAgreement))
    sections = [*method.sections(result), *sections_of_questions(result), *replication]
    result = replace(concluded(result), sections=sections)
    return replace(result, paper=method.paper(result))


def _printed_pair(pair: Pair) -> dict[str, Any]:
    """Return a pair as it is printed: the better system by its score, and whether the two differ."""
    (better, worse), (low, high) = pair.systems, pair.interval
    p = {"p": pair.p} if pair.p_studies is None else {"p_studies": [*pair.p_studies]}
    found = {"better": better, "worse": worse, "difference": pair.difference, "low": low, "high": high}
    return {**found, **p, "p_holm": pair.p_holm, "differs": pair.differs}


def printed(result: Result) -> dict[str, Any]:
    """Return what `manage.py analyse --format json` prints of a result that says what it finds."""
    document = document_of(result)
    parts = {name: document[name] for name in ("groups", "style", "replication") if name in document}
    return {**document["summary"], "findings": result.findings, "pairs": [*map(_printed_pair, result.pairs)], **parts}
