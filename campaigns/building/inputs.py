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
from campaigns.design.paging import PageKind, compare_outputs, join_documents, write_out, write_out_live
from campaigns.design.plan import HitPlan, plan_hits
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
class BuildInputs:
    """All that a campaign's HITs follow from.

    Sources and systems are numbered in the order of their names, outputs in the order of source and system, so that
    copies of a campaign, which have other keys, give the same HITs. `human` is the number of the human system,
    `output_ids` are keys, `output_format` is the screen's. `texts` is None where only the composition of HITs is
    wanted.

    Of a live campaign the outputs are its chatbots, except the degraded one; `family` has a number for each, and
    `degraded_id` is the key of what represents the degraded one, if there is one.

    Where workers see documents, `document` and `place` have the number of each output's document and the place of its
    source there.
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
    page_kind: PageKind = PageKind.OUTPUT
    outputs_per_page: int = 1
    document: Codes | None = None
    place: Codes | None = None

    @property
    def is_live(self) -> bool:
        """Whether workers chat with the systems."""
        return self.mix.layout == Layout.BY_SYSTEM

    @property
    def compares_chats(self) -> bool:
        """Whether workers chat with two of the systems at once."""
        return self.is_live and self.page_kind == PageKind.COMPARISON

    @property
    def n_comparisons(self) -> int:
        """Of how many degraded items of a HIT workers can say that they are worse than what they are compared with."""
        return 0 if self.is_live and not self.compares_chats else self.mix.n_degraded

    @property
    def n_sources(self) -> int:
        """Number of sources that have outputs."""
        return int(np.unique(self.source).size)

    def is_same(self, other: "BuildInputs") -> bool:
        """Tell whether the other would give the same HITs, of the same outputs."""
        return all(
            np.array_equal(mine, others) if isinstance(mine, np.ndarray) else mine == others
            for mine, others in zip(vars(self).values(), vars(other).values(), strict=True)
        )


def make_plan(inputs: BuildInputs) -> HitPlan:
    """Return the HITs; raise DomainError, with the numbers, if they cannot be built."""
    mix, texts = inputs.mix, inputs.texts
    _check_size(inputs)
    _check_live(inputs)
    _check_pages(inputs)
    _check_references(inputs)
    with in_words(inputs):
        if inputs.page_kind != PageKind.OUTPUT:
            return _plan_live_pages(inputs) if inputs.is_live else _plan_pages(inputs)
        return plan_hits(
            mix,
            source=inputs.source,
            system=inputs.system,
            seed=inputs.seed,
            n_hits=inputs.n_hits,
            leftover=inputs.leftover,
            anchor=inputs.human if mix.has_anchor else None,
            family=inputs.family,
            is_degradable=_is_degradable(inputs) if texts and not inputs.is_live else None,
        )


def _plan_pages(inputs: BuildInputs) -> HitPlan:
    """Return the HITs of pages with several outputs."""
    if inputs.page_kind == PageKind.DOCUMENT:
        assert inputs.document is not None and inputs.place is not None
        pages = join_documents(inputs.document, inputs.place, inputs.system)
    else:
        pages = compare_outputs(inputs.source, inputs.system, inputs.outputs_per_page, inputs.seed)
    is_degradable = _is_degradable(inputs) if inputs.texts else None
    plan = plan_hits(
        inputs.mix,
        source=pages.source,
        system=pages.system,
        seed=inputs.seed,
        n_hits=inputs.n_hits,
        leftover=inputs.leftover,
        is_degradable=None if is_degradable is None else pages.any_of(is_degradable),
    )
    return write_out(plan, pages, system=inputs.system, is_degradable=is_degradable)


def _plan_live_pages(inputs: BuildInputs) -> HitPlan:
    """Return the HITs of pages on which workers chat with two systems at once."""
    pages = compare_outputs(inputs.source, inputs.system, inputs.outputs_per_page, inputs.seed)
    plan = plan_hits(inputs.mix, source=pages.source, system=pages.system, seed=inputs.seed, n_hits=inputs.n_hits)
    return write_out_live(plan, pages, system=inputs.system)


@contextmanager
def in_words(inputs: BuildInputs, about: str = "") -> Iterator[None]:
    """Turn a DesignError into a DomainError that names systems and sources; `about` says which output it is about."""
    try:
        yield
    except DesignError as error:
        raise refusal(error, inputs, about) from error


def _is_degradable(inputs: BuildInputs) -> Mask:
    """Return which outputs have anything to replace by other words."""
    assert inputs.texts
    texts, is_dialogue = inputs.texts.outputs, inputs.output_format == "dialogue"
    return np.array([bool(replies_in(text) if is_dialogue else text.strip()) for text in texts], dtype=bool)


def _check_size(inputs: BuildInputs) -> None:
    """Refuse more HITs than a page can count while somebody waits, or a campaign can use."""
    n_items = (inputs.n_hits or 0) * inputs.mix.size
    if n_items > MOST_ITEMS:
        raise DomainError(
            "too_many_items",
            f"{inputs.n_hits:,} HITs of {inputs.mix.size} items are {n_items:,} items, and at most {MOST_ITEMS:,} "
            "are built. Ask for fewer HITs, or for more workers per HIT.",
        )


def _check_live(inputs: BuildInputs) -> None:
    """Refuse HITs of chatbots that lack the degraded one."""
    if inputs.is_live and inputs.mix.n_degraded and inputs.degraded_id is None:
        raise DomainError(
            "no_degraded",
            "A HIT is to hold the degraded chatbot, and there is none. Add it under Chatbots, or set Degraded to 0.",
        )


def _check_pages(inputs: BuildInputs) -> None:
    """Refuse what pages with several outputs do not have, and documents where no source belongs to one."""
    if inputs.page_kind == PageKind.OUTPUT or inputs.is_live:
        return
    if inputs.mix.n_reference or inputs.mix.layout != Layout.POOLED:
        raise DomainError(
            "bad_pages",
            "HITs of comparisons and of documents hold pages of all sources alike, and no reference items. Choose "
            "“Any outputs” and set references to 0.",
        )
    if inputs.page_kind == PageKind.DOCUMENT and inputs.document is None:
        raise DomainError(
            "no_documents",
            "Workers are to see documents, and no source belongs to one. Upload a file with a column that says which "
            "document each source is part of.",
        )


def _check_references(inputs: BuildInputs) -> None:
    """Refuse reference items where there is no reference to show."""
    n_wanted = inputs.mix.n_reference
    if not n_wanted:
        return
    if not inputs.reference_label:
        raise DomainError(
            "no_reference_field",
            f"A HIT is to have {n_wanted} reference items, and no field of the sources holds references. Set "
            "reference items to 0, or name the field.",
        )
    if inputs.texts:
        used = np.unique(inputs.source).tolist()
        lacking = [code for code in used if not inputs.texts.references[code].strip()]
        if lacking:
            raise DomainError(
                "no_reference",
                f"A HIT is to have {n_wanted} reference items, and {len(lacking):,} of {len(used):,} sources have no "
                f"“{inputs.reference_label}”; the first is “{inputs.source_names[lacking[0]]}”. Give them one, or "
                "set reference items to 0.",
            )
