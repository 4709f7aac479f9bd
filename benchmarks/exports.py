"""Memory and CPU seconds of the files of *Export*, of campaigns of more and more responses, against a bare cursor.

    python benchmarks/exports.py [--responses N ... | --quick] [--check]

A finished campaign of each number of responses (10⁵ and 10⁶; 10⁵ and 2·10⁵ with `--quick`; multiples of 1,000) to one
slider, with their telemetry, and one of 10⁶ at most of marked errors, corrected texts and votes each; in SQLite, or the
database of DATABASE_URL. Each file is asked for as a browser does, and read to its end, from a gunicorn of its own.
`growth_mb` is its peak resident memory after the file, above that after a page; `seconds` and `cpu_seconds` its own.
The floor is a cursor that joins the same tables and writes each response with `csv.writer`, in this process. `errors`
counts files with another status or number of lines than expected, as far as that is known. `grown_mb` is how much more
a file takes of the most responses than of the fewest. With `--check` the program fails if that is more than 20 MB, or
if a server takes more than 300 MB.
"""

import argparse
import csv
import io
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.api import N_ITEMS, N_WORKERS, download, fill
from benchmarks.million import server_cpu
from benchmarks.rating_cycle import free_port, in_new_site, peak_mb, serving

SIZES, QUICK_SIZES = [10**5, 10**6], [10**5, 2 * 10**5]  # of fewer no row group of Parquet is full
MOST_OF_OTHERS = 10**6
MOST_MB, MOST_GROWN_MB = 300, 20
OTHERS = {"esa": ("mqm.tsv", 1), "post-edit": ("edits.csv", 1), "preference": ("votes.csv", 2)}
"""Other protocols: the file that is written of each, and how many outputs workers see at once."""
_FLOOR = """
    SELECT w.key, a.id, h.number, i.position, s.name, y.name, i.kind, r.score, r.rated_at
    FROM annotation_response r JOIN annotation_assignment a ON a.id = r.assignment_id
    LEFT JOIN annotation_worker w ON w.id = a.worker_id LEFT JOIN campaigns_hit h ON h.id = a.hit_id
    LEFT JOIN campaigns_hititem i ON i.id = r.item_id LEFT JOIN campaigns_output o ON o.id = i.output_id
    LEFT JOIN campaigns_source s ON s.id = o.source_id LEFT JOIN campaigns_system y ON y.id = o.system_id
    WHERE a.campaign_id = %s ORDER BY r.assignment_id, r.item_id
"""
"""Each joined row is there. `LEFT` keeps SQLite from beginning with systems, which took 20 times as long of 10⁶."""


class Filled(NamedTuple):
    """A campaign, how many rows its files have, and the lines of each, None where they are not known."""

    campaign: Any
    n: int
    lines: dict[str, int | None]


