"""Would other workers say the same? Pools of workers inside one result, and scores of resampled workers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.questions.pools import SEED, ComparedPools, Pool, pools_section, score_pools
from analysis.results.result import Result
from analysis.results.sections import Section
from analysis.stats.pipeline import observe_ratings
from analysis.stats.pools import N_DIVISIONS, WorkerSums, resample_workers, sum_by_worker
from analysis.stats.ratings import Codes, Floats, or_nan
from analysis.stats.scores import counted_items
from evalsite.lib.typed_json import from_json, to_json

MOST_POOLS = 8
_OVERALL = "overall"
_DECIMALS = 4


class Pools(Method):
    """System scores of pools of workers, compared with random divisions of the same workers."""

    slug = "pools"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `resampled`, z of each system by resampled workers, and `pools`, if workers belong to some.

        `resampled` has, by criterion and system, numbers with spaces between them: one a sample, the same samples
        everywhere.
        """
        if not study.order:
            return {}
        sums = _sums(study)
        pools = _pools(study, sums)
        return {"resampled": _resampled(study, sums), **({self.slug: to_json(pools)} if pools else {})}

    def sections(self, result: Result) -> list[Section]:
        """Return how far pools of workers agree, if workers belong to some."""
        if not (found := result.own.get(self.slug)):
            return []
        # Results of before called the scores by what they are
        pools = [{"scores": pool["z"], **pool} if "z" in pool else pool for pool in found["pools"]]
        compared = from_json({**found, "pools": pools}, ComparedPools)
        return [pools_section(compared, "pools", "Pools of workers", score="z", answers="ratings")]


# --- What is computed


def _sums(study: Study) -> WorkerSums:
    """Return sums of z by worker and system: overall in the first column, then on each criterion."""
    ratings, settings = study.ratings, study.settings
    observations = observe_ratings(ratings, settings.design(study.loaded.workers), study.analysis)
    items = counted_items(ratings, study.analysis.is_kept)
    values = np.column_stack([observations.overall_z, observations.z])
    return sum_by_worker(
        *(values, observations.system, ratings.worker[items]),
        n_systems=ratings.n_systems,
        n_workers=ratings.n_workers,
    )


def _resampled(study: Study, sums: WorkerSums) -> dict[str, dict[str, str]]:
    draws = resample_workers(sums, np.random.default_rng(20160504))
    if not draws.shape[0]:
        return {}
    names = [_OVERALL, *(study.settings.criterion_names if len(study.settings.criteria) > 1 else ())]
    return {
        name: {study.loaded.systems[code]: _text(draws[:, code, k]) for code in study.order}
        for k, name in enumerate(names)
    }


def _text(values: Floats) -> str:
    return " ".join("-" if np.isnan(value) else f"{value:.{_DECIMALS}f}" for value in values)


def resamples_of(
    resampled: Mapping[str, Mapping[str, str]], names: Sequence[str], criterion: str | None
) -> Floats | None:
    """Return z by resampled workers, (n_samples, n_systems), on a criterion or overall (None); None if not known."""
    found = resampled.get(criterion or _OVERALL)
    if not found or any(name not in found for name in names):
        return None
    rows = [[None if text == "-" else float(text) for text in found[name].split()] for name in names]
    return np.stack([or_nan(row) for row in rows], axis=1)


def _pools(study: Study, sums: WorkerSums) -> ComparedPools | None:
    """Return scores of the largest pools and how far every two agree; None unless two have workers who count."""
    labels = study.loaded.pools
    if not labels:
        return None
    counting = study.analysis.is_kept & (sums.counts.sum(axis=(1, 2)) > 0)
    pool_of = np.where(counting, np.array(labels), "")
    members = {str(name): pool_of == name for name in np.unique(pool_of) if name}
    if len(members) < 2:
        return None
    largest = sorted(members, key=lambda name: (-members[name].sum(), name))[:MOST_POOLS]
    pools = [
        Pool(name, members[name], labels.count(name), int(sums.counts[members[name], :, 1:].sum())) for name in largest
    ]
    ranked = WorkerSums(sums.sums[:, study.order, :1], sums.counts[:, study.order, :1])

    def scores_of(workers: Codes, parts: Floats) -> Floats:
        rated = ranked if workers.size == study.ratings.n_workers else ranked.of(workers)
        return rated.scores(parts)[:, :, 0]

    return score_pools(
        pools,
        [study.loaded.systems[code] for code in study.order],
        scores_of,
        np.random.default_rng(SEED),
        N_DIVISIONS,
    )
