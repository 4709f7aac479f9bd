"""Strengths of systems from votes, with robust and naive intervals, and why some have none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.methods.system_scores import SystemScores
from analysis.stats.bradley_terry import (
    BradleyTerry,
    Connection,
    count_votes,
    find_connection,
    fit_bradley_terry,
    fit_with_left,
    robust_covariance,
    robust_variance_of_left,
    win_matrix,
)
from analysis.stats.codes import n_distinct
from analysis.stats.davidson import Fit
from analysis.stats.pairs import compare_pairs, variance_of_differences
from analysis.stats.ratings import Codes, Floats, Mask
from analysis.stats.segment_means import crossed_groupings, largest
from evalsite.lib.words import listed

CRITERION = "preference"


@dataclass(frozen=True)
class Votes:
    """The votes that count, in arrays, and their number of each left and right system and outcome.

    `left`, `right`, `outcome`: int, (n_votes,); codes of `systems`, an `Outcome`. `clusters`: one or two groupings of
    votes, int, (n_votes,) each, such as workers and sources. `counts`: (n_systems, n_systems, 3), as `count_votes`
    returns them.
    """

    left: Codes
    right: Codes
    outcome: Codes
    clusters: Mapping[str, Codes]
    systems: list[str]
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, systems: list[str], left: Codes, right: Codes, outcome: Codes, clusters: Mapping[str, Codes]
    ) -> "Votes":
        """Return votes with their counts."""
        return cls(left, right, outcome, clusters, systems, count_votes(left, right, outcome, len(systems)))

    def take(self, rows: Mask) -> "Votes":
        """Return some of the votes."""
        clusters = {name: codes[rows] for name, codes in self.clusters.items()}
        return Votes.of(self.systems, self.left[rows], self.right[rows], self.outcome[rows], clusters)

    @property
    def n(self) -> int:
        """Number of votes."""
        return int(self.left.size)


@dataclass(frozen=True)
class ConnectedVotes:
    """The votes between the systems that are connected with each other, and by what their strengths are estimated.

    `members`: codes of these systems, ascending; `left`, `right`, `outcome`: int, (n_inside,), in places
    of `members`; `rows`: bool, (n_votes,), which votes they are. `groupings`: as `crossed_groupings` returns them, of
    the clusters; `df`: degrees of freedom. `prior`: how many wins and losses against an imagined system are added for
    each system; 0 where the votes need none.
    """

    votes: Votes
    connection: Connection
    members: Codes
    rows: Mask
    left: Codes
    right: Codes
    outcome: Codes
    groupings: Sequence[tuple[Codes, int]]
    df: float
    prior: float

    @classmethod
    def of(cls, votes: Votes) -> "ConnectedVotes":
        """Return the votes of the largest group."""
        connection = find_connection(votes.counts)
        members = np.flatnonzero(connection.group == 0)
        place = np.full(len(votes.systems), -1)
        place[members] = np.arange(members.size)
        rows = connection.group[votes.left] == 0
        groupings = crossed_groupings([codes[rows] for codes in votes.clusters.values()])
        df = float(min(n_groups for _, n_groups in groupings[: len(votes.clusters)]) - 1)
        sides = place[votes.left[rows]], place[votes.right[rows]]
        prior = float(connection.is_separated)
        return cls(votes, connection, members, rows, *sides, votes.outcome[rows], groupings, df, prior)

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return [self.votes.systems[code] for code in self.members]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The votes of the members, as `Votes.counts`."""
        return self.votes.counts[np.ix_(self.members, self.members)]

    @property
    def has_strengths(self) -> bool:
        """Whether any strength follows: from two systems or more, and votes that are no ties."""
        return self.members.size > 1 and bool(self.counts[:, :, :2].any())

    def scores(self, strengths: Floats, robust: Sequence[Floats]) -> SystemScores:
        """Return the strengths of the members, (n_members,), as scores of all systems.

        `robust`: the covariance of the parameters by each of `groupings`, strengths first. None of other systems.
        """
        n, members = len(self.votes.systems), self.members
        strength, variance = np.full(n, np.nan), np.full((n, n), np.nan)
        strength[members] = strengths
        of_strengths = [each[: members.size, : members.size] for each in robust]
        if of_strengths:
            variance[np.ix_(members, members)] = largest(of_strengths, variance_of_differences)
        half = self._half(largest(of_strengths, np.diag), self.df) if of_strengths else strength
        n_of = self.votes.counts.sum(axis=(1, 2)) + self.votes.counts.sum(axis=(0, 2))
        n_clusters = {name: n_distinct(codes) for name, codes in self.votes.clusters.items()}
        pairs, ends = compare_pairs(strength, variance, self.df), (strength - half, strength + half)
        own = {CRITERION: strength}
        return SystemScores(self.votes.systems, strength, *ends, n_of, pairs, True, own, n_clusters)

    def naive(self, scores: SystemScores, fit: Fit) -> tuple[Floats, Floats]:
        """Return low and high of all systems, (n_systems,) each, as if votes were independent.

        `scores`: of the strengths of `fit`.
        """
        half = self._half(np.diag(fit.covariance)[: fit.n_systems], np.inf)
        return scores.score - half, scores.score + half

    def _half(self, variance: Floats, df: float) -> Floats:
        """Return half the width of the 95 % interval of each system's strength, NaN of those that have none.

        `variance`: (n_members,), of their strengths.
        """
        from scipy.special import stdtrit

        found = np.full(len(self.votes.systems), np.nan)
        if df >= 1:
            found[self.members] = stdtrit(df, 0.975) * np.sqrt(np.maximum(variance, 0.0))  # rounding may leave less
        if self.prior:
            found[~np.isin(self.connection.block, _inner_block(self.connection))] = np.nan
        return found


