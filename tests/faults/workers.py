"""Simulated workers who rate by HTTP while servers die, and remember what was acknowledged.

What a worker answers to an item is drawn once: who is not sure whether it has arrived sends the same again, or opens
the page and goes on from there.
"""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urljoin

import httpx

from annotation.simulation.pages import Form, Page, read_page

_LONGEST_PAUSE_S = 2.0
_SEE_OTHER = 303


class TwoServers:
    """Sends requests to the next of two servers, as a proxy does: to the other one if nobody listens at the first."""

    def __init__(self, urls: list[str]) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self._clients = [httpx.Client(base_url=url, timeout=30, limits=limits, trust_env=False) for url in urls]

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def send(self, first: int, method: str, address: str, **options: object) -> httpx.Response | None:
        """Return the response; None if none came, so that nobody knows what was done."""
        for k in (first, first + 1):
            try:
                return self._clients[k % 2].request(method, address, **options)  # type: ignore[arg-type]
            except httpx.ConnectError:
                continue
            except httpx.TransportError:
                return None
        return None


@dataclass(frozen=True)
class Rated:
    """An item of an assignment, by the address of its page, and what was answered."""

    path: str
    position: int
    score: int


@dataclass
class Worker:
    """Somebody who rates HIT after HIT, waiting between pages, until `is_over`. After `work` the lists are complete.

    `refusals` are the faults that were answered: status and heading. `away_s`: they go away for so long, once.
    """

    servers: TwoServers
    arrival: str
    rng: random.Random
    is_over: threading.Event
    pause_s: tuple[float, float]
    away_s: float = 0.0

    acknowledged: list[Rated] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    sent: dict[tuple[str, int], int] = field(default_factory=dict)
    refusals: Counter[tuple[int, str]] = field(default_factory=Counter)
    n_lost: int = 0
    slowest_s: float = 0.0

    _path: str = ""

    def work(self) -> None:
        """Open the link and do what each page asks for."""
        page = self._open(self.arrival)
        while not self.is_over.is_set():
            page = self._step(page)
            self.is_over.wait(self.rng.uniform(*self.pause_s))
            if self.away_s and len(self.acknowledged) > 2:
                self.is_over.wait(self.away_s)
                self.away_s = 0.0

    def _step(self, page: Page) -> Page:
        if page.item:
            return self._rate(page.item)
        if page.feedback:
            return self._insist("POST", page.feedback.action, page.feedback.hidden | {"feedback": "All clear."})
        if page.code and page.code not in self.codes:
            self.codes.append(page.code)
        if page.onward:
            return self._insist("POST", page.onward.action, page.onward.hidden | page.onward.boxes)
        return self._open(self.arrival)  # nothing left at the moment

    def _rate(self, form: Form) -> Page:
        position = int(form.hidden["position"])
        score = self.sent.setdefault((self._path, position), self.rng.randint(0, 100))
        answers = form.hidden | dict.fromkeys(form.answers, str(score))
        path, response = self._path, self._ask("POST", urljoin(self._path, form.action), answers)
        if response is None:
            self.n_lost += 1
            if self.rng.random() < 0.5:
                return self._open(self._path)
            response = self._until_answered("POST", urljoin(self._path, form.action), answers)
        if response is None:
            return Page()
        page = self._read(response)
        if response.is_success and not (page.item and page.item.hidden["position"] == str(position)):
            self.acknowledged.append(Rated(path, position, score))
        return page

    # --- Over the wire

    def _open(self, address: str) -> Page:
        return self._insist("GET", address)

    def _insist(self, method: str, address: str, data: dict[str, str] | None = None) -> Page:
        response = self._until_answered(method, urljoin(self._path or self.arrival, address), data)
        return Page() if response is None else self._read(response)

    def _read(self, response: httpx.Response) -> Page:
        """Return the page of a response, or of where it leads to."""
        if response.status_code == _SEE_OTHER:
            self._path = urljoin(response.request.url.path, response.headers["Location"])
            return self._open(self._path)
        if response.request.method == "GET":
            self._path = response.request.url.raw_path.decode()
        return read_page(response.text)

    def _until_answered(self, method: str, address: str, data: dict[str, str] | None) -> httpx.Response | None:
        """Send a request again and again until it is answered; None if it is over before."""
        pause_s = 0.2
        while (response := self._ask(method, address, data)) is None:
            if self.is_over.wait(pause_s * self.rng.uniform(0.5, 1.5)):
                return None
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return response

    def _ask(self, method: str, address: str, data: dict[str, str] | None = None) -> httpx.Response | None:
        begun = time.monotonic()
        response = self.servers.send(self.rng.randrange(2), method, address, data=data)
        self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
        if response is not None and response.is_server_error:
            self.refusals[response.status_code, read_page(response.text).message] += 1
            return None
        return response
