"""Memory and rows a second of the files of *Export* of a campaign of very many responses, against a bare cursor.

    python benchmarks/exports.py [--responses N | --quick]

A finished campaign with N responses (10⁶; 10⁵ with `--quick`; a multiple of 1,000) to one slider, with their telemetry,
in SQLite. The site is served by gunicorn; each file is asked for as a browser does, and read to its end. `growth_mb` is
the server's peak resident memory after the file, above that before the first; `rows_per_s` are lines a second. The
floor is a cursor of SQLite that joins the same tables and writes each response with `csv.writer`, in this process:
`ratio` is the seconds of `ratings.csv` over those of the floor. `errors` counts files with another status or number of
lines than expected, as far as that is known.
"""

import argparse
import csv
import io
import json
import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.api import N_ITEMS, N_WORKERS, download, fill
from benchmarks.rating_cycle import free_port, in_new_site, peak_mb, serving

N, QUICK = 10**6, 10**5
_FLOOR = """
    SELECT w.key, a.id, h.number, i.position, s.name, y.name, i.kind, r.score, r.rated_at
    FROM annotation_response r JOIN annotation_assignment a ON a.id = r.assignment_id
    JOIN annotation_worker w ON w.id = a.worker_id JOIN campaigns_hit h ON h.id = a.hit_id
    JOIN campaigns_hititem i ON i.id = r.item_id JOIN campaigns_output o ON o.id = i.output_id
    JOIN campaigns_source s ON s.id = o.source_id JOIN campaigns_system y ON y.id = o.system_id
    ORDER BY r.assignment_id, r.item_id
"""


def write_bare(database: str) -> tuple[float, int]:
    """Write every response as CSV, and forget it; return seconds and rows."""
    start, n = time.perf_counter(), 0
    with sqlite3.connect(database) as connection:
        cursor = connection.execute(_FLOOR)
        while rows := cursor.fetchmany(1000):
            csv.writer(io.StringIO(newline="")).writerows(rows)
            n += len(rows)
    return time.perf_counter() - start, n


def measure(n: int) -> dict[str, Any]:
    """Return what each file takes, and the floor."""
    from django.conf import settings
    from django.test import Client

    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    user = User.objects.create(email="owner@example.org")
    campaign = create_campaign(owner=user, protocol="mrc-adequacy")
    fill(campaign, n)
    lines = {
        "ratings.csv": n + 1,
        "ratings.jsonl": n,
        "ratings.parquet": None,
        "assignments.csv": n // N_ITEMS + 1,
        "items.csv": n // N_WORKERS + 1,
        "events.jsonl": n,
    }
    browser = Client()
    browser.force_login(user)
    session = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"}
    port, files, errors = free_port(), {}, 0
    with serving(port, "FULL") as pid:
        download(port, f"/campaigns/{campaign.public_id}/export/", session)
        before = peak_mb(pid)
        for name, expected in lines.items():
            seconds, status, found, _ = download(port, f"/campaigns/{campaign.public_id}/export/{name}", session)
            errors += status != 200 or expected not in (None, found)
            rows = expected or n
            growth = round(peak_mb(pid) - before, 1)
            files[name] = {"seconds": round(seconds, 2), "rows_per_s": round(rows / seconds), "growth_mb": growth}
            print(f"{name:<16} {seconds:7.1f} s, {rows / seconds:9,.0f} rows/s, {growth:6.1f} MB", flush=True)
    floor, n_bare = write_bare(str(settings.DATABASES["default"]["NAME"]))
    return {
        "files": files,
        "peak_mb": [round(before, 1), round(before + max(each["growth_mb"] for each in files.values()), 1)],
        "floor_seconds": round(floor, 2),
        "ratio": round(files["ratings.csv"]["seconds"] / floor, 2),
        "errors": errors + (n_bare != n),
    }


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=N)
    parser.add_argument("--quick", action="store_true", help="100,000 responses")
    options = parser.parse_args()
    n = QUICK if options.quick else options.responses
    in_new_site(lambda: print(json.dumps({"benchmark": "exports", "n": n, "cpus": os.cpu_count()} | measure(n))))


if __name__ == "__main__":
    main()
