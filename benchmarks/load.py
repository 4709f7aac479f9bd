"""How long workers wait while 50, 200 and 500 of them rate at once.

    python benchmarks/load.py [--database postgresql|sqlite] [--workers 50 200 500] [--saves 6] [--period 10]

Each worker saves an item of question generation every 10 s, which is answered with the page of the next one, and
fetches the images of that page and those fetched ahead, as a browser does (`load_client.py`, a process of its own on
the same cores). They open their pages one after the other, ten a second; the saves after that are counted.

The site: the command that serves an installation (`evalsite serve`), with PostgreSQL at its ordinary durability, Redis
and two web processes, or with SQLite and one. No proxy is in front. The last line is JSON: `p95_ms` is of the largest
number of workers; `rows` has all, with medians, images, bytes, and the CPU milliseconds that web processes and the
database server took for each save. `errors` counts answers other than 200, connections that broke, and responses that
are missing from the database, or too many, in the end.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.chat import percentile, running
from tests.services import free_port, new_database, running_postgres, running_redis

PROTOCOL = "qg"
N_PAGES = 20
OPENED_PER_S = 10
DATABASES = ("postgresql", "sqlite")
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and all that it started, ended ones too."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(map(int, fields[11:15])) / _TICKS + sum(cpu_s(int(each)) for each in children)


def postgres_pid(url: str) -> int:
    """Return the process of the database server that this address names."""
    import psycopg

    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_read_file('postmaster.pid', 0, 20)").fetchone()
    assert row
    return int(row[0].split()[0])


def open_s(n_workers: int, period_s: float) -> float:
    """Return in how many seconds so many workers open their pages."""
    return max(period_s, n_workers / OPENED_PER_S)


def save(port: int, workers: list[dict[str, Any]], period_s: float, n_saves: int) -> dict[str, Any]:
    """Let workers save as often; return what they measured."""
    plan = {"port": port, "period_s": period_s, "n_saves": n_saves, "workers": workers}
    plan["open_s"] = open_s(len(workers), period_s)
    client = [sys.executable, str(ROOT / "benchmarks/load_client.py")]
    done = subprocess.run(client, input=json.dumps(plan), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    measured: dict[str, Any] = json.loads(done.stdout)
    for error in measured["errors"][:5]:
        print(f"  {error}", file=sys.stderr)
    return measured


def measure(name: str, port: int, pids: dict[str, int], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return a row for each number of workers; they are other workers each time, each with a HIT of its own."""
    from annotation.models import Response
    from benchmarks import rating_cycle

    rows, n_all = [], sum(options.workers)
    campaign, requests = rating_cycle.prepare(PROTOCOL, -(-n_all // rating_cycle.N_CLIENTS))
    bodies: dict[str, list[str]] = {}
    for path, body in (each for mine in requests for each in mine):
        bodies.setdefault(path, []).append(body)
    everybody = [{"path": path, "bodies": posts} for path, posts in bodies.items()]
    given = Response.objects.filter(assignment__campaign=campaign)
    for n_workers in options.workers:
        workers, everybody = everybody[:n_workers], everybody[n_workers:]
        n_before, before = given.count(), {part: cpu_s(pid) for part, pid in pids.items()}
        measured = save(port, workers, options.period, options.saves)
        n_saves = measured["n_saved"]
        taken = {f"{part}_cpu_ms": 1000 * (cpu_s(pid) - before[part]) / n_saves for part, pid in pids.items()}
        n_missing = abs(given.count() - n_before - n_saves * campaign.criteria.count())
        row = {
            "database": name,
            "workers": n_workers,
            "p50_ms": round(statistics.median(measured["save_ms"]), 1),
            "p95_ms": round(percentile(measured["save_ms"], 95), 1),
            "p99_ms": round(percentile(measured["save_ms"], 99), 1),
            "image_p95_ms": round(percentile(measured["image_ms"], 95), 1),
            "images_per_save": round(len(measured["image_ms"]) / len(measured["save_ms"]), 2),
            "kilobytes_per_save": round(measured["n_bytes"] / n_saves / 1000, 1),
            "errors": len(measured["errors"]) + n_missing,
            **{part: round(each, 1) for part, each in taken.items()},
        }
        rows.append(row)
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return rows


@contextmanager
def site(database: str) -> Iterator[tuple[int, dict[str, int]]]:
    """Serve a new site, whose data this process has, too; yield its port and the processes to measure."""
    with ExitStack() as stack:
        os.environ["EVALSITE_DATA"] = stack.enter_context(tempfile.TemporaryDirectory(prefix="load-"))
        os.environ |= {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "JOBS_IN_PROCESS": "false"}
        pids = {}
        if database == "postgresql":
            server = stack.enter_context(running_postgres(is_durable=True))
            os.environ["DATABASE_URL"] = new_database(server, "load")
            os.environ |= {"REDIS_URL": stack.enter_context(running_redis()), "WEB_CONCURRENCY": "2"}
            pids["database"] = postgres_pid(server)
        import django
        from django.core.management import call_command

        from evalsite.serving import server_command

        django.setup()
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        port = free_port()
        pids["web"] = stack.enter_context(running(server_command("127.0.0.1", port, is_quiet=True)[1:], port))
        yield port, pids
        from django.db import connections

        connections.close_all()


def main() -> None:
    """Measure and print a line for each number of workers, and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=DATABASES, default=DATABASES[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--saves", type=int, default=6, help="of each worker, that are counted")
    parser.add_argument("--period", type=float, default=10.0, help="seconds between two saves of a worker")
    options = parser.parse_args()
    if open_s(max(options.workers), options.period) / options.period + options.saves >= N_PAGES:
        parser.error(f"A HIT has {N_PAGES} items: fewer saves, or fewer workers.")
    with site(options.database) as (port, pids):
        rows = measure(options.database, port, pids, options)
    most = max(rows, key=lambda row: row["workers"])
    result = {
        "benchmark": "load",
        "p95_ms": most["p95_ms"],
        "errors": sum(row["errors"] for row in rows),
        "workers": most["workers"],
        "database": options.database,
        "rows": rows,
        "versions": {"python": platform.python_version()},
        "cores": os.cpu_count(),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
