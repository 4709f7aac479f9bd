"""Sensitivity: does the ranking survive another α, the loss of a worker, other settings, short texts (METHOD §6)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.curves import MOST_CURVES, draw_curves, short_label
from analysis.methods import Method
from analysis.sections import COLUMN_IN, Column, Figure, Output, Section, Table, Theme
from analysis.stats.correlation import correlate
from analysis.stats.ratings import Floats, or_nan, or_none
from analysis.stats.scores import Unit, reverse_negative, standardise
from analysis.stats.sensitivity import (
    Scored,
    Survival,
    compare_rankings,
    length_bounds,
    score_by_alpha,
    score_by_length,
    score_without_each,
)
from analysis.stored import in_order
from analysis.study import Study
from campaigns.design.composition import ANALYSED, Kind
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

ALPHAS = tuple(k / 100 for k in range(1, 11))
PAGE = "sensitivity"
_SEEN = 0.0005  # less is 0.000
_TEXTS = {"reference": "reference", "input": "source text"}
_SHOWN = Output.FILES | Output.PAGE
Report = Mapping[str, Any]


class Sensitivity(Method):
    """How far the ranking depends on choices of the analysis, on single workers and on long texts."""

    slug = "sensitivity"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `sensitivity`: `order` of the systems with a score; of each way to compute their z otherwise what it
        does to the ranking: `alpha`, `without_worker`, `settings`, `lengths`. What does not apply is None or missing.
        """
        analysis, how = study.analysis, study.settings.design(study.loaded.workers)
        order = [code for code in study.order if not np.isnan(analysis.systems.z[code])]
        scored = Scored(
            study.ratings,
            reverse_negative(study.ratings.scores, how.is_negative),
            analysis.twin,
            analysis.standardisation,
            how.unit,
        )
        found = {"order": [study.loaded.systems[code] for code in order], "z": _cells(analysis.systems.z[order])}
        if len(order) < 2:
            return {self.slug: found}
        return {
            self.slug: found
            | {
                "alpha": _by_alpha(study, scored, order) if study.settings.preset != NO_TEST else None,
                "without_worker": _without_worker(study, scored, order),
                "settings": _by_settings(study, scored, order),
                "lengths": _by_length(study, scored, order),
            }
        }

    def sections(self, report: Report) -> list[Section]:
        """Return whether the ranking survives, and what each way does to the systems' z."""
        found = report.get(self.slug)
        if not found or "settings" not in found:
            return []
        sections = [_survival_section(found), *_alpha_section(found), *_worker_section(found)]
        return [*sections, *(_length_section(found, text) for text in _TEXTS if text in found["lengths"])]


# --- What is computed


def _survival(survival: Survival, order: list[int], names: list[str]) -> dict[str, Any]:
    return {
        "n": survival.n,
        "n_same_order": survival.n_same_order,
        "n_same_best": survival.n_same_best,
        "largest_change": or_none(survival.largest_change),
        "system": names[order[survival.system]] if survival.system >= 0 else None,
    }


def _cells(values: Floats) -> Any:
    return [or_none(value) for value in values] if values.ndim == 1 else [_cells(row) for row in values]


def _by_alpha(study: Study, scored: Scored, order: list[int]) -> dict[str, Any]:
    workers = study.analysis.workers
    is_excluded = np.isin(np.arange(study.ratings.n_workers), study.settings.design(study.loaded.workers).excluded)
    by_alpha = score_by_alpha(scored, workers.p_value, ALPHAS, is_excluded)
    z = by_alpha.z[:, order]
    survival = compare_rankings(study.analysis.systems.z[order], z)
    return _survival(survival, order, study.loaded.systems) | {
        "alphas": list(ALPHAS),
        "n_workers": by_alpha.n_workers.tolist(),
        "z": _cells(z.T),
        "chosen": study.settings.alpha,
    }


