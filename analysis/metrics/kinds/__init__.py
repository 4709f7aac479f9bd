"""Kinds of metrics that can be computed here. A file each, and a line in `settings.EVALSITE_METRICS`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from django.conf import settings
from django.utils.module_loading import import_string
from numpy.typing import NDArray

from campaigns.contracts.options import OptionsForm
from evalsite.lib.errors import DomainError

Floats = NDArray[np.float64]
OnOutput = Callable[[], None]


@dataclass(frozen=True)
class Texts:
    """Outputs to be scored.

    Attributes
    ----------
    systems, sources : list of str
        Names.
    system, source : int, (n_outputs,)
        Codes of these.
    outputs : list of str
        The texts that systems wrote.
    references : list of str
        The reference of each output; empty texts only for kinds that do not need references.
    fields : list of mapping
        Of each source, its other texts by field, such as the passage.
    """

    systems: list[str]
    sources: list[str]
    system: NDArray[np.integer]
    source: NDArray[np.integer]
    outputs: list[str]
    references: list[str]
    fields: list[Mapping[str, str]]

    def with_references(self) -> "Texts":
        """Return the outputs that have a reference."""
        kept = [k for k, reference in enumerate(self.references) if reference.strip()]
        outputs, references = ([each[k] for k in kept] for each in (self.outputs, self.references))
        return replace(self, system=self.system[kept], source=self.source[kept], outputs=outputs, references=references)

    def of_systems(self, of_system: Callable[[list[int]], float]) -> Floats:
        """Return what a function gives for the places of each system's outputs, NaN for a system without any."""
        places: list[list[int]] = [[] for _ in self.systems]
        for place, code in enumerate(self.system.tolist()):
            places[code].append(place)
        return np.array([of_system(own) if own else np.nan for own in places], np.float64)


@dataclass(frozen=True)
class Scores:
    """What a metric says: of each output, (n_outputs,), and of each system, (n_systems,).

    Higher is better. `systems` is None where a system's score is the mean of its outputs' scores.
    """

    metric: str
    segments: Floats
    systems: Floats | None = None


class MetricKind(ABC):
    """Metrics that are computed together, with the same library and the same settings.

    `metrics` are their names, `note` says how a text becomes words and how a system's score is made of its outputs.
    `is_default`: chosen unless a person says otherwise. `Options` are its settings. Libraries that take long to import
    are imported in `score`.
    """

    do_not_call_in_templates: ClassVar[bool] = True
    slug: ClassVar[str]
    title: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]
    note: ClassVar[str]
    is_default: ClassVar[bool] = True
    needs_reference: ClassVar[bool] = True
    Options: ClassVar[type[OptionsForm]] = OptionsForm

    @abstractmethod
    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return the scores of each of `metrics`; `on_output` is called after each output.

        Raises DomainError `missing_library` if what it needs is not installed.
        """


def list_kinds() -> list[MetricKind]:
    """Return the kinds of the settings, in their order."""
    return [import_string(path)() for path in settings.EVALSITE_METRICS]


def missing_library(kind: MetricKind, library: str) -> DomainError:
    """Return the error that says what to install."""
    return DomainError(
        "missing_library",
        f"{kind.title} needs the library {library}, which is not installed here. An administrator can install it: "
        "pip install 'evalsite[metrics]'.",
    )
