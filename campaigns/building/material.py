"""What a campaign's HITs follow from, and the plan made of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from campaigns.building.refusals import refusal
from campaigns.contracts.protocol import Format
from campaigns.design.composition import Layout, Mix
from campaigns.design.errors import DesignError
from campaigns.design.plan import Plan, plan_hits
from campaigns.design.sampling import Leftover
from campaigns.design.seeds import Codes, Mask
from campaigns.dialogues import replies_in
from evalsite.lib.errors import DomainError

# Of HITs whose number is set. As many as rate each output once are never too many.
MOST_ITEMS = 1_000_000


@dataclass(frozen=True)
class Texts:
    """The texts that items are made of.

    `outputs` has one text for each output. The others have one for each source, empty where it has none: `references`
    what a reference item shows, `donors` what gives words to degraded items of other sources; `donors` is None where
    other sources' outputs do so.
    """

    outputs: list[str]
    references: list[str]
    donors: list[str] | None


@dataclass(frozen=True, eq=False)
class Material:
    """All that a campaign's HITs follow from.

    Sources and systems are numbered in the order of their names, outputs in the order of source and system, so that
    copies of a campaign, which have other keys, give the same HITs. `human` is the number of the human system,
    `output_ids` are keys, `output_format` is the screen's. `texts` is None where only the composition of HITs is
    wanted.

    Of a live campaign the outputs are its chatbots, but for the degraded one; `family` has a number for each, and
    `degraded_id` is the key of what stands for the degraded one, if there is one.
    """

    mix: Mix
    seed: int
    n_hits: int | None
    leftover: Leftover
    reference_label: str
    donor_label: str
    source_names: list[str]
    system_names: list[str]
    human: int | None
    source: Codes
    system: Codes
    output_ids: NDArray[np.int64]
    texts: Texts | None = field(default=None)
    output_format: Format = field(default="text")
    family: Codes | None = field(default=None)
    degraded_id: int | None = field(default=None)

    @property
    def is_live(self) -> bool:
        """Whether workers chat with the systems."""
        return self.mix.layout == Layout.BY_SYSTEM

    @property
    def n_sources(self) -> int:
        """Number of sources that have outputs."""
        return int(np.unique(self.source).size)

    def is_same(self, other: "Material") -> bool:
        """Tell whether the other would give the same HITs, of the same outputs."""
        return all(
            np.array_equal(mine, others) if isinstance(mine, np.ndarray) else mine == others
            for mine, others in zip(vars(self).values(), vars(other).values(), strict=True)
        )


def make_plan(material: Material) -> Plan:
    """Return the HITs; raise DomainError, with the numbers, if they cannot be built."""
    mix, texts = material.mix, material.texts
    _check_size(material)
    _check_live(material)
    _check_references(material)
    with in_words(material):
        return plan_hits(
            mix,
            source=material.source,
            system=material.system,
            seed=material.seed,
            n_hits=material.n_hits,
            leftover=material.leftover,
            anchor=material.human if mix.has_anchor else None,
            family=material.family,
            is_degradable=_is_degradable(material) if texts and not material.is_live else None,
        )


@contextmanager
def in_words(material: Material, about: str = "") -> Iterator[None]:
    """Turn a DesignError into a DomainError that names systems and sources; `about` says which output it is about."""
    try:
        yield
    except DesignError as error:
        raise refusal(error, material, about) from error


def _is_degradable(material: Material) -> Mask:
    """Return which outputs have anything to replace by other words."""
    assert material.texts
    texts, is_dialogue = material.texts.outputs, material.output_format == "dialogue"
    return np.array([bool(replies_in(text) if is_dialogue else text.strip()) for text in texts], dtype=bool)


def _check_size(material: Material) -> None:
    """Refuse more HITs than a page can count while somebody waits, or a campaign can use."""
    n_items = (material.n_hits or 0) * material.mix.size
    if n_items > MOST_ITEMS:
        raise DomainError(
            "too_many_items",
            f"{material.n_hits:,} HITs of {material.mix.size} items are {n_items:,} items, and at most {MOST_ITEMS:,} "
            "are built. Ask for fewer HITs, or for more workers per HIT.",
        )


def _check_live(material: Material) -> None:
    """Refuse HITs of chatbots that lack the degraded one."""
    if material.is_live and material.mix.n_degraded and material.degraded_id is None:
        raise DomainError(
            "no_degraded",
            "A HIT is to hold the degraded chatbot, and there is none. Add it under Chatbots, or set Degraded to 0.",
        )


def _check_references(material: Material) -> None:
    """Refuse reference items where there is no reference to show."""
    n_wanted = material.mix.n_reference
    if not n_wanted:
        return
    if not material.reference_label:
        raise DomainError(
            "no_reference_field",
            f"A HIT is to have {n_wanted} reference items, and no field of the sources holds references. Set "
            "reference items to 0, or name the field.",
        )
    if material.texts:
        used = np.unique(material.source).tolist()
        lacking = [code for code in used if not material.texts.references[code].strip()]
        if lacking:
            raise DomainError(
                "no_reference",
                f"A HIT is to have {n_wanted} reference items, and {len(lacking):,} of {len(used):,} sources have no "
                f"“{material.reference_label}”; the first is “{material.source_names[lacking[0]]}”. Give them one, or "
                "set reference items to 0.",
            )
