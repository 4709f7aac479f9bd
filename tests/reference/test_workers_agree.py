"""How workers of the dialogue study agree with each other, from its public ratings.

The study does not say which scores it correlates. The number of pairs does not depend on it. The peak does, and means
over criteria are a way of computing it that has the peak where Figure 5.12 has it.
"""

import json

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import load_settings
from analysis.methods.study.study import run_study
from analysis.stats.quality import Verdict
from analysis.stats.reliability import correlate_assignments
from analysis.stats.scores import reverse_negative


@pytest.fixture(scope="module")
def found(shared_data):
    """r of the pairs of assignments by workers who passed, and of those by workers who failed."""
    settings = load_settings("dialogue-free")
    path = shared_data / "dialogue-run1" / "ratings.csv"
    study = run_study(load_ratings(path, criteria=settings.criterion_names), settings)
    negative = settings.design(study.loaded.workers).is_negative
    pairs = correlate_assignments(study.ratings, reverse_negative(study.ratings.scores, negative))
    worker_of = np.empty(len(study.loaded.assignments), int)
    worker_of[study.ratings.assignment] = study.ratings.worker
    verdicts = study.analysis.workers.verdict[worker_of[np.stack([pairs.first, pairs.second])]]
    is_defined = ~np.isnan(pairs.pearson)
    return {
        name: pairs.pearson[(verdicts == verdict).all(axis=0) & is_defined]
        for name, verdict in (("passed", Verdict.PASSED), ("failed", Verdict.FAILED))
    }


def test_pairs_are_as_many_as_in_figure_5_12(found, shared_data):
    published = json.loads((shared_data / "published_tables.json").read_text())["dialogue"]["worker_pair_counts"]
    assert {f"{name}_pairs": r.size for name, r in found.items()} == published


def test_density_of_pairs_who_passed_peaks_between_0_6_and_0_7_and_pairs_who_failed_centre_on_zero(found):
    places = np.linspace(-1, 1, 401)
    assert 0.6 < places[gaussian_kde(found["passed"])(places).argmax()] < 0.7
    assert abs(np.median(found["failed"])) < 0.05
