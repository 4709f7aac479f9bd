"""What simulated workers think, and how they put it on a slider: pure, seeded, the same in any order of arrival.

Qualities are in z units: one unit is what a worker of average spread puts 21 points apart. What a careful worker sees
in a system's output, on one criterion, is the sum of

======================  ===============================================================================================
the system's quality    given, or spread evenly over −1 … 1, a human system highest
…, on this criterion    normal, sd 0.15, summing to 0 over the criteria, so that the qualities give the overall order
the source              normal, sd 0.15: some are easier for all systems
the output              normal, sd 0.35: a good system fails sometimes
its length              given as `liking`, if workers like what is long or short whatever it says
a degraded copy         lower by 1.3, normal, sd 0.3, never by less than 0.4
======================  ===============================================================================================

and a reference item is seen at 1.5 plus its source. A repeat is seen like its twin. Of live campaigns every chat is a
source and an output of its own, and the degraded chatbot is seen as a degraded copy of the worst. The score is
50 + bias + spread · seen + noise, on 0–100, with for each worker

======  ========================================
bias    normal, sd 8 points, within ±20
spread  16 – 26 points a unit
noise   normal, sd 5 – 12 points, for each score
======  ========================================

Where each reply of a chat is rated, its score is that of the chat plus normal noise, sd 12 points, within 0–100.

Careless workers read nothing: half of them, by chance, click anywhere (0–100), the others always high (85–100).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from campaigns.design.composition import Kind
from campaigns.design.seeds import draw_below, generator, shuffled

Floats = NDArray[np.float64]

BEST_QUALITY, REFERENCE_QUALITY = 1.0, 1.5
CRITERION_SD, SOURCE_SD, OUTPUT_SD = 0.15, 0.15, 0.35
DEGRADED_BY, DEGRADED_SD, DEGRADED_AT_LEAST = 1.3, 0.3, 0.4
BIAS_SD, LARGEST_BIAS = 8.0, 20.0
REPLY_SD = 12.0
SPREAD, NOISE = (16.0, 26.0), (5.0, 12.0)
HIGH_FROM = 85

# What a generator is for: the first number of its place under the seed.
_QUALITY, _SYSTEM, _SOURCE, _OUTPUT, _DEGRADED, _CARELESS, _LEAVING, _ARRIVAL, _WORKER, _ITEM = range(10)
CHAT, ANSWERING = 10, 11


class Manner(StrEnum):
    """How a worker works."""

    CAREFUL = "careful"
    RANDOM = "clicks anywhere"
    HIGH = "always high"


@dataclass(frozen=True)
class Judged:
    """What the crowd knows of a criterion. Agreement with a negative one is low where quality is high."""

    name: str
    is_negative: bool = False


@dataclass(frozen=True)
class Item:
    """One item of a HIT, by names, so that the same design and seed give the same scores in any database."""

    hit: int
    position: int
    source: str
    system: str
    kind: Kind


@dataclass(frozen=True)
class SimulatedRating:
    """A worker's scores, whole numbers from 0 to 100 in the order of the criteria, and what their browser reports."""

    scores: tuple[int, ...]
    telemetry: Mapping[str, int]


def spread_quality(systems: Sequence[str], *, seed: int, human: str | None = None) -> dict[str, float]:
    """Return qualities spread evenly over −1 … 1, the human system's highest, the others' in random order."""
    others = sorted(set(systems) - {human})
    ranked = [others[place] for place in shuffled(len(others), generator(seed, _QUALITY))]
    if human is not None:
        ranked.insert(0, human)
    if len(ranked) == 1:
        return {ranked[0]: 0.0}
    return dict(zip(ranked, np.linspace(BEST_QUALITY, -BEST_QUALITY, len(ranked)).tolist(), strict=True))