@dataclass(frozen=True)
class Strengths:
    """What follows from the votes.

    `scores`: of all systems, NaN for those that are not connected with the others; `naive`: low and high, (n_systems,),
    as if votes were independent. `inside`: the votes of the systems that are connected; `fit`: of these, None where no
    strength follows. `order`: advantage of the left side in log strength, its standard error clustered as the
    strengths', degrees of freedom; NaN where undefined. `notes`: sentences: which systems have no strength or no
    interval, and why.
    """

    scores: SystemScores
    naive: tuple[Floats, Floats]
    inside: ConnectedVotes
    fit: BradleyTerry | None
    order: tuple[float, float, float]
    notes: list[str]


def estimate_strengths(votes: Votes) -> Strengths:
    """Return strengths with robust and naive intervals; of systems that are not connected with the others, none."""
    inside = ConnectedVotes.of(votes)
    counts, prior = inside.counts, inside.prior
    notes = _notes(votes, inside.connection, inside.members)
    unknown = np.full(len(votes.systems), np.nan)
    if not inside.has_strengths:
        scores = replace(inside, df=0.0).scores(unknown[inside.members], [])
        return Strengths(scores, (unknown, unknown), inside, None, (np.nan,) * 3, notes)
    of_members = inside.left, inside.right, inside.outcome
    fit = fit_bradley_terry(counts, prior=prior)
    scores = inside.scores(fit.strength, [robust_covariance(fit, *of_members, *each) for each in inside.groupings])
    order = (np.nan, np.nan, inside.df)
    if (with_left := fit_with_left(counts, prior)) is not None:
        ways = [np.array(robust_variance_of_left(with_left, *of_members, *each)) for each in inside.groupings]
        of_left = largest(ways, np.asarray)
        # Of few workers who agree about the order, rounding may leave less than 0.
        order = (with_left.log_left, float(np.sqrt(np.maximum(of_left, 0.0))), inside.df)
    return Strengths(scores, inside.naive(scores, fit), inside, fit, order, notes)


def _inner_block(connection: Connection) -> int:
    """Return the block that has the most systems: only within it both bounds of a strength are known."""
    of_group = connection.block[connection.group == 0]
    return int(np.bincount(of_group).argmax())


def _notes(votes: Votes, connection: Connection, members: Codes) -> list[str]:
    notes = []
    names = votes.systems
    outside = [names[code] for code in np.flatnonzero(connection.group > 0)]
    if outside:
        notes.append(
            f"Not compared with the others, directly or through third systems, and so without a strength: "
            f"{', '.join(outside)}. Votes between them and the others would connect them."
        )
    if not votes.counts[:, :, :2].any():
        notes.append("Every vote is a tie, so no system has a strength.")
    elif connection.is_stepped:
        notes.append(
            "Every win is over a system that is weaker by a step, and every tie between two that are at most a step "
            "apart: no finite strength fits such votes best. One win and one loss against an imagined system of middle "
            "strength were added for each system, so strengths are smaller than the votes say."
        )
    elif connection.is_separated:
        wins, ties = win_matrix(votes.counts)
        losses, won = wins.sum(axis=0) + ties.sum(axis=0), wins.sum(axis=1) + ties.sum(axis=1)
        never = {
            what: [names[code] for code in members if n_of[code] == 0]
            for what, n_of in (("lost", losses), ("won", won))
        }
        said = "; ".join(f"never {what}: {listed(systems)}" for what, systems in never.items() if systems)
        why = f" ({said})" if said else ""
        notes.append(
            f"Some systems won every vote against some others{why}: no finite strength fits such votes best. One win "
            "and one loss against an imagined system of middle strength were added for each system, so strengths are "
            "smaller than the votes say. Systems outside the largest group that beat each other have no interval."
        )
    return notes
