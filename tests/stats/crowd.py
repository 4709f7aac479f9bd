"""Small sets of ratings for tests of the statistics."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from analysis.stats.pipeline import Design
from analysis.stats.ratings import Ratings
from campaigns.design.composition import Kind


def ratings_of(items, *, n_workers=None, n_systems=None):
    """Ratings from (worker, system, source, kind, scores) tuples; an assignment a worker."""
    worker, system, source, kind, scores = (list(column) for column in zip(*items, strict=True))
    worker = np.array(worker)
    return Ratings(
        scores=np.array(scores, dtype=float).reshape(len(items), -1),
        worker=worker,
        system=np.array(system),
        assignment=worker,
        source=np.array(source),
        kind=np.array(kind),
        n_workers=n_workers or int(worker.max()) + 1,
        n_systems=n_systems or max(system) + 1,
    )


def design(n_criteria=1, preset="paired-wilcoxon", **changes):
    """The default design with so many positive criteria, all of them in the worker test."""
    base = Design(np.zeros(n_criteria, dtype=bool), np.ones(n_criteria, dtype=bool), preset)
    return replace(base, **changes)


def crowd(seed=0, *, n_workers=6, n_systems=3, n_sources=30, n_criteria=1, decimals=0):
    """A seeded crowd: each worker rates outputs, with degraded and repeat copies, all kinds in one HIT."""
    rng = np.random.default_rng(seed)
    items = []
    for worker in range(n_workers):
        scale = rng.uniform(0.6, 1.4)
        for source in rng.choice(n_sources, 14, replace=False):
            system = int(rng.integers(n_systems))
            quality = 40 + 15 * system
            items.append((worker, system, source, Kind.ORDINARY, quality))
            if rng.random() < 0.5:
                items.append((worker, system, source, Kind.DEGRADED, quality - 25))
            if rng.random() < 0.3:
                items.append((worker, system, source, Kind.REPEAT, quality))
            if rng.random() < 0.2:
                items.append((worker, system, source, Kind.REFERENCE, 90))
        start = len([i for i in items if i[0] < worker])
        for k in range(start, len(items)):
            noisy = items[k][4] * scale + rng.normal(0, 9, n_criteria)
            items[k] = (*items[k][:4], np.clip(noisy, 0, 100).round(decimals))
    return ratings_of(items, n_workers=n_workers, n_systems=n_systems)


def take(ratings, order):
    """The same ratings with their items in another order."""
    return replace(
        ratings,
        **{
            name: getattr(ratings, name)[order]
            for name in ("scores", "worker", "system", "assignment", "source", "kind")
        },
    )


seeds = st.integers(0, 10_000)
