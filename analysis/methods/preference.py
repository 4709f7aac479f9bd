"""Votes between two systems: Bradley–Terry strengths with Davidson's ties, and what they rest on."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.data.compared import ComparedPairs, pairs_of_votes
from analysis.data.responses import rows_of
from analysis.data.style import columns_of, find_style
from analysis.data.votes import NAMES, VoteData, load_votes
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.arena import SCORE, arena_section, rate_as_arenas
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import in_words, with_several
from analysis.methods.settings import AnalysisSettings, bad_settings
from analysis.methods.strengths import Strengths, Votes, estimate_strengths
from analysis.methods.style_control import (
    ADJUST,
    BESIDE,
    STYLES,
    NoStyleError,
    StyleResult,
    say_in_paper,
    say_taken_out,
    style_sections,
    take_style_out,
)
from analysis.methods.system_scores import Analysed, pairs_section, systems_section
from analysis.methods.workers import JudgedWorkers, judge_comparisons, workers_in_words, workers_section
from analysis.results.curves import short_label
from analysis.results.result import PaperSentences, Result
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.stored import Report
from analysis.stats.bradley_terry import sign_test, win_matrix
from analysis.stats.codes import n_distinct
from analysis.stats.fewest_votes import fewest_votes
from analysis.stats.ratings import Mask, or_none, or_nones
from campaigns.contracts.result_pages import PAIRS
from campaigns.design.composition import Kind
from evalsite.lib.typed_json import to_json
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

LEAVE_OUT = "leave out"
_BOTH_BAD = ("tie", LEAVE_OUT)
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
    options = ("both_bad", "style")
    takes = OF_TESTED | {"style"}

    def check_options(self, options: Mapping[str, Any]) -> None:
        """The options are `both_bad`: whether a vote that both are bad is a tie, or left out; and `style`: whether
        systems are ranked with the style of outputs taken out, or that is said beside.
        """
        super().check_options(options)
        for name, values in (("both_bad", _BOTH_BAD), ("style", STYLES)):
            if options.get(name, values[0]) not in values:
                raise bad_settings(f"“{name}” must be one of: {', '.join(values)}.")

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> VoteData:
        """Return the votes of a file."""
        return load_votes(file.path, file.choices_for(settings))

    def read_beside(self, columns: Sequence[str]) -> list[str]:
        """Return the columns of style, which are of one of two outputs each."""
        return columns_of(find_style(columns))

    def analyse(
        self, data: VoteData, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return strengths, wins, the advantage of the left side, and how few votes decide the first place.

        Of ordinary pages alone, and of the workers by whom degraded outputs lose.
        """
        everyone = data
        judged, data, votes, strengths, style = compare_by_votes(everyone, settings, has_style=True)
        wins, ties = win_matrix(votes.counts)
        n_left, n_right, n_ties = votes.counts.sum(axis=(0, 1)).tolist()
        fit, inside = strengths.fit, strengths.inside
        can_lose = fit is not None and not inside.prior and not _adjusts(settings)
        fewest = fewest_votes(inside.counts, fit) if fit is not None and can_lose else None
        first = None if fewest is None else {"n_votes": fewest.n_votes, "system": inside.names[fewest.system]}
        summary = {
            "n_votes": votes.n,
            "n_workers": n_distinct(data.worker),
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
            "sign_p": [or_nones(row) for row in sign_test(wins)[np.ix_(order, order)]],
            "naive": {
                name: [or_none(bound[code]) for bound in strengths.naive]
                for name, code in zip(names, order, strict=True)
            },
        }
        of_style = {"style": to_json(style)} if style else {}
        return Analysed(
            *(settings, strengths.scores, everyone, judged),
            summary=summary,
            own={"votes": of_votes, **({} if brief else {"arena": rate_as_arenas(votes, data.systems)}), **of_style},
            notes=strengths.notes,
            groups=partial(_in_groups, data, order, settings),
            weighted=_WEIGHTED,
        ).result()

    def rank(self, data: VoteData, settings: AnalysisSettings) -> Result:
        """Return the ranking and its pairs, without how few votes decide it."""
        *_, strengths, _ = compare_by_votes(data, settings)
        return Analysed(replace(settings, groups=()), strengths.scores).result()

    def variants(self, settings: AnalysisSettings) -> dict[str, AnalysisSettings]:
        """Return the other treatment of votes that both are bad."""
        leaves_out = settings.options.get("both_bad") == LEAVE_OUT
        title, other = ("“both bad” is a tie", "tie") if leaves_out else ("“both bad” is left out", LEAVE_OUT)
        return {title: replace(settings, options=dict(settings.options) | {"both_bad": other})}

    def rank_otherwise(self, data: VoteData, settings: AnalysisSettings) -> Mapping[str, Result]:
        """Return the rankings by `variants`, and with style taken out or not, if votes have any."""
        found = {**super().rank_otherwise(data, settings)}
        if data.style:
            way, title = (BESIDE, "style is not taken out") if _adjusts(settings) else (ADJUST, "style is taken out")
            with suppress(NoStyleError):
                found[title] = self.rank(data, replace(settings, options=dict(settings.options) | {"style": way}))
        return found

    def judge(self, data: VoteData, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers: whether degraded outputs lose their comparisons more often than by chance."""
        return judge_votes(data, settings)

    def comparisons(self, data: VoteData, settings: AnalysisSettings) -> ComparedPairs:
        """Return the votes that count."""
        _, data = _that_count(data, settings)
        return pairs_of_votes(data.take(~_is_left_out(data, settings)))

    def judgements(self, data: VoteData, settings: AnalysisSettings) -> ComparedPairs | None:
        """Return the votes of workers who count on ordinary pages and repeats; None without sources."""
        is_counted = self.judge(data, settings).is_counted[data.worker] & (data.kind != Kind.DEGRADED)
        return pairs_of_votes(data.take(is_counted & ~_is_left_out(data, settings))) if data.sources else None

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking, pairs, wins, the left side and ratings as in a running arena."""
        said, own = result.own_summary, result.own
        ties = ", with Davidson’s ties" if said["n_ties"] else ""
        caption = (
            f"Strength: natural log, centred at 0 (Bradley–Terry{ties}); a difference of 1.1 are odds of 3 to 1. "
            f"{say_taken_out(result)}Errors are clustered by {_clusters_of(result)}."
        )
        return [
            systems_section(result, score="strength", n="votes", caption=caption, finding=_finding(result), decimals=3),
            pairs_section(result, caption="Differences of strengths, the better system first.", decimals=3),
            *style_sections(result, _clusters_of(result)),
            *groups_sections(result, score="share won", decimals=3, note=_OF_GROUPS),
            _wins_section(own["votes"]),
            _naive_section(result),
            _order_section(said["order_effect"], _clusters_of(result)),
            arena_section(own.get("arena", [])),
            *workers_section(result),
        ]

    def paper(self, result: Result) -> PaperSentences:
        """Return what a paper says, with the ranking of systems with style taken out."""
        said = super().paper(result)
        return replace(said, found=[*said.found, *say_in_paper(result)])

    def headline(self, result: Result) -> str:
        """Return how many votes there are."""
        said = result.own_summary
        votes = f"{counted(said['n_workers'], 'worker')} gave {counted(said['n_votes'], 'vote')}"
        return f"{workers_in_words(result)} {votes}, {said['n_ties']:,} of them ties.".strip()


def compare_by_votes(
    data: VoteData, settings: AnalysisSettings, *, has_style: bool = False
) -> tuple[JudgedWorkers, VoteData, Votes, Strengths, StyleResult | None]:
    """Return the verdicts on workers, the votes that count, the strengths that these show, and what style does.

    The last is None where votes have no style, or neither `has_style` nor the settings ask for it. Raises NoStyleError
    where style cannot be taken out and the settings ask for that.
    """
    judged, data = _that_count(data, settings)
    kept = data.take(~_is_left_out(data, settings))
    by = {"worker": kept.worker} | ({"source": kept.source} if kept.sources else {})
    groups = with_several(by, settings.workers_planned)
    votes = Votes.of(data.systems, kept.left, kept.right, kept.outcome, groups)
    strengths, style = estimate_strengths(votes), None
    if _adjusts(settings) or (has_style and kept.style):
        strengths, style = take_style_out(strengths, kept.style, is_needed=_adjusts(settings))
    return judged, data, votes, strengths, style


def _adjusts(settings: AnalysisSettings) -> bool:
    return settings.options.get("style") == ADJUST


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
    pairs, of_left = pairs_of_votes(data), SCORE[data.outcome]
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


# --- Sections

_MOST_IN_MATRIX = 30
_MANY = 0.05
_OF_GROUPS = (
    "Share of votes that a system won against those it met there, a tie counted half: strengths would need votes in "
    "each group that connect all systems."
)


def _finding(result: Result) -> str:
    """Return who is first, and how few votes would change that."""
    said, names = result.own_summary, list(result.scored)
    if len(names) < 2:
        return ""
    found = f"{names[0]} is first, {names[1]} second."
    if fewest := said["first_place"]:
        n, of = fewest["n_votes"], said["n_votes"]
        found += f" Without {n:,} of {of:,} votes ({100 * n / of:.2g} %) {fewest['system']} would be first."
    return found


def _wins_section(votes: Report) -> Section:
    """Return how often each system won against each other, and the sign test of each pair."""
    names, wins, ties, p = (votes[key] for key in ("order", "wins", "ties", "sign_p"))
    pairs: list[list[Cell]] = [
        [names[i], names[j], wins[i][j], wins[j][i], ties[i][j], p[i][j]]
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if wins[i][j] + wins[j][i] + ties[i][j]
    ]
    tables = [
        Table(
            "votes",
            "Votes of each pair",
            "How often each won. Sign test: two-sided, exact, ties left out; it takes votes to be independent.",
            [*map(Column, ("system", "other", "won", "lost", "ties")), Column("p (sign test)", 4, is_p=True)],
            pairs,
            output=Output.FILES,
        )
    ]
    if len(names) > _MOST_IN_MATRIX:
        return Section("votes", "Votes", tables=tables if pairs else [], page=PAIRS)
    shares = [
        [
            None if i == j or not wins[i][j] + wins[j][i] + ties[i][j] else _share(wins, ties, i, j)
            for j in range(len(names))
        ]
        for i in range(len(names))
    ]
    tables.append(
        Table(
            "win-matrix",
            "Wins",
            "Share of votes that the row won against the column, a tie counted half.",
            [Column("system"), *(Column(name, 2) for name in names)],
            [[name, *row] for name, row in zip(names, shares, strict=True)],
        )
    )
    figure = Figure(
        "win-matrix",
        "Wins",
        Picture.of(draw_matrix, names, shares),
        "Share of votes that each row won against each column; the table has the numbers.",
    )
    return Section("votes", "Votes", tables=tables if pairs else [], figures=[figure] if pairs else [], page=PAIRS)


def _clusters_of(result: Result) -> str:
    """Return by what errors are clustered; results of before do not say how many workers that are."""
    return in_words(result.summary.n_clusters) if result.summary.n_clusters else "worker"


def _share(wins: list[list[int]], ties: list[list[int]], i: int, j: int) -> float:
    return (wins[i][j] + ties[i][j] / 2) / (wins[i][j] + wins[j][i] + ties[i][j])


def _naive_section(result: Result) -> Section:
    """Return intervals as if votes were independent, beside the robust ones."""
    naive = result.own["votes"]["naive"]
    rows: list[list[Cell]] = [[name, *result.interval(name), *naive[name]] for name in result.scored]
    columns = [Column("system"), Column("low", 3), Column("high", 3)]
    columns += [Column("low (independent)", 3), Column("high (independent)", 3)]
    caption = (
        f"95 % intervals of strengths: clustered by {_clusters_of(result)}, and as if all votes were "
        "independent, which is too narrow where workers have tastes of their own."
    )
    table = Table("intervals", "Intervals", caption, columns, rows, output=Output.FILES)
    return Section("intervals", "Intervals", tables=[table] if rows else [])


def _order_section(effect: Report, clusters: str) -> Section:
    """Return whether the left side has an advantage."""
    if effect["share_left"] is None:
        return Section("order-effect", "Left and right")
    p = effect["p"]
    said = f"The one on the left won {100 * effect['share_left']:.1f} % of decided votes"
    if p is not None:
        said += (
            "; that may be chance."
            if p >= _MANY
            else ": more than chance."
            if effect["log_strength"] > 0
            else ": less than chance."
        )
    else:
        said += "."
    rows: list[list[Cell]] = [[effect["n_left"], effect["n_right"], effect["log_strength"], *effect["interval"], p]]
    columns = [Column("left won"), Column("right won"), Column("advantage of the left", 3), Column("low", 3)]
    columns += [Column("high", 3), Column("p", 4, is_p=True)]
    caption = f"Advantage in log strength, systems being equal; its interval and p are clustered by {clusters}."
    return Section(
        "order-effect", "Left and right", said, [Table("order-effect", "Left and right", caption, columns, rows)]
    )


def draw_matrix(names: list[str], shares: list[list[float | None]], theme: Theme) -> "Drawing":
    """Draw the share that each row won against each column."""
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("wins", [theme.warn, theme.paper, theme.accent])
    size = 2.0 + 0.42 * len(names)
    figure, axes = theme.canvas(size, size)
    values = np.array([[np.nan if share is None else share for share in row] for row in shares])
    axes.imshow(values, cmap=shades, vmin=0, vmax=1)
    axes.tick_params(length=0)
    places = range(len(names))
    labels = [short_label(name) for name in names]
    axes.set_xticks(places, labels, rotation=90)
    axes.set_yticks(places, labels)
    for i in places:
        for j in places:
            if shares[i][j] is not None:
                colour = theme.text_on(shades(values[i, j]))
                axes.text(j, i, f"{100 * values[i, j]:.0f}", ha="center", va="center", color=colour, fontsize=8)
    return figure