class Crowd:
    """Workers 0 … `n_workers` − 1, of whom the share `careless` is careless and the share `leaving` leaves midway.

    `quality` has every system that the workers will meet, except a degraded chatbot. `liking` is how much better, in z
    units, an output is seen than it is, by its source and system. Shares are rounded to whole workers.
    """

    def __init__(
        self,
        *,
        seed: int,
        quality: Mapping[str, float],
        criteria: Sequence[Judged],
        n_workers: int,
        careless: float = 0.0,
        leaving: float = 0.0,
        liking: Mapping[tuple[str, str], float] | None = None,
    ) -> None:
        self.seed = seed
        self.quality = dict(quality)
        self.criteria = tuple(criteria)
        self.n_workers = n_workers
        self.liking = dict(liking or {})
        self.careless = self._choose(careless, _CARELESS)
        self.leaving = self._choose(leaving, _LEAVING)
        self._seen: dict[tuple[str, str], Floats] = {}

    def _choose(self, share: float, purpose: int) -> frozenset[int]:
        order = shuffled(self.n_workers, generator(self.seed, purpose)).tolist()
        return frozenset(order[: round(share * self.n_workers)])

    def arrivals(self) -> list[int]:
        """Return the workers' numbers in the order in which they come."""
        return shuffled(self.n_workers, generator(self.seed, _ARRIVAL)).tolist()

    def worker(self, index: int) -> "SimulatedWorker":
        """Return a worker, with a behaviour that depends on the seed and their number alone."""
        rng = generator(self.seed, _WORKER, index)
        bias = float(np.clip(rng.normal(0, BIAS_SD), -LARGEST_BIAS, LARGEST_BIAS))
        spread, noise = rng.uniform(*SPREAD), rng.uniform(*NOISE)
        careless = (Manner.RANDOM, Manner.HIGH)[draw_below(2, rng)]
        leaves_after = rng.random() if index in self.leaving else None
        manner = careless if index in self.careless else Manner.CAREFUL
        return SimulatedWorker(self, index, manner, bias, spread, noise, leaves_after)

    def see(self, item: Item) -> Floats:
        """Return the quality that a careful worker sees in an item, (n_criteria,), in z units."""
        if item.kind is Kind.REFERENCE:
            return np.full(len(self.criteria), REFERENCE_QUALITY + self._of_source(item.source))
        seen = self._of_output(item.source, item.system)
        if item.kind is Kind.DEGRADED:
            rng = generator(self.seed, _DEGRADED, item.hit, item.position)
            seen = seen - max(rng.normal(DEGRADED_BY, DEGRADED_SD), DEGRADED_AT_LEAST)
        return seen

    def _of_output(self, source: str, system: str) -> Floats:
        key = source, system
        if key not in self._seen:
            own = generator(self.seed, _OUTPUT, _number(source), _number(system)).normal(0, OUTPUT_SD)
            own += self.liking.get(key, 0.0)
            self._seen[key] = self._of_system(system) + self._of_source(source) + own
        return self._seen[key]

    def _of_system(self, system: str) -> Floats:
        strengths = generator(self.seed, _SYSTEM, _number(system)).normal(0, CRITERION_SD, len(self.criteria))
        return self.quality.get(system, self._worst) + strengths - strengths.mean()

    def _of_source(self, source: str) -> float:
        return float(generator(self.seed, _SOURCE, _number(source)).normal(0, SOURCE_SD))

    @cached_property
    def _worst(self) -> float:
        return min(self.quality.values())

    @cached_property
    def is_negative(self) -> NDArray[np.bool_]:
        """Which criteria are negative, (n_criteria,)."""
        return np.array([criterion.is_negative for criterion in self.criteria], dtype=bool)


@dataclass(frozen=True)
class SimulatedWorker:
    """One worker's behaviour. `leaves_after`: the share of their first HIT after which they leave, or None."""

    crowd: Crowd
    index: int
    manner: Manner
    bias: float
    spread: float
    noise: float
    leaves_after: float | None = None

    @property
    def name(self) -> str:
        """A name for links and lists, sorted like the numbers."""
        width = len(str(max(self.crowd.n_workers, 1)))
        return f"simulated-{self.index + 1:0{width}}"

    def rate(self, item: Item) -> SimulatedRating:
        """Return the response to an item, which depends on the seed, the worker, the HIT and the position alone."""
        rng = generator(self.crowd.seed, _ITEM, self.index, item.hit, item.position)
        scores = self._score(item, rng)
        return SimulatedRating(tuple(scores.tolist()), self._behave(len(scores), rng))

    def level_of_reply(self, level: int, rng: np.random.Generator) -> int:
        """Return where the worker puts a slider, 0–100, about one reply of a chat that is at `level` as a whole."""
        if self.manner is Manner.RANDOM:
            return int(rng.integers(0, 101))
        if self.manner is Manner.HIGH:
            return int(rng.integers(HIGH_FROM, 101))
        return int(np.clip(round(level + rng.normal(0, REPLY_SD)), 0, 100))

    def _score(self, item: Item, rng: np.random.Generator) -> NDArray[np.int64]:
        n_criteria = len(self.crowd.criteria)
        if self.manner is Manner.RANDOM:
            return rng.integers(0, 101, n_criteria)
        if self.manner is Manner.HIGH:
            return rng.integers(HIGH_FROM, 101, n_criteria)
        felt = 50 + self.bias + self.spread * self.crowd.see(item) + rng.normal(0, self.noise, n_criteria)
        scores = np.clip(np.round(felt), 0, 100).astype(np.int64)
        return np.where(self.crowd.is_negative, 100 - scores, scores)

    def _behave(self, n_criteria: int, rng: np.random.Generator) -> dict[str, int]:
        """Return plausible telemetry: who reads takes some seconds before the first slider, who does not takes none."""
        is_careful = self.manner is Manner.CAREFUL
        first_touch_ms = rng.lognormal(math.log(4000 if is_careful else 600), 0.5)
        per_slider_ms = rng.lognormal(math.log(2500 if is_careful else 500), 0.4)
        return {
            "first_touch_ms": round(first_touch_ms),
            "shown_ms": round(first_touch_ms + n_criteria * per_slider_ms),
            "n_moves": n_criteria + (int(rng.integers(0, 4 * n_criteria)) if is_careful else 0),
            "n_focus_lost": int(rng.random() < 0.03),
            "n_pastes": 0,
        }


def _number(name: str) -> int:
    """Return a number for a name, the same on every machine."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big")
