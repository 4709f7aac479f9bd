"""A researcher's script that asks for jobs while servers die, each with a key, so that it is done once."""

import random
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.faults.workers import TwoServers

_CONFLICT = 409


@dataclass
class Researcher:
    """Builds the HITs of one draft after another, and has the running campaign analysed in between, until `is_over`.

    `jobs` are the ids of the jobs that were acknowledged, by what was asked for: an address and a key.
    """

    servers: TwoServers
    token: str
    rng: random.Random
    is_over: threading.Event
    running: str
    drafts: list[str]
    pause_s: tuple[float, float]
    jobs: dict[tuple[str, str], str] = field(default_factory=dict)
    refusals: set[int] = field(default_factory=set)

    def work(self) -> None:
        """Ask for a job after another."""
        for n, draft in enumerate(self.drafts):
            self._ask_for(f"/api/v1/campaigns/{draft}/hits/", f"build {n}")
            self.is_over.wait(self.rng.uniform(*self.pause_s))
            self._ask_for(f"/api/v1/campaigns/{self.running}/runs/", f"analyse {n}")
            self.is_over.wait(self.rng.uniform(*self.pause_s))
            if self.is_over.is_set():
                return

    def _ask_for(self, address: str, key: str) -> None:
        """Ask for a job with a key, again and again until it is acknowledged or refused."""
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        while not self.is_over.is_set():
            response = self.servers.send(self.rng.randrange(2), "POST", address, json={}, headers=headers)
            if response is not None and response.is_success:
                job: dict[str, Any] = response.json()
                self.jobs[address, key] = job["id"]
                return
            if response is not None and response.is_server_error:
                self.refusals.add(response.status_code)
            if response is not None and response.is_client_error and not _is_passing(response.json()):
                return  # there is nothing new to analyse
            self.is_over.wait(self.rng.uniform(0.3, 1.0))


def _is_passing(problem: dict[str, Any]) -> bool:
    """Tell whether the same request may be done later: another one with its key is on the way."""
    return bool(problem["status"] == _CONFLICT and problem["code"] == "in_progress")
