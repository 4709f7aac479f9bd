"""Which of two systems workers preferred: what votes, rankings and choices of the best and the worst have in common."""

from dataclasses import dataclass, replace

import numpy as np

from analysis.data.coding import combined
from analysis.data.rankings import RankingData
from analysis.data.votes import VoteData
from analysis.stats.codes import dense_ranks
from analysis.stats.davidson import Outcome
from analysis.stats.rankings import implied_pairs
from analysis.stats.ratings import Codes, Floats, Mask

_VALUE = np.array([1.0, -1.0, 0.0])  # by `Outcome`


@dataclass(frozen=True)
class ComparedPairs:
    """Pairs of systems that workers compared, in the order of the file.

    `systems`, `sources`, `workers`, `criteria`: labels by code; without sources nothing is known of which outputs were
    compared. Of each pair, (n_pairs,): `first` and `second`, codes of systems; `outcome`, an `Outcome` (left: the first
    won); `worker`, `source` (−1 where files have none), `criterion`; `judgement`, a code of what the worker answered at
    once: of each vote another one, of all pairs of one ranking the same.
    """

    systems: list[str]
    sources: list[str]
    workers: list[str]
    criteria: list[str]
    first: Codes
    second: Codes
    outcome: Codes
    worker: Codes
    source: Codes
    criterion: Codes
    judgement: Codes

    def take(self, rows: Mask) -> "ComparedPairs":
        """Return some of the pairs."""
        if rows.all():
            return self
        names = ("first", "second", "outcome", "worker", "source", "criterion", "judgement")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def judgements(self) -> tuple[Floats, Codes]:
        """Return values and items for `agreement_of_workers`, (n_pairs,) each.

        An item is a code of two systems, a source and a criterion; the value 1 where the system with the lower code
        won, −1 where the other one did, 0 for a tie.
        """
        n = len(self.systems)
        parts = [
            (self.source + 1, len(self.sources) + 1),
            (self.criterion, len(self.criteria)),
            (np.minimum(self.first, self.second), n),
            (np.maximum(self.first, self.second), n),
        ]
        item, _ = dense_ranks(*combined(parts))
        return np.where(self.first > self.second, -1, 1) * _VALUE[self.outcome], item


def pairs_of_votes(data: VoteData) -> ComparedPairs:
    """Return votes as pairs, the left system first."""
    source, criterion = np.divmod(data.question, len(data.criteria))  # −1 // 1 is −1
    labels = (data.systems, data.sources, data.workers, data.criteria)
    vote = np.arange(data.left.size)
    return ComparedPairs(*labels, data.left, data.right, data.outcome, data.worker, source, criterion, vote)


def pairs_of_rankings(data: RankingData, *, keeps_ties: bool) -> ComparedPairs:
    """Return the pairs that rankings imply; without ties nothing is said of two systems of equal rank."""
    found = implied_pairs(data.judgement, data.rank)
    rows = np.argsort(found.first, kind="stable")
    if not keeps_ties:
        rows = rows[found.outcome[rows] != Outcome.TIE]
    first, second, outcome = found.first[rows], found.second[rows], found.outcome[rows]
    judgement = data.judgement[first]
    labels = (data.systems, data.sources, data.workers, data.criteria)
    of_judgement = data.worker[judgement], data.source[judgement], data.criterion[judgement]
    return ComparedPairs(*labels, data.system[first], data.system[second], outcome, *of_judgement, judgement)
