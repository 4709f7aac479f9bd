"""What a report says, read as pages and files read it."""

from collections.abc import Mapping
from typing import Any

from analysis import questions
from analysis.results.reading import concluded, read_result
from analysis.results.sections import Figure, Output, Section, Table
from analysis.results.stored import document_of, result_of

Report = Mapping[str, Any]


def sections_of(report: Report, page: str | None = None) -> list[Section]:
    """Return every section of a report; those that a page shows, if one is named."""
    result = read_result(report)
    return result.sections if page is None else result.sections_on(page)


def tables_of(report: Report, output: Output) -> list[Table]:
    """Return the tables of a report for one kind of output."""
    return read_result(report).tables_in(output)


def figures_of(report: Report) -> list[Figure]:
    """Return the figures of a report."""
    return read_result(report).figures


def findings_of(report: Report) -> list[str]:
    """Return what a report finds, which may have its ranking alone."""
    return concluded(result_of(report)).findings


def analyse_fully(*args: Any, **options: Any) -> dict[str, Any]:
    """Return the report of responses, with the answers to questions, before it has sections."""
    return document_of(questions.analyse_fully(*args, **options))
