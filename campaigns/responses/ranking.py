"""Several outputs in order, with ties if they are allowed."""

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm, Switch
from campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    Comparison,
    ResponseKind,
    Settings,
    Subject,
    ordered_by_level,
    place_of,
)

FEWEST, MOST = 2, 10
_SAME = 4  # how many points apart outputs seem the same to simulated workers


class RankingOptions(OptionsForm):
    """Whether ranks may be shared."""

    is_empty_default = True
    may_tie = Switch(label="Outputs may share a rank", initial="yes")


class Ranking(ResponseKind):
    """The rank of each output, in the order of the page: 1 is the best, and of shared ranks none is left out after."""

    slug = "ranking"
    title = "Ranking"
    summary = f"{FEWEST} to {MOST} outputs in order, with shared ranks if you offer them."
    ask = "Rank every output"
    template = "rate/responses/ranking.html"
    script = "js/ranking.js"
    instrument = "5. Other: a list that is put in order"
    elicitation = "3. Relative quality estimation (including ranking)"
    compares = (FEWEST, MOST)
    table = "rankings"
    options = RankingOptions

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return whether ranks may be shared."""
        return {"may_tie": cls._may_tie(settings)}

    @classmethod
    def _may_tie(cls, settings: Settings) -> bool:
        return bool(RankingOptions.value_of(settings, "may_tie"))

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> list[int] | None:
        """Return the ranks, of texts such as “1:3”: the first output has rank 3."""
        n, rank_of = len(subject.outputs), dict[int, int]()
        for text in filter(None, sent):
            first, _, rank = text.partition(":")
            place = place_of(first, subject)
            if place in rank_of:
                raise BadAnswerError("One rank for each output was expected, and several were sent.")
            if not (len(rank) <= 2 and rank.isascii() and rank.isdigit() and 1 <= int(rank) <= n):
                raise BadAnswerError(f"A rank is a whole number from 1 to {n}, not “{rank[:20]}”.")
            rank_of[place] = int(rank)
        if not rank_of:
            return None
        if len(rank_of) < n:
            raise BadAnswerError(f"Rank every output: {n - len(rank_of)} of {n} have no rank.")
        ranks = sorted(set(rank_of.values()))
        if len(ranks) < n and not cls._may_tie(settings):
            raise BadAnswerError("Two outputs have the same rank. Give each its own.")
        return [ranks.index(rank_of[place]) + 1 for place in range(1, n + 1)]

    @classmethod
    def sent(cls, value: list[int]) -> list[str]:
        """Return the ranks as the form sends them."""
        return [f"{place}:{rank}" for place, rank in enumerate(value, start=1)]

    @classmethod
    def compared(cls, value: list[int], n_outputs: int) -> Comparison:
        """Return the ranks."""
        return Comparison(tuple(value))

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return whether ranks may be shared."""
        ties = "ranks may be shared" if cls._may_tie(settings) else "no rank is shared"
        return f"ranking the outputs, 1 for the best ({ties})"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return how many there are for n outputs."""
        if cls._may_tie(settings):
            return "the orders of n outputs, with ties", "ranks from 1 to n, which may be shared"
        return "n! for n outputs", "ranks from 1 to n, each once"

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the order of the levels; close ones share a rank if they may, else chance decides."""
        order = ordered_by_level(levels, rng)
        ranks, rank = dict[int, int](), 0
        for before, place in zip([0, *order], order, strict=False):
            is_same = before and cls._may_tie(settings) and levels[before - 1] - levels[place - 1] <= _SAME
            rank += not is_same
            ranks[place] = rank
        return cls.sent([ranks[place] for place in range(1, len(levels) + 1)])
