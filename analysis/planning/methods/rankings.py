"""Pages of several outputs of one source that are ranked, or of which the best and the worst are chosen."""

from collections.abc import Mapping
from dataclasses import replace
from math import hypot, sqrt
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from analysis.data.rankings import BEST, MIDDLE, WORST, RankingData
from analysis.methods.best_worst import BestWorst
from analysis.methods.ranking import Ranking
from analysis.planning.methods.campaigns import names
from analysis.planning.methods.planned import SIGN, SimulatedMethod, bad_plan
from analysis.planning.methods.scores import OfRatings
from analysis.stats.designs import PlannedDesign, RatingModel, simulate_ratings
from analysis.stats.power import Power, approximate_workers
from campaigns.design.composition import Kind, Layout
from campaigns.design.worker_test import Compared


def points_of_placing(share: float, model: RatingModel) -> float:
    """Return how many points apart two systems are of which the better one is placed above the other in a share.

    Parameters
    ----------
    share : float
        Above 0 and below 1, of the pages of all possible careful workers that show both.

    Notes
    -----
    Both outputs are of one source and judged by one worker, so the difference of their scores is normal with the
    variance 2·(output² + liking² + residual²), and the share is Φ(points/√variance).

    Examples
    --------
    >>> model = RatingModel(worker=10, liking=0, source=12, output=3, residual=4)
    >>> round(points_of_placing(0.8413, model) / 2**0.5, 2)
    5.0
    """
    return sqrt(2) * hypot(model.output, model.liking, model.residual) * NormalDist().inv_cdf(share)


def simulate_pages(
    design: PlannedDesign, model: RatingModel, difference: float, n_shown: int, rng: np.random.Generator
) -> RankingData:
    """Return rankings, without ties, of one simulated campaign; systems are named in the order of quality, best first.

    An item of the design is a page with `n_shown` outputs of one source, of systems drawn at random, ranked by the
    scores of `simulate_ratings`; `difference` is in their points. Degraded pages are copies on which one output is
    degraded; repeats, which count for nothing, are left out.
    """
    n_pages = design.hits_per_worker * design.n_ordinary
    pages = replace(
        design,
        hits_per_worker=n_pages,
        n_ordinary=n_shown,
        n_degraded=1,
        n_repeat=n_shown - 1,
        layout=Layout.BY_SOURCE,
    )
    ratings = simulate_ratings(pages, model, difference, rng)
    shape = design.n_workers * n_pages, 2, n_shown  # each page as it is, and with its first output degraded
    score, system, kind = (each.reshape(shape) for each in (ratings.scores[:, 0], ratings.system, ratings.kind))
    place = np.arange(shape[0]) // design.n_workers  # of a page, among those of its worker
    is_shown = np.stack([np.ones(shape[0], bool), place % design.n_ordinary < design.n_degraded], axis=1)
    score, system, kind = score[is_shown], system[is_shown], kind[is_shown]
    page, is_copy = np.nonzero(is_shown)
    worker = page % design.n_workers
    hit = page // design.n_workers // design.n_ordinary
    return RankingData(
        systems=names("s", design.n_systems),
        workers=names("w", design.n_workers),
        sources=names("q", design.n_sources),
        criteria=[""],
        judgement=np.repeat(np.arange(page.size), n_shown),
        system=system.ravel(),
        rank=((-score).argsort(axis=1).argsort(axis=1) + 1.0).ravel(),  # 1 is the highest score
        is_degraded=kind.ravel() == Kind.DEGRADED,
        worker=worker,
        source=ratings.source.reshape(shape)[:, 0, 0][page],
        criterion=np.zeros(page.size, np.int64),
        kind=np.where(is_copy, Kind.DEGRADED, Kind.ORDINARY),
        assignment=hit * design.n_workers + worker,
    )


class PlannedRankings(OfRatings, SimulatedMethod[RankingData]):
    """The difference is how often, of 100 pages that show two neighbours in rank, the better one is placed above."""

    slug, unit, called, decimals = Ranking.slug, "of the score", "rankings", 3
    compared_by = "the comparison of the shares of others that systems beat"
    asked = "on how many in 100 of the pages that show both the better one is placed above"
    method = Ranking
    item, is_page, responses = "ranking", True, "times ranked"
    worker_tests, least_degraded = (SIGN,), 10
    model_note = "Outputs of a page are ranked by such scores, as is assumed."
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 60, "n_criteria": 1, "layout": Layout.POOLED.value}
    least_shown: ClassVar[int] = 2

    def check_difference(self, design: PlannedDesign) -> None:
        """The better system is above in more than half of the pages, which show no system twice."""
        if not 50 < self.difference < 100:
            raise bad_plan(
                f"The better of two neighbours is to be placed above the other in {self.difference:g} % of the pages; "
                "write more than 50 and less than 100, for instance 60."
            )
        if not self.least_shown <= self.outputs_per_page <= design.n_systems:
            raise bad_plan(
                f"A page is to show {self.outputs_per_page} outputs; with {design.n_systems} systems it can show "
                f"{self.least_shown} to {design.n_systems}, one of each."
            )

    def words(self) -> str:
        """Return the share of pages."""
        return f"a system that is placed above its neighbour in rank on {self.difference:g} % of the pages with both"

    def responses_of_item(self, design: PlannedDesign) -> int:
        """Return a place of each output of the page."""
        return self.outputs_per_page

    def compared(self, design: PlannedDesign) -> Compared:
        """Return that the degraded output of a page may be any one."""
        return replace(super().compared(design), n_alike=self.outputs_per_page)

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> RankingData:
        """Return rankings."""
        points = points_of_placing(self.difference / 100, model)
        return simulate_pages(design, model, points, self.outputs_per_page, rng)

    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return what the formula of variances says of as many scores, each less the mean of the others on its page."""
        others = sqrt(self.outputs_per_page / (self.outputs_per_page - 1))
        of_page = replace(model, residual=model.residual * others, liking=model.liking * others)
        scores = replace(design, hits_per_worker=design.hits_per_worker * self.outputs_per_page)
        points = points_of_placing(self.difference / 100, model)
        return approximate_workers(scores, of_page, points, target=target, sources_grow=sources_grow)

    def variance_parts(self, design: PlannedDesign, model: Any, found: Power) -> dict[str, float]:
        """Return nothing: parts of scores are not those of ranks."""
        return {}


class PlannedBestWorst(PlannedRankings):
    """The same scores, of which workers say the highest and the lowest of a page."""

    slug, called, item, responses = BestWorst.slug, "choices", "choice", "times shown"
    compared_by = "the comparison of how often systems are the best, less how often the worst"
    asked = "on how many in 100 of the pages that show both the better one’s output is the better"
    method = BestWorst
    model_note = "The best and the worst of a page are those with the highest and the lowest score, as is assumed."
    least_shown = 3

    def words(self) -> str:
        """Return the share of pages."""
        return f"a system whose output is the better one on {self.difference:g} % of the pages with its neighbour’s"

    def simulate(self, design: PlannedDesign, model: RatingModel, rng: np.random.Generator) -> RankingData:
        """Return choices."""
        data = super().simulate(design, model, rng)
        between = np.where(data.rank == self.outputs_per_page, WORST, MIDDLE)
        return replace(data, rank=np.where(data.rank == 1, BEST, between))
