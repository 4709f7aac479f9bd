"""Analysis methods: each takes a study and returns sections. A file each, and a line in `settings.EVALSITE_METHODS`."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from analysis.methods.base import Method
from analysis.sections import Figure, Output, Section, Table

Report = Mapping[str, Any]


def list_methods() -> list[Method]:
    """Return the methods of the settings, in their order."""
    return [import_string(path)() for path in settings.EVALSITE_METHODS]


def sections_of(report: Report, page: str | None = None) -> list[Section]:
    """Return every section of a report, whatever version made it; of one page of a run, if one is named."""
    sections = [section for method in list_methods() for section in method.sections(report)]
    return [section for section in sections if page in (None, section.page)]


def tables_of(report: Report, output: Output) -> list[Table]:
    """Return the tables of a report for one kind of output."""
    return [table for section in sections_of(report) for table in section.tables if output in table.output]


def figures_of(report: Report) -> list[Figure]:
    """Return the figures of a report."""
    return [figure for section in sections_of(report) for figure in section.figures]
