"""Seconds until the first finding of a campaign shows: after *Analyse*, and when its results are opened.

    python benchmarks/finding.py [--quick | --size N]

A campaign of 10⁵ ratings (10⁴ with `--quick`, or any other number): 20 systems, HITs of 70 ordinary, 10 degraded, 10
repeat and 10 reference items, 100 HITs a worker at most. The site is served by gunicorn with the job worker in the same
process, as it is without Redis, on SQLite or the database of DATABASE_URL. Ours does what a browser does: it sends
*Analyse*, polls the job as the page's script does, and loads the page until the new run's finding shows. The floor
reads the same ratings from the same database by one SQL statement and orders their scores. For opening, the floor is a
view that reads one row, inserts one and renders 5 KB, in the same server. Floors and ours take turns. `ratio` is that
of *Analyse*. `errors` counts pages without a finding.
"""

import argparse
import http.client
import json
import os
import platform
import re
import statistics
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from benchmarks.rating_cycle import free_port, in_new_site, peak_mb, serving

N_SYSTEMS, HIT_SIZE = 20, 100
REPEATS, QUICK_REPEATS = 5, 2
POLL_S = 0.25
PATIENCE_S = 300


def make_campaign(n_ratings: int) -> Any:
    """Return a running campaign whose HITs are all rated, and its owner."""
    from django.utils import timezone

    from annotation.models import Assignment, Response, Worker
    from campaigns.design.composition import Kind
    from campaigns.models import Campaign, Hit, HitItem, Output, Source, System
    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    rng = np.random.default_rng(7)
    user = User.objects.create(email="owner@example.org")
    campaign = create_campaign(owner=user, protocol="mrc-adequacy", name="Finding")
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.RUNNING, launched_at=timezone.now())
    campaign.refresh_from_db()
    criterion = campaign.criteria.get()
    n_hits = n_ratings // HIT_SIZE
    systems = System.objects.bulk_create(System(campaign=campaign, name=f"system-{k:02}") for k in range(N_SYSTEMS))
    sources = Source.objects.bulk_create(Source(campaign=campaign, name=f"source-{k}") for k in range(n_hits * 4))
    outputs = Output.objects.bulk_create(
        Output(source=source, system=system, text="A text.") for source in sources for system in systems
    )
    hits = Hit.objects.bulk_create(Hit(campaign=campaign, number=k + 1, n_places_left=0) for k in range(n_hits))
    copies = [(Kind.ORDINARY, k, None) for k in range(70)] + [
        (kind, twin, twin + 1) for kind in (Kind.DEGRADED, Kind.REPEAT, Kind.REFERENCE) for twin in range(10)
    ]
    items = HitItem.objects.bulk_create(
        HitItem(hit=hit, position=place + 1, kind=kind, output=outputs[n * 80 + k], twin_position=twin, text="A text.")
        for n, hit in enumerate(hits)
        for place, (kind, k, twin) in enumerate(copies)
    )
    n_workers = max(n_hits // 10, 1)
    workers = Worker.objects.bulk_create(
        Worker(platform=campaign.platform, key=f"{campaign.public_id}:worker-{k}") for k in range(n_workers)
    )
    now = timezone.now()
    assignments = Assignment.objects.bulk_create(
        Assignment(
            campaign=campaign, hit=hit, worker=workers[k % n_workers], state="finished", n_rated=HIT_SIZE,
            n_items=HIT_SIZE, started_at=now, seen_at=now, leased_until=now, ended_at=now,
        )
        for k, hit in enumerate(hits)
    )  # fmt: skip
    quality = dict(zip((system.pk for system in systems), np.linspace(40, 60, N_SYSTEMS), strict=True))
    score = rng.normal(0, 20, len(items)) + [
        quality[item.system.pk] - 25 * (item.kind == Kind.DEGRADED) for item in items
    ]
    scores = np.clip(np.rint(score), 0, 100).astype(int).tolist()
    Response.objects.bulk_create(
        (
            Response(
                assignment=assignments[k // HIT_SIZE], item=item, criterion=criterion,
                value=scores[k], score=scores[k],
                rated_at=now + timedelta(seconds=8 * (k % HIT_SIZE)),
            )
            for k, item in enumerate(items)
        ),
        batch_size=10_000,
    )  # fmt: skip
    return campaign, user


class Browser:
    """A signed-in browser: keeps its cookies, and follows no redirect."""

    def __init__(self, port: int, user: Any) -> None:
        from django.test import Client

        client = Client()
        client.force_login(user)
        self.cookies = {"sessionid": client.cookies["sessionid"].value, "csrftoken": "a" * 32}
        self.port = port

    def ask(self, method: str, path: str, **fields: str) -> tuple[int, str]:
        """Return status and text of an answer."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        headers |= {"X-CSRFToken": self.cookies["csrftoken"], "Content-Type": "application/x-www-form-urlencoded"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)  # a kept one ends while jobs run
        connection.request(method, path, urlencode(fields), headers)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        connection.close()
        return response.status, text


def analyse(browser: Browser, page: str, alpha: float) -> float:
    """Send *Analyse*; return the seconds until the page shows the finding of the run with this α."""
    start = time.perf_counter()
    status, text = browser.ask("POST", page)
    assert status == 302, text
    while time.perf_counter() - start < PATIENCE_S:
        _, text = browser.ask("GET", page)
        if f"p &lt; {alpha:g}" in text and 'id="finding"' in text:
            return time.perf_counter() - start
        polled = re.search(r'data-job-progress data-url="([^"]+)"', text)
        while polled:
            state = json.loads(browser.ask("GET", polled[1])[1])
            if state["finished"] or state.get("partial"):
                break
            time.sleep(POLL_S)
    raise TimeoutError(f"no finding after {PATIENCE_S} s")


def wait_for_end() -> None:
    """Wait until no job runs: figures and package are made after the finding shows."""
    from evalsite.jobs.models import Job

    while Job.objects.filter(status__in=["queued", "running"]).exists():
        time.sleep(0.1)


def read_and_order(campaign: Any) -> float:
    """Return the seconds of reading all ratings by one statement and ordering their scores."""
    from annotation.models import Response

    start = time.perf_counter()
    columns = ("assignment__worker__key", "assignment", "item__output__system__name", "item__kind", "score")
    rows = list(Response.objects.filter(assignment__campaign=campaign).order_by().values_list(*columns))
    np.argsort([row[-1] for row in rows])
    return time.perf_counter() - start


def median(values: list[float]) -> float:
    """Return the median to the millisecond."""
    return round(statistics.median(values), 3)


def measure(n_ratings: int, repeats: int) -> dict[str, Any]:
    """Return what one campaign takes, and the floors."""
    from django.urls import reverse

    from benchmarks.floor.models import Text
    from campaigns.models import Campaign

    campaign, user = make_campaign(n_ratings)
    text = Text.objects.create(text="A row of a table")
    page, port = reverse("analysis:campaign_results", args=[campaign.public_id]), free_port()
    found: dict[str, list[float]] = {name: [] for name in ("analyse", "floor", "ratio", "whole", "open", "open_floor")}
    errors = 0
    with serving(port, "FULL") as pid:
        browser = Browser(port, user)
        for k in range(repeats + 1):
            # Other settings, or nothing would be analysed again.
            alpha = 0.05 - 0.001 * k
            Campaign.objects.filter(pk=campaign.pk).update(alpha=alpha)
            floor_s = read_and_order(campaign)
            start = time.perf_counter()
            ours_s = analyse(browser, page, alpha)
            wait_for_end()
            whole_s = time.perf_counter() - start
            opened = time.perf_counter()
            status, shown = browser.ask("GET", page)
            open_s = time.perf_counter() - opened
            errors += status != 200 or 'id="finding"' not in shown
            opened = time.perf_counter()
            browser.ask("POST", f"/floor/{text.pk}/", score="50")
            open_floor_s = time.perf_counter() - opened
            if k:  # the first round warms up
                taken = (ours_s, floor_s, ours_s / floor_s, whole_s, open_s, open_floor_s)
                for name, seconds in zip(found, taken, strict=True):
                    found[name].append(seconds)
            else:
                print(f"{n_ratings:>7,} ratings, the first: finding after {ours_s:.2f} s, all after {whole_s:.2f} s")
        memory = peak_mb(pid)
    return {
        "seconds": median(found["analyse"]),
        "slowest": round(max(found["analyse"]), 3),
        "floor_seconds": median(found["floor"]),
        "ratio": median(found["ratio"]),
        "whole_seconds": median(found["whole"]),
        "open_seconds": median(found["open"]),
        "open_floor_seconds": median(found["open_floor"]),
        "errors": errors,
        "peak_mb": round(memory, 1),
    }


def run(n_ratings: int, repeats: int) -> None:
    """Measure, and print a line and, last, one JSON object."""
    import django
    from django.db import connection

    os.environ["JOBS_IN_PROCESS"] = "true"  # of the server
    found = measure(n_ratings, repeats)
    print(
        f"{n_ratings:>7,} ratings: finding {found['seconds']:.2f} s after Analyse (slowest {found['slowest']:.2f}), "
        f"all {found['whole_seconds']:.2f} s, floor {found['floor_seconds']:.2f} s, ratio {found['ratio']:.1f}; "
        f"results open in {found['open_seconds']:.3f} s, floor {found['open_floor_seconds']:.3f} s",
        flush=True,
    )
    versions = {"python": platform.python_version(), "django": django.__version__, "numpy": np.__version__}
    result = {"benchmark": "finding", "n_ratings": n_ratings, **found, "database": connection.vendor}
    print(json.dumps(result | {"versions": versions, "cores": os.cpu_count()}))


def main() -> None:
    """Measure in a site of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10⁴ ratings, few repeats")
    parser.add_argument("--size", type=int, metavar="N", help="ratings, few repeats")
    options = parser.parse_args()
    n_ratings = options.size or (10**4 if options.quick else 10**5)
    in_new_site(lambda: run(n_ratings, QUICK_REPEATS if options.quick or options.size else REPEATS))


if __name__ == "__main__":
    main()
