"""Items' texts as workers see them: outputs, references, and outputs degraded with words of other sources."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from campaigns.building.inputs import BuildInputs
from campaigns.building.refusals import in_words
from campaigns.contracts.format import Degradation, Files
from campaigns.design.composition import Kind
from campaigns.design.plan import HitPlan
from campaigns.design.seeds import Codes, draw_donors, generator
from evalsite.lib.errors import DomainError

_REPORT_EVERY = 500


@dataclass(frozen=True)
class Donors:
    """Different texts that words are taken from.

    A text is never used for a source whose `group_of_source` is its own `group`: METHOD §1 wants another passage, so
    sources that share one are one group.
    """

    texts: list[str]
    group: Codes
    group_of_source: Codes


def donors_of(inputs: BuildInputs) -> Donors:
    """Return the texts that words are taken from: of a field of the sources, or of outputs, the human's if any.

    Of outputs that have several parts, such as a dialogue's replies, each is a text.
    """
    assert inputs.texts
    if inputs.texts.donors is not None:
        return _one_of_each_source(inputs.texts.donors)
    if inputs.format.has_parts:
        return _parts(inputs)
    if inputs.human is not None:
        of_source = [""] * len(inputs.source_names)
        for k in np.flatnonzero(inputs.system == inputs.human).tolist():
            of_source[int(inputs.source[k])] = inputs.texts.outputs[k]
        return _one_of_each_source(of_source)
    owners: dict[str, int] = {}
    for text, source in zip(inputs.texts.outputs, inputs.source.tolist(), strict=True):
        if text.strip():
            owners.setdefault(text, source)
    groups = np.fromiter(owners.values(), dtype=np.int64, count=len(owners))
    return Donors(list(owners), groups, np.arange(len(inputs.source_names)))


def _parts(inputs: BuildInputs) -> Donors:
    """Return the parts of outputs, the human's if any; a part is of the source that has it first."""
    assert inputs.texts
    owners: dict[str, int] = {}
    for k in range(len(inputs.texts.outputs)):
        if inputs.human in (None, int(inputs.system[k])):
            for part in inputs.format.parts(inputs.texts.outputs[k]):
                owners.setdefault(part, int(inputs.source[k]))
    groups = np.fromiter(owners.values(), dtype=np.int64, count=len(owners))
    return Donors(list(owners), groups, np.arange(len(inputs.source_names)))


def _one_of_each_source(texts: list[str]) -> Donors:
    """Return donors of one text for each source; equal texts are one, and an empty one is none."""
    groups: dict[str, int] = {}
    for text in texts:
        if text.strip():
            groups.setdefault(text, len(groups))
    of_source = np.array([groups.get(text, -1) for text in texts], dtype=np.int64)
    return Donors(list(groups), np.arange(len(groups)), of_source)


def write_texts(
    inputs: BuildInputs, plan: HitPlan, on_progress: Callable[[int, int], None], files: Files | None = None
) -> list[str]:
    """Return the text of each item as shown, in the order of the plan; raise DomainError if one cannot be made.

    Each degraded text has a generator of its own, of the seed, HIT and position, and never reads like its original.
    Formats that take files find theirs in `files`, and keep what they make of them there.
    """
    assert inputs.texts
    if inputs.is_live:
        return [""] * plan.hits.hit.size  # what a chatbot says is not known yet
    hits, outputs, references = plan.hits, inputs.texts.outputs, inputs.texts.references
    shown = [outputs[output] for output in hits.output.tolist()]
    for item in np.flatnonzero(hits.kind == Kind.REFERENCE).tolist():
        shown[item] = references[inputs.source[hits.output[item]]]
    degraded = np.flatnonzero(hits.kind == Kind.DEGRADED)
    if degraded.size:
        donors = donors_of(inputs)
        for n_done, item in enumerate(degraded.tolist()):
            if n_done % _REPORT_EVERY == 0:
                on_progress(n_done, degraded.size)
            rng = generator(plan.seed, int(hits.hit[item]), int(hits.position[item]))
            shown[item] = _degrade(inputs, int(hits.output[item]), donors, rng, files)
        on_progress(degraded.size, degraded.size)
    return shown


def _degrade(inputs: BuildInputs, output: int, donors: Donors, rng: np.random.Generator, files: Files | None) -> str:
    """Return the degraded output that was uploaded, or else what its format makes with texts of other sources."""
    assert inputs.texts
    if inputs.texts.degraded and (given := inputs.texts.degraded[output]):
        return given
    text, source = inputs.texts.outputs[output], int(inputs.source[output])
    about = f"Output of “{inputs.system_names[inputs.system[output]]}” for source “{inputs.source_names[source]}”"

    def draw() -> list[str]:
        drawn = draw_donors(donors.group, int(donors.group_of_source[source]), rng)
        if not drawn.size:
            what = f"no other source has another “{inputs.donor_label}”" if inputs.donor_label else "there is none"
            raise DomainError("no_donor", f"{about}: a degraded item takes words from another text, and {what}.")
        return [donors.texts[k] for k in drawn.tolist()]

    with in_words(inputs, about):
        return inputs.format.degrade(text, Degradation(rng, draw, files))
