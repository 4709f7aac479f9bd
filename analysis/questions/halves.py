"""Reliability of the scores of systems: would other workers rank alike, and how many are needed (METHOD §6)."""

import numpy as np

from analysis.questions import Asked, Question
from analysis.results.answers import UNKNOWN, SplitHalves
from analysis.results.sections import Column, Output, Section, Table
from analysis.stats.correlation import FEWEST, pearson
from analysis.stats.pools import divide_at_random
from analysis.stats.ratings import Floats, or_none
from analysis.stats.reliability import spearman_brown
from evalsite.lib.words import counted

SEED = 20160503
RATERS = (1, 2, 3, 5, 10, 20, 50, 100)
_FEWEST_WORKERS = 4


class Halves(Question[SplitHalves]):
    """How the scores of systems from one half of the workers correlate with those from the other half."""

    slug = "halves"
    title = "Would other workers rank alike?"
    page = "reliability"
    answer = SplitHalves

    def refuse(self, asked: Asked) -> str:
        """Return that halves need four workers who count, and their correlation three systems."""
        if len(asked.order) < FEWEST:
            return f"Fewer than {FEWEST} systems have a score, and a correlation of fewer says nothing."
        if len(asked.workers) < _FEWEST_WORKERS:
            return f"Fewer than {_FEWEST_WORKERS} workers count, too few for halves that can be compared."
        return ""

    def compute(self, asked: Asked) -> SplitHalves:
        """Return what random halves say, by the arrays of the method, or by analyses without the other half."""
        rng, workers = np.random.default_rng(SEED), sorted(asked.workers)
        r = asked.method.correlate_halves(asked.data, asked.settings, rng)
        if r is None:
            parts = divide_at_random(len(workers), len(workers) // 2, asked.n_times // 2, rng)
            halves = zip(asked.scores_of(workers, parts), asked.scores_of(workers, 1 - parts), strict=True)
            r = np.array([pearson(*scores) for scores in halves])
        return split_halves(r, len(workers))

    def sections(self, answer: SplitHalves) -> list[Section]:
        """Return what other workers would say."""
        if answer.r is None:
            finding = "The workers cannot be divided into halves that both rate two systems or more."
            return [Section(self.slug, self.title, finding, page=self.page)]
        low, high = answer.range
        finding = (
            f"The system scores of one half of the {counted(answer.n_workers, 'worker')} correlate with those of the "
            f"other half by {coefficient(answer.r)} in the median of {counted(answer.n_splits, 'random division')} "
            f"({coefficient(low)} to {coefficient(high)}). The reliability of all of them is "
            f"{coefficient(answer.whole)}."
        )
        table = Table(
            "reliability-by-raters",
            "Reliability by number of workers",
            "The correlation that the scores of so many workers would have with those of as many others "
            "(Spearman–Brown).",
            [Column("workers"), Column("reliability")],
            sorted(answer.by_raters.items()),
            output=Output.FILES | Output.PAGE,
        )
        return [Section(self.slug, self.title, finding, [table] if table.rows else [], page=self.page)]


def split_halves(r: Floats, n_workers: int) -> SplitHalves:
    """Return what r between the scores of two halves of the workers says of any number of workers.

    Parameters
    ----------
    r : float64, (n_splits,)
        Of random divisions of the workers; NaN where undefined.

    Notes
    -----
    With r of halves of h workers each, one worker's reliability is r₁ = r/(h − (h − 1)r), and that of n workers
    n·r₁/(1 + (n − 1)r₁) (Spearman 1910; Brown 1910).
    """
    defined = r[~np.isnan(r)]
    if not defined.size:
        return SplitHalves(None, UNKNOWN, None, n_workers, 0, {})
    middle, half = float(np.median(defined)), n_workers / 2
    single = middle / (half - (half - 1) * middle)
    return SplitHalves(
        r=middle,
        range=np.percentile(defined, [2.5, 97.5]).tolist(),
        whole=or_none(float(spearman_brown(np.array([middle]))[0])),
        n_workers=n_workers,
        n_splits=int(defined.size),
        by_raters={n: or_none(n * single / (1 + (n - 1) * single)) for n in RATERS} if single > 0 else {},
    )


def coefficient(value: float | None) -> str:
    """Return a coefficient in words."""
    return "undefined" if value is None else f"{value:.2f}".replace("-", "−")
