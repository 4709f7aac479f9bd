"""Simulated campaigns of six systems, in named worlds, for `error_rates.py`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.ratings import Ratings
from campaigns.design.composition import Kind

N_SYSTEMS, N_ORDINARY, N_COPIES = 6, 70, 10
KINDS = np.repeat([Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT], [N_ORDINARY, N_COPIES, N_COPIES]).astype(np.int8)
Matrix = NDArray[np.float64]
Codes = NDArray[np.integer]


@dataclass(frozen=True)
class World:
    """A kind of campaign. Standard deviations are in points of 100.

    `hits` are the numbers of HITs of one worker after another; `tick` is what scores are rounded to. `n_outputs` limits
    the outputs that are rated; `is_own`: each source has an output of one system only.
    """

    title: str
    n_workers: int = 30
    hits: tuple[int, ...] = (1,)
    n_sources: int = 100
    n_outputs: int | None = None
    is_own: bool = False
    has_chats: bool = False
    source_sd: float = 15
    output_sd: float = 8
    liking_sd: float = 0
    noise_sd: float = 14
    tick: float = 1
    careless_pass: bool = False


WORLDS = {
    "equal": World("30 workers"),
    "alike": World("… outputs alike", output_sd=0),
    "liking": World("… workers like some systems more (SD 8)", liking_sd=8),
    "eight": World("… and only 8 workers", liking_sd=8, n_workers=8),
    "often": World("150 outputs rated ten times each", n_outputs=150),
    "unequal": World("1 to 8 HITs a worker", hits=(1, 1, 1, 1, 1, 2, 3, 8)),
    "own": World("each system on sources of its own", is_own=True, n_sources=600),
    "sparse": World("2,000 sources, mostly rated once", n_sources=2000),
    "passing": World("careless workers who pass", careless_pass=True),
    "ties": World("scores of five steps", tick=25),
    "sources": World("12 sources", n_sources=12),
    "chats": World("chats: 120 workers, six each", has_chats=True, n_workers=120, liking_sd=6, noise_sd=12),
}


def simulate(world: World, step: float, rng: np.random.Generator) -> Ratings:
    """Return the ratings of one campaign; systems are in the order of their quality."""
    quality: Matrix = 50 + step * ((N_SYSTEMS - 1) / 2 - np.arange(N_SYSTEMS, dtype=np.float64))
    return simulate_chats(world, quality, rng) if world.has_chats else simulate_hits(world, quality, rng)


def simulate_hits(world: World, quality: Matrix, rng: np.random.Generator, is_uneven: bool = False) -> Ratings:
    """Return ratings of single outputs, in HITs drawn from the pool of all outputs.

    `is_uneven`: HITs have many outputs of some systems, few of others, each HIT of others.
    """
    shape = (world.n_sources, N_SYSTEMS)
    output = quality + rng.normal(0, world.source_sd, (world.n_sources, 1)) + rng.normal(0, world.output_sd, shape)
    pool = np.arange(output.size)
    if world.is_own:
        pool = pool[pool % N_SYSTEMS == pool // N_SYSTEMS % N_SYSTEMS]
    if world.n_outputs:
        pool = rng.choice(pool, world.n_outputs, replace=False)
    worker = np.repeat(np.arange(world.n_workers), np.resize(world.hits, world.n_workers))
    shares = rng.dirichlet(np.ones(N_SYSTEMS), worker.size) if is_uneven else np.ones((worker.size, N_SYSTEMS))
    items = np.stack([_draw(pool, share[pool % N_SYSTEMS], is_uneven, rng) for share in shares])
    items = np.concatenate([items, items[:, : 2 * N_COPIES]], axis=1)
    system = items % N_SYSTEMS
    liking = rng.normal(0, world.liking_sd, (world.n_workers, N_SYSTEMS))
    score = output.ravel()[items] + liking[worker[:, None], system] + rng.normal(0, world.noise_sd, items.shape)
    score -= 25 * (KINDS == Kind.DEGRADED)
    score = as_rated(score, worker, KINDS == Kind.DEGRADED, world, rng)
    n = KINDS.size
    return Ratings(
        scores=score.reshape(-1, 1),
        worker=np.repeat(worker, n),
        system=system.ravel(),
        assignment=np.repeat(np.arange(worker.size), n),
        source=(items // N_SYSTEMS).ravel(),
        kind=np.tile(KINDS, worker.size),
        n_workers=world.n_workers,
        n_systems=N_SYSTEMS,
    )


def _draw(pool: Codes, share: Matrix, is_uneven: bool, rng: np.random.Generator) -> Codes:
    p = (share + 0.02) / (share + 0.02).sum() if is_uneven else None
    return rng.choice(pool, N_ORDINARY, replace=False, p=p)


def simulate_chats(world: World, quality: Matrix, rng: np.random.Generator) -> Ratings:
    """Return ratings of chats on seven criteria, five systems and the degraded chatbot for each worker."""
    n = world.n_workers
    system = np.stack([np.append(rng.permutation(N_SYSTEMS)[:5], N_SYSTEMS) for _ in range(n)])
    liking = rng.normal(0, world.liking_sd, (n, N_SYSTEMS + 1))
    chat = np.append(quality, 25)[system] + liking[np.arange(n)[:, None], system]
    chat += rng.normal(0, world.output_sd, system.shape)
    score = chat[:, :, None] + rng.normal(0, world.noise_sd, (*system.shape, 7))
    is_degraded = np.arange(6)[:, None] == 5
    score = as_rated(score, np.arange(n), is_degraded, world, rng)
    worker = np.repeat(np.arange(n), 6)
    return Ratings(
        scores=score.reshape(-1, 7),
        worker=worker,
        system=system.ravel(),
        assignment=worker,
        source=np.full(worker.size, -1),
        kind=np.where(system.ravel() == N_SYSTEMS, Kind.DEGRADED, Kind.ORDINARY).astype(np.int8),
        n_workers=n,
        n_systems=N_SYSTEMS + 1,
    )


def as_rated(
    score: Matrix, worker: Codes, is_degraded: NDArray[np.bool_], world: World, rng: np.random.Generator
) -> Matrix:
    """Return the scores (n_hits, …) as workers use the scale; a quarter of them rate at random."""
    shape = (-1,) + (1,) * (score.ndim - 1)
    shift, scale = rng.normal(0, 8, world.n_workers), rng.uniform(0.7, 1.3, world.n_workers)
    is_careless = rng.random(world.n_workers) < 0.25
    used = 50 + shift[worker].reshape(shape) + (score - 50) * scale[worker].reshape(shape)
    random = rng.uniform(0, 100, score.shape)
    if world.careless_pass:
        random = np.where(is_degraded, random * 0.2, random)
    used = np.where(is_careless[worker].reshape(shape), random, used)
    return np.round(np.clip(used, 0, 100) / world.tick) * world.tick