def _without_worker(study: Study, scored: Scored, order: list[int]) -> dict[str, Any]:
    z = score_without_each(scored, study.analysis.is_kept)[:, order]
    reported = study.analysis.systems.z[order]
    is_known = ~np.isnan(z)
    low, high = (
        (
            np.where(is_known.any(axis=0), pick(np.where(is_known, z, fill), axis=0), np.nan)
            for pick, fill in ((np.min, np.inf), (np.max, -np.inf))
        )
        if z.size
        else (np.full(len(order), np.nan),) * 2
    )
    change = np.where(is_known, np.abs(z - reported), 0.0)
    return _survival(compare_rankings(reported, z), order, study.loaded.systems) | {
        "n_workers": int(z.shape[0]),
        "low": _cells(low),
        "high": _cells(high),
        "change": _cells(change.max(axis=0, initial=0.0)),
    }


def _by_settings(study: Study, scored: Scored, order: list[int]) -> list[dict[str, Any]]:
    """Return the ranking by other choices: of σ, of the kinds in μ and σ, of the unit, of who counts."""
    kept, how = study.analysis.is_kept, study.settings.design(study.loaded.workers)
    ratings, own = study.ratings, scored.standardisation
    n = np.bincount(ratings.worker, weights=np.count_nonzero(~np.isnan(ratings.scores), axis=1), minlength=kept.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        population = replace(own, sd=own.sd * np.sqrt((n - 1) / n))
    everybody = np.ones_like(kept)
    everybody[list(how.excluded)] = False
    ways: dict[str, Floats] = {}
    there = {Kind(kind) for kind in np.unique(ratings.kind)}
    if frozenset(how.standardised_kinds) == frozenset(ANALYSED):  # else n is of other ratings
        ways["σ with ddof = 0"] = replace(scored, standardisation=population).system_z(kept)
    for title, kinds in (
        ("μ, σ of all kinds", ANALYSED),
        ("μ, σ of ordinary items and repeats", (Kind.ORDINARY, Kind.REPEAT)),
        ("μ, σ of ordinary items", (Kind.ORDINARY,)),
    ):
        if there & set(kinds) not in (there & set(how.standardised_kinds), set()):
            ways[title] = replace(scored, standardisation=standardise(ratings, scored.scores, kinds)).system_z(kept)
    if (ratings.source >= 0).any():  # else each item is an output of its own
        other = Unit.OUTPUT if how.unit is Unit.RATING else Unit.RATING
        ways[f"unit: {other.value}"] = replace(scored, unit=other).system_z(kept)
    ways["raw scores, not standardised"] = study.analysis.systems.raw
    if not np.array_equal(everybody, kept):
        ways["every worker counts"] = scored.system_z(everybody)
    reported = study.analysis.systems.z[order]
    return [
        {"name": name, "r": or_none(correlation.pearson), "tau": or_none(correlation.kendall)}
        | _survival(compare_rankings(reported, z[order][None]), order, study.loaded.systems)
        | ({"largest_change": None, "system": None} if name.startswith("raw") else {})  # points are not z
        for name, z in ways.items()
        for correlation in [correlate(reported, z[order])]
    ]


def _by_length(study: Study, scored: Scored, order: list[int]) -> dict[str, Any]:
    """Return z over the items whose reference, or other text of the source, has at most so many words."""
    found = {}
    known = {each.source: each for each in study.source_words}
    for text in _TEXTS:
        n_words = or_nan(getattr(known.get(source), text, None) for source in study.loaded.sources)
        is_rated = study.ratings.kind == Kind.ORDINARY
        bounds = length_bounds(np.append(n_words, np.nan)[study.ratings.source[is_rated]])
        if not bounds:
            continue
        counts, z = score_by_length(scored, study.analysis.is_kept, n_words, bounds)
        z = z[:, order]
        found[text] = _survival(compare_rankings(study.analysis.systems.z[order], z), order, study.loaded.systems) | {
            "most_words": bounds,
            "n_observations": counts.tolist(),
            "z": _cells(z.T),
        }
    return found


# --- What is shown


def _survival_section(found: Report) -> Section:
    """Return in one table what every way does to the ranking."""
    ways: list[tuple[str, Report]] = []
    if found["alpha"]:
        ways.append((f"α from {ALPHAS[0]:g} to {ALPHAS[-1]:g}", found["alpha"]))
    ways.append(("without one worker", found["without_worker"]))
    ways += [(each["name"], each) for each in found["settings"]]
    ways += [(f"short {_TEXTS[text]}s only", each) for text, each in in_order(found["lengths"], _TEXTS)]
    rows = [
        [name, each["n"], each["n_same_order"], each["n_same_best"], each["largest_change"], each["system"] or ""]
        for name, each in ways
    ]
    columns = [Column("computed otherwise"), Column("rankings"), Column("same order"), Column("same best system")]
    columns += [Column("largest change of z"), Column("of system")]
    caption = (
        "Rankings: in how many ways every system has a score. Same order: in how many of them all systems stand as in "
        "the ranking of this result."
    )
    table = Table("sensitivity", "Rankings computed otherwise", caption, columns, rows, output=_SHOWN)
    return Section("survival", "Does the ranking survive?", _finding(found), [table], page=PAGE)


def _finding(found: Report) -> str:
    said = [_worker_words(found["without_worker"])]
    if alpha := found["alpha"]:
        said.append(_alpha_words(alpha))
    others = found["settings"]
    n_same = sum(each["n_same_order"] for each in others)
    n_all = sum(each["n"] for each in others)
    if n_all:
        said.append(f"Of {counted(n_all, 'other way')} to score the systems, {n_same} give the same order.")
    return " ".join(said)


def _worker_words(found: Report) -> str:
    n = found["n_workers"]
    if not n or found["largest_change"] is None:
        return "Nobody can be left out, since fewer than two workers count."
    moved = f"no z changes by more than {found['largest_change']:.3f} ({found['system']})"
    if found["n_same_order"] == found["n"] == n:
        return f"The ranking survives when any one of the {counted(n, 'worker')} who count is left out: {moved}."
    best = (
        "the best system stays the best in all of them"
        if found["n_same_best"] == n
        else (f"the best system stays the best in {found['n_same_best']:,}")
    )
    return (
        f"The ranking survives in {found['n_same_order']:,} of {n:,} cases when one worker who counts is left out, and "
        f"{best}: {moved}."
    )


def _alpha_words(found: Report) -> str:
    low, high = min(found["n_workers"]), max(found["n_workers"])
    who = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    span = f"{ALPHAS[0]:g} to {ALPHAS[-1]:g}, at which {who} workers count"
    if found["n_same_order"] == len(found["alphas"]):
        change = found["largest_change"]
        moved = "no z changes" if change < _SEEN else f"no z changes by more than {change:.3f}"
        return f"The ranking survives at every α of the worker test from {span}: {moved}."
    return f"The ranking is the same at {found['n_same_order']} of {len(found['alphas'])} values of α from {span}."


def _limited(caption: str, n: int) -> str:
    return caption if n <= MOST_CURVES else f"{caption} The first {MOST_CURVES} of {n} systems."


def _alpha_section(found: Report) -> list[Section]:
    alpha = found["alpha"]
    if not alpha:
        return []
    rows = [["workers who count", *alpha["n_workers"]]]
    rows += [[name, *z] for name, z in zip(found["order"], alpha["z"], strict=True)]
    table = Table(
        "z-by-alpha",
        "z at each α of the worker test",
        "Mean z of each system from the workers whose p is below α.",
        [Column("system"), *(Column(f"α = {each:.2f}") for each in alpha["alphas"])],
        rows,
        output=_SHOWN,
    )
    figure = Figure(
        "z-by-alpha",
        "z at each α",
        partial(draw_alpha, found),
        "Curves of each system's z as α of the worker test goes from 0.01 to 0.10.",
        _limited("The dotted line is the α of this result.", len(found["order"])),
    )
    return [Section("alpha", "Another α of the worker test", _alpha_words(alpha), [table], [figure], page=PAGE)]


def _worker_section(found: Report) -> list[Section]:
    without = found["without_worker"]
    if not without["n_workers"] or without["largest_change"] is None:
        return []
    rows = list(zip(found["order"], found["z"], *(without[key] for key in ("low", "high", "change")), strict=True))
    table = Table(
        "z-without-a-worker",
        "z without one worker",
        "Mean z of each system, and the least, the greatest and the largest change of it when one worker is left out.",
        [Column("system"), Column("z"), Column("least"), Column("greatest"), Column("largest change")],
        rows,
        output=_SHOWN,
    )
    figure = Figure(
        "z-without-a-worker",
        "z without one worker",
        partial(draw_ranges, found),
        "A point for the z of each system, and a bar from the least to the greatest z without one worker.",
        _limited("Point: all workers who count. Bar: without any one of them.", len(found["order"])),
    )
    return [Section("without-worker", "Without one worker", "", [table], [figure], page=PAGE)]


def _length_section(found: Report, text: str) -> Section:
    lengths, name = found["lengths"][text], _TEXTS[text]
    bounds = lengths["most_words"]
    rows = [["observations", *lengths["n_observations"]]]
    rows += [[system, *z] for system, z in zip(found["order"], lengths["z"], strict=True)]
    table = Table(
        f"z-by-{text}-length",
        f"z by length of the {name}",
        f"Mean z over items whose {name} has at most so many words.",
        [Column("system"), *(Column(f"≤ {bound}") for bound in bounds)],
        rows,
        output=_SHOWN,
    )
    figure = Figure(
        f"z-by-{text}-length",
        f"z by length of the {name}",
        partial(draw_lengths, found, text),
        f"Curves of each system's z over items whose {name} has at most so many words.",
        _limited("", len(found["order"])),
    )
    said = f"Over items whose {name} has at most {bounds[0]} to {bounds[-1]} words, the ranking is the same in "
    said += f"{lengths['n_same_order']} of {counted(len(bounds), 'case')}."
    return Section(f"length-{text}", f"Only items with a short {name}", said, [table], [figure], page=PAGE)


# --- Figures


def draw_alpha(found: Report, theme: Theme) -> "Drawing":
    """Draw each system's z against α of the worker test."""
    alpha = found["alpha"]
    curves = dict(zip(found["order"], alpha["z"], strict=True))
    marked = alpha["chosen"] if ALPHAS[0] <= alpha["chosen"] <= ALPHAS[-1] else None
    return draw_curves(theme, alpha["alphas"], curves, xlabel="α of the worker test", ylabel="z", marked=marked)


def draw_lengths(found: Report, text: str, theme: Theme) -> "Drawing":
    """Draw each system's z over items of at most so many words."""
    lengths = found["lengths"][text]
    curves = dict(zip(found["order"], lengths["z"], strict=True))
    xlabel = f"words of the {_TEXTS[text]} at most"
    return draw_curves(theme, lengths["most_words"], curves, xlabel=xlabel, ylabel="z")


def draw_ranges(found: Report, theme: Theme) -> "Drawing":
    """Draw each system's z, and from the least to the greatest without one worker."""
    without, names = found["without_worker"], found["order"][:MOST_CURVES]
    figure, axes = theme.canvas(width=COLUMN_IN, height=1.0 + 0.24 * len(names))
    for k in range(len(names)):
        place = len(names) - 1 - k
        low, high = without["low"][k], without["high"][k]
        if low is not None:
            axes.plot([low, high], [place, place], color=theme.accent, linewidth=5, alpha=0.6, solid_capstyle="butt")
        axes.plot(found["z"][k], place, marker="o", markersize=4.5, color=theme.ink)
    axes.set_yticks(range(len(names)), [short_label(name) for name in reversed(names)])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("z")
    return figure
