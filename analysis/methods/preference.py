"""Votes between two systems: Bradley–Terry strengths with Davidson's ties, and what they rest on."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from analysis.data.compared import ComparedPairs, pairs_of_votes
from analysis.data.responses import AnsweredBy, rows_of
from analysis.data.votes import NAMES, VoteData, load_votes
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores
from analysis.methods.clusters import with_several
from analysis.methods.preference_sections import sections_of_votes
from analysis.methods.settings import AnalysisSettings, bad_settings
from analysis.methods.strengths import Strengths, Votes, estimate_strengths
from analysis.methods.system_scores import Analysed
from analysis.methods.workers import JudgedWorkers, judge_comparisons, workers_in_words, workers_section
from analysis.results.result import Result
from analysis.results.sections import Section
from analysis.stats.arena import elo, glicko2
from analysis.stats.bradley_terry import sign_test, win_matrix
from analysis.stats.fewest_votes import fewest_votes
from analysis.stats.ratings import Mask, or_none
from campaigns.design.composition import Kind
from evalsite.lib.words import counted

LEAVE_OUT = "leave out"
_BOTH_BAD = ("tie", LEAVE_OUT)
_GAMES_IN_PERIOD = 15  # of each system in the mean, as Glickman recommends
_SCORE = np.array([1.0, 0.0, 0.5])
_RANKS = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])  # of the left and the right output, by `Outcome`
_WEIGHTED = "the model of strengths needs no weights for it, and nothing is weighted."


class Preference(ResponseMethod[VoteData]):
    """Strengths of systems, natural log and centred at 0, with errors clustered by worker and source."""

    slug = "preference"
    title = "Preference"
    summary = "Strengths of systems by their votes (Bradley–Terry)."
    unit = "log strength"
    table = "votes"
    file_columns = ("system_a", "system_b", "winner")
    names = NAMES
    options = ("both_bad",)
    takes = OF_TESTED

    def check_options(self, options: Mapping[str, Any]) -> None:
        """The option is `both_bad`: whether a vote that both are bad is a tie, or left out."""
        super().check_options(options)
        if options.get("both_bad", LEAVE_OUT) not in _BOTH_BAD:
            raise bad_settings(f"“both_bad” must be one of: {', '.join(_BOTH_BAD)}.")

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> VoteData:
        """Return the votes of a file."""
        return load_votes(file.path, file.choices_for(settings))

    def analyse(
        self, data: VoteData, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return strengths, wins, the advantage of the left side, and how few votes decide the first place.

        Of ordinary pages alone, and of the workers by whom degraded outputs lose.
        """
        everyone = data
        judged, data, votes, strengths = compare_by_votes(everyone, settings)
        wins, ties = win_matrix(votes.counts)
        n_left, n_right, n_ties = votes.counts.sum(axis=(0, 1)).tolist()
        fit = strengths.fit
        can_lose = fit is not None and not strengths.prior
        fewest = fewest_votes(strengths.counts, fit) if fit is not None and can_lose else None
        first = None if fewest is None else {"n_votes": fewest.n_votes, "system": strengths.names[fewest.system]}
        summary = {
            "n_votes": votes.n,
            "n_workers": int(np.unique(data.worker).size),
            "n_ties": n_ties,
            "n_both_bad": int(data.is_both_bad.sum()),
            "log_tie": None if fit is None else or_none(fit.log_tie),
            "order_effect": _order_effect(strengths, n_left, n_right),
            "first_place": first,
        }
        order = strengths.scores.order
        names = [data.systems[code] for code in order]
        of_votes = {
            "order": names,
            "wins": wins[np.ix_(order, order)].astype(int).tolist(),
            "ties": ties[np.ix_(order, order)].astype(int).tolist(),
            "sign_p": [[or_none(p) for p in row] for row in sign_test(wins)[np.ix_(order, order)]],
            "naive": {
                name: [or_none(bound[code]) for bound in strengths.naive]
                for name, code in zip(names, order, strict=True)
            },
        }
        return Analysed(
            *(settings, strengths.scores, everyone, judged),
            summary=summary,
            own={"votes": of_votes} | ({} if brief else {"arena": _arena(votes, data.systems)}),
            notes=strengths.notes,
            groups=partial(_in_groups, data, order, settings),
            weighted=_WEIGHTED,
        ).result()

    def rank(self, data: VoteData, settings: AnalysisSettings) -> Result:
        """Return the ranking and its pairs, without how few votes decide it."""
        *_, strengths = compare_by_votes(data, settings)
        return Analysed(replace(settings, groups=()), strengths.scores).result()

    def variants(self, settings: AnalysisSettings) -> dict[str, AnalysisSettings]:
        """Return the other treatment of votes that both are bad."""
        leaves_out = settings.options.get("both_bad") == LEAVE_OUT
        title, other = ("“both bad” is a tie", "tie") if leaves_out else ("“both bad” is left out", LEAVE_OUT)
        return {title: replace(settings, options=dict(settings.options) | {"both_bad": other})}

    def judge(self, data: VoteData, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers: whether degraded outputs lose their comparisons more often than by chance."""
        return judge_votes(data, settings)

    def comparisons(self, data: VoteData, settings: AnalysisSettings) -> ComparedPairs:
        """Return the votes that count."""
        _, data = _that_count(data, settings)
        return pairs_of_votes(data.take(~_is_left_out(data, settings)))

    def answered_by(self, data: VoteData) -> AnsweredBy:
        """Return who gave each answer."""
        return AnsweredBy(data.workers, data.worker, data.attributes)

    def judgements(self, data: VoteData, settings: AnalysisSettings) -> ComparedPairs | None:
        """Return the votes of workers who count on ordinary pages and repeats; None without sources."""
        is_counted = self.judge(data, settings).is_counted[data.worker] & (data.kind != Kind.DEGRADED)
        return pairs_of_votes(data.take(is_counted & ~_is_left_out(data, settings))) if data.sources else None

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking, pairs, wins, the left side and ratings as in a running arena."""
        return [*sections_of_votes(result), *workers_section(result)]

    def headline(self, result: Result) -> str:
        """Return how many votes there are."""
        said = result.own_summary
        votes = f"{counted(said['n_workers'], 'worker')} gave {counted(said['n_votes'], 'vote')}"
        return f"{workers_in_words(result)} {votes}, {said['n_ties']:,} of them ties.".strip()


def compare_by_votes(data: VoteData, settings: AnalysisSettings) -> tuple[JudgedWorkers, VoteData, Votes, Strengths]:
    """Return the verdicts on workers, the votes that count, and the strengths that these show."""
    judged, data = _that_count(data, settings)
    kept = data.take(~_is_left_out(data, settings))
    by = {"worker": kept.worker} | ({"source": kept.source} if kept.sources else {})
    groups = with_several(by, settings.workers_planned)
    votes = Votes.of(data.systems, kept.left, kept.right, kept.outcome, groups)
    return judged, data, votes, estimate_strengths(votes)


def _that_count(data: VoteData, settings: AnalysisSettings) -> tuple[JudgedWorkers, VoteData]:
    """Return the verdicts on workers, and the votes on ordinary pages of those who count."""
    judged = judge_votes(data, settings)
    data = data.without_degraded_systems()
    return judged, data.take(judged.is_counted[data.worker] & (data.kind == Kind.ORDINARY))


def _is_left_out(data: VoteData, settings: AnalysisSettings) -> Mask:
    """Return which votes say that both are bad, (n_votes,), if such are left out."""
    return data.is_both_bad & (settings.options.get("both_bad") == LEAVE_OUT)


def _in_groups(data: VoteData, order: list[int], settings: AnalysisSettings) -> GroupedScores:
    """Return 1 for the output that won a vote, 0 for the other one, ½ each for a tie."""
    data = data.take(~_is_left_out(data, settings))
    pairs, of_left = pairs_of_votes(data), _SCORE[data.outcome]
    vote = np.tile(pairs.judgement, 2)
    clusters = {"worker": data.worker[vote]} | ({"source": pairs.source[vote]} if data.sources else {})
    return GroupedScores(
        np.concatenate([of_left, 1 - of_left]),
        np.concatenate([data.left, data.right]),
        data.systems,
        order,
        with_several(clusters),
        rows_of(data.attributes, vote),
        answer=vote,
    )


def judge_votes(data: VoteData, settings: AnalysisSettings) -> JudgedWorkers:
    """Return the verdicts on workers: whether degraded outputs lose their comparisons more often than by chance."""
    votes = np.flatnonzero(data.degraded > 0)
    rank = _RANKS[data.outcome[votes]].ravel()
    is_degraded = (data.degraded[votes][:, None] == [1, 2]).ravel()
    judgement = np.repeat(np.arange(votes.size), 2)
    return judge_comparisons(data.workers, judgement, rank, is_degraded, data.worker[votes], settings, what="Votes")


def _order_effect(strengths: Strengths, n_left: int, n_right: int) -> dict[str, Any]:
    """Return the share of decided votes that the left one won, and its advantage in log strength."""
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


def _arena(votes: Votes, systems: list[str]) -> list[dict[str, Any]]:
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
