"""Designs that are planned, how ratings vary, and ratings simulated of both (METHOD §8)."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Ratings
from campaigns.design.composition import Kind, Layout
from campaigns.design.worker_test import NO_TEST

MIDDLE = 50.0
"""The mean of the true scores of all systems, in points of 100."""
_FULL = 100.0

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class RatingModel:
    """How ratings vary. Standard deviations are in points of a scale of 100, and those of ratings that count.

    Attributes
    ----------
    worker : float
        Between the levels of workers. Scores are standardised per worker, so it changes no result.
    liking : float
        Worker × system: how much workers differ in which systems they like.
    source : float
        Between sources, of whatever system: how much they differ in difficulty.
    output : float
        Source × system: between the outputs of one system, sources apart.
    residual : float
        Between ratings of one output by different workers, the above apart; of the mean over criteria.
    criterion : float
        Between the criteria of one item, their means apart; with k criteria it adds criterion²/k to a mean's variance.
    degradation : float
        By how many points degraded items are rated lower, in the mean.
    careless : float
        Share of workers who rate anything from 0 to 100, whatever they see.
    """

    worker: float
    liking: float
    source: float
    output: float
    residual: float
    criterion: float = 0.0
    degradation: float = 38.0
    careless: float = 0.25


# Variances of z in the two public studies, times 30 points (docs/method/planning.md). The outputs of one source could
# not be separated from its difficulty there: half of their variance is taken for each.
TEXTS = RatingModel(worker=10, liking=7.3, source=12.4, output=12.4, residual=19.4)
CHATS = RatingModel(worker=12, liking=8.1, source=0, output=0, residual=10.5, criterion=23.1, degradation=42)


@dataclass(frozen=True)
class PlannedDesign:
    """What a campaign would collect.

    Attributes
    ----------
    n_systems, n_workers, hits_per_worker : int
        Every worker does as many HITs.
    n_sources : int
        Each has one output of every system. Not used in the layout `BY_SYSTEM`, where each item is a chat of its own.
    n_ordinary, n_degraded, n_repeat : int
        Items of a HIT.
    workers_per_hit : int
        How many workers rate the same HIT.
    worker_test : str
        A key of `quality.PRESETS`; workers pass at p < 0.05.

    Raises
    ------
    ValueError
        With a text for people, if there is no such design.
    """

    n_systems: int
    n_workers: int
    n_sources: int
    n_ordinary: int
    n_degraded: int = 0
    n_repeat: int = 0
    hits_per_worker: int = 1
    workers_per_hit: int = 1
    n_criteria: int = 1
    layout: Layout = Layout.POOLED
    worker_test: str = NO_TEST

    def __post_init__(self) -> None:
        least = min(self.n_workers, self.n_sources, self.n_ordinary, self.hits_per_worker, self.workers_per_hit)
        if self.n_systems < 2 or min(least, self.n_criteria) < 1 or min(self.n_degraded, self.n_repeat) < 0:
            raise ValueError("A design needs two systems or more, and one or more of everything else.")
        if self.workers_per_hit > self.n_workers:
            raise ValueError(
                f"{self.workers_per_hit} different workers are to rate each HIT, and there are {self.n_workers}."
            )
        if self.n_ordinary > self.most_ordinary:
            raise ValueError(
                f"A HIT cannot have {self.n_ordinary} ordinary items: there are {self.most_ordinary} "
                f"{'systems to choose from' if self.layout != Layout.POOLED else 'outputs in all'}."
            )
        if self.layout != Layout.BY_SYSTEM and max(self.n_degraded, self.n_repeat) > self.n_ordinary:
            raise ValueError("Degraded items and repeats are copies: there cannot be more of them than ordinary items.")
        if self.layout == Layout.BY_SYSTEM and self.n_repeat:
            raise ValueError("A chat cannot be repeated.")
        if self.worker_test != NO_TEST and not self.n_degraded:
            raise ValueError("The worker test needs degraded items. Add some, or choose no worker test.")

    @property
    def most_ordinary(self) -> int:
        """How many ordinary items a HIT can have."""
        return self.n_systems * (self.n_sources if self.layout == Layout.POOLED else 1)

    @property
    def hit_size(self) -> int:
        """Items of a HIT."""
        return self.n_ordinary + self.n_degraded + self.n_repeat

    @property
    def n_assignments(self) -> int:
        """HITs that workers do, all workers together."""
        return self.n_workers * self.hits_per_worker

    @property
    def n_hits(self) -> int:
        """Different HITs."""
        return ceil(self.n_assignments / self.workers_per_hit)

    @property
    def ratings_per_system(self) -> float:
        """Ordinary items of a system that are rated, by all workers."""
        return self.n_assignments * self.n_ordinary / self.n_systems


def with_workers(design: PlannedDesign, n_workers: int, *, sources_grow: bool = False) -> PlannedDesign:
    """Return a design with another number of workers, who do as many HITs each, and with sources in proportion."""
    n_workers = max(n_workers, design.workers_per_hit)
    n_sources = ceil(design.n_sources * n_workers / design.n_workers) if sources_grow else design.n_sources
    return replace(design, n_workers=n_workers, n_sources=max(n_sources, ceil(design.n_ordinary / design.n_systems)))


def change_designs(design: PlannedDesign) -> dict[str, PlannedDesign]:
    """Return what may be done with twice as many ratings, or with as many ratings of other outputs, by name.

    "workers": twice as many workers, who rate HITs of their own. "repeated": the same with each HIT rated by twice as
    many workers. "hits": the same workers do twice as many HITs. "sources": as many ratings, of twice as many sources.
    "repeats": ordinary items in the place of repeats. What cannot be is left out.
    """
    changes: dict[str, dict[str, Any]] = {
        "workers": {"n_workers": 2 * design.n_workers},
        "repeated": {"n_workers": 2 * design.n_workers, "workers_per_hit": 2 * design.workers_per_hit},
        "hits": {"hits_per_worker": 2 * design.hits_per_worker},
        "sources": {"n_sources": 2 * design.n_sources},
        "repeats": {"n_ordinary": design.n_ordinary + design.n_repeat, "n_repeat": 0},
    }
    if design.layout == Layout.BY_SYSTEM:
        changes = {name: changes[name] for name in ("workers", "hits")}
    if not design.n_repeat or design.layout != Layout.POOLED:
        changes.pop("repeats", None)
    found = {}
    for name, change in changes.items():
        try:
            found[name] = replace(design, **change)
        except ValueError:
            continue
    return found


@dataclass(frozen=True)
class Items:
    """What workers are given, a row each assignment and a column each item.

    Attributes
    ----------
    worker : int, (n_assignments,)
    source, system : int, (n_assignments, hit_size)
        The source of a chat is −1; the degraded chatbot is one system more.
    kind : int, (hit_size,)
        `Kind` codes.
    """

    worker: Whole
    source: Whole
    system: Whole
    kind: Whole

    def as_ratings(self, scores: NDArray[np.float64], n_workers: int, n_systems: int) -> Ratings:
        """Return items with scores, (n_assignments, hit_size, n_criteria)."""
        n = self.worker.size
        return Ratings(
            scores=scores.reshape(-1, scores.shape[-1]),
            worker=np.repeat(self.worker, self.kind.size),
            system=self.system.ravel(),
            assignment=np.repeat(np.arange(n), self.kind.size),
            source=self.source.ravel(),
            kind=np.tile(self.kind, n).astype(np.int8),
            n_workers=n_workers,
            n_systems=n_systems,
        )


def draw_items(design: PlannedDesign, rng: np.random.Generator) -> Items:
    """Return the items of one simulated campaign.

    HITs take outputs from a shuffled pool, in the layout `BY_SOURCE` those of one source; all outputs are used once
    before any is used again. No worker does a HIT twice. Degraded items and repeats have twins of their own, as far as
    there are enough items.
    """
    n, k = design.n_assignments, design.n_systems
    source, system = (each[np.arange(n) // design.workers_per_hit] for each in _draw_hits(design, rng))
    kind = np.repeat(
        [Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT], [design.n_ordinary, design.n_degraded, design.n_repeat]
    )
    if design.layout == Layout.BY_SYSTEM:
        system = np.hstack([system, np.full((n, design.n_degraded), k)])
        source = np.full(system.shape, -1)
    else:
        twin = np.arange(design.n_degraded + design.n_repeat) % design.n_ordinary
        column = np.concatenate([np.arange(design.n_ordinary), twin])
        source, system = source[:, column], system[:, column]
    return Items(np.arange(n) % design.n_workers, source, system, kind)


def evenly_spaced(n_systems: int, difference: float, middle: float) -> NDArray[np.float64]:
    """Return the quality of each system, best first, neighbours being `difference` apart, around `middle`.

    >>> evenly_spaced(3, 2.0, 50.0).tolist()
    [52.0, 50.0, 48.0]
    """
    return np.asarray(middle + difference * ((n_systems - 1) / 2 - np.arange(n_systems)), np.float64)


def simulate_ratings(
    design: PlannedDesign, model: RatingModel, quality: float | NDArray[np.float64], rng: np.random.Generator
) -> Ratings:
    """Return the ratings of one simulated campaign; systems are in the order of their quality, best first.

    Parameters
    ----------
    quality : float, or float64 (n_systems,)
        Points between the true scores of two neighbours in rank, whose middle is 50; or the true score of each system.

    Returns
    -------
    Ratings
        Scores are normal, around 50, and not cut at the ends of the scale: the variances of real ratings, of which
        models are made, are those of cut scores. Chats with the degraded chatbot are of one system more.

    Notes
    -----
    score = quality + source + output + liking + worker + residual + criterion, all normal and independent, of the items
    that `draw_items` draws.
    """
    k = design.n_systems
    is_chat = design.layout == Layout.BY_SYSTEM
    items = draw_items(design, rng)
    true = quality if isinstance(quality, np.ndarray) else evenly_spaced(k, quality, MIDDLE)
    true = np.append(true, MIDDLE)  # of the degraded chatbot
    effect = rng.normal(0, model.source, (design.n_sources, 1)) + rng.normal(0, model.output, (design.n_sources, k))
    truth = true[items.system]
    if is_chat:
        truth[:, : design.n_ordinary] += rng.normal(0, model.output, (design.n_assignments, design.n_ordinary))
    else:
        truth += effect[items.source, items.system]
    worker = items.worker
    liking = rng.normal(0, model.liking, (design.n_workers, k + 1))
    item = truth + liking[worker[:, None], items.system]
    item = item + rng.normal(0, model.worker, design.n_workers)[worker][:, None]
    item = item + rng.normal(0, model.residual, item.shape) - model.degradation * (items.kind == Kind.DEGRADED)
    shape = (*item.shape, design.n_criteria)
    score = item[:, :, None] + (rng.normal(0, model.criterion, shape) if model.criterion else np.zeros(shape))
    is_careless = rng.random(design.n_workers) < model.careless
    if is_careless.any():
        score = np.where(is_careless[worker][:, None, None], rng.uniform(0, _FULL, shape), score)
    return items.as_ratings(score, design.n_workers, k + bool(is_chat and design.n_degraded))


def _draw_hits(design: PlannedDesign, rng: np.random.Generator) -> tuple[Whole, Whole]:
    """Return source and system of the ordinary items of each HIT, (n_hits, n_ordinary); of chats the source is 0."""
    shape = (design.n_hits, design.n_ordinary)
    if design.layout == Layout.POOLED:
        output = _shuffled_rounds(design.most_ordinary, design.n_hits, design.n_ordinary, rng)
        return output // design.n_systems, output % design.n_systems
    system = rng.permuted(np.tile(np.arange(design.n_systems), (design.n_hits, 1)), axis=1)[:, : design.n_ordinary]
    if design.layout == Layout.BY_SYSTEM:
        return np.zeros(shape, np.int64), system
    source = _shuffled_rounds(design.n_sources, design.n_hits, 1, rng)
    return np.broadcast_to(source, shape).copy(), system


def _shuffled_rounds(n: int, n_rows: int, n_columns: int, rng: np.random.Generator) -> Whole:
    """Return rows of different numbers below n, each number used as often as any other, or once more."""
    found = np.empty(0, np.int64)
    while found.size < n_rows * n_columns:
        order = rng.permutation(n)
        begun = found[found.size - found.size % n_columns :]  # a row that the last round has begun
        is_begun = np.isin(order, begun)
        found = np.concatenate([found, order[~is_begun], order[is_begun]])
    return found[: n_rows * n_columns].reshape(n_rows, n_columns)
