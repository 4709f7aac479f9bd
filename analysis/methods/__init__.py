"""The parts of direct assessment: each takes a study and returns sections. A file each, and a line in
`settings.EVALSITE_METHODS`. How other kinds of responses are analysed is in `analysis.response_methods`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from django.utils.module_loading import import_string

from analysis.methods.replication import replication_section
from analysis.questions import sections_of_questions
from analysis.response_methods import method_of
from analysis.sections import Figure, Output, Section, Table
from analysis.study import Study
from campaigns.contracts.method import FIRST_PAGE

Report = Mapping[str, Any]
_OF_SECTIONS = ("workers", "reliability", "sensitivity")
"""The pages of responses that are no study which are there if a section names them."""


class Method(ABC):
    """A way to analyse a study. What it computes is kept as JSON, and its sections are made from that alone.

    So results that an earlier version stored are shown and exported too. Undefined numbers are None.
    """

    slug: ClassVar[str]

    def summarise(self, study: Study) -> dict[str, Any]:
        """Return what the summary holds of this method: by convention `{slug: …}`; nothing where it does not apply.

        The summary is in the replication package: it names no worker.
        """
        return {}

    def detail(self, study: Study) -> dict[str, Any]:
        """Return what else the report holds of this method, which `manage.py analyse --format json` does not print."""
        return {}

    def first_detail(self, study: Study) -> dict[str, Any]:
        """Return what the report holds of this method before `detail` is computed, under keys of `detail`."""
        return {}

    @abstractmethod
    def sections(self, report: Report) -> list[Section]:
        """Return the sections of a report; none where it holds nothing of this method."""


def list_methods() -> list[Method]:
    """Return the methods of the settings, in their order."""
    return [import_string(path)() for path in settings.EVALSITE_METHODS]


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
    if method.is_study:
        return method.pages
    shown = {section.page for section in sections_of(report) if not section.is_empty}
    return tuple(page for page in method.pages if page in shown or page not in _OF_SECTIONS)


def tables_of(report: Report, output: Output) -> list[Table]:
    """Return the tables of a report for one kind of output."""
    return [table for section in sections_of(report) for table in section.tables if output in table.output]


def figures_of(report: Report) -> list[Figure]:
    """Return the figures of a report."""
    return [figure for section in sections_of(report) for figure in section.figures]
