"""A crowd let loose on a campaign, on a running server or on the application in this process."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connections
from django.db.models import F, Sum
from django.urls import reverse

from annotation.raters.lists import by_name
from annotation.raters.queries import describe_raters, list_raters
from annotation.services.invitations import invite_raters
from annotation.simulation.crowd import Crowd, Judged, SimulatedWorker, spread_quality
from annotation.simulation.visitor import VisitError, Visitor
from campaigns.models import Campaign, Output
from evalsite.lib.errors import DomainError
from evalsite.lib.http import Client, in_process, open_client

HIGHEST_QUALITY = 3.0


@dataclass
class SimulationResult:
    """What a simulated crowd did. `errors` says of each worker who could not go on, why.

    `n_inputs` is what they said in chats, `n_unanswered` in how many of them the chatbot was given up.
    """

    n_workers: int
    n_careless: int
    n_hits: int = 0
    n_ratings: int = 0
    n_inputs: int = 0
    n_unanswered: int = 0
    n_left: int = 0
    n_idle: int = 0
    n_requests: int = 0
    n_retries: int = 0
    errors: list[str] = field(default_factory=list)

    def add(self, visitor: Visitor) -> None:
        """Count what one worker did."""
        self.n_hits += len(visitor.codes)
        self.n_ratings += sum(len(each.scores) for each in visitor.acknowledged)
        self.n_inputs += sum(turn.is_input for turn in visitor.turns)
        self.n_unanswered += visitor.n_unanswered
        self.n_left += visitor.has_left
        self.n_idle += not (visitor.acknowledged or visitor.turns)
        self.n_requests += visitor.n_requests
        self.n_retries += visitor.n_retries


def make_crowd(
    campaign: Campaign,
    *,
    seed: int,
    n_workers: int,
    careless: float = 0.0,
    leaving: float = 0.0,
    quality: Mapping[str, float] | None = None,
    likes_length: float = 0.0,
) -> Crowd:
    """Return a crowd for a campaign's systems and criteria; raise DomainError `bad_quality` if qualities do not fit.

    `quality` is by system, in z units; without it, it is spread evenly, the human system best. A degraded chatbot has
    none of its own. `likes_length` is how much better an output of twice as many words is seen, in z units. Two
    queries, and one for lengths.
    """
    is_human = dict(campaign.systems.filter(is_degraded=False).values_list("name", "is_human"))
    criteria = [Judged(*row) for row in campaign.criteria.values_list("name", "is_negative")]
    if quality is None:
        human = next((name for name in is_human if is_human[name]), None)
        quality = spread_quality(list(is_human), seed=seed, human=human)
    _check_quality(quality, list(is_human))
    return Crowd(
        seed=seed,
        quality=quality,
        criteria=criteria,
        n_workers=n_workers,
        careless=careless,
        leaving=leaving,
        liking=_like_length(campaign, likes_length) if likes_length else None,
    )


def _like_length(campaign: Campaign, a_doubling: float) -> dict[tuple[str, str], float]:
    """Return how much better each output is seen for its length, by source and system: 0 on average for a source."""
    outputs = Output.objects.filter(source__campaign=campaign, system__is_degraded=False)
    doublings: dict[str, dict[str, float]] = defaultdict(dict)
    for source, system, text in outputs.values_list("source__name", "system__name", "text").iterator():
        doublings[source][system] = math.log2(max(len(text.split()), 1))
    return {
        (source, system): a_doubling * (each - sum(of_source.values()) / len(of_source))
        for source, of_source in doublings.items()
        for system, each in of_source.items()
    }


def _check_quality(quality: Mapping[str, float], systems: list[str]) -> None:
    if missing := sorted(set(systems) - set(quality)):
        raise DomainError("bad_quality", f"No quality is given for {', '.join(missing)}. Give one for every system.")
    if unknown := sorted(set(quality) - set(systems)):
        raise DomainError(
            "bad_quality",
            f"The campaign compares no system called {', '.join(unknown)}. Correct the name, or leave it out.",
        )
    for name, value in quality.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not -HIGHEST_QUALITY <= value <= HIGHEST_QUALITY:
            raise DomainError(
                "bad_quality", f"The quality of {name} is {value!r}. It is a number from −3 to 3, in z units."
            )


@contextmanager
def open_site(url: str | None) -> Iterator[Client]:
    """Open a client to a running server or, without an address, to the application in this process."""
    if url:
        with open_client(url) as client:
            yield client
        return
    transport = in_process(WSGIHandler())
    with (
        _keeping_connections(),
        open_client(f"http://{_own_host()}", transport=transport) as client,
    ):
        yield client


@contextmanager
def _keeping_connections() -> Iterator[None]:
    """Let the requests of this process use its connections to the database, which each of them would close."""
    signals = [signal for signal in (request_started, request_finished) if signal.disconnect(close_old_connections)]
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


def _own_host() -> str:
    """Return a host name that this site answers to."""
    names = [name.lstrip(".") for name in settings.ALLOWED_HOSTS if name != "*"]
    return names[0] if names else "localhost"


def count_items_left(campaign: Campaign) -> int:
    """Return how many items are in places of HITs that nobody has taken. One query."""
    places = campaign.hits.aggregate(n=Sum(F("n_places_left") * campaign.hit_size))
    return places["n"] or 0


def run_crowd(
    campaign: Campaign,
    crowd: Crowd,
    client: Client,
    *,
    n_threads: int = 1,
    max_hits: int | None = None,
    patience_s: float = 0.0,
    on_rated: Callable[[], None] = lambda: None,
    on_done: Callable[[Visitor], None] = lambda visitor: None,
) -> SimulationResult:
    """Have every worker of the crowd come and work; return what came of it.

    Workers arrive in the crowd's order, `n_threads` at a time; with one thread, in the caller's. They try again for
    `patience_s` where the server does not answer. `on_rated` is called
    for each item, in the worker's thread, `on_done` for each worker, in the caller's.
    """
    workers = [crowd.worker(index) for index in crowd.arrivals()]
    links = _links(campaign, workers)
    visitors = [Visitor(client, worker, links[worker.index], max_hits, patience_s, on_rated) for worker in workers]
    outcome = SimulationResult(crowd.n_workers, len(crowd.careless))
    for visitor, error in _in_turn(visitors) if n_threads == 1 else _at_once(visitors, n_threads):
        outcome.add(visitor)
        if error is not None:
            outcome.errors.append(f"{visitor.worker.name}: {error}")
        on_done(visitor)
    return outcome


Ended = tuple[Visitor, VisitError | DomainError | None]


def _in_turn(visitors: list[Visitor]) -> Iterator[Ended]:
    return map(_visit, visitors)


def _at_once(visitors: list[Visitor], n_threads: int) -> Iterator[Ended]:
    with ThreadPoolExecutor(n_threads, "simulated worker") as pool:
        visits = [pool.submit(_visit_in_thread, visitor) for visitor in visitors]
        try:
            for visit in as_completed(visits):
                yield visit.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _visit(visitor: Visitor) -> Ended:
    try:
        visitor.work()
    except (VisitError, DomainError) as error:
        return visitor, error
    return visitor, None


def _visit_in_thread(visitor: Visitor) -> Ended:
    try:
        return _visit(visitor)
    finally:
        connections.close_all()  # of this thread


def _links(campaign: Campaign, workers: list[SimulatedWorker]) -> dict[int, str]:
    """Return each worker's address to arrive at: the open link, or a personal one where the campaign wants that."""
    path = reverse("rate:welcome", args=[campaign.public_id])
    ref = campaign.ref
    platform = campaign.crowd_platform
    if platform.has_account:
        raise DomainError(
            "brings_its_workers", f"Workers come from {platform.title}: `evalsite crowd_simulator --work` sends some."
        )
    try:
        platform.identify(ref, {})
    except DomainError:
        invite_raters(campaign=campaign, raters=by_name(worker.name for worker in workers))
        queries = {rater.name: rater.query for rater in describe_raters(campaign, list_raters(campaign))}
        return {worker.index: f"{path}?{queries[worker.name]}" for worker in workers}
    return {worker.index: path for worker in workers}
