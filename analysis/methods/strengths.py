"""Strengths of systems from votes, with robust and naive intervals, and why some have none."""

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
from evalsite.lib.words import listed

CRITERION = "preference"


@dataclass(frozen=True)
class Votes:
    """The votes that count, in arrays, and their number of each left and right system and outcome.

    `left`, `right`, `outcome`, `worker`: int, (n_votes,); codes of `systems`, an `Outcome`, codes of workers. `counts`:
    (n_systems, n_systems, 3), as `count_votes` returns them.
    """

    left: Codes
    right: Codes
    outcome: Codes
    worker: Codes
    systems: list[str]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, systems: list[str], left: Codes, right: Codes, outcome: Codes, worker: Codes) -> "Votes":
        """Return votes with their counts."""
        return cls(left, right, outcome, worker, systems, count_votes(left, right, outcome, len(systems)))

    @property
    def n(self) -> int:
        """Number of votes."""
        return int(self.left.size)


@dataclass(frozen=True)
class Strengths:
    """What follows from the votes.

    Attributes
    ----------
    scores : SystemScores
        Of all systems; NaN for those that are not connected with the others.
    naive : low and high, float64, (n_systems,)
        95 % interval of each strength, as if votes were independent.
    names, counts
        The systems that are connected, and their votes as in `Votes.counts`.
    fit : BradleyTerry or None
        Of these systems; None where no strength follows from the votes.
    prior : float
        How many wins and losses against an imagined system were added for each; 0 where the votes need none.
    order : (float, float, float)
        Advantage of the left side in log strength, its standard error clustered by worker, degrees of freedom; NaN
        where it is undefined.
    notes : list of str
        Sentences: which systems have no strength or no interval, and why.
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
    if members.size < 2 or not counts[:, :, :2].any():
        scores = _scores(votes.systems, unknown, unknown, unknown, n_of, np.full((n, n), np.nan), 0)
        return Strengths(scores, (unknown, unknown), names, counts, None, prior, (np.nan,) * 3, notes)
    place = np.full(n, -1)
    place[members] = np.arange(members.size)
    inside = connection.group[votes.left] == 0
    arrays = (votes.left, votes.right, votes.outcome, votes.worker)
    if members.size == n:
        left, right, outcome, worker = arrays
    else:
        left, right, outcome, worker = (each[inside] for each in arrays)
        left, right = place[left], place[right]
    n_codes = int(worker.max()) + 1
    n_workers = int(np.count_nonzero(np.bincount(worker, minlength=n_codes)))
    if n_workers < n_codes:
        _, worker = np.unique(worker, return_inverse=True)
    fit = fit_bradley_terry(counts, prior=prior)
    robust = robust_covariance(fit, left, right, outcome, worker, n_workers)
    df = n_workers - 1
    strength, variance = unknown.copy(), np.full((n, n), np.nan)
    strength[members] = fit.strength
    variance[np.ix_(members, members)] = variance_of_differences(robust[: members.size, : members.size])
    half, naive_half = (_half(each, members, n, k) for each, k in ((robust, df), (fit.covariance, np.inf)))
    has_limits = np.isin(connection.block, _inner_block(connection)) if prior else np.ones(n, bool)
    half[~has_limits] = naive_half[~has_limits] = np.nan
    scores = _scores(votes.systems, strength, strength - half, strength + half, n_of, variance, df)
    order = (np.nan, np.nan, float(df))
    if (with_left := fit_with_left(counts, prior)) is not None:
        of_left = robust_covariance(with_left, left, right, outcome, worker, n_workers)[-1, -1]
        # Of few workers who agree about the order, rounding may leave less than 0.
        order = (with_left.log_left, float(np.sqrt(max(of_left, 0.0))), float(df))
    naive = (strength - naive_half, strength + naive_half)
    return Strengths(scores, naive, names, counts, fit, prior, order, notes)


def _half(covariance: Floats, members: Codes, n: int, df: float) -> Floats:
    """Return half the width of the 95 % interval of each strength, NaN of those that have none."""
    from scipy.special import stdtrit

    found = np.full(n, np.nan)
    own = np.diag(covariance)[: members.size]
    if df >= 1:
        found[members] = stdtrit(df, 0.975) * np.sqrt(np.maximum(own, 0.0))  # rounding may leave less than 0
    return found


def _inner_block(connection: Connection) -> int:
    """Return the block that has the most systems: only within it both bounds of a strength are known."""
    of_group = connection.block[connection.group == 0]
    return int(np.bincount(of_group).argmax())


def _scores(
    names: list[str], strength: Floats, low: Floats, high: Floats, n_of: Codes, variance: Floats, df: int
) -> SystemScores:
    pairs = compare_pairs(strength, variance, df)
    return SystemScores(names, strength, low, high, n_of, pairs, True, {CRITERION: strength})


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
