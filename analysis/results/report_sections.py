"""The sections of a stored report, whatever version and method made it, and the pages, tables and figures they make."""

from analysis.methods import method_of
from analysis.questions import sections_of_questions
from analysis.results.replication import replication_section
from analysis.results.sections import Figure, Output, Section, Table
from analysis.results.stored import Report


def sections_of(report: Report, page: str | None = None) -> list[Section]:
    """Return every section of a report, whatever version made it; those that a page shows, if one is named."""
    sections = [*method_of(report).sections(report), *sections_of_questions(report), *replication_section(report)]
    return [section for section in sections if page is None or (section.page == page and not section.is_empty)]


def tables_of(report: Report, output: Output) -> list[Table]:
    """Return the tables of a report for one kind of output."""
    return [table for section in sections_of(report) for table in section.tables if output in table.output]


def figures_of(report: Report) -> list[Figure]:
    """Return the figures of a report."""
    return [figure for section in sections_of(report) for figure in section.figures]
