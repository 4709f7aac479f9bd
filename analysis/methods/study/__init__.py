"""The parts of direct assessment: each takes a study and returns sections. A file each, and a line in
`EVALSITE_METHODS`. How other kinds of responses are analysed is in `analysis.methods`.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from analysis.methods.study.study import Study
from analysis.results.result import Result
from analysis.results.sections import Section
from evalsite.lib.plugins import listed, load


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
    def sections(self, result: Result) -> list[Section]:
        """Return the sections of a result; none where it holds nothing of this method."""


def list_methods() -> list[Method]:
    """Return the methods of the settings, in their order."""
    return [load(path)() for path in listed("EVALSITE_METHODS")]
