"""Reliability of the scores of systems: would other workers rank alike, and how many are needed (METHOD §6)."""

from typing import Any

import numpy as np

from analysis.questions import Asked, Question
from analysis.results.sections import Column, Output, Section, Table
from analysis.results.stored import Report
from analysis.stats.correlation import FEWEST, correlate
from analysis.stats.pools import divide_at_random
from analysis.stats.ratings import Floats, or_none
from analysis.stats.reliability import spearman_brown
from evalsite.lib.words import counted

SEED = 20160503
RATERS = (1, 2, 3, 5, 10, 20, 50, 100)
_FEWEST_WORKERS = 4
_PAGE, _TITLE = "reliability", "Would other workers rank alike?"


class Halves(Question):
    """How the scores of systems from one half of the workers correlate with those from the other half."""

    slug = "halves"
    title = _TITLE
    page = _PAGE

    def refuse(self, asked: Asked) -> str:
        """Return that halves need four workers who count, and their correlation three systems."""
        if len(asked.order) < FEWEST:
            return f"Fewer than {FEWEST} systems have a score, and a correlation of fewer says nothing."
        if len(asked.workers) < _FEWEST_WORKERS:
            return f"Fewer than {_FEWEST_WORKERS} workers count, too few for halves that can be compared."
        return ""

    def compute(self, asked: Asked) -> dict[str, Any]:
        """Return what `describe_halves` does."""
        rng, workers = np.random.default_rng(SEED), sorted(asked.workers)
        parts = divide_at_random(len(workers), len(workers) // 2, asked.n_times // 2, rng)
        halves = zip(asked.scores_of(workers, parts), asked.scores_of(workers, 1 - parts), strict=True)
        return describe_halves(np.array([correlate(*scores).pearson for scores in halves]), len(workers))

    def sections(self, found: Report) -> list[Section]:
        """Return what other workers would say."""
        return [halves_section(found)]


def describe_halves(r: Floats, n_workers: int) -> dict[str, Any]:
    """Return r between the scores of two halves of the workers, and what it says of any number of workers, as JSON.

    Parameters
    ----------
    r : float64, (n_splits,)
        Of random divisions of the workers; NaN where undefined.
    n_workers : int

    Notes
    -----
    With r of halves of h workers each, one worker's reliability is r₁ = r/(h − (h − 1)r), and that of n workers
    n·r₁/(1 + (n − 1)r₁) (Spearman 1910; Brown 1910).
    """
    defined = r[~np.isnan(r)]
    middle = float(np.median(defined)) if defined.size else np.nan
    half = n_workers / 2
    single = middle / (half - (half - 1) * middle) if defined.size else np.nan
    by_raters = {str(n): or_none(n * single / (1 + (n - 1) * single)) for n in RATERS}
    return {
        "n_workers": int(n_workers),
        "n_splits": int(defined.size),
        "r": or_none(middle),
        "range": [or_none(value) for value in (np.percentile(defined, [2.5, 97.5]) if defined.size else [np.nan] * 2)],
        "whole": or_none(float(spearman_brown(np.array([middle]))[0])) if defined.size else None,
        "by_raters": by_raters if single > 0 else {},
    }


def coefficient(value: float | None) -> str:
    """Return a coefficient in words."""
    return "undefined" if value is None else f"{value:.2f}".replace("-", "−")


def halves_section(found: Report) -> Section:
    """Return what `describe_halves` found."""
    if found["r"] is None:
        finding = "The workers cannot be divided into halves that both rate two systems or more."
        return Section("halves", _TITLE, finding, page=_PAGE)
    low, high = found["range"]
    finding = (
        f"The system scores of one half of the {counted(found['n_workers'], 'worker')} correlate with those of the "
        f"other half by {coefficient(found['r'])} in the median of {counted(found['n_splits'], 'random division')} "
        f"({coefficient(low)} to {coefficient(high)}). The reliability of all of them is {coefficient(found['whole'])}."
    )
    rows = sorted([int(n), found["by_raters"][n]] for n in found["by_raters"])
    table = Table(
        "reliability-by-raters",
        "Reliability by number of workers",
        "The correlation that the scores of so many workers would have with those of as many others (Spearman–Brown).",
        [Column("workers"), Column("reliability")],
        rows,
        output=Output.FILES | Output.PAGE,
    )
    return Section("halves", _TITLE, finding, [table] if rows else [], page=_PAGE)
