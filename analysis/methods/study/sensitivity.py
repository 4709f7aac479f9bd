"""Sensitivity: does the ranking survive another α, the loss of a worker, other settings, short texts (METHOD §6)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.questions.survival import (
    ALPHAS,
    PAGE,
    SHOWN,
    alpha_section,
    cells,
    describe_ranges,
    describe_survival,
    limited,
    survival_section,
    worker_section,
)
from analysis.results.curves import draw_curves
from analysis.results.sections import Column, Figure, Section, Table, Theme
from analysis.results.stored import in_order
from analysis.stats.correlation import correlate
from analysis.stats.ratings import Floats, or_nan, or_none
from analysis.stats.scores import Unit, reverse_negative, standardise
from analysis.stats.sensitivity import (
    Scored,
    length_bounds,
    score_by_alpha,
    score_by_length,
    score_without_each,
)
from campaigns.design.composition import ANALYSED, Kind
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_TEXTS = {"reference": "reference", "input": "source text"}
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
        found = {"order": [study.loaded.systems[code] for code in order], "z": cells(analysis.systems.z[order])}
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
        short = {f"short {_TEXTS[text]}s only": each for text, each in in_order(found["lengths"], _TEXTS)}
        sections = [survival_section(found, short), *alpha_section(found), *worker_section(found)]
        return [*sections, *(_length_section(found, text) for text in _TEXTS if text in found["lengths"])]


# --- What is computed


def _survival(study: Study, order: list[int], z: Floats) -> dict[str, Any]:
    names = [study.loaded.systems[code] for code in order]
    return describe_survival(study.analysis.systems.z[order], z, names)


def _by_alpha(study: Study, scored: Scored, order: list[int]) -> dict[str, Any]:
    workers = study.analysis.workers
    is_excluded = np.isin(np.arange(study.ratings.n_workers), study.settings.design(study.loaded.workers).excluded)
    by_alpha = score_by_alpha(scored, workers.p_value, ALPHAS, is_excluded)
    z = by_alpha.z[:, order]
    return _survival(study, order, z) | {
        "alphas": list(ALPHAS),
        "n_workers": by_alpha.n_workers.tolist(),
        "z": cells(z.T),
        "chosen": study.settings.alpha,
    }


def _without_worker(study: Study, scored: Scored, order: list[int]) -> dict[str, Any]:
    z = score_without_each(scored, study.analysis.is_kept)[:, order]
    return _survival(study, order, z) | describe_ranges(study.analysis.systems.z[order], z)


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
        | _survival(study, order, z[order][None])
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
        found[text] = _survival(study, order, z) | {
            "most_words": bounds,
            "n_observations": counts.tolist(),
            "z": cells(z.T),
        }
    return found


# --- What is shown


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
        output=SHOWN,
    )
    figure = Figure(
        f"z-by-{text}-length",
        f"z by length of the {name}",
        partial(draw_lengths, found, text),
        f"Curves of each system's z over items whose {name} has at most so many words.",
        limited("", len(found["order"])),
    )
    said = f"Over items whose {name} has at most {bounds[0]} to {bounds[-1]} words, the ranking is the same in "
    said += f"{lengths['n_same_order']} of {counted(len(bounds), 'case')}."
    return Section(f"length-{text}", f"Only items with a short {name}", said, [table], [figure], page=PAGE)


# --- Figures


def draw_lengths(found: Report, text: str, theme: Theme) -> "Drawing":
    """Draw each system's z over items of at most so many words."""
    lengths = found["lengths"][text]
    curves = dict(zip(found["order"], lengths["z"], strict=True))
    xlabel = f"words of the {_TEXTS[text]} at most"
    return draw_curves(theme, lengths["most_words"], curves, xlabel=xlabel, ylabel="z")
