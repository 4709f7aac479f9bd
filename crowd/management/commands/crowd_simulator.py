"""`manage.py crowd_simulator`: Mechanical Turk and Prolific on this machine, with web sites and workers of theirs."""

import signal
import threading
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from crowd.simulation import OpenSite, PoolOutcome, PoolVisits, Waiting, WorkerPool
from evalsite.lib.arguments import amount, share, whole
from evalsite.lib.extras import missing
from evalsite.lib.http import Client, HTTPTransport, create_ssl_context, in_process, open_client
from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.tls import Certificate, self_signed
from simulators.workers import WorkerBehaviour

if TYPE_CHECKING:
    from simulators.running import Running

PLATFORMS = ("mturk", "prolific")
_PORT = 8020
_THREADS = 4
_SHOWN_ERRORS = 10
_HABITS = {
    "returning": "return the task midway",
    "abandoning": "leave midway, until their time runs out",
    "unfinished": "leave midway and submit on the platform",
    "forgetting": "finish and do not submit",
}


class Command(BaseCommand):
    """What to start evalsite with on standard output, then what the workers do; errors on standard error."""

    help = "Run simulators of crowd platforms, where people and simulated workers find what evalsite publishes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("platform", nargs="?", choices=[*PLATFORMS, "both"], default="both")
        parser.add_argument("--port", type=whole(0), default=_PORT, help=f"of the first; the second is next ({_PORT})")
        parser.add_argument("--tls", action="store_true", help="HTTPS, with a certificate of our own for localhost")
        parser.add_argument("--data", type=Path, metavar="FOLDER", help="keeps the records after the end")
        parser.add_argument("--balance", type=amount, default=Decimal(10_000), help="in each account (10000)")
        faults = parser.add_argument_group("faults")
        faults.add_argument("--faults", type=share, default=0.0, metavar="SHARE", help="of calls that go wrong (0)")
        faults.add_argument("--fault-seed", type=whole(0), metavar="N", help="the same faults again")
        faults.add_argument("--calls-per-s", type=whole(1), metavar="N", help="more are throttled")
        faults.add_argument(
            "--notification-faults", type=share, default=0.0, metavar="SHARE", help="come twice, or late (0)"
        )
        faults.add_argument("--clock-skew", type=float, default=0.0, metavar="S", help="the platform's clock is ahead")
        workers = parser.add_argument_group("simulated workers, on evalsite's own database")
        workers.add_argument("--work", type=whole(1), metavar="N", help="N come to each platform, and wait for work")
        workers.add_argument("--tasks", type=whole(1), metavar="K", help="each does K HITs at most")
        workers.add_argument("--careless", type=share, default=0.25, metavar="SHARE", help="click blindly (0.25)")
        for name, what in _HABITS.items():
            workers.add_argument(f"--{name}", type=share, default=0.0, metavar="SHARE", help=f"{what} (0)")
        workers.add_argument("--seed", type=whole(0), default=0, help="another seed, other workers (0)")
        workers.add_argument("--until-done", action="store_true", help="end once there is no more to do for them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until interrupted or, if that is asked for, until the workers have done what there was."""
        if lacking := missing("mturk", "The simulator"):
            raise CommandError(lacking)
        pool = _pool(options)
        certificate = self_signed(_folder(options)) if options["tls"] else None
        with interrupted_by_ending(), ExitStack() as stack:
            running = [stack.enter_context(each) for each in _platforms(options, certificate)]
            self._update_row(running, certificate)
            try:
                if pool:
                    waiting = Waiting.FOR_THE_FIRST if options["until_done"] else Waiting.ALWAYS
                    self._work(running, pool, certificate, waiting)
                if not (pool and options["until_done"]):
                    threading.Event().wait()
            except KeyboardInterrupt:
                self.stdout.write("Ended.")

    def _update_row(self, running: "list[Running]", certificate: Certificate | None) -> None:
        self.stdout.write("# Start evalsite with these in its environment:")
        for each in running:
            for name, value in each.environment.items():
                self.stdout.write(f"{name}={value}")
        self.stdout.write("EXTERNAL_SITES=" + ",".join(origin for each in running for origin in each.origins))
        if certificate:
            self.stdout.write(f"SSL_CERT_FILE={certificate.cert.resolve()}")
        for each in running:
            self.stdout.write(f"# {each.title}, for workers: {each.url}/")
        self.stdout.write("# Ctrl-C ends it.")
        self.stdout.flush()

    def _work(
        self, running: "list[Running]", pool: WorkerPool, certificate: Certificate | None, waiting: Waiting
    ) -> None:
        """Have a pool work at each platform, and say what they did."""
        stop = threading.Event()
        with ThreadPoolExecutor(len(running)) as threads:
            try:
                sent = [
                    threads.submit(self._send, each, pool, _site_opener(certificate), stop, waiting) for each in running
                ]
                outcomes = [each.result() for each in sent]
            finally:
                stop.set()  # before the executor waits for its threads
        for each, outcome in zip(running, outcomes, strict=True):
            self._summarise(each.title, outcome)

    def _send(
        self, platform: "Running", pool: WorkerPool, open_site: OpenSite, stop: threading.Event, waiting: Waiting
    ) -> PoolOutcome:
        with (
            open_client(platform.url, transport=in_process(platform.application)) as site,
            PoolVisits(platform.portal, pool, site, open_site, stop=stop) as visits,
        ):
            return visits.work(n_threads=_THREADS, waiting=waiting)

    def _summarise(self, title: str, outcome: PoolOutcome) -> None:
        endings = Counter({str(ending): n for ending, n in outcome.endings.items()})
        done = ", ".join(f"{n} {ending}" for ending, n in endings.most_common()) or "nothing done"
        self.stdout.write(f"{title}: {done}; {outcome.n_idle} workers found nothing; {len(outcome.errors)} errors")
        for error in outcome.errors[:_SHOWN_ERRORS]:
            self.stderr.write(error)


def _platforms(options: dict[str, Any], certificate: Certificate | None) -> Iterator[Any]:
    from simulators.running import mturk_running, prolific_running  # the command says itself what it needs

    served = {"mturk": mturk_running, "prolific": prolific_running}
    names = list(PLATFORMS) if options["platform"] == "both" else [options["platform"]]
    for place, name in enumerate(names):
        faults = Faults(
            options["faults"],
            seed=options["fault_seed"],
            calls_per_s=options["calls_per_s"],
            notification_rate=options["notification_faults"],
        )
        yield served[name](
            _ledger(options, name),
            faults,
            balance=options["balance"],
            port=options["port"] + place if options["port"] else 0,
            certificate=certificate,
        )


def _ledger(options: dict[str, Any], name: str) -> Ledger:
    path: Path | str = ":memory:"
    if options["data"]:
        options["data"].mkdir(parents=True, exist_ok=True)
        path = options["data"] / f"{name}.sqlite3"
    return Ledger(path, clock_skew_s=options["clock_skew"])


def _folder(options: dict[str, Any]) -> Path:
    return options["data"] or settings.DATA_DIR / "crowd-simulator"


def _pool(options: dict[str, Any]) -> WorkerPool | None:
    if not options["work"]:
        return None
    try:
        behaviour = WorkerBehaviour(**{name: options[name] for name in _HABITS})
    except ValueError as error:
        raise CommandError(str(error)) from None
    return WorkerPool(options["work"], options["seed"], options["careless"], behaviour, options["tasks"])


def _site_opener(certificate: Certificate | None) -> OpenSite:
    """Return how workers reach evalsite: trusting our certificate too, with which it may be served."""
    trusted = create_ssl_context()
    if certificate:
        trusted.load_verify_locations(certificate.cert)

    def open_site(origin: str) -> Client:
        return open_client(origin, transport=HTTPTransport(verify=trusted, trust_env=False))

    return open_site


@contextmanager
def interrupted_by_ending() -> Iterator[None]:
    """Let the signals that end a process interrupt this thread, so that all of it ends in order.

    Ctrl-C too: a process in the background may have been started with it switched off.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.signal(each, signal.default_int_handler) for each in ends}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
