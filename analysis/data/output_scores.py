"""What workers say of single outputs, of any kind of response that does: what metrics are compared with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.data.coding import combined, first_rows
from analysis.data.responses import Responses, average_repeats
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats, Mask


@dataclass(frozen=True)
class OutputScores:
    """Scores of outputs, of one worker on one criterion each; higher is better.

    `systems`, `sources`, `workers`: labels by code; a source has its document in its name where two share a name.
    `system`, `source`, `worker`, `criterion`: int, (n,). `score`: float64, (n,), no NaN.
    """

    systems: list[str]
    sources: list[str]
    workers: list[str]
    system: Codes
    source: Codes
    worker: Codes
    criterion: Codes
    score: Floats

    @classmethod
    def of(cls, data: Responses, score: Floats) -> "OutputScores | None":
        """Return scores of answers, (n,), those that are NaN left out; None where sources are not known."""
        if not any(data.sources) and not any(data.documents):
            return None
        rows = np.flatnonzero(~np.isnan(score))
        _, first, source = np.unique(data.segment[rows], return_index=True, return_inverse=True)
        at = rows[first]
        pairs = [(data.documents[data.document[row]], data.sources[data.source[row]]) for row in at.tolist()]
        labels = data.systems, name_sources(pairs), data.workers
        return cls(*labels, data.system[rows], source, data.worker[rows], data.criterion[rows], score[rows])

    def over_criteria(self, systems: Sequence[str]) -> tuple[Floats, Codes, Codes, Codes]:
        """Return the score of each worker's judgement of an output of some systems, and codes of system (its place in
        `systems`), worker and source, (n,) each.

        Of several criteria the mean, where the worker scored the output on all of them.
        """
        place = {name: k for k, name in enumerate(systems)}
        system = np.array([place.get(name, -1) for name in self.systems], np.int64)[self.system]
        rows = np.flatnonzero(system >= 0)
        score, columns = self.score[rows], (system[rows], self.worker[rows], self.source[rows])
        criterion, n_criteria = dense_ranks(self.criterion[rows], int(self.criterion.max(initial=-1)) + 1)
        if n_criteria < 2:
            return score, *columns
        sizes = (len(systems), len(self.workers), len(self.sources))
        judgement, n = dense_ranks(*combined(list(zip(columns, sizes, strict=True))))
        cell, shape = judgement * n_criteria + criterion, (n, n_criteria)
        times = np.bincount(cell, minlength=n * n_criteria).reshape(shape)
        with np.errstate(invalid="ignore"):
            mean = (np.bincount(cell, score, n * n_criteria).reshape(shape) / times).mean(axis=1)
        first = first_rows(judgement, n)
        is_whole = ~np.isnan(mean)
        of_first = (column[first][is_whole] for column in columns)
        return mean[is_whole], *of_first

    def means(self, systems: Sequence[str]) -> Floats:
        """Return the score of each output, (n_sources, n_systems): the mean over criteria of the mean over workers.

        `systems`: which, in this order. NaN where nobody scored an output.
        """
        shape = len(self.sources), len(self.systems), int(self.criterion.max(initial=0)) + 1
        cell = np.ravel_multi_index((self.source, self.system, self.criterion), shape)
        n = np.bincount(cell, minlength=np.prod(shape)).reshape(shape)
        with np.errstate(invalid="ignore"):
            mean = np.bincount(cell, self.score, np.prod(shape)).reshape(shape) / n
            of_outputs = np.where(n > 0, mean, 0.0).sum(axis=2) / (n > 0).sum(axis=2)
        return np.asarray(of_outputs[:, [self.systems.index(name) for name in systems]])


def name_sources(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return names of sources, of which the document and the own name are given: the own name if it tells them apart.

    >>> name_sources([("d1", "1"), ("d2", "2")]), name_sources([("d1", "1"), ("d2", "1")])
    (['1', '2'], ['d1 1', 'd2 1'])
    """
    own = [name for _, name in pairs]
    return own if len(set(own)) == len(own) else [f"{document} {name}" for document, name in pairs]


def counted_outputs(data: Responses, score: Floats, is_counted: Mask) -> OutputScores | None:
    """Return the scores of workers who count, with those of repeats averaged into their twins.

    `score`: float64, (n,); `is_counted`: bool, (n_workers,). None where sources are not known.
    """
    averaged, is_left = average_repeats(data, score, data.twins)
    rows = is_counted[data.worker] & is_left
    return OutputScores.of(data.take(rows), averaged[rows])
