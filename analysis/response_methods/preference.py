"""Votes between two systems: Bradley–Terry strengths with Davidson's ties, and what they rest on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.response_methods import Progress, Report, ResponseMethod, ResponsesFile
from analysis.response_methods.preference_sections import sections_of_votes
from analysis.response_methods.system_scores import SystemScores, list_pairs, summarise_systems
from analysis.sections import Section
from analysis.settings import AnalysisSettings
from analysis.stats.arena import elo, glicko2
from analysis.stats.bradley_terry import (
    BradleyTerry,
    Connection,
    count_votes,
    find_connection,
    fit_bradley_terry,
    fit_with_left,
    robust_covariance,
    sign_test,
    variance_of_differences,
    win_matrix,
)
from analysis.stats.fewest_votes import fewest_votes
from analysis.stats.pairs import compare_pairs
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.votes.loading import VoteData, load_votes
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted, listed

CRITERION = "preference"
LEAVE_OUT = "leave out"
_OPTIONS = {"both_bad": ("tie", LEAVE_OUT)}
_GAMES_IN_PERIOD = 15  # of each system in the mean, as Glickman recommends
_SCORE = np.array([1.0, 0.0, 0.5])


class Preference(ResponseMethod[VoteData]):
    """Strengths of systems, natural log and centred at 0, with errors clustered by worker."""

    slug = "preference"

    def check_options(self, options: Mapping[str, Any]) -> None:
        """The option is `both_bad`: whether a vote that both are bad is a tie, or left out."""
        for name, value in options.items():
            if name not in _OPTIONS:
                raise DomainError("bad_settings", f"There is no option “{name}”. The option is: {', '.join(_OPTIONS)}.")
            if value not in _OPTIONS[name]:
                raise DomainError("bad_settings", f"“{name}” must be one of: {', '.join(_OPTIONS[name])}.")

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> VoteData:
        """Return the votes of a file."""
        return load_votes(file.path, file.encoding)

    def analyse(
        self, data: VoteData, settings: AnalysisSettings, on_progress: Progress = lambda _: None, *, brief: bool = False
    ) -> dict[str, Any]:
        """Return strengths, wins, the advantage of the left side, and how few votes decide the first place."""
        kept = ~data.is_both_bad if settings.options.get("both_bad") == LEAVE_OUT else np.ones(data.n_votes, bool)
        votes = _Votes.of(data, kept)
        strengths = _estimate(votes)
        found = strengths.scores
        wins, ties = win_matrix(votes.counts)
        n_left, n_right, n_ties = votes.counts.sum(axis=(0, 1)).tolist()
        fit = strengths.fit
        can_lose = fit is not None and not strengths.prior
        fewest = fewest_votes(strengths.counts, fit) if fit is not None and can_lose else None
        summary = summarise_systems(self.slug, settings.protocol, found) | {
            "n_votes": votes.n,
            "n_workers": len(data.workers),
            "n_ties": n_ties,
            "n_both_bad": int(data.is_both_bad.sum()),
            "log_tie": None if fit is None else or_none(fit.log_tie),
            "order_effect": _order_effect(strengths, n_left, n_right),
            "first_place": None
            if fewest is None
            else {"n_votes": fewest.n_votes, "system": strengths.names[fewest.system]},
        }
        order = found.order
        names = [data.systems[code] for code in order]
        sign = sign_test(wins)
        report = {
            "summary": summary,
            "pairs": list_pairs(found),
            "votes": {
                "order": names,
                "wins": wins[np.ix_(order, order)].astype(int).tolist(),
                "ties": ties[np.ix_(order, order)].astype(int).tolist(),
                "sign_p": [[or_none(p) for p in row] for row in sign[np.ix_(order, order)]],
                "naive": {
                    name: [or_none(strengths.naive[0][code]), or_none(strengths.naive[1][code])]
                    for name, code in zip(names, order, strict=True)
                },
            },
            "warnings": [],
            "notes": strengths.notes,
            "settings": settings.to_json(),
            "fingerprint": data.fingerprint,
        }
        return report if brief else report | {"arena": _arena(votes, data.systems)}

    def sections(self, report: Report) -> list[Section]:
        """Return the ranking, pairs, wins, the left side and ratings as in a running arena."""
        return sections_of_votes(report)

    def headline(self, report: Report) -> str:
        """Return how many votes there are."""
        summary = report["summary"]
        return (
            f"{counted(summary['n_workers'], 'worker')} gave {counted(summary['n_votes'], 'vote')}, "
            f"{summary['n_ties']:,} of them ties."
        )


@dataclass(frozen=True)
class _Votes:
    """The votes that count, in arrays, and their number of each left and right system and outcome."""

    left: Codes
    right: Codes
    outcome: Codes
    worker: Codes
    systems: list[str]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, data: VoteData, kept: NDArray[np.bool_]) -> "_Votes":
        """Return these votes of the data."""
        every = kept.all()
        left, right, outcome, worker = (
            a if every else a[kept] for a in (data.left, data.right, data.outcome, data.worker)
        )
        return cls(left, right, outcome, worker, data.systems, count_votes(left, right, outcome, len(data.systems)))

    @property
    def n(self) -> int:
        """Number of votes."""
        return int(self.left.size)


@dataclass(frozen=True)
class _Strengths:
    """What follows from the votes of the systems that are connected, `names`; None where nothing does."""

    scores: SystemScores
    naive: tuple[Floats, Floats]
    names: list[str]
    counts: NDArray[np.int64]
    fit: BradleyTerry | None
    prior: float
    order: tuple[float, float, float]
    df: int
    notes: list[str]


def _estimate(votes: _Votes) -> _Strengths:
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
        return _Strengths(scores, (unknown, unknown), names, counts, None, prior, (np.nan,) * 3, 0, notes)
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
    variance[np.ix_(members, members)] = variance_of_differences(robust, members.size)
    half, naive_half = (_half(each, members, n, k) for each, k in ((robust, df), (fit.covariance, np.inf)))
    has_limits = np.isin(connection.block, _inner_block(connection)) if prior else np.ones(n, bool)
    half[~has_limits] = naive_half[~has_limits] = np.nan
    scores = _scores(votes.systems, strength, strength - half, strength + half, n_of, variance, df)
    order = (np.nan, np.nan, float(df))
    if (with_left := fit_with_left(counts, prior)) is not None:
        of_left = robust_covariance(with_left, left, right, outcome, worker, n_workers)[-1, -1]
        order = (with_left.log_left, float(np.sqrt(of_left)), float(df))
    naive = (strength - naive_half, strength + naive_half)
    return _Strengths(scores, naive, names, counts, fit, prior, order, df, notes)


def _half(covariance: Floats, members: Codes, n: int, df: float) -> Floats:
    """Return half the width of the 95 % interval of each strength, NaN of those that have none."""
    from scipy.special import stdtrit

    found = np.full(n, np.nan)
    own = np.diag(covariance)[: members.size]
    if df >= 1:
        found[members] = stdtrit(df, 0.975) * np.sqrt(own)
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


def _notes(votes: _Votes, connection: Connection, members: Codes) -> list[str]:
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
    elif connection.is_separated:
        wins, ties = win_matrix(votes.counts)
        losses, won = wins.sum(axis=0) + ties.sum(axis=0), wins.sum(axis=1) + ties.sum(axis=1)
        said = (
            [f"never lost: {listed([names[c] for c in members if losses[c] == 0])}"]
            if (losses[members] == 0).any()
            else []
        )
        said += (
            [f"never won: {listed([names[c] for c in members if won[c] == 0])}"] if (won[members] == 0).any() else []
        )
        why = f" ({'; '.join(said)})" if said else ""
        notes.append(
            f"Some systems won every vote against some others{why}: no finite strength fits such votes best. One win "
            "and one loss against an imagined system of middle strength were added for each system, so strengths are "
            "smaller than the votes say. Systems outside the largest group that beat each other have no interval."
        )
    return notes


def _order_effect(strengths: _Strengths, n_left: int, n_right: int) -> dict[str, Any]:
    """Return the share of decided votes that the left one won, and its advantage in log strength, by worker."""
    from scipy.special import stdtr, stdtrit

    log_left, error, df = strengths.order
    half = stdtrit(df, 0.975) * error if df >= 1 else np.nan
    decided = n_left + n_right
    return {
        "n_left": n_left,
        "n_right": n_right,
        "share_left": n_left / decided if decided else None,
        "log_strength": or_none(log_left),
        "interval": [or_none(log_left - half), or_none(log_left + half)],
        "p": or_none(2 * stdtr(df, -abs(log_left / error))) if df >= 1 and error > 0 else None,
    }


def _arena(votes: _Votes, systems: list[str]) -> list[dict[str, Any]]:
    """Return Elo and Glicko-2 ratings in the order of the file, best Elo first."""
    score = _SCORE[votes.outcome]
    rating = elo(votes.left, votes.right, score, len(systems))
    period = max(1, _GAMES_IN_PERIOD * len(systems) // 2)  # a vote is a game of two
    glicko = glicko2(votes.left, votes.right, score, len(systems), period=period)
    return [
        {
            "system": systems[code],
            "elo": float(rating[code]),
            "glicko2": float(glicko.rating[code]),
            "deviation": float(glicko.deviation[code]),
            "volatility": float(glicko.volatility[code]),
        }
        for code in np.argsort(-rating, kind="stable")
    ]
