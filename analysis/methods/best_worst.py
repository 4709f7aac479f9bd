"""Best–worst scaling: how much more often a system is the best than the worst (Louviere & Woodworth 1991)."""

import numpy as np

from analysis.data.rankings import BEST, NAMES, WORST, RankingData, load_best_worst
from analysis.methods import ResponsesFile
from analysis.methods.ranking import Ranking
from analysis.methods.settings import AnalysisSettings
from analysis.stats.ratings import Floats


class BestWorst(Ranking):
    """The share of choices in which a system is the best, less the share in which it is the worst.

    Implied pairs: the best wins against all others, all others against the worst; nothing is said of those between.
    """

    slug = "best_worst"
    title = "Best–worst"
    summary = "How often a system was the best, and the worst."
    table = "choices"
    file_columns = ("worker", "source", "best", "worst")
    names = NAMES
    what = "how often a system is the best, less how often it is the worst, of the times that it was shown"
    noun = "choice"
    keeps_ties = False

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> RankingData:
        """Return the choices of a file."""
        return load_best_worst(file.path, file.choices_for(settings))

    def value(self, data: RankingData) -> Floats:
        """Return 1 for the best, −1 for the worst, 0 for others."""
        return np.where(data.rank == BEST, 1.0, np.where(data.rank == WORST, -1.0, 0.0))
