"""The plan of a campaign's HITs, made of what they follow from."""

from itertools import repeat

import numpy as np

from campaigns.building.inputs import BuildInputs
from campaigns.building.refusals import in_words
from campaigns.design.composition import Layout
from campaigns.design.paging import PageKind, compare_outputs, join_documents, write_out, write_out_live
from campaigns.design.plan import HitPlan, plan_hits
from campaigns.design.seeds import Mask
from evalsite.lib.errors import DomainError

# Of HITs whose number is set. As many as rate each output once are never too many.
MOST_ITEMS = 1_000_000


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


def _is_degradable(inputs: BuildInputs) -> Mask:
    """Return which outputs have anything to replace by other words."""
    assert inputs.texts
    given = inputs.texts.degraded or repeat("")
    found = (bool(worse or inputs.format.parts(text)) for text, worse in zip(inputs.texts.outputs, given, strict=False))
    return np.fromiter(found, dtype=bool, count=len(inputs.texts.outputs))


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
    """Refuse what pages with several outputs do not have."""
    if inputs.page_kind == PageKind.OUTPUT or inputs.is_live:
        return
    if inputs.mix.n_reference or inputs.mix.layout != Layout.POOLED:
        raise DomainError(
            "bad_pages",
            "HITs of comparisons and of documents hold pages of all sources alike, and no reference items. Choose "
            "“Any outputs” and set references to 0.",
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
