"""Whether a ranking survives when it is computed otherwise: what is kept of it, and the sections that show it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.results.curves import MOST_CURVES, draw_curves, short_label
from analysis.results.sections import COLUMN_IN, Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.stored import Report, in_order
from analysis.stats.ratings import Floats, or_none
from analysis.stats.sensitivity import compare_rankings
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

ALPHAS = tuple(k / 100 for k in range(1, 11))
"""Those of the worker test that are tried (METHOD §6)."""
PAGE = "sensitivity"
TEXTS = {"reference": "reference", "input": "source text"}
"""Whose length may be known of a source, and what they are called."""
_SHOWN = Output.FILES | Output.PAGE
_SEEN = 0.0005  # less is 0.000


def describe_survival(reported: Floats, others: Floats, names: Sequence[str], *, sign: int = 1) -> dict[str, Any]:
    """Return `compare_rankings` as JSON.

    `reported`: float64, (n_systems,), the scores of `names`; `others`: (n_ways, n_systems). `sign`: −1 where a lower
    score is better.
    """
    survival = compare_rankings(sign * reported, sign * others)
    return {
        "n": survival.n,
        "n_same_order": survival.n_same_order,
        "n_same_best": survival.n_same_best,
        "largest_change": or_none(survival.largest_change),
        "system": names[survival.system] if survival.system >= 0 else None,
    }


def cells(values: Floats) -> Any:
    """Return numbers as JSON, NaN as None."""
    return [or_none(value) for value in values] if values.ndim == 1 else [cells(row) for row in values]


def describe_ranges(reported: Floats, others: Floats) -> dict[str, Any]:
    """Return how many analyses without one worker each there are, and what becomes of each score in them.

    `reported`: float64, (n_systems,); `others`: (n_workers, n_systems), NaN where nobody else rated a system. `low` and
    `high`: the least and the greatest score; `change`: the largest absolute change.
    """
    is_known = ~np.isnan(others)
    has_any = is_known.any(axis=0)
    low, high = (
        np.where(has_any, pick(np.where(is_known, others, fill), axis=0, initial=fill), np.nan)
        for pick, fill in ((np.min, np.inf), (np.max, -np.inf))
    )
    change = np.where(is_known, np.abs(others - reported), 0.0)
    return {
        "n_workers": int(others.shape[0]),
        "low": cells(low),
        "high": cells(high),
        "change": cells(change.max(axis=0, initial=0.0)),
    }


def _kind(measure: str) -> str:
    return "Mean z" if measure == "z" else "Score"


def survival_section(found: Report) -> Section:
    """Return in one table what every way does to the ranking.

    `found`: `order`, the scores, and of ways `alpha` (None if there is no worker test), `without_worker`, `settings`
    and `lengths`, each with `describe_survival`.
    """
    ways: list[tuple[str, Report]] = []
    if found["alpha"]:
        ways.append((f"α from {ALPHAS[0]:g} to {ALPHAS[-1]:g}", found["alpha"]))
    ways.append(("without one worker", found["without_worker"]))
    ways += [(each["name"], each) for each in found["settings"]]
    ways += [(f"short {TEXTS[text]}s only", each) for text, each in in_order(found["lengths"], TEXTS)]
    rows: list[list[Cell]] = [
        [name, each["n"], each["n_same_order"], each["n_same_best"], each["largest_change"], each["system"] or ""]
        for name, each in ways
    ]
    columns = [Column("computed otherwise"), Column("rankings"), Column("same order"), Column("same best system")]
    columns += [Column(f"largest change of {found['measure']}"), Column("of system")]
    caption = (
        "Rankings: in how many ways every system has a score. Same order: in how many of them all systems stand as in "
        "the ranking of this result."
    )
    if any("n_called_otherwise" in each for _, each in ways):
        columns.insert(4, Column("pairs called otherwise"))
        for row, (_, each) in zip(rows, ways, strict=True):
            row.insert(4, each["n_called_otherwise"])
        caption += (
            " Pairs called otherwise: of how many pairs it is said in some of these rankings that they differ, and not "
            "in this result, or the reverse."
        )
    table = Table("sensitivity", "Rankings computed otherwise", caption, columns, rows, output=_SHOWN)
    return Section("survival", "Does the ranking survive?", _finding(found), [table], page=PAGE)


def _finding(found: Report) -> str:
    said = [_worker_words(found["without_worker"], found["measure"])]
    if alpha := found["alpha"]:
        said.append(_alpha_words(alpha, found["measure"]))
    others = found["settings"]
    n_same = sum(each["n_same_order"] for each in others)
    n_all = sum(each["n"] for each in others)
    if n_all == 1:
        said.append(f"{others[0]['name'].capitalize()}: the order is {'the same' if n_same else 'another'}.")
    elif n_all:
        said.append(f"Of {n_all} other ways to score the systems, {n_same} give the same order.")
    return " ".join(said)


def _worker_words(found: Report, measure: str) -> str:
    n = found["n_workers"]
    if not n or found["largest_change"] is None:
        return "Nobody can be left out, since fewer than two workers count."
    moved = f"no {measure} changes by more than {found['largest_change']:.3f} ({found['system']})"
    who = counted(n, "worker")
    if n_counting := found.get("n_counting", n):
        who = f"{who} who count" if n_counting == n else f"{n:,} of {n_counting:,} workers with the most responses"
    if found["n_same_order"] == found["n"] == n:
        return f"The ranking survives when any one of the {who} is left out: {moved}."
    best = (
        "the best system stays the best in all of them"
        if found["n_same_best"] == n
        else (f"the best system stays the best in {found['n_same_best']:,}")
    )
    return (
        f"The ranking survives in {found['n_same_order']:,} of {n:,} cases when one worker who counts is left out, and "
        f"{best}: {moved}."
    )


def _alpha_words(found: Report, measure: str) -> str:
    low, high = min(found["n_workers"]), max(found["n_workers"])
    who = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    span = f"{ALPHAS[0]:g} to {ALPHAS[-1]:g}, at which {who} workers count"
    if found["n_same_order"] == len(found["alphas"]):
        change = found["largest_change"]
        moved = f"no {measure} changes" if change < _SEEN else f"no {measure} changes by more than {change:.3f}"
        return f"The ranking survives at every α of the worker test from {span}: {moved}."
    return f"The ranking is the same at {found['n_same_order']} of {len(found['alphas'])} values of α from {span}."


def _limited(caption: str, n: int) -> str:
    """Return a caption of curves of n systems, which says so if only the first of them have one."""
    return caption if n <= MOST_CURVES else f"{caption} The first {MOST_CURVES} of {n} systems."


def alpha_section(found: Report) -> list[Section]:
    """Return the scores at each α; nothing without a worker test."""
    alpha, measure = found["alpha"], found["measure"]
    if not alpha:
        return []
    rows = [["workers who count", *alpha["n_workers"]]]
    rows += [[name, *scores] for name, scores in zip(found["order"], alpha["score"], strict=True)]
    table = Table(
        f"{measure}-by-alpha",
        f"{measure} at each α of the worker test",
        f"{_kind(measure)} of each system from the workers whose p is below α.",
        [Column("system"), *(Column(f"α = {each:.2f}") for each in alpha["alphas"])],
        rows,
        output=_SHOWN,
    )
    figure = Figure(
        f"{measure}-by-alpha",
        f"{measure} at each α",
        Picture.of(_draw_alpha, found),
        f"Curves of each system's {measure} as α of the worker test goes from 0.01 to 0.10.",
        _limited("The dotted line is the α of this result.", len(found["order"])),
    )
    said = _alpha_words(alpha, measure)
    return [Section("alpha", "Another α of the worker test", said, [table], [figure], page=PAGE)]


def worker_section(found: Report) -> list[Section]:
    """Return the range of each score without one worker; nothing where nobody can be left out."""
    without, measure = found["without_worker"], found["measure"]
    if not without["n_workers"] or without["largest_change"] is None:
        return []
    rows = list(zip(found["order"], found["score"], *(without[key] for key in ("low", "high", "change")), strict=True))
    table = Table(
        f"{measure}-without-a-worker",
        f"{measure} without one worker",
        f"{_kind(measure)} of each system, and the least, the greatest and the largest change of it when one worker is "
        "left out.",
        [Column("system"), Column(measure), Column("least"), Column("greatest"), Column("largest change")],
        rows,
        output=_SHOWN,
    )
    figure = Figure(
        f"{measure}-without-a-worker",
        f"{measure} without one worker",
        Picture.of(_draw_ranges, found),
        f"A point for the {measure} of each system, and a bar from the least to the greatest without one worker.",
        _limited("Point: all workers who count. Bar: without any one of them.", len(found["order"])),
    )
    return [Section("without-worker", "Without one worker", "", [table], [figure], page=PAGE)]


def length_section(found: Report, text: str) -> Section:
    """Return the scores over items whose source has a text, of `TEXTS`, of at most so many words."""
    lengths, name, measure = found["lengths"][text], TEXTS[text], found["measure"]
    bounds = lengths["most_words"]
    rows = [["observations", *lengths["n_observations"]]]
    rows += [[system, *scores] for system, scores in zip(found["order"], lengths["score"], strict=True)]
    title = f"{measure} by length of the {name}"
    table = Table(
        f"{measure}-by-{text}-length",
        title,
        f"{_kind(measure)} over items whose {name} has at most so many words.",
        [Column("system"), *(Column(f"≤ {bound}") for bound in bounds)],
        rows,
        output=_SHOWN,
    )
    figure = Figure(
        f"{measure}-by-{text}-length",
        title,
        Picture.of(_draw_lengths, found, text),
        f"Curves of each system's {measure} over items whose {name} has at most so many words.",
        _limited("", len(found["order"])),
    )
    said = f"Over items whose {name} has at most {bounds[0]} to {bounds[-1]} words, the ranking is the same in "
    said += f"{lengths['n_same_order']} of {counted(len(bounds), 'case')}."
    return Section(f"length-{text}", f"Only items with a short {name}", said, [table], [figure], page=PAGE)


# --- Figures


def _draw_lengths(found: Report, text: str, theme: Theme) -> "Drawing":
    """Draw each system's score over items of at most so many words."""
    lengths = found["lengths"][text]
    curves = dict(zip(found["order"], lengths["score"], strict=True))
    xlabel = f"words of the {TEXTS[text]} at most"
    return draw_curves(theme, lengths["most_words"], curves, xlabel=xlabel, ylabel=found["measure"])


