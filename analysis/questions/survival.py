"""The sections that show whether a ranking survives when it is computed otherwise."""

from typing import TYPE_CHECKING

from analysis.results.answers import Survival, SurvivalByAlpha, SurvivalWithoutWorker, SurvivingRanking
from analysis.results.curves import MOST_CURVES, draw_curves, short_label
from analysis.results.sections import COLUMN_IN, Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.stored import in_order
from analysis.stats.ratings import or_nan
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

ALPHAS = tuple(k / 100 for k in range(1, 11))
"""Those of the worker test that are tried (METHOD §6)."""
PAGE = "sensitivity"
TEXTS = {"reference": "reference", "input": "source text"}
"""Whose length may be known of a source, and what they are called."""
_SEEN = 0.0005  # less is 0.000


def _kind(measure: str) -> str:
    return "Mean z" if measure == "z" else "Score"


def survival_section(ranking: SurvivingRanking) -> Section:
    """Return in one table what every way does to the ranking."""
    ways: list[tuple[str, Survival]] = []
    if ranking.alpha:
        ways.append((f"α from {ALPHAS[0]:g} to {ALPHAS[-1]:g}", ranking.alpha))
    ways.append(("without one worker", ranking.without_worker))
    ways += [(way.name, way) for way in ranking.settings]
    ways += [(f"short {TEXTS[text]}s only", way) for text, way in in_order(ranking.lengths, TEXTS)]
    rows: list[list[Cell]] = [
        [name, way.n, way.n_same_order, way.n_same_best, way.largest_change, way.system or ""] for name, way in ways
    ]
    columns = [Column("computed otherwise"), Column("rankings"), Column("same order"), Column("same best system")]
    columns += [Column(f"largest change of {ranking.measure}"), Column("of system")]
    caption = (
        "Rankings: in how many ways every system has a score. Same order: in how many of them all systems stand as in "
        "the ranking of this result."
    )
    if any(way.n_called_otherwise is not None for _, way in ways):
        columns.insert(4, Column("pairs called otherwise"))
        for row, (_, way) in zip(rows, ways, strict=True):
            row.insert(4, way.n_called_otherwise)
        caption += (
            " Pairs called otherwise: of how many pairs it is said in some of these rankings that they differ, and not "
            "in this result, or the reverse."
        )
    table = Table("sensitivity", "Rankings computed otherwise", caption, columns, rows, output=Output.SHOWN)
    return Section("survival", "Does the ranking survive?", _finding(ranking), [table], page=PAGE)


def _finding(ranking: SurvivingRanking) -> str:
    said = [_worker_words(ranking.without_worker, ranking.measure)]
    if ranking.alpha:
        said.append(_alpha_words(ranking.alpha, ranking.measure))
    others = ranking.settings
    n_same = sum(way.n_same_order for way in others)
    n_all = sum(way.n for way in others)
    if n_all == 1:
        said.append(f"{others[0].name.capitalize()}: the order is {'the same' if n_same else 'another'}.")
    elif n_all:
        said.append(f"Of {n_all} other ways to score the systems, {n_same} give the same order.")
    return " ".join(said)


def _worker_words(without: SurvivalWithoutWorker, measure: str) -> str:
    n = without.n_workers
    if not n or without.largest_change is None:
        return "Nobody can be left out, since fewer than two workers count."
    moved = f"no {measure} changes by more than {without.largest_change:.3f} ({without.system})"
    who = counted(n, "worker")
    if n_counting := n if without.n_counting is None else without.n_counting:
        who = f"{who} who count" if n_counting == n else f"{n:,} of {n_counting:,} workers with the most responses"
    if without.n_same_order == without.n == n:
        return f"The ranking survives when any one of the {who} is left out: {moved}."
    best = (
        "the best system stays the best in all of them"
        if without.n_same_best == n
        else (f"the best system stays the best in {without.n_same_best:,}")
    )
    return (
        f"The ranking survives in {without.n_same_order:,} of {n:,} cases when one worker who counts is left out, and "
        f"{best}: {moved}."
    )


def _alpha_words(by_alpha: SurvivalByAlpha, measure: str) -> str:
    low, high = min(by_alpha.n_workers), max(by_alpha.n_workers)
    who = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    span = f"{ALPHAS[0]:g} to {ALPHAS[-1]:g}, at which {who} workers count"
    if by_alpha.n_same_order == len(by_alpha.alphas):
        change = by_alpha.largest_change or 0.0
        moved = f"no {measure} changes" if change < _SEEN else f"no {measure} changes by more than {change:.3f}"
        return f"The ranking survives at every α of the worker test from {span}: {moved}."
    return f"The ranking is the same at {by_alpha.n_same_order} of {len(by_alpha.alphas)} values of α from {span}."


def _limited(caption: str, n: int) -> str:
    """Return a caption of curves of n systems, which says so if only the first of them have one."""
    return caption if n <= MOST_CURVES else f"{caption} The first {MOST_CURVES} of {n} systems."


