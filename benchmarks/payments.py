"""Seconds until the pages of a campaign's payments open, and memory of the file of all payments.

    python benchmarks/payments.py [--quick | --size N]

A campaign on a crowd platform with 10⁵ finished assignments (10⁴ with `--quick`), each submitted there, nine of ten
approved, of 5,000 workers. The site is served by gunicorn. Each page is opened once, as after a restart, and then five
times (`open_seconds`, their median); `first_seconds` is the first opening. The floor is a view that reads one row and
renders 5 KB, in the same server: `ratio`. `file_seconds` and `peak_mb`: the whole file of payments, and the memory of
the server after it. `errors` counts pages that did not open.
"""

import argparse
import json
import os
import statistics
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.finding import Browser
from benchmarks.rating_cycle import free_port, in_new_site, peak_mb, serving

REPEATS = 5
HIT_SIZE, N_WORKERS = 4, 5000
_BATCH = 10_000


def make_campaign(n: int) -> tuple[Any, Any]:
    """Return a campaign of `n` finished and submitted assignments, and its owner."""
    from django.utils import timezone

    from annotation.models import Assignment, Response, Worker
    from campaigns.models import Campaign, Hit, HitItem, Output, Source, System
    from campaigns.services.campaigns import create_campaign
    from crowd.models import Order, Posting, Submission, Wave
    from evalsite.accounts.models import User

    user = User.objects.create(email="owner@example.org")
    campaign = create_campaign(owner=user, protocol="qg", name="Payments")
    now = timezone.now()
    running = {"status": Campaign.Status.RUNNING, "launched_at": now, "platform": "prolific", "reward": 1}
    Campaign.objects.filter(pk=campaign.pk).update(minutes_per_hit=5, **running)
    campaign.refresh_from_db()
    n_hits = n // 10
    system = System.objects.create(campaign=campaign, name="system")
    sources = Source.objects.bulk_create(Source(campaign=campaign, name=f"source-{k}") for k in range(HIT_SIZE))
    outputs = Output.objects.bulk_create(Output(source=each, system=system, text="A text.") for each in sources)
    hits = Hit.objects.bulk_create(Hit(campaign=campaign, number=k + 1, n_places_left=0) for k in range(n_hits))
    items = HitItem.objects.bulk_create(
        (
            HitItem(hit=hit, position=k + 1, kind=0, output=output, text="A text.")
            for hit in hits
            for k, output in enumerate(outputs)
        ),
        _BATCH,
    )
    workers = Worker.objects.bulk_create(Worker(platform="prolific", key=f"worker-{k}") for k in range(N_WORKERS))
    assignments = Assignment.objects.bulk_create(
        (
            Assignment(
                campaign=campaign, hit=hits[k % n_hits], worker=workers[(k + k // n_hits) % N_WORKERS],
                state="finished", n_rated=HIT_SIZE, n_items=HIT_SIZE, platform_id=f"session-{k}",
                started_at=now - timedelta(seconds=k), seen_at=now, leased_until=now, ended_at=now,
            )
            for k in range(n)
        ),
        _BATCH,
    )  # fmt: skip
    criterion = campaign.criteria.order_by("order")[0]
    Response.objects.bulk_create(
        (
            Response(assignment=each, item=items[k % n_hits * HIT_SIZE], criterion=criterion, value=50, score=50)
            for k, each in enumerate(assignments)
        ),
        _BATCH,
    )
    wave = Wave.objects.create(campaign=campaign, number=1, n_hits=n_hits, n_places=n, max_cost=n)
    posting = Posting.objects.create(campaign=campaign, wave=wave, n_places=n, platform_id="study", state="open")
    submissions = Submission.objects.bulk_create(
        (
            Submission(
                campaign=campaign, posting=posting, platform_id=each.platform_id, worker_id=each.worker_id,
                assignment=each, state="approved" if k % 10 else "submitted", accepted_at=each.started_at,
                submitted_at=now,
            )
            for k, each in enumerate(assignments)
        ),
        _BATCH,
    )  # fmt: skip
    Order.objects.bulk_create(
        (
            Order(
                campaign=campaign, kind="approve", state="done", submission=each, worker_id=each.worker_id, amount=1,
                currency="GBP", done_at=now,
            )
            for each in submissions
            if each.state == "approved"
        ),
        _BATCH,
    )  # fmt: skip
    return campaign, user


def measure(n: int) -> dict[str, Any]:
    """Return what each page takes, and the floor."""
    from django.urls import reverse

    from benchmarks.floor.models import Text

    campaign, user = make_campaign(n)
    text = Text.objects.create(text="A row of a table")
    pages = {
        name: reverse(f"crowd:{address}", args=[campaign.public_id]) + query
        for name, address, query in (
            ("all", "payments", ""),
            ("last page", "payments", f"?page={n // 50}"),
            ("undecided", "payments", "?there=submitted"),
            ("one worker", "payments", "?worker=worker-77"),
            ("discrepancies", "discrepancies", ""),
            ("orders", "orders", ""),
        )
    }
    first: dict[str, float] = {}
    opened: dict[str, list[float]] = {name: [] for name in pages}
    floors: list[float] = []
    errors, port = 0, free_port()
    with serving(port, "FULL") as pid:
        browser = Browser(port, user)
        browser.ask("GET", reverse("campaigns:list"))
        for k in range(REPEATS + 1):
            for name, page in pages.items():
                start = time.perf_counter()
                errors += browser.ask("GET", page)[0] != 200
                seconds = time.perf_counter() - start
                if k:
                    opened[name].append(seconds)
                else:
                    first[name] = round(seconds, 3)
            start = time.perf_counter()
            browser.ask("POST", f"/floor/{text.pk}/", score="50")
            floors.append(time.perf_counter() - start)
        before = peak_mb(pid)
        start = time.perf_counter()
        status, file = browser.ask("GET", reverse("crowd:payments_csv", args=[campaign.public_id]))
        file_s = time.perf_counter() - start
        errors += status != 200 or file.count("\n") < n * 0.9
        floor = statistics.median(floors)
        found = {name: round(statistics.median(seconds), 3) for name, seconds in opened.items()}
        return {
            "first_seconds": first,
            "open_seconds": found,
            "ratio": {name: round(seconds / floor, 1) for name, seconds in found.items()},
            "file_seconds": round(file_s, 2),
            "peak_mb": [before, peak_mb(pid)],
            "errors": errors,
        }


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10,000 assignments")
    parser.add_argument("--size", type=int, metavar="N", help="assignments")
    options = parser.parse_args()
    n = options.size or (10_000 if options.quick else 100_000)
    in_new_site(lambda: print(json.dumps({"benchmark": "payments", "n": n, "cpus": os.cpu_count()} | measure(n))))


if __name__ == "__main__":
    main()
