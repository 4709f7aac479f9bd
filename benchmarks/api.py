"""Seconds and peak memory of streaming a campaign's ratings by the API, against the page's download of the same file.

    python benchmarks/api.py [--quick | --size N]

The floor is the page's export, which a browser's session asks for; the API's answers a token. Both are of one server
(gunicorn, one process, four threads; SQLite, or the database of DATABASE_URL), in turn, in the same run: CSV and JSON
Lines of 100,000 and of 1,000,000 ratings with their telemetry. `ratio` is the API's seconds over the page's for the
largest CSV file; `peak_mb` is the server's after all, `growth_mb` what the ten times larger files added to it.
`errors` counts answers with another status, files whose rows are missing or too many, and files in which the API and
the page differ.
"""

import argparse
import hashlib
import http.client
import json
import os
import platform
import random
import statistics
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from benchmarks.rating_cycle import PASSAGE, free_port, in_new_site, peak_mb, serving

SIZES, QUICK_SIZES = (100_000, 1_000_000), (10_000, 100_000)
N_ITEMS, N_WORKERS = 100, 10
ROUNDS = 3
_MIDDLE = 50
FILES = {"ratings.csv": 1, "ratings.jsonl": 0}  # and their lines before the first rating


def fill(campaign: Any, n_ratings: int, outputs_of_page: int = 1, n_workers: int = N_WORKERS) -> None:
    """Store finished assignments with so many items, an answer to each criterion of each, and their telemetry.

    `outputs_of_page`: how many outputs workers see at once; what is asked of the page is answered with the first.
    Systems are in another order in each HIT.
    """
    from django.db import connection
    from django.utils import timezone

    from annotation.models import Assignment, Event, Response, Worker
    from campaigns.models import Hit, HitItem, Output, Source, System

    now, rng = timezone.now(), random.Random(1)
    n_hits = n_ratings // (N_ITEMS * N_WORKERS)
    names = [field["name"] for field in campaign.screen["fields"]]
    systems = System.objects.bulk_create(System(campaign=campaign, name=f"system-{k}") for k in range(N_ITEMS))
    workers = Worker.objects.bulk_create(
        Worker(platform="link", key=f"{campaign.pk}:worker-{k}") for k in range(n_workers)
    )
    texts = dict.fromkeys(names, PASSAGE)
    sources = Source.objects.bulk_create(
        Source(campaign=campaign, name=f"source-{k}", fields=texts) for k in range(n_hits)
    )
    hits = Hit.objects.bulk_create(Hit(campaign=campaign, number=k + 1) for k in range(n_hits))
    for source, hit in zip(sources, hits, strict=True):
        outputs = Output.objects.bulk_create(
            Output(source=source, system=system, text="Where was it rebuilt?")
            for system in rng.sample(systems, len(systems))
        )
        HitItem.objects.bulk_create(
            HitItem(
                hit=hit, position=k + 1, kind=0, output=output, text=output.text,
                page=k // outputs_of_page + 1 if outputs_of_page > 1 else None,
            )
            for k, output in enumerate(outputs)
        )  # fmt: skip
    done: dict[str, Any] = {"n_rated": N_ITEMS, "n_items": N_ITEMS, "state": Assignment.State.FINISHED}
    times = {"started_at": now - timedelta(hours=1), "ended_at": now, "leased_until": now}
    Assignment.objects.bulk_create(
        (
            Assignment(campaign=campaign, hit=hit, worker=workers[(h * N_WORKERS + k) % n_workers], **done, **times)
            for h, hit in enumerate(hits)
            for k in range(N_WORKERS)
        ),
        batch_size=1000,
    )
    telemetry = json.dumps({"shown_ms": 9000, "first_touch_ms": 4000, "n_moves": 4, "n_focus_lost": 0, "n_pastes": 0})
    items = (
        f"FROM {Assignment._meta.db_table} a JOIN {HitItem._meta.db_table} i ON i.hit_id = a.hit_id "
        "WHERE a.campaign_id = %s"
    )
    responses = (
        f"INSERT INTO {Response._meta.db_table} "
        "(assignment_id, item_id, criterion_id, turn, value, score, abstained, rated_at, earlier) "
        "SELECT a.id, i.id, %s, 0, %s, {}, '', a.started_at, '[]' " + items
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # to look up each row that a row refers to takes longer than the rest
            cursor.execute("SET session_replication_role = replica")
        for criterion in campaign.criteria.all():
            value, score, n_outputs = answer_of(criterion, outputs_of_page)
            score_sql = "(a.id * 7 + i.id * 13) %% 101" if score == _MIDDLE else "NULL" if score is None else str(score)
            cursor.execute(
                responses.format(score_sql) + " AND (i.position - 1) %% %s = 0 ORDER BY a.id, i.position",
                [criterion.pk, json.dumps(value), campaign.pk, n_outputs],
            )
        cursor.execute(
            f"INSERT INTO {Event._meta.db_table} (assignment_id, item_id, kind, at, data) "
            f"SELECT a.id, i.id, 'rated', a.started_at, %s {items} ORDER BY a.id, i.position",
            [telemetry, campaign.pk],
        )
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = DEFAULT")


def answer_of(criterion: Any, outputs_of_page: int) -> tuple[Any, float | None, int]:
    """Return an answer of its kind as it is kept, its score, and of how many outputs each such answer is."""
    from campaigns.contracts.protocol import Scope
    from campaigns.contracts.response import Subject

    n_outputs = outputs_of_page if criterion.scope == Scope.PAGE else 1
    subject = Subject(("Where was it rebuilt?",) * n_outputs, {"source": PASSAGE})
    kind = criterion.response_kind
    sent = kind.simulate([_MIDDLE] * n_outputs, criterion.settings, np.random.default_rng(1), subject)
    value = kind.clean(sent, criterion.settings, subject)
    return value, kind.score(value, criterion.settings), n_outputs


def download(port: int, path: str, headers: dict[str, str]) -> tuple[float, int, int, str]:
    """Read an answer to its end; return its seconds, status, number of lines and hash."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    start = time.perf_counter()
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    digest, n_lines = hashlib.sha256(), 0
    while piece := response.read(1 << 16):
        digest.update(piece)
        n_lines += piece.count(b"\n")
    seconds = time.perf_counter() - start
    connection.close()
    return seconds, response.status, n_lines, digest.hexdigest()


def measure(port: int, campaign: Any, user: Any, token: str, n_ratings: int) -> dict[str, dict[str, float]]:
    """Return, for each file, the median seconds of the API and of the page, their ratio, and errors."""
    from django.conf import settings
    from django.test import Client

    browser = Client()
    browser.force_login(user)
    session = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"}
    bearer = {"Authorization": f"Bearer {token}"}
    measured = {}
    for name, n_before in FILES.items():
        ours, floor, errors = [], [], 0
        for _ in range(ROUNDS):
            seconds, status, n_lines, ours_hash = download(
                port, f"/api/v1/campaigns/{campaign.public_id}/exports/{name}", bearer
            )
            ours.append(seconds)
            errors += status != 200 or n_lines != n_ratings + n_before
            seconds, status, n_lines, page_hash = download(
                port, f"/campaigns/{campaign.public_id}/export/{name}", session
            )
            floor.append(seconds)
            errors += status != 200 or n_lines != n_ratings + n_before or ours_hash != page_hash
        measured[name] = {
            "seconds": statistics.median(ours),
            "floor_seconds": statistics.median(floor),
            "ratio": statistics.median(a / b for a, b in zip(ours, floor, strict=True)),
            "errors": errors,
        }
    return measured


def run(sizes: tuple[int, ...]) -> None:
    """Fill, serve, measure, print."""
    import django
    from django.db import connection
    from django.utils import timezone

    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import Scope, User
    from evalsite.accounts.tokens import create_token

    user = User.objects.create(email="owner@example.org")
    _, token = create_token(user=user, name="benchmark", scopes=[Scope.READ], now=timezone.now())
    campaigns = [create_campaign(owner=user, protocol="mrc-adequacy") for _ in sizes]
    for campaign, n_ratings in zip(campaigns, sizes, strict=True):
        fill(campaign, n_ratings)
    port, measured, peaks = free_port(), {}, []
    with serving(port, "FULL") as pid:
        for campaign, n_ratings in zip(campaigns, sizes, strict=True):
            measured[n_ratings] = measure(port, campaign, user, token, n_ratings)
            peaks.append(peak_mb(pid))
            for name, row in measured[n_ratings].items():
                print(
                    f"{n_ratings:>9,} {name:<13}: {row['seconds']:6.2f} s, page {row['floor_seconds']:6.2f} s, "
                    f"ratio {row['ratio']:.2f}; server {peaks[-1]:.0f} MB",
                    flush=True,
                )
    largest = measured[sizes[-1]]
    print(
        json.dumps(
            {
                "benchmark": "api",
                **{name: round(value, 3) for name, value in largest["ratings.csv"].items()},
                "errors": sum(row["errors"] for rows in measured.values() for row in rows.values()),
                "peak_mb": round(peaks[-1], 1),
                "growth_mb": round(peaks[-1] - peaks[0], 1),
                "sizes": list(sizes),
                "ratios": {name: round(row["ratio"], 2) for name, row in largest.items()},
                "database": connection.vendor,
                "versions": {"python": platform.python_version(), "django": django.__version__},
                "cores": os.cpu_count(),
            }
        )
    )


def main() -> None:
    """Measure both sizes and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10,000 and 100,000 ratings only")
    parser.add_argument("--size", type=int, metavar="N", help="ratings, of this size only")
    options = parser.parse_args()
    in_new_site(lambda: run((options.size,) if options.size else QUICK_SIZES if options.quick else SIZES))


if __name__ == "__main__":
    main()
