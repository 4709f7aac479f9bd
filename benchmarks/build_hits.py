"""Seconds and peak memory of building HITs, against shuffling as many numbers.

    python benchmarks/build_hits.py [--quick | --size N]
    python benchmarks/build_hits.py --database [--quick]

A plan must at least put as many items in random order and name their HIT and position, so the floor is
`Generator.permutation` of as many indices and building those two arrays, measured in turn with the plan in the same
run. Outputs of 20 systems become HITs of 70 ordinary, 10 degraded, 10 repeat and 10 reference items. Apart from that,
the texts of all degraded items are made, each with its own generator and donors, and the same outputs become HITs of
one source each. Every plan is checked; `errors` counts the broken rules. Each size is measured in a process of its
own, so that its peak memory is its own.

With `--database` the whole job is measured: outputs of a campaign on SQLite, or the database of DATABASE_URL, become
HITs that are stored there. It must at least store the items, so the floor is storing the same rows with the driver
alone (`executemany`, or COPY on PostgreSQL), in turn with the job. `write_lock_seconds` is how long the job's
transaction takes, in which nobody else writes to SQLite; `models_seconds` is what Django's `bulk_create` takes for the
same items.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from campaigns.design.composition import POOL_OF_100, Kind, Layout, Mix
from campaigns.design.degradation import STEPS_TO_20, degrade
from campaigns.design.plan import HitPlan, plan_hits
from campaigns.design.seeds import draw_donors, generator

SIZES, QUICK_SIZES = (10**4, 10**5, 10**6), (10**4, 10**5)
N_SYSTEMS = 20
BY_SOURCE = Mix(N_SYSTEMS, 6, 3, layout=Layout.BY_SOURCE, has_anchor=True)
REPEATS, DATABASE_REPEATS = 5, 3


def write_texts(n_outputs: int) -> list[str]:
    """Return seeded texts of 1 to 40 words."""
    rng = np.random.default_rng(7)
    words = [f"word{k}" for k in range(2000)]
    n_words, first = rng.integers(1, 41, n_outputs).tolist(), rng.integers(0, len(words) - 40, n_outputs).tolist()
    return [" ".join(words[k : k + n]) for n, k in zip(n_words, first, strict=True)]


def shuffle_items(n_items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a random order of the items, and the HIT and position of each: the floor."""
    order = np.random.default_rng(1).permutation(n_items)
    return order, np.repeat(np.arange(n_items // 100), 100), np.tile(np.arange(1, 101), n_items // 100)


def count_errors(plan: HitPlan, mix: Mix, n_outputs: int) -> int:
    """Return how many HITs and outputs break a rule."""
    shape = (plan.totals.n_hits, mix.size)
    output, kind = plan.hits.output.reshape(shape), plan.hits.kind.reshape(shape)
    twin = plan.hits.twin_position.reshape(shape)
    is_ordinary = kind == Kind.ORDINARY
    ordinary = np.sort(output[is_ordinary].reshape(-1, mix.n_ordinary), axis=1)
    uses = np.bincount(ordinary.ravel(), minlength=n_outputs)
    is_twin = np.where(is_ordinary, True, np.take_along_axis(output, np.maximum(twin - 1, 0), axis=1) == output)
    broken = (
        (output[:, 1:] == output[:, :-1]).any(axis=1)
        | (ordinary[:, 1:] == ordinary[:, :-1]).any(axis=1)
        | ~is_twin.all(axis=1)
        | (is_ordinary.sum(axis=1) != mix.n_ordinary)
    )
    return int(broken.sum()) + int((uses < 1).sum()) + int((uses > 2).sum())


def degrade_all(plan: HitPlan, texts: list[str], source: np.ndarray) -> int:
    """Make the text of every degraded item and return how many do not differ from their originals."""
    hits = plan.hits
    degraded = np.flatnonzero(hits.kind == Kind.DEGRADED)
    n_same = 0
    for hit, position, output in zip(
        hits.hit[degraded].tolist(), hits.position[degraded].tolist(), hits.output[degraded].tolist(), strict=True
    ):
        rng = generator(plan.seed, hit, position)
        first, *further = (texts[k] for k in draw_donors(source, int(source[output]), rng).tolist())
        n_same += degrade(texts[output], first, rng, STEPS_TO_20, further_donors=further) == texts[output]
    return n_same


def measure(n_outputs: int) -> dict[str, float]:
    """Return median seconds of the floor and of the plan, taken in turn, of texts and by-source HITs, and the peak."""
    outputs = np.arange(n_outputs)
    source, system = outputs // N_SYSTEMS, outputs % N_SYSTEMS
    floor, ours, by_source = [], [], []
    errors = 0
    for repeat in range(REPEATS + 1):
        start = time.perf_counter()
        plan = plan_hits(POOL_OF_100, source=source, system=system, seed=repeat)
        middle = time.perf_counter()
        shuffle_items(plan.totals.n_items)
        after_floor = time.perf_counter()
        grouped = plan_hits(BY_SOURCE, source=source, system=system, seed=repeat, anchor=0)
        by_source.append(time.perf_counter() - after_floor)
        ours.append(middle - start)
        floor.append(after_floor - middle)
        errors += count_errors(plan, POOL_OF_100, n_outputs) + count_errors(grouped, BY_SOURCE, n_outputs)
    plan_mb = peak_mb()
    texts = write_texts(n_outputs)
    start = time.perf_counter()
    errors += degrade_all(plan, texts, source)
    return {
        "n_hits": plan.totals.n_hits,
        "seconds": statistics.median(ours[1:]),  # the first warms up
        "floor_seconds": statistics.median(floor[1:]),
        "ratio": statistics.median(a / b for a, b in zip(ours[1:], floor[1:], strict=True)),
        "by_source_seconds": statistics.median(by_source[1:]),
        "degrade_seconds": time.perf_counter() - start,
        "plan_peak_mb": plan_mb,
        "peak_mb": peak_mb(),
        "errors": errors,
    }


# --- The whole job, with the database


def set_up() -> None:
    """Start Django on the database of the environment."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
    os.environ["LOG_LEVEL"] = "ERROR"
    django.setup()


def fill_database(n_outputs: int) -> int:
    """Make a campaign with this many outputs; return its key."""
    from django.core.management import call_command

    from campaigns.models import Output, Source, System
    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    call_command("migrate", verbosity=0)
    owner, _ = User.objects.get_or_create(email="owner@example.org")
    campaign = create_campaign(owner=owner, protocol="mrc-adequacy")
    systems = System.objects.bulk_create(System(campaign=campaign, name=f"system {k}") for k in range(N_SYSTEMS))
    texts = iter(write_texts(n_outputs))
    fields = {"question": "What was it?", "reference": ""}
    sources = Source.objects.bulk_create(
        Source(campaign=campaign, name=f"source {k}", fields=fields | {"reference": text})
        for k, text in enumerate(write_texts(n_outputs // N_SYSTEMS))
    )
    Output.objects.bulk_create(
        (Output(source=source, system=system, text=next(texts)) for source in sources for system in systems),
        batch_size=5000,
    )
    return int(campaign.pk)


def run_build(campaign_id: int) -> tuple[float, float]:
    """Queue and run the job; return its seconds and those of its transaction."""
    from evalsite.jobs import handlers
    from evalsite.jobs.models import Job
    from evalsite.jobs.running import run_job

    locked = 0.0
    saving = handlers.JobContext.saving

    @contextmanager
    def timed(self: handlers.JobContext) -> Iterator[None]:
        nonlocal locked
        begin = time.perf_counter()
        with saving(self):
            yield
        locked += time.perf_counter() - begin

    handlers.JobContext.saving = timed  # type: ignore[method-assign]
    job = Job.objects.create(kind="campaigns.build_hits", args={"campaign": campaign_id})
    start = time.perf_counter()
    run_job(job.pk)
    seconds = time.perf_counter() - start
    handlers.JobContext.saving = saving  # type: ignore[method-assign]
    job.refresh_from_db()
    assert job.status == Job.Status.SUCCEEDED, job.error_message
    return seconds, locked


def store_bare(rows: list[tuple[Any, ...]], columns: str) -> None:
    """Store the items' rows with the driver alone: the floor."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY campaigns_hititem ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["?"] * len(rows[0]))
            cursor.connection.executemany(f"INSERT INTO campaigns_hititem ({columns}) VALUES ({marks})", rows)


def store_models(rows: list[tuple[Any, ...]], columns: list[str]) -> None:
    """Store the items' rows as models."""
    from django.db import transaction

    from campaigns.models import HitItem

    with transaction.atomic():
        HitItem.objects.bulk_create((HitItem(**dict(zip(columns, row, strict=True))) for row in rows), batch_size=5000)


def measure_database(campaign_id: int) -> dict[str, float]:
    """Return median seconds of the job, of the floor and of the models, taken in turn, and the job's peak memory."""
    from django.db import connection

    from campaigns.models import HitItem

    columns = ["hit_id", "position", "kind", "output_id", "twin_position", "text"]
    taken: dict[str, list[float]] = {"seconds": [], "floor_seconds": [], "write_lock_seconds": []}
    errors, models_seconds, job_mb = 0, 0.0, 0.0
    first: list[tuple[Any, ...]] = []
    for repeat in range(DATABASE_REPEATS):
        seconds, locked = run_build(campaign_id)
        job_mb = job_mb or peak_mb()
        items = HitItem.objects.filter(hit__campaign=campaign_id)
        rows = list(items.order_by("hit", "position").values_list(*columns))
        first = first or rows
        errors += sum(a[1:] != b[1:] for a, b in zip(first, rows, strict=True))  # the same HITs every time
        items._raw_delete(connection.alias)
        start = time.perf_counter()
        store_bare(rows, ", ".join(columns))
        middle = time.perf_counter()
        taken["floor_seconds"].append(middle - start)
        taken["seconds"].append(seconds)
        taken["write_lock_seconds"].append(locked)
        if repeat == 0:
            items._raw_delete(connection.alias)
            start = time.perf_counter()
            store_models(rows, columns)
            models_seconds = time.perf_counter() - start
    return {
        "n_items": len(first),
        **{name: statistics.median(times) for name, times in taken.items()},
        "ratio": statistics.median(a / b for a, b in zip(taken["seconds"], taken["floor_seconds"], strict=True)),
        "models_seconds": models_seconds,
        "peak_mb": job_mb,
        "errors": errors,
    }


def run_database(sizes: tuple[int, ...]) -> dict[int, dict[str, float]]:
    """Measure every size and print the table. Filling the database and measuring are processes of their own."""
    measured = {}
    with tempfile.TemporaryDirectory(prefix="evalsite-benchmark-") as folder:
        environment = {**os.environ, "EVALSITE_DATA": folder}
        for n in sizes:

            def run(*arguments: str) -> Any:
                command = [sys.executable, __file__, *arguments]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment)
                return json.loads(done.stdout)

            measured[n] = row = run("--measure-database", str(run("--fill", str(n))))
            print(
                f"{n:>9,} outputs, {row['n_items']:9,} items: {row['seconds']:6.2f} s, of these "
                f"{row['write_lock_seconds']:5.2f} s in its transaction; floor {row['floor_seconds']:5.2f} s, ratio "
                f"{row['ratio']:4.1f}; as models {row['models_seconds']:5.2f} s; peak {row['peak_mb']:4.0f} MB",
                flush=True,
            )
    return measured


def peak_mb() -> float:
    """Return the peak resident memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Measure every size and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--size", type=int, metavar="N", help="outputs, of this size only")
    parser.add_argument("--measure", type=int, metavar="N_OUTPUTS", help=argparse.SUPPRESS)
    parser.add_argument("--database", action="store_true", help="the whole job, with SQLite or DATABASE_URL")
    parser.add_argument("--fill", type=int, metavar="N_OUTPUTS", help=argparse.SUPPRESS)
    parser.add_argument("--measure-database", type=int, metavar="CAMPAIGN", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = (options.size,) if options.size else QUICK_SIZES if options.quick else SIZES
    if options.measure:
        print(json.dumps(measure(options.measure)))
    elif options.fill:
        set_up()
        print(fill_database(options.fill))
    elif options.measure_database:
        set_up()
        print(json.dumps(measure_database(options.measure_database)))
    elif options.database:
        measured = run_database(QUICK_SIZES[:1] if options.quick else QUICK_SIZES)
        vendor = "PostgreSQL" if os.environ.get("DATABASE_URL", "").startswith("postgres") else "SQLite"
        print_result("build_hits_database", measured, database=vendor)
    else:
        print_result("build_hits", run_plans(sizes))


def run_plans(sizes: tuple[int, ...]) -> dict[int, dict[str, float]]:
    """Measure every size and print the table, each in a process of its own."""
    measured: dict[int, dict[str, float]] = {}
    for n in sizes:
        command = [sys.executable, __file__, "--measure", str(n)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        measured[n] = row = json.loads(done.stdout)
        print(
            f"{n:>9,} outputs, {row['n_hits']:6,} HITs: {row['seconds']:6.3f} s, floor {row['floor_seconds']:6.3f} s, "
            f"ratio {row['ratio']:5.1f}; texts {row['degrade_seconds']:6.2f} s; by source "
            f"{row['by_source_seconds']:6.3f} s; peak {row['plan_peak_mb']:4.0f} MB, with texts {row['peak_mb']:4.0f}",
            flush=True,
        )
    return measured


def print_result(name: str, measured: dict[int, dict[str, float]], **about: str) -> None:
    """Print the one JSON object, with the values of the largest size."""
    largest = max(measured)
    print(
        json.dumps(
            {
                "benchmark": name,
                **about,
                "n_outputs": largest,
                **{key: round(value, 4) for key, value in measured[largest].items()},
                "errors": sum(int(row["errors"]) for row in measured.values()),
                "sizes": sorted(measured),
                "ratios": [round(measured[n]["ratio"], 2) for n in sorted(measured)],
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "numpy": np.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
