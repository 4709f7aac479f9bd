"""Kinds of metrics that can be computed here. A file each, and a line in `EVALSITE_METRICS`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from campaigns.contracts.format import ContentFormat
from campaigns.contracts.options import OptionsForm
from campaigns.formats import get_format
from evalsite.lib.errors import DomainError
from evalsite.lib.extras import needs_library
from evalsite.lib.plugins import listed, load

Floats = NDArray[np.float64]
OnOutput = Callable[[], None]


@dataclass(frozen=True)
class Data:
    """Which texts a campaign has.

    `fields`: the label of each field of the sources that is a text, by name; `dialogue_field`: the one that is the
    dialogue before a reply, "" if there is none. `output_format`: what systems wrote, by its slug.
    `has_references`: whether something can be the reference of the outputs.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    dialogue_field: str = ""
    output_format: str = "text"
    has_references: bool = True

    @property
    def format(self) -> type[ContentFormat]:
        """What systems wrote."""
        return get_format(self.output_format)


@dataclass(frozen=True)
class Texts:
    """Outputs to be scored.

    `system`, `source`: codes of `systems` and `sources`, int, (n_outputs,); `outputs`: the texts that systems wrote;
    `references`: that of each output, empty texts only for kinds that do not need them; `fields`: of each source, its
    other texts by field, such as the passage; `data`: which texts the campaign has.
    """

    systems: list[str]
    sources: list[str]
    system: NDArray[np.integer]
    source: NDArray[np.integer]
    outputs: list[str]
    references: list[str]
    fields: Sequence[Mapping[str, str]]
    data: Data = field(default_factory=Data)

    def field_of(self, place: int, name: str) -> str:
        """Return a field of the source of the output at a place; empty if the source has none."""
        return str(self.fields[self.source[place]].get(name) or "").strip()

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

    Higher is better. `systems` is None where a system's score is the mean of its outputs' scores. An output without a
    score is NaN. `model` names the folder of the model, and `n_windowed` says how many outputs had a text that the
    model read in several windows.
    """

    metric: str
    segments: Floats
    systems: Floats | None = None
    model: str = ""
    n_windowed: int = 0


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

    def lacks(self, data: Data) -> str:
        """Return what is missing before this can be computed, and what to do, in sentences; empty if nothing is."""
        if self.needs_reference and not data.format.is_one_text:
            return f"It compares outputs with references, and outputs of the format “{data.format.title}” have none."
        return "" if data.has_references or not self.needs_reference else "These outputs have no references."

    def check(self, data: Data, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options as they are stored; raise DomainError `bad_option` if they cannot be meant."""
        return self.Options.check(options)


def list_kinds() -> list[MetricKind]:
    """Return the kinds of the settings, in their order."""
    return [load(path)() for path in listed("EVALSITE_METRICS")]


def missing_library(kind: MetricKind, library: str, extra: str = "metrics") -> DomainError:
    """Return the error that says what to install."""
    return DomainError("missing_library", needs_library(kind.title, library, extra))
