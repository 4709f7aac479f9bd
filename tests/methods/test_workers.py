"""The table of workers that reports of all response methods have."""

import numpy as np

from analysis.methods.workers import JudgedWorkers, list_workers
from analysis.stats.quality import Verdict
from campaigns.design.worker_test import NO_TEST


def test_assignments_are_counted_of_some_of_the_responses() -> None:
    """Of those on short sources, say, only two assignments are left of many, with the codes that they had."""
    verdict = np.full(2, Verdict.TRUSTED, np.int8)
    judged = JudgedWorkers(["ann", "bob"], np.full(2, np.nan), np.zeros(2, np.int64), verdict, {}, NO_TEST, 0.05)
    rows = list_workers(judged, np.array([0, 0, 1]), np.array([1_000, 1_000, 70_000]))
    assert [(row.worker, row.n_ratings, row.n_assignments) for row in rows] == [("ann", 2, 1), ("bob", 1, 1)]
