"""What is asked of every kind of response (`analysis.questions`), answered by the arrays of a study."""

from typing import Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.metrics.assistance import assist_scores
from analysis.questions.assistance import Assistance
from analysis.questions.halves import SEED, Halves, describe_halves
from analysis.questions.reliability import Reliability as AskedReliability
from analysis.questions.reliability import measure_reliability
from analysis.results.sections import Section
from analysis.results.stored import Report
from analysis.stats.reliability import split_half
from campaigns.design.composition import Kind

N_SPLITS = 500


class Reliability(Method):
    """How far workers agree, how far the ranking depends on who rated, and what metrics add: answers to questions."""

    slug = "reliability"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `questions`, with the answers."""
        agreement = measure_reliability(study.judgements)
        answers = {AskedReliability.slug: agreement, Halves.slug: _halves(study)}
        if study.metrics:
            answers[Assistance.slug] = assist_scores(study.peoples_scores, study.metrics)
        return {"questions": answers}

    def sections(self, report: Report) -> list[Section]:
        """Return none: questions have their own."""
        return []


def _halves(study: Study) -> dict[str, Any]:
    ratings, analysis = study.ratings, study.analysis
    rows = np.flatnonzero((ratings.kind == Kind.ORDINARY) & analysis.is_kept[ratings.worker])
    worker, system = ratings.worker[rows], ratings.system[rows]
    z = analysis.standardisation.z(study.judgements.ratings.scores[rows].mean(axis=1), worker)
    r = split_half(
        z,
        system,
        worker,
        n_systems=ratings.n_systems,
        n_workers=ratings.n_workers,
        n_splits=N_SPLITS,
        rng=np.random.default_rng(SEED),
    )
    return describe_halves(r, np.unique(worker[~np.isnan(z)]).size)
