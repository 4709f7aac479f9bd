"""What every analysis method is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from analysis.sections import Section
from analysis.study import Study


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

    @abstractmethod
    def sections(self, report: Mapping[str, Any]) -> list[Section]:
        """Return the sections of a report; none where it holds nothing of this method."""
