"""Faults on demand: what goes wrong with a call to a simulated platform, and with its notifications."""

import random
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Fault(StrEnum):
    """What goes wrong with a call. `…_AFTER`: the call has had its effect; the caller does not hear of it."""

    THROTTLED = "throttled"
    ERROR_BEFORE = "error-before"
    ERROR_AFTER = "error-after"
    SILENCE_BEFORE = "silence-before"  # no answer in time
    SILENCE_AFTER = "silence-after"


@dataclass
class Faults:
    """Which calls fail: a share `rate` of all, drawn by `seed`; calls beyond `calls_per_s` are throttled.

    `silence_s` is how long a silent call keeps its caller waiting before the connection is cut. Notifications come
    twice, and late, at the share `notification_rate`. Threads share it.
    """

    rate: float = 0.0
    kinds: tuple[Fault, ...] = tuple(Fault)
    seed: int | None = None
    calls_per_s: float | None = None
    silence_s: float = 0.2
    notification_rate: float = 0.0
    _random: random.Random = field(init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _latest: deque[float] = field(default_factory=deque, init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def draw(self) -> Fault | None:
        """Return what goes wrong with the call that has just come."""
        with self._lock:
            if self._is_too_fast():
                return Fault.THROTTLED
            return self._random.choice(self.kinds) if self._random.random() < self.rate else None

    def _is_too_fast(self) -> bool:
        if self.calls_per_s is None:
            return False
        now = time.monotonic()
        while self._latest and self._latest[0] <= now - 1:
            self._latest.popleft()
        if len(self._latest) >= self.calls_per_s:
            return True
        self._latest.append(now)
        return False

    def deliver(self, notifications: list[T]) -> list[T]:
        """Return notifications as they arrive: some twice, some after later ones."""
        with self._lock:
            arrived: list[T] = []
            for each in notifications:
                copies = 2 if self._random.random() < self.notification_rate else 1
                for _ in range(copies):
                    late = self._random.random() < self.notification_rate
                    arrived.insert(self._random.randint(0, len(arrived)) if late else len(arrived), each)
            return arrived
