"""Strengths of systems from votes, with robust and naive intervals, and why some have none."""

from collections.abc import Mapping
from dataclasses import dataclass

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
    win_matrix,
)
from analysis.stats.pairs import compare_pairs, variance_of_differences
from analysis.stats.ratings import Codes, Floats
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

    @property
    def n(self) -> int:
        """Number of votes."""
        return int(self.left.size)


@dataclass(frozen=True)
class Strengths:
    """What follows from the votes.

    `scores`: of all systems, NaN for those that are not connected with the others; `naive`: low and high, (n_systems,),
    as if votes were independent. `names`, `counts`: the systems that are connected, and their votes as in
    `Votes.counts`; `fit`: of these, None where no strength follows. `prior`: how many wins and losses against an
    imagined system were added for each; 0 where the votes need none. `order`: advantage of the left side in log
    strength, its standard error clustered as the strengths', degrees of freedom; NaN where undefined. `notes`:
    sentences: which systems have no strength or no interval, and why.
    """

    scores: SystemScores
    naive: tuple[Floats, Floats]
    names: list[str]
    counts: NDArray[np.int64]
    fit: BradleyTerry | None
    prior: float
    order: tuple[float, float, float]
    notes: list[str]


def estimate_strengths(votes: Votes) -> Strengths:
    """Return strengths with robust and naive intervals; of systems that are not connected with the others, none."""
    n = len(votes.systems)
    connection = find_connection(votes.counts)
    members = np.flatnonzero(connection.group == 0)
    names = [votes.systems[code] for code in members]
    prior = float(connection.is_separated)
    notes = _notes(votes, connection, members)
    unknown = np.full(n, np.nan)
    n_of = votes.counts.sum(axis=(1, 2)) + votes.counts.sum(axis=(0, 2))
    counts = votes.counts[np.ix_(members, members)]
    n_clusters = {name: int(np.unique(codes).size) for name, codes in votes.clusters.items()}
    if members.size < 2 or not counts[:, :, :2].any():
        pairs, own = compare_pairs(unknown, np.full((n, n), np.nan), 0), {CRITERION: unknown}
        scores = SystemScores(votes.systems, unknown, unknown, unknown, n_of, pairs, True, own, n_clusters)
        return Strengths(scores, (unknown, unknown), names, counts, None, prior, (np.nan,) * 3, notes)
    place = np.full(n, -1)
    place[members] = np.arange(members.size)
    inside = connection.group[votes.left] == 0
    of_members = place[votes.left[inside]], place[votes.right[inside]], votes.outcome[inside]
    groupings = crossed_groupings([codes[inside] for codes in votes.clusters.values()])
    fit = fit_bradley_terry(counts, prior=prior)
    robust = [robust_covariance(fit, *of_members, codes, n_groups) for codes, n_groups in groupings]
    df = min(n_groups for _, n_groups in groupings[: len(votes.clusters)]) - 1
    strength, variance = unknown.copy(), np.full((n, n), np.nan)
    strength[members] = fit.strength
    of_strengths = [each[: members.size, : members.size] for each in robust]
    variance[np.ix_(members, members)] = largest(of_strengths, variance_of_differences)
    half = _half(largest(of_strengths, np.diag), members, n, df)
    naive_half = _half(np.diag(fit.covariance)[: members.size], members, n, np.inf)
    has_limits = np.isin(connection.block, _inner_block(connection)) if prior else np.ones(n, bool)
    half[~has_limits] = naive_half[~has_limits] = np.nan
    pairs, ends = compare_pairs(strength, variance, df), (strength - half, strength + half)
    scores = SystemScores(votes.systems, strength, *ends, n_of, pairs, True, {CRITERION: strength}, n_clusters)
    order = (np.nan, np.nan, float(df))
    if (with_left := fit_with_left(counts, prior)) is not None:
        of_left = largest(
            [robust_covariance(with_left, *of_members, *each) for each in groupings],
            lambda covariance: covariance[-1, -1],
        )
        # Of few workers who agree about the order, rounding may leave less than 0.
        order = (with_left.log_left, float(np.sqrt(np.maximum(of_left, 0.0))), float(df))
    naive = (strength - naive_half, strength + naive_half)
    return Strengths(scores, naive, names, counts, fit, prior, order, notes)


def _half(variance: Floats, members: Codes, n: int, df: float) -> Floats:
    """Return half the width of the 95 % interval of each strength, NaN of those that have none."""
    from scipy.special import stdtrit

    found = np.full(n, np.nan)
    if df >= 1:
        found[members] = stdtrit(df, 0.975) * np.sqrt(np.maximum(variance, 0.0))  # rounding may leave less than 0
    return found


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
