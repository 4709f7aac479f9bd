"""The sections of a stored report, whatever version and method made it, and the pages, tables and figures they make."""

from analysis.methods import method_of
from analysis.methods.by_groups import PAGE as GROUPS
from analysis.questions import sections_of_questions
from analysis.results.replication import replication_section
from analysis.results.sections import Figure, Output, Section, Table
from analysis.results.stored import Report
from campaigns.contracts.method import FIRST_PAGE

_OF_SECTIONS = ("workers", "reliability", "sensitivity")
"""The pages of responses that are no study which are there if a section names them."""


def sections_of(report: Report, page: str | None = None) -> list[Section]:
    """Return every section of a report, whatever version made it; of one page of a run, if one is named."""
    method, questions = method_of(report), sections_of_questions(report)
    if page is not None:
        of_page = [section for section in questions if section.page == page != FIRST_PAGE]
        return [*method.sections_on(report, page), *of_page]
    return [*method.sections(report), *questions, *replication_section(report)]


def own_pages(report: Report) -> list[Section]:
    """Return the sections of a report that have a page of their own each."""
    of_questions = [section for section in sections_of_questions(report) if section.page == FIRST_PAGE]
    return [*method_of(report).own_pages(report), *of_questions]


def pages_of(report: Report) -> tuple[str, ...]:
    """Return the pages that a result with this report has, keys of `navigation.RESULT_PAGES`."""
    method = method_of(report)
    pages = method.pages
    if not method.is_study:
        shown = {section.page for section in sections_of(report) if not section.is_empty}
        pages = tuple(page for page in pages if page in shown or page not in _OF_SECTIONS)
    return (*pages, GROUPS) if report.get("groups") else pages


def tables_of(report: Report, output: Output) -> list[Table]:
    """Return the tables of a report for one kind of output."""
    return [table for section in sections_of(report) for table in section.tables if output in table.output]


def figures_of(report: Report) -> list[Figure]:
    """Return the figures of a report."""
    return [figure for section in sections_of(report) for figure in section.figures]
