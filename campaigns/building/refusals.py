"""Designs that cannot be built, in the words of the page: systems and sources by name, and how to fix it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from campaigns.building.inputs import BuildInputs
from campaigns.design.errors import DesignError
from campaigns.design.sampling import Leftover
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted


def refusal(error: DesignError, inputs: BuildInputs | None = None, about: str = "") -> DomainError:
    """Return the error with the same code, for people; `about` says which output it is about, if one."""
    write = _WRITERS.get(error.code)
    text = write(inputs) if write and inputs else ""
    if not text:
        text = f"{error.message[:1].upper()}{error.message[1:]}.".replace("the anchor", "the human system")
    return DomainError(error.code, f"{about}: {text}" if about else text)


@contextmanager
def in_words(inputs: BuildInputs, about: str = "") -> Iterator[None]:
    """Turn a DesignError into a DomainError that names systems and sources; `about` says which output it is about."""
    try:
        yield
    except DesignError as error:
        raise refusal(error, inputs, about) from error


def _bad_number_of_hits(inputs: BuildInputs) -> str:
    return "Choose how many HITs to build." if inputs.is_live else ""


def _no_outputs(inputs: BuildInputs) -> str:
    if inputs.is_live:
        return "There are no chatbots yet. Add some under Chatbots."
    return "There are no outputs yet. Upload some under Data."


def _no_anchor(inputs: BuildInputs) -> str:
    return (
        "Every HIT is to hold the human system, with a degraded copy and a repeat, and no system is marked as human. "
        "Mark it under Systems, or treat the human system like the others."
    )


def _too_few_outputs(inputs: BuildInputs) -> str:
    n_wanted, n_there = inputs.mix.n_ordinary, inputs.source.size
    return (
        f"A HIT needs {n_wanted} ordinary items, each another output, and there are {n_there:,} outputs. Add outputs, "
        "or ask for fewer items."
    )


def _too_few_systems(inputs: BuildInputs) -> str:
    """Say which source has the fewest outputs."""
    n_wanted = inputs.mix.n_ordinary
    n_there = len(inputs.system_names)
    if inputs.compares_chats:
        return (
            f"A HIT needs {counted(n_wanted, 'pair')} of chatbots, and {counted(n_there, 'chatbot')} make "
            f"{n_there * (n_there - 1) // 2:,}. Add chatbots, or ask for fewer pairs in a HIT."
        )
    if inputs.is_live:
        n_families = np.unique(inputs.family).size if inputs.family is not None else n_there
        return (
            f"A HIT needs {counted(n_wanted, 'chatbot')} of different families, and there are {n_there:,}, of "
            f"{n_families:,} different families. Add chatbots, or ask for fewer in a HIT."
        )
    sources, counts = np.unique(inputs.source, return_counts=True)
    n_few, worst = int((counts < n_wanted).sum()), int(counts.argmin())
    fix = "" if n_few == sources.size else _or_leave_out(inputs)
    return (
        f"A HIT needs {n_wanted} ordinary items, the outputs of {n_wanted} systems for one source, and {n_few:,} of "
        f"{sources.size:,} sources have fewer; “{inputs.source_names[sources[worst]]}” has {counts[worst]}. Add "
        f"outputs, or ask for fewer items{fix}."
    )


def _no_anchor_output(inputs: BuildInputs) -> str:
    """Say how many sources lack the human system, and name one."""
    assert inputs.human is not None
    sources = np.unique(inputs.source)
    lacking = np.setdiff1d(sources, inputs.source[inputs.system == inputs.human])
    fix = "" if lacking.size == sources.size else _or_leave_out(inputs)
    return (
        f"Every HIT is to hold the human system, and {lacking.size:,} of {sources.size:,} sources have no output of "
        f"“{inputs.system_names[inputs.human]}”; the first is “{inputs.source_names[lacking[0]]}”. Add them, or "
        f"treat the human system like the others{fix}."
    )


def _or_leave_out(inputs: BuildInputs) -> str:
    return ", or leave out what does not fill a HIT" if inputs.leftover == Leftover.FILL else ""


_WRITERS: dict[str, Callable[[BuildInputs], str]] = {
    "no_outputs": _no_outputs,
    "bad_number_of_hits": _bad_number_of_hits,
    "no_anchor": _no_anchor,
    "too_few_outputs": _too_few_outputs,
    "too_few_systems": _too_few_systems,
    "no_anchor_output": _no_anchor_output,
}
