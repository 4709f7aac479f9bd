"""Seconds and peak memory of the whole analysis, against sorting as many numbers.

    python benchmarks/analyse.py [--quick | --size N]

A rank test must at least order the ratings, so the floor is `np.argsort` of as many float64, measured in turn with the
analysis in the same run. The ratings: 2,000 workers (fewer where they would have no whole HIT), 20 systems, one
criterion, HITs of 70 ordinary, 10 degraded, 10 repeat and 10 reference items. Timed: twin matching, worker tests
(paired-wilcoxon), z, system scores, all pairwise tests; no bootstrap. Apart from that, the same ratings are read and
analysed from a CSV and a Parquet file. Each measurement is a process of its own, so that its peak memory is its own.
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
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import analysis  # noqa: F401, I001  (before NumPy: it sets the number of BLAS threads)
import numpy as np

from analysis.stats.pipeline import Design, analyse
from analysis.stats.ratings import Ratings
from campaigns.design.composition import Kind

SIZES, QUICK_SIZES = (10**4, 10**5, 10**6, 10**7), (10**4, 10**5)
N_WORKERS, N_SYSTEMS, N_SOURCES, HIT_SIZE = 2000, 20, 100_000, 100
REPEATS = 5
KINDS = np.repeat([Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT, Kind.REFERENCE], [70, 10, 10, 10]).astype(np.int8)


def simulate(n_ratings: int) -> Ratings:
    """Return a seeded crowd's ratings, in the order of (worker, assignment, position)."""
    rng = np.random.default_rng(7)
    n_hits = n_ratings // HIT_SIZE
    n_workers = min(N_WORKERS, n_hits)
    shape = (n_hits, HIT_SIZE)
    system = rng.integers(0, N_SYSTEMS, shape, dtype=np.int32)
    source = (np.arange(n_hits)[:, None] * 70 + np.arange(HIT_SIZE)).astype(np.int32) % N_SOURCES
    for first in (70, 80, 90):  # the twins of a HIT's copies are ten of its ordinary items
        system[:, first : first + 10] = system[:, :10]
        source[:, first : first + 10] = source[:, :10]
    quality = rng.normal(50, 8, N_SYSTEMS)
    score = quality[system] + rng.normal(0, 20, shape) - 25 * (KINDS == Kind.DEGRADED)
    order = rng.permuted(np.broadcast_to(np.arange(HIT_SIZE), shape), axis=1)
    hit = np.arange(n_hits, dtype=np.int32)
    return Ratings(
        scores=np.clip(np.take_along_axis(score, order, 1), 0, 100).reshape(-1, 1),
        worker=np.repeat(hit * n_workers // n_hits, HIT_SIZE).astype(np.int32),
        system=np.take_along_axis(system, order, 1).ravel(),
        assignment=np.repeat(hit, HIT_SIZE),
        source=np.take_along_axis(source, order, 1).ravel(),
        kind=KINDS[order].ravel(),
        n_workers=n_workers,
        n_systems=N_SYSTEMS,
    )


def peak_mb() -> float:
    """Return the peak resident memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure_memory(n_ratings: int) -> dict[str, float]:
    """Return median seconds of argsort and of the analysis, taken in turn, and the peak memory."""
    ratings = simulate(n_ratings)
    design = Design(np.array([False]), np.array([True]), "paired-wilcoxon")
    numbers = np.random.default_rng(1).random(ratings.n_items)
    floor, ours = [], []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        np.argsort(numbers)
        middle = time.perf_counter()
        analyse(ratings, design)
        floor.append(middle - start)
        ours.append(time.perf_counter() - middle)
    floor_s, ours_s = statistics.median(floor[1:]), statistics.median(ours[1:])  # the first warms up
    ratio = statistics.median(a / b for a, b in zip(ours[1:], floor[1:], strict=True))
    return {"seconds": ours_s, "floor_seconds": floor_s, "ratio": ratio, "peak_mb": peak_mb()}


def measure_file(path: str) -> dict[str, float]:
    """Return the seconds of reading a file, of analysing it, and the peak memory."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    from analysis.data.ratings.loading import load_ratings
    from analysis.methods.settings import from_protocol
    from analysis.methods.study.study import run_study

    settings = from_protocol("mrc-adequacy")
    start = time.perf_counter()
    loaded = load_ratings(path, criteria=settings.criterion_names)
    middle = time.perf_counter()
    run_study(loaded, settings)
    end = time.perf_counter()
    return {"read_seconds": middle - start, "analyse_seconds": end - middle, "peak_mb": peak_mb()}


def write_files(n_ratings: int, folder: str) -> None:
    """Write the simulated ratings as CSV and Parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    ratings = simulate(n_ratings)

    def named(prefix: str, codes: np.ndarray) -> pa.Array:
        labels = [f"{prefix}{code}" for code in range(int(codes.max()) + 1)]
        return pa.DictionaryArray.from_arrays(pa.array(codes), labels).cast(pa.string())

    kinds = pa.DictionaryArray.from_arrays(pa.array(ratings.kind), [kind.name.lower() for kind in Kind])
    table = pa.table(
        {
            "worker": named("w", ratings.worker),
            "assignment": named("a", ratings.assignment),
            "position": pa.array(np.arange(ratings.n_items) % HIT_SIZE + 1),
            "source": named("s", ratings.source),
            "system": named("system-", ratings.system),
            "kind": kinds.cast(pa.string()),
            "score": pa.array(ratings.scores[:, 0].round(2)),
        }
    )
    pyarrow.csv.write_csv(table, Path(folder) / "ratings.csv")
    pyarrow.parquet.write_table(table, Path(folder) / "ratings.parquet")


def in_own_process(*arguments: object) -> dict[str, float]:
    """Run one measurement of this script in a new process."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    measured: dict[str, float] = json.loads(done.stdout or "{}")
    return measured


def main() -> None:
    """Measure every size and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--size", type=int, metavar="N", help="ratings, of this size only")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "ARGUMENT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        what, argument = options.measure
        if what == "write":
            n, folder = argument.split(":", 1)
            write_files(int(n), folder)
        else:
            measured = measure_memory(int(argument)) if what == "memory" else measure_file(argument)
            print(json.dumps(measured))
        return

    rows, files = {}, {}
    for n in (options.size,) if options.size else QUICK_SIZES if options.quick else SIZES:
        rows[n] = row = in_own_process("--measure", "memory", n)
        print(
            f"{n:>10,} ratings in memory: {row['seconds']:7.3f} s, argsort {row['floor_seconds']:6.3f} s, "
            f"ratio {row['ratio']:5.2f}, peak {row['peak_mb']:6.0f} MB",
            flush=True,
        )
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            in_own_process("--measure", "write", f"{n}:{folder}")
            for kind in ("csv", "parquet"):
                path = Path(folder) / f"ratings.{kind}"
                files[kind] = row = in_own_process("--measure", "file", path) | {"file_mb": path.stat().st_size / 1e6}
                print(
                    f"{n:>10,} ratings in {kind:<8}: {row['read_seconds']:7.3f} s to read {row['file_mb']:.0f} MB, "
                    f"{row['analyse_seconds']:.3f} s to analyse, peak {row['peak_mb']:.0f} MB",
                    flush=True,
                )
    largest = max(rows)
    sizes = sorted(rows)
    steps = list(pairwise(sorted(rows)))

    def growth(key: str) -> list[float]:
        """Return how much faster than n log n each step to the next size grew."""
        n_log_n = {n: n * np.log(n) for n in rows}
        return [round(rows[b][key] / rows[a][key] / (n_log_n[b] / n_log_n[a]), 3) for a, b in steps]

    print(
        json.dumps(
            {
                "benchmark": "analyse",
                "n_ratings": largest,
                **{key: round(value, 4) for key, value in rows[largest].items()},
                "errors": 0,
                "sizes": sizes,
                "ratios": [round(rows[n]["ratio"], 3) for n in sizes],
                "growth_over_n_log_n": growth("seconds"),
                "floor_growth_over_n_log_n": growth("floor_seconds"),
                "files": {kind: {k: round(v, 3) for k, v in row.items()} for kind, row in files.items()},
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "numpy": np.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