def _draw_alpha(found: Report, theme: Theme) -> "Drawing":
    """Draw each system's score against α of the worker test."""
    alpha = found["alpha"]
    curves = dict(zip(found["order"], alpha["score"], strict=True))
    marked = alpha["chosen"] if ALPHAS[0] <= alpha["chosen"] <= ALPHAS[-1] else None
    return draw_curves(
        theme, alpha["alphas"], curves, xlabel="α of the worker test", ylabel=found["measure"], marked=marked
    )


def _draw_ranges(found: Report, theme: Theme) -> "Drawing":
    """Draw each system's score, and from the least to the greatest without one worker."""
    without, names = found["without_worker"], found["order"][:MOST_CURVES]
    figure, axes = theme.canvas(width=COLUMN_IN, height=1.0 + 0.24 * len(names))
    for k in range(len(names)):
        place = len(names) - 1 - k
        low, high = without["low"][k], without["high"][k]
        if low is not None:
            axes.plot([low, high], [place, place], color=theme.accent, linewidth=5, alpha=0.6, solid_capstyle="butt")
        axes.plot(found["score"][k], place, marker="o", markersize=4.5, color=theme.ink)
    axes.set_yticks(range(len(names)), [short_label(name) for name in reversed(names)])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(found["measure"])
    return figure