def fill_all(sizes: Sequence[int]) -> tuple[Any, list[Filled]]:
    """Store the campaigns; return their owner, and them."""
    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    user = User.objects.create(email="owner@example.org")
    filled = []
    for n in sizes:
        campaign = create_campaign(owner=user, protocol="mrc-adequacy")
        fill(campaign, n)
        filled.append(Filled(campaign, n, lines_of(n)))
    for protocol, (name, n_at_once) in OTHERS.items():
        for n in sorted({min(n, MOST_OF_OTHERS) for n in sizes}):
            campaign = create_campaign(owner=user, protocol=protocol)
            fill(campaign, n, n_at_once)
            filled.append(Filled(campaign, n // n_at_once, {name: None if protocol == "esa" else n // n_at_once + 1}))
    return user, filled


def lines_of(n: int) -> dict[str, int | None]:
    """Return the files of a campaign of so many ratings, and how many lines each has."""
    ratings = {"ratings.csv": n + 1, "ratings.jsonl": n, "ratings.parquet": None}
    return ratings | {
        "assignments.csv": n // N_ITEMS + 1,
        "items.csv": n // N_WORKERS + 1,
        "events.jsonl": n,
    }


def measure_file(user: Any, filled: Filled, name: str) -> dict[str, Any]:
    """Return what a file takes of a server that has done nothing else but show a page."""
    from django.conf import settings
    from django.test import Client

    browser = Client()
    browser.force_login(user)
    session = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"}
    page = f"/campaigns/{filled.campaign.public_id}/export/"
    port, expected = free_port(), filled.lines[name]
    with serving(port, "FULL") as pid:
        download(port, page, session)
        before, cpu = peak_mb(pid), server_cpu(pid)
        seconds, status, found, _ = download(port, f"{page}{name}", session)
        peak, cpu = peak_mb(pid), server_cpu(pid) - cpu
    taken = {"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "peak_mb": round(peak, 1)}
    print(
        f"{name:<16} {filled.n:>10,} {seconds:7.1f} s, {cpu / filled.n * 10**6:6.1f} s CPU for a million, "
        f"{peak:6.1f} MB, {peak - before:+.1f} MB",
        flush=True,
    )
    is_bad = status != 200 or expected not in (None, found)
    return taken | {"growth_mb": round(peak - before, 1), "errors": int(is_bad)}


def write_bare(campaign: Any) -> tuple[float, int]:
    """Write every response as CSV, and forget it; return seconds and rows."""
    from django.db import connection

    start, n = time.perf_counter(), 0
    with connection.chunked_cursor() as cursor:
        cursor.execute(_FLOOR, [campaign.pk])
        while rows := cursor.fetchmany(1000):
            csv.writer(io.StringIO(newline="")).writerows(rows)
            n += len(rows)
    return time.perf_counter() - start, n


def measure(sizes: Sequence[int]) -> dict[str, Any]:
    """Return what each file takes of each number of responses, and the floor."""
    from django.db import connection

    user, filled = fill_all(sizes)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # PostgreSQL does so by itself, where it is not set otherwise, but later
    files: dict[str, dict[int, dict[str, Any]]] = {}
    for each in filled:
        for name in each.lines:
            files.setdefault(name, {})[each.n] = measure_file(user, each, name)
    floor, n_bare = write_bare(filled[len(sizes) - 1].campaign)
    taken = [each for of_file in files.values() for each in of_file.values()]
    return {
        "database": connection.vendor,
        "files": files,
        "grown_mb": {name: _grown(of_file) for name, of_file in files.items()},
        "peak_mb": max(each["peak_mb"] for each in taken),
        "floor_seconds": round(floor, 2),
        "ratio": round(files["ratings.csv"][sizes[-1]]["seconds"] / floor, 2),
        "errors": sum(each["errors"] for each in taken) + (n_bare != sizes[-1]),
    }


def _grown(taken: dict[int, dict[str, Any]]) -> float:
    return round(taken[max(taken)]["growth_mb"] - taken[min(taken)]["growth_mb"], 1)


def complaints(measured: dict[str, Any]) -> list[str]:
    """Return what shows that memory is not constant, or that a file is wrong."""
    grown = [f"{name} takes {mb} MB more" for name, mb in measured["grown_mb"].items() if mb > MOST_GROWN_MB]
    large = [f"a server takes {measured['peak_mb']} MB"] if measured["peak_mb"] > MOST_MB else []
    wrong = [f"{measured['errors']} files are wrong"] if measured["errors"] else []
    return [*grown, *large, *wrong]


def run(sizes: Sequence[int], *, is_check: bool) -> None:
    """Measure, print one JSON object, and with `is_check` say whether memory is constant."""
    measured = measure(sizes)
    print(json.dumps({"benchmark": "exports", "n": list(sizes), "cpus": os.cpu_count()} | measured))
    if is_check and (found := complaints(measured)):
        sys.exit("\n".join(found))
    if is_check:
        print(f"Memory is constant: no file of {sizes[-1]:,} takes {MOST_GROWN_MB} MB more than of {sizes[0]:,}.")


def main() -> None:
    """Read the arguments, and measure in a site of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, nargs="+", default=SIZES)
    parser.add_argument("--quick", action="store_true", help="100,000 and 200,000 responses")
    parser.add_argument("--check", action="store_true", help="fail unless memory is constant")
    options = parser.parse_args()
    sizes = QUICK_SIZES if options.quick else sorted(options.responses)
    in_new_site(lambda: run(sizes, is_check=options.check))


if __name__ == "__main__":
    main()
