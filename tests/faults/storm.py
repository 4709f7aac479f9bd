"""Kills services at random and starts them again, and measures when the pages are back."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx
import pytest

from tests.faults.installation import Installation, Service

LONGEST_WAIT_S = 60.0
_MOST_KILLS = 100


@dataclass(frozen=True)
class Fault:
    """What was killed, `at_s` after the beginning, and how long it was away.

    `back_s`: how long after it answered again the slowest of the pages was there, `slowest`.
    """

    at_s: float
    name: str
    down_s: float
    back_s: float
    slowest: str

    def __str__(self) -> str:
        back = f"pages back after {self.back_s:4.1f} s, the last {self.slowest[:30]}"
        return f"{self.at_s:6.1f} s  {self.name:<10} away {self.down_s:4.1f} s, {back}"


@dataclass
class Storm:
    """Faults in an installation, by `rng`. `pages`: addresses that a researcher or a worker opens, with `cookies`."""

    installation: Installation
    rng: random.Random
    pages: list[str]
    cookies: dict[str, str]
    gap_s: tuple[float, float]
    down_s: tuple[float, float]
    faults: list[Fault] = field(default_factory=list)
    _begun: float = field(default_factory=time.monotonic)

    def blow(self, seconds: float, n_kills: int) -> None:
        """Kill one service after the other for so many seconds, and at least so often; each has its turn."""
        end, left = time.monotonic() + seconds, list[Service]()
        for k in range(_MOST_KILLS):
            if time.monotonic() > end and k >= n_kills:
                return
            if not left:
                left = self.rng.sample(self.installation.services, len(self.installation.services))
            time.sleep(self.rng.uniform(*self.gap_s))
            self.kill(left.pop(), self.rng.uniform(*self.down_s))

    def kill(self, service: Service, down_s: float) -> None:
        """Kill a service and start it again after some seconds; wait for the pages."""
        killed = time.monotonic()
        service.kill()
        time.sleep(down_s)
        service.start()
        down_s = time.monotonic() - killed
        servers = [k for k, each in enumerate(self.installation.web) if each is service] or [0, 1]
        self._note(service.name, killed, down_s, servers)

    def fill_disk(self, until: Callable[[], object], longest_s: float) -> bool:
        """Fill the disk until something is the case, but not longer; then make room. Return whether it was the case."""
        filled = time.monotonic()
        with self.installation.disk.full():
            while not (is_felt := bool(until())) and time.monotonic() < filled + longest_s:
                time.sleep(0.1)
            time.sleep(1)
        self.installation.revive()
        self._note("full disk", filled, time.monotonic() - filled, [0, 1])
        return is_felt

    def _note(self, name: str, at: float, down_s: float, servers: list[int]) -> None:
        back_s, slowest = self._wait_for_pages(servers)
        self.faults.append(Fault(at - self._begun, name, down_s, back_s, slowest))

    def _wait_for_pages(self, servers: list[int]) -> tuple[float, str]:
        """Return how long the slowest page took until it was there, and its address."""
        begun = time.monotonic()
        addresses = [(self.installation.urls[server], page) for server in servers for page in self.pages]
        with (
            httpx.Client(cookies=self.cookies, timeout=LONGEST_WAIT_S, trust_env=False) as client,
            ThreadPoolExecutor(len(addresses)) as pool,
        ):
            waits = pool.map(lambda each: (_wait_for(client, "".join(each), begun), each[1]), addresses)
            return max(waits)


def _wait_for(client: httpx.Client, page: str, begun: float) -> float:
    """Return when a page was there, in seconds; after a minute, fail and say how it was answered."""
    answered: object = None
    while (passed := time.monotonic() - begun) < LONGEST_WAIT_S:
        try:
            response = client.get(page)
            if not response.is_error:
                return time.monotonic() - begun
            answered = response.status_code
        except httpx.TransportError as error:
            answered = error
        time.sleep(0.1)
    pytest.fail(f"{page} is not back after {passed:.0f} s: {answered!r}")
