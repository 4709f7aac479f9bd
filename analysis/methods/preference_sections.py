"""Sections of votes between two systems."""

from typing import TYPE_CHECKING

from analysis.methods.by_groups import groups_sections
from analysis.methods.clusters import in_words
from analysis.methods.system_scores import pairs_section, systems_section
from analysis.results.curves import short_label
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.stored import Report
from campaigns.contracts.result_pages import PAIRS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_MOST_IN_MATRIX = 30
_MANY = 0.05
_OF_GROUPS = (
    "Share of votes that a system won against those it met there, a tie counted half: strengths would need votes in "
    "each group that connect all systems."
)


def sections_of_votes(result: Result) -> list[Section]:
    """Return the sections of a result of votes."""
    said, own = result.own_summary, result.own
    ties = ", with Davidson’s ties" if said["n_ties"] else ""
    caption = (
        f"Strength: natural log, centred at 0 (Bradley–Terry{ties}); a difference of 1.1 are odds of 3 to 1. Errors "
        f"are clustered by {_clusters_of(result)}."
    )
    return [
        systems_section(result, score="strength", n="votes", caption=caption, finding=_finding(result), decimals=3),
        pairs_section(result, caption="Differences of strengths, the better system first.", decimals=3),
        *groups_sections(result, score="share won", decimals=3, note=_OF_GROUPS),
        _wins_section(own["votes"]),
        _naive_section(result),
        _order_section(said["order_effect"], _clusters_of(result)),
        _arena_section(own.get("arena", [])),
    ]


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


def _arena_section(rows: list[Report]) -> Section:
    cells: list[list[Cell]] = [
        [row["system"], row["elo"], row["glicko2"], row["deviation"], row["volatility"]] for row in rows
    ]
    columns = [
        Column("system"),
        Column("Elo", 1),
        Column("Glicko-2", 1),
        Column("deviation", 1),
        Column("volatility", 4),
    ]
    caption = (
        "Ratings after each vote in the order of the file, as a running arena has them; another order gives others."
    )
    table = Table("arena", "Elo and Glicko-2", caption, columns, cells)
    return Section("arena", "Elo and Glicko-2", tables=[table] if rows else [])


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
