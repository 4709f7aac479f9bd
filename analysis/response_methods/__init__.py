"""Response methods: how each kind of response is read and analysed. A file each, and a line in
`settings.EVALSITE_RESPONSE_METHODS`.

A protocol names its method. The parts of which a *study* of direct assessment is made are in `analysis.methods`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from django.conf import settings as site

from analysis.sections import Section
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry

if TYPE_CHECKING:
    from analysis.settings import AnalysisSettings

Data = TypeVar("Data")
Report = Mapping[str, Any]
Progress = Callable[[str], None]
DEFAULT = "direct_assessment"
"""The method of reports and settings that name none."""
OPTIONS = (
    *("alpha", "worker_test", "scale", "score_columns", "unit", "comparison"),
    *("dialogues", "assignments", "corpus", "sources", "metrics"),
)
"""Options of `manage.py analyse` that a method takes, or does not know. `compare` is one of a `ReplicableMethod`."""


@dataclass(frozen=True)
class ResponsesFile:
    """A file of responses. `extras` are what else the method `takes`, by name; those not given are left out."""

    path: Path
    encoding: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)


class ResponseMethod(ABC, Generic[Data]):
    """A way to analyse one kind of response: it reads its own `Data`, and turns that into a report.

    A report is JSON: `summary` (what `manage.py analyse --format json` prints), `warnings` ({"code", "count",
    "message", "examples"}), `notes` (sentences), `settings`, and whatever the sections are made from; undefined numbers
    are None. `summary` has `method`, `higher_is_better`, `criteria` and `systems`, as `system_scores.summarise_systems`
    makes them; that of direct assessment is older and has its own keys.

    `takes`: those of `OPTIONS` that the method knows.
    `options`: those of the settings (`AnalysisSettings.options`) that the method knows.
    `has_criteria`: its settings need criteria.
    """

    slug: ClassVar[str]
    takes: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[tuple[str, ...]] = ()
    has_criteria: ClassVar[bool] = False

    @abstractmethod
    def read(self, file: ResponsesFile, settings: "AnalysisSettings") -> Data:
        """Return the responses of a file; raise TableError that lists everything wrong with it."""

    @abstractmethod
    def analyse(
        self, data: Data, settings: "AnalysisSettings", on_progress: Progress = lambda _: None, *, brief: bool = False
    ) -> dict[str, Any]:
        """Return the report; if `brief`, `summary`, `warnings` and `notes` are enough."""

    @abstractmethod
    def sections(self, report: Report) -> list[Section]:
        """Return the sections of a report of this method, made from the report alone."""

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise DomainError `bad_settings` unless these are options of the method.

        A method that has options overrides this to check their values, and calls it.
        """
        if unknown := sorted(set(options) - set(self.options)):
            known = f" The options are: {', '.join(self.options)}." if self.options else ""
            raise DomainError("bad_settings", f"The method “{self.slug}” has no option “{unknown[0]}”.{known}")

    def headline(self, report: Report) -> str:
        """Return what a person reads first on the command line; by default nothing."""
        return ""

    def files(self, data: Data) -> Mapping[str, str]:
        """Return files that are written beside tables and figures, by name; by default none."""
        return {}


class ReplicableMethod(ResponseMethod[Data]):
    """A method that also compares a study with the one it replicates."""

    @abstractmethod
    def compare(self, original: Report, report: Report) -> dict[str, Any]:
        """Return how far a report agrees with the one it replicates, as JSON."""


_methods: Registry[type[ResponseMethod]] = Registry("method", site.EVALSITE_RESPONSE_METHODS)


def get_method(slug: str) -> ResponseMethod:
    """Return the method of `slug`; raise DomainError `unknown_method`."""
    return _methods[slug]()


def list_response_methods() -> list[ResponseMethod]:
    """Return every method in the order of the settings."""
    return [method() for method in _methods.all().values()]


def method_of(report: Report) -> ResponseMethod:
    """Return the method that made a report, whatever version did."""
    return get_method(report.get("settings", {}).get("method", DEFAULT))
