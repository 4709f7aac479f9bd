"""The design that fits raters and their time, what it comes to, and how sure its results will be."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from campaigns.building.inputs import BuildInputs
from campaigns.building.planning import make_plan
from campaigns.building.refusals import refusal
from campaigns.design.certainty import Certainty, expected_certainty
from campaigns.design.composition import Layout, Mix
from campaigns.design.errors import DesignError
from campaigns.design.plan import PlanTotals
from campaigns.design.raters import SITUATIONS, Raters, RaterTime, Shares, choose_mix, share_out
from campaigns.design.sampling import Leftover
from campaigns.design.worker_test import NO_TEST, Compared, smallest_p_value
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted


@dataclass(frozen=True)
class TestRules:
    """The worker test of a campaign that has one: its preset, its α, how many criteria it uses.

    `n_alike`: as of `Compared`.
    """

    preset: str
    alpha: float
    n_criteria: int
    n_alike: int = 2


@dataclass(frozen=True)
class Proposal:
    """A design for raters and their time.

    `totals` are of one worker per HIT. `fewest_ratings` are those of the system that has the fewest, on one criterion,
    of all workers; `n_counted` those that are expected to pass the worker test. `certainty` is of such a system.
    """

    raters: Raters
    time: RaterTime
    mix: Mix
    shares: Shares
    worker_test: str
    n_outputs: int
    totals: PlanTotals
    fewest_ratings: int
    n_counted: int
    certainty: Certainty | None

    @property
    def is_live(self) -> bool:
        """Whether workers chat with the systems."""
        return self.mix.layout == Layout.BY_SYSTEM

    @property
    def n_assignments(self) -> int:
        """HITs times the workers of each."""
        return self.shares.n_hits * self.shares.workers_per_hit

    @property
    def share_rated(self) -> float:
        """Share of the outputs that are rated."""
        return self.totals.n_outputs_used / self.n_outputs

    @property
    def minutes_per_hit(self) -> int:
        """How long a HIT takes."""
        return max(1, ceil(self.mix.size * self.time.seconds_per_item / 60))

    @property
    def minutes_per_rater(self) -> int:
        """How long a rater works who does as many HITs as they may."""
        return max(1, ceil(self.shares.hits_per_worker * self.mix.size * self.time.seconds_per_item / 60))

    def fields(self) -> dict[str, Any]:
        """Return the fields of a campaign that make this design, the worker test among them."""
        return {
            "n_ordinary": self.mix.n_ordinary,
            "n_degraded": self.mix.n_degraded,
            "n_repeat": self.mix.n_repeat,
            "n_reference": self.mix.n_reference,
            "layout": self.mix.layout.value,
            "has_anchor": self.mix.has_anchor,
            "n_hits": self.shares.n_hits,
            "workers_per_hit": self.shares.workers_per_hit,
            "hits_per_worker": self.shares.hits_per_worker,
            "minutes_per_hit": self.minutes_per_hit,
            "worker_test": self.worker_test,
        }

    @property
    def in_words(self) -> str:
        """What the design is, as two sentences at most."""
        item, system = ("chat", "chatbot") if self.is_live else ("item", "system")
        time, shares = self.time, self.shares
        hits = f"{counted(shares.n_hits, 'HIT')} of {counted(self.mix.size, item)}"
        rated = f", each output rated by {shares.workers_per_hit}" if not self.is_live else ""
        if self.share_rated < 1 and not self.is_live:
            rated = f", {100 * self.share_rated:.0f} % of the outputs rated by {shares.workers_per_hit}"
        each = f" A rater does up to {shares.hits_per_worker} HITs." if shares.hits_per_worker > 1 else ""
        return (
            f"{counted(time.n_raters, 'rater')} × {_minutes(time.minutes)}: {hits}{rated}; about "
            f"{self.fewest_ratings:,} ratings per {system} on each criterion.{each}"
        )

    @property
    def certainty_in_words(self) -> str:
        """What the results will tell, in one sentence."""
        return certainty_words(self.certainty, "chatbots" if self.is_live else "systems")


def certainty_words(certainty: Certainty | None, systems: str = "systems") -> str:
    """Return what can be told apart, as a sentence.

    >>> certainty_words(expected_certainty(400, 200, 40))
    'A difference of 0.23 standard deviations (about 7 points of 100) between two systems would be found 4 times in 5.'
    """
    if not certainty:
        return f"Some {systems} have no rating that counts, so nothing can be said of them."
    return (
        f"A difference of {certainty.smallest_difference:.2f} standard deviations (about "
        f"{certainty.smallest_points:.0f} points of 100) between two {systems} would be found 4 times in 5."
    )


def certainty_of(
    totals: PlanTotals, workers_per_hit: int, n_workers: float, share_counted: float, *, is_live: bool = False
) -> tuple[int, Certainty | None]:
    """Return the ratings that are expected to count of the system that has the fewest, and its certainty."""
    ratings = totals.ratings_per_system
    fewest = int(ratings.min()) if ratings.size else 0
    n_counted = fewest * workers_per_hit * share_counted
    # An output is lost only if all who rate it fail. A chat is an output of its own.
    n_outputs = totals.n_outputs_used / max(ratings.size, 1) * (1 - (1 - share_counted) ** workers_per_hit)
    n_outputs = n_counted if is_live else n_outputs
    return round(n_counted), expected_certainty(n_counted, n_outputs, n_workers * share_counted)


def propose_design(inputs: BuildInputs, *, raters: Raters, time: RaterTime, preset: Mix, test: TestRules) -> Proposal:
    """Return the design; raise DomainError, with the numbers, if none fits.

    `inputs` are without texts; their mix and number of HITs do not matter. `preset` is the protocol's mix.
    """
    preset = replace(
        preset,
        n_reference=preset.n_reference if inputs.reference_label else 0,
        has_anchor=preset.has_anchor and _has_anchor(inputs),
    )
    if not inputs.system.size:
        raise refusal(DesignError("no_outputs", "there are no outputs"), replace(inputs, mix=preset))
    situation = SITUATIONS[raters]
    if situation.is_tested and not test.n_criteria:
        raise DomainError(
            "no_tested_criteria",
            "A crowd needs a worker test, and no criterion is used by it. Choose at least one under Criteria.",
        )

    def is_passable(mix: Mix) -> bool:
        n_pairs = replace(inputs, mix=mix).n_comparisons
        compared = Compared(n_pairs, mix.n_degraded, mix.n_ordinary, test.n_alike).times(test.n_criteria)
        return smallest_p_value(test.preset, compared) < test.alpha

    inputs = replace(inputs, mix=preset)
    try:
        mix, n_hits_each = choose_mix(
            raters,
            time,
            preset,
            most_ordinary=_most_ordinary(inputs),
            most_degraded=preset.n_degraded if inputs.compares_chats else None,
            is_passable=is_passable,
        )
        n_to_cover = None
        if not inputs.is_live:
            n_to_cover = make_plan(replace(inputs, mix=mix, n_hits=None)).totals.n_hits
        shares = share_out(raters, time.n_raters, n_hits_each, n_to_cover)
    except DesignError as error:
        raise _refusal(error, time, inputs.is_live) from error
    totals = make_plan(replace(inputs, mix=mix, n_hits=shares.n_hits)).totals
    n_counted, certainty = certainty_of(
        totals, shares.workers_per_hit, time.n_raters, situation.share_counted, is_live=inputs.is_live
    )
    return Proposal(
        raters=raters,
        time=time,
        mix=mix,
        shares=shares,
        worker_test=test.preset if situation.is_tested else NO_TEST,
        n_outputs=inputs.system.size,
        totals=totals,
        fewest_ratings=int(totals.ratings_per_system.min()) * shares.workers_per_hit,
        n_counted=n_counted,
        certainty=certainty,
    )


def _minutes(n: float) -> str:
    return f"{n:g} minute{'' if n == 1 else 's'}"


def _has_anchor(inputs: BuildInputs) -> bool:
    """Tell whether every source has an output of the human system."""
    if inputs.human is None:
        return False
    return np.unique(inputs.source[inputs.system == inputs.human]).size == inputs.n_sources


def _most_ordinary(inputs: BuildInputs) -> int:
    """Return how many ordinary items a HIT can have at most."""
    if inputs.compares_chats:
        return max(inputs.system.size * (inputs.system.size - 1) // 2, 1)
    if inputs.family is not None:
        return int(np.unique(inputs.family).size)
    if inputs.mix.layout == Layout.POOLED:
        return inputs.source.size
    counts = np.unique(inputs.source, return_counts=True)[1]
    return int(counts.min() if inputs.leftover == Leftover.FILL else counts.max())


_FIXES: Mapping[str, str] = {
    "too_few_minutes": "Give each rater more minutes, or fewer seconds to {an_item}.",
    "too_few_minutes_to_test": "Give each rater more minutes, or choose raters who are known: the lab, or experts.",
    "too_few_raters": "Ask more raters, or choose the lab.",
}


def _refusal(error: DesignError, time: RaterTime, is_live: bool) -> DomainError:
    """Return the error for people, with what to change."""
    item = "chat" if is_live else "item"
    if error.code == "too_few_minutes":
        needed = ceil(time.seconds_per_item / 60)
        text = (
            f"One {item} takes {time.seconds_per_item:g} seconds, and each rater has {_minutes(time.minutes)}: "
            f"that is no time for one. It needs {counted(needed, 'minute')}."
        )
    elif error.code == "too_few_minutes_to_test":
        text = (
            f"In {_minutes(time.minutes)} a worker rates {counted(time.n_items, item)}, too few for the degraded "
            f"{'chatbot' if is_live else 'items'} that a crowd's worker test needs beside the others."
        )
    elif error.code == "too_few_raters":
        text = f"{error.message[:1].upper()}{error.message[1:]}."
    else:
        return refusal(error)
    return DomainError(error.code, f"{text} {_FIXES[error.code].format(an_item=f'a {item}' if is_live else 'an item')}")
