"""`manage.py simulate CAMPAIGN`: a simulated crowd works on a running campaign, on its real pages."""

import json
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from annotation.simulation.crowd import Crowd
from annotation.simulation.running import SimulationResult, count_items_left, make_crowd, open_site, run_crowd
from campaigns.models import Campaign
from campaigns.queries import find_by_name
from evalsite.lib.arguments import share, whole
from evalsite.lib.errors import DomainError

_PROGRESS_S = 2.0
# Who chats waits for chatbots most of the time.
_THREADS, _THREADS_OF_CHATS = 4, 16
_SHOWN_ERRORS = 10


class Command(BaseCommand):
    """A summary on standard output, progress and errors on standard error."""

    help = "Have a simulated crowd, whose truth is known, chat and rate in a running campaign over HTTP."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("campaign", help="its id (the long one of its address) or its exact name")
        parser.add_argument("--workers", type=whole(1), required=True, metavar="N", help="how many come")
        parser.add_argument("--careless", type=share, default=0.25, metavar="SHARE", help="click blindly (0.25)")
        parser.add_argument("--abandon", type=share, default=0.0, metavar="SHARE", help="leave midway (0)")
        parser.add_argument("--seed", type=whole(0), default=0, help="another seed, another crowd (0)")
        parser.add_argument("--quality", type=Path, metavar="FILE", help="JSON: system → quality, −3 to 3")
        parser.add_argument("--hits-per-worker", type=whole(1), metavar="K", help="each does K HITs at most")
        parser.add_argument("--url", help="address of a running server on this database; without, in this process")
        parser.add_argument("--threads", type=whole(1), metavar="T", help="workers at work at a time")
        parser.add_argument("--patience", type=whole(0), default=60, metavar="S", help="seconds without answer (60)")
        parser.add_argument("--verbose", action="store_true", help="name the careless workers and the true qualities")

    def handle(self, *args: Any, **options: Any) -> None:
        """Let the crowd in, then say what it did; exit 1 if nobody could work or somebody could not go on."""
        try:
            campaign = find_campaign(options["campaign"])
            crowd = make_crowd(
                campaign,
                seed=options["seed"],
                n_workers=options["workers"],
                careless=options["careless"],
                leaving=options["abandon"],
                quality=_read_quality(options["quality"]),
            )
            outcome = self._run(campaign, crowd, options)
        except (DomainError, ValueError) as error:
            raise CommandError(str(error)) from None
        if options["verbose"]:
            self._print_truth(crowd)
        self._summarise(outcome)
        if outcome.errors:
            raise CommandError(f"{len(outcome.errors)} of {outcome.n_workers} workers could not go on.")
        if not outcome.n_ratings:
            raise CommandError("No simulated worker found anything to rate. See the campaign's progress page.")

    def _run(self, campaign: Campaign, crowd: Crowd, options: dict[str, Any]) -> SimulationResult:
        n_items = count_items_left(campaign)
        if most := options["hits_per_worker"]:
            n_items = min(n_items, options["workers"] * most * campaign.hit_size)
        at_once = _THREADS_OF_CHATS if campaign.is_live else _THREADS
        if not options["url"] and connection.vendor == "sqlite":
            at_once = 1  # threads of one process would only wait for each other's locks
        with open_site(options["url"]) as client:
            return run_crowd(
                campaign,
                crowd,
                client,
                n_threads=options["threads"] or at_once,
                max_hits=options["hits_per_worker"],
                # A server may be about to come back; what fails in this process fails again.
                patience_s=options["patience"] if options["url"] else 0,
                on_rated=Progress(n_items, self.stderr.write),
            )

    def _print_truth(self, crowd: Crowd) -> None:
        ranked = sorted(crowd.quality.items(), key=lambda each: -each[1])
        self.stdout.write("true quality: " + ", ".join(f"{name} {value:+.2f}" for name, value in ranked))
        careless = [crowd.worker(index) for index in sorted(crowd.careless)]
        self.stdout.write("careless: " + (", ".join(f"{each.name} ({each.manner})" for each in careless) or "nobody"))

    def _summarise(self, outcome: SimulationResult) -> None:
        said = f", {outcome.n_inputs} chat inputs" if outcome.n_inputs else ""
        said += f", {outcome.n_unanswered} chats given up" if outcome.n_unanswered else ""
        self.stdout.write(
            f"{outcome.n_workers} workers ({outcome.n_careless} careless, {outcome.n_left} left midway, "
            f"{outcome.n_idle} found nothing to do)\n"
            f"{outcome.n_hits} HITs finished, {outcome.n_ratings} ratings{said}\n"
            f"{outcome.n_requests} requests, {outcome.n_retries} of them without an answer, "
            f"{len(outcome.errors)} errors"
        )
        for error in outcome.errors[:_SHOWN_ERRORS]:
            self.stderr.write(error)


class Progress:
    """Counts rated items, in whatever thread, and reports progress now and then."""

    def __init__(self, n_items: int, report: Callable[[str], object]) -> None:
        self._n_items = n_items
        self._report = report
        self._n_rated = 0
        self._told_at = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Count one item."""
        with self._lock:
            self._n_rated += 1
            now = time.monotonic()
            if now - self._told_at >= _PROGRESS_S:
                self._told_at = now
                self._report(f"{self._n_rated:,} of {self._n_items:,} items rated")


def find_campaign(name: str) -> Campaign:
    """Return the running campaign with this public id or exact name; raise DomainError `not_open` for any other."""
    campaign = find_by_name(name)
    if not campaign.is_open:
        raise DomainError("not_open", f"“{campaign.name}” is {campaign.status}: launch or resume it first.")
    return campaign


def _read_quality(path: Path | None) -> dict[str, float] | None:
    if path is None:
        return None
    try:
        quality = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DomainError("bad_quality", f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise DomainError("bad_quality", f"{path} is not JSON: {error}") from None
    if not isinstance(quality, dict):
        raise DomainError("bad_quality", f"{path} is not a JSON object that gives each system a number.")
    return quality