def alpha_section(ranking: SurvivingRanking) -> list[Section]:
    """Return the scores at each α; nothing without a worker test."""
    alpha, measure = ranking.alpha, ranking.measure
    if not alpha:
        return []
    rows: list[list[Cell]] = [["workers who count", *alpha.n_workers]]
    rows += [[name, *scores] for name, scores in zip(ranking.order, alpha.score, strict=True)]
    table = Table(
        f"{measure}-by-alpha",
        f"{measure} at each α of the worker test",
        f"{_kind(measure)} of each system from the workers whose p is below α.",
        [Column("system"), *(Column(f"α = {each:.2f}") for each in alpha.alphas)],
        rows,
        output=Output.SHOWN,
    )
    figure = Figure(
        f"{measure}-by-alpha",
        f"{measure} at each α",
        Picture.of(_draw_alpha, ranking),
        f"Curves of each system's {measure} as α of the worker test goes from 0.01 to 0.10.",
        _limited("The dotted line is the α of this result.", len(ranking.order)),
    )
    said = _alpha_words(alpha, measure)
    return [Section("alpha", "Another α of the worker test", said, [table], [figure], page=PAGE)]


def worker_section(ranking: SurvivingRanking) -> list[Section]:
    """Return the range of each score without one worker; nothing where nobody can be left out."""
    without, measure = ranking.without_worker, ranking.measure
    if not without.n_workers or without.largest_change is None:
        return []
    rows = list(zip(ranking.order, ranking.score, without.low, without.high, without.change, strict=True))
    table = Table(
        f"{measure}-without-a-worker",
        f"{measure} without one worker",
        f"{_kind(measure)} of each system, and the least, the greatest and the largest change of it when one worker is "
        "left out.",
        [Column("system"), Column(measure), Column("least"), Column("greatest"), Column("largest change")],
        rows,
        output=Output.SHOWN,
    )
    figure = Figure(
        f"{measure}-without-a-worker",
        f"{measure} without one worker",
        Picture.of(_draw_ranges, ranking),
        f"A point for the {measure} of each system, and a bar from the least to the greatest without one worker.",
        _limited("Point: all workers who count. Bar: without any one of them.", len(ranking.order)),
    )
    return [Section("without-worker", "Without one worker", "", [table], [figure], page=PAGE)]


def length_section(ranking: SurvivingRanking, text: str) -> Section:
    """Return the scores over items whose source has a text, of `TEXTS`, of at most so many words."""
    lengths, name, measure = ranking.lengths[text], TEXTS[text], ranking.measure
    bounds = lengths.most_words
    rows: list[list[Cell]] = [["observations", *lengths.n_observations]]
    rows += [[system, *scores] for system, scores in zip(ranking.order, lengths.score, strict=True)]
    title = f"{measure} by length of the {name}"
    table = Table(
        f"{measure}-by-{text}-length",
        title,
        f"{_kind(measure)} over items whose {name} has at most so many words.",
        [Column("system"), *(Column(f"≤ {bound}") for bound in bounds)],
        rows,
        output=Output.SHOWN,
    )
    figure = Figure(
        f"{measure}-by-{text}-length",
        title,
        Picture.of(_draw_lengths, ranking, text),
        f"Curves of each system's {measure} over items whose {name} has at most so many words.",
        _limited("", len(ranking.order)),
    )
    said = f"Over items whose {name} has at most {bounds[0]} to {bounds[-1]} words, the ranking is the same in "
    said += f"{lengths.n_same_order} of {counted(len(bounds), 'case')}."
    return Section(f"length-{text}", f"Only items with a short {name}", said, [table], [figure], page=PAGE)


# --- Figures


def _draw_lengths(ranking: SurvivingRanking, text: str, theme: Theme) -> "Drawing":
    """Draw each system's score over items of at most so many words."""
    lengths = ranking.lengths[text]
    curves = dict(zip(ranking.order, lengths.score, strict=True))
    xlabel = f"words of the {TEXTS[text]} at most"
    return draw_curves(theme, lengths.most_words, curves, xlabel=xlabel, ylabel=ranking.measure)


def _draw_alpha(ranking: SurvivingRanking, theme: Theme) -> "Drawing":
    """Draw each system's score against α of the worker test."""
    alpha = ranking.alpha
    assert alpha is not None, "drawn where workers were tested"
    curves = dict(zip(ranking.order, alpha.score, strict=True))
    marked = alpha.chosen if ALPHAS[0] <= alpha.chosen <= ALPHAS[-1] else None
    return draw_curves(
        theme, alpha.alphas, curves, xlabel="α of the worker test", ylabel=ranking.measure, marked=marked
    )


def _draw_ranges(ranking: SurvivingRanking, theme: Theme) -> "Drawing":
    """Draw each system's score, and from the least to the greatest without one worker."""
    without, names = ranking.without_worker, ranking.order[:MOST_CURVES]
    scores = or_nan(ranking.score)
    figure, axes = theme.canvas(width=COLUMN_IN, height=1.0 + 0.24 * len(names))
    for k in range(len(names)):
        place = len(names) - 1 - k
        low, high = without.low[k], without.high[k]
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], color=theme.accent, linewidth=5, alpha=0.6, solid_capstyle="butt")
        axes.plot(scores[k], place, marker="o", markersize=4.5, color=theme.ink)
    axes.set_yticks(range(len(names)), [short_label(name) for name in reversed(names)])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(ranking.measure)
    return figure
