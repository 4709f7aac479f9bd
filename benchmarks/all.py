"""Run the benchmarks, keep what they print as one JSON file, and draw how each figure grows with size.

    python benchmarks/all.py [--quick] [--only NAME ...] [--to FOLDER] [--against FILE]

Each benchmark is a process of its own, one after the other, at three or four sizes where it takes one, and is stopped
when its part of the hour is over, and what those before it left of theirs (two idle cores; a few minutes with
`--quick`). `benchmarks.json` in the folder (`build/benchmarks`) has the commit, the machine, versions and what each run
printed; `benchmarks.html` has the figures.

The *exponent* of a figure is the slope of its logarithm on that of the size, by least squares: 1 is linear. The *last*
one is the slope between the two largest sizes. The line bends if the last is greater by more than 0.2: what costs the
same at every size bends, too, until what grows is more. It is steep, a fault, if the last is above 1.2, bent or not.

With `--against` each ratio is compared with that of an earlier file, such as the last release's: greater is worse. The
program fails if one is worse by more than a tenth, or if a benchmark did not end well.
"""

import argparse
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
BENDS, WORSE = 0.2, 0.1
_PACKAGES = ("django", "numpy", "scipy", "pyarrow", "pillow")
_GROWS = re.compile(r"(seconds|cpu|_s|_ms|mb)$")
"""The names of times and of memory."""
_IS_RATIO = re.compile(r"ratio(s|_.*)?$")
_PATIENCE_S = 20
"""Seconds in which a stopped benchmark ends its servers."""


@dataclass(frozen=True)
class Benchmark:
    """How a benchmark is run: its options, and how long it may take, with `--quick` and without (None: not then)."""

    name: str
    minutes: float
    options: str = ""
    quick: str | None = None
    counts: str = ""
    """What its sizes count; none: it takes no size."""
    sizes: Sequence[int] = ()
    quick_sizes: Sequence[int] = ()
    size: str = "--size"


BENCHMARKS = (
    Benchmark("spans", 2, "--only arrays", "--only arrays", "spans", (10**4, 10**5, 10**6), (3000, 10**4)),
    Benchmark("spans", 2, "--only mqm", None, "spans", (10**4, 10**5, 10**6)),
    Benchmark("preference", 0.25, "", "", "votes", (10**4, 10**5, 10**6), (10**4, 10**5)),
    Benchmark("preference", 0.25, "--size 100000", None, "systems", (20, 60, 200), size="--systems"),
    Benchmark("analyse", 2, "", "", "ratings", (10**4, 10**5, 10**6, 10**7), (10**4, 10**5)),
    Benchmark("build_hits", 0.5, "", "", "outputs", (10**4, 10**5, 10**6), (10**3, 10**4)),
    Benchmark("lists", 0.5, "", "", "campaigns", (10, 100, 1000), (10, 30, 100)),
    Benchmark("lists", 0.5, "", None, "files", (10, 100, 1000), size="--files"),
    Benchmark("images", 0.5, "", None, "characters", (300, 1000, 3000)),
    Benchmark("finding", 2, "", None, "ratings", (10**4, 3 * 10**4, 10**5)),
    Benchmark("kinds", 2, "--only preference esa post-edit", None, "answers", (12_000, 120_000)),
    Benchmark("million", 16.25, "", None, "ratings", (4 * 10**4, 10**5, 2 * 10**5)),
    Benchmark("payments", 3, "", None, "assignments", (10**3, 10**4, 10**5)),
    Benchmark("exports", 9.5, "", None, "responses", (10**4, 10**5, 10**6), size="--responses"),
    Benchmark("load", 4.75, "--saves 3", None, "workers", (50, 150, 450), size="--workers"),
    Benchmark("chat", 6.5, "--quick", None, "chats", (30, 300), size="--chats"),
    Benchmark("api", 0.5, "--quick"),
    Benchmark("rating_cycle", 1, "--quick"),
    Benchmark("markup", 0.5),
    Benchmark("leaks", 0.5, "--quick"),
    Benchmark("slow_line", 0.5, "--quick"),
    Benchmark("worker_tests", 1.25, "--workers 2000"),
    Benchmark("degraders", 1.25),
    Benchmark("group_effects", 0.25, "--campaigns 20"),
    Benchmark("style", 0.25, "--quick"),
    Benchmark("metric_savings", 0.25, "--quick"),
    Benchmark("headlines", 0.25, "--campaigns 4"),
    Benchmark("error_rates", 1, "--quick --parts errors"),
)  # fmt: skip


# --- Running


def run(benchmark: Benchmark, end: float, *, is_quick: bool) -> Iterator[dict[str, Any]]:
    """Run a benchmark at each size, from the least, and yield what it printed, or why it did not end well.

    `end`: until when it may run, as `time.monotonic` counts.
    """
    options = (benchmark.quick or "") if is_quick else benchmark.options
    for size in (benchmark.quick_sizes if is_quick else benchmark.sizes) or (None,):
        sized = [] if size is None else [benchmark.size, str(size)]
        about = {"benchmark": benchmark.name, "options": options, "counts": benchmark.counts, "size": size}
        yield about | run_one([f"benchmarks/{benchmark.name}.py", *options.split(), *sized], end - time.monotonic())


def run_one(command: Sequence[str], seconds: float) -> dict[str, Any]:
    """Return what a benchmark printed last and took, or its error, after so many seconds at the most."""
    start, cpu = time.monotonic(), _cpu_of_children()
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    with process:
        try:
            output, errors = process.communicate(timeout=max(seconds, 0))
        except subprocess.TimeoutExpired:
            return {"error": "out of time"}
        finally:
            _stop(process)
    taken = {"clock": round(time.monotonic() - start, 1), "cpu": round(_cpu_of_children() - cpu, 1)}
    if process.returncode:
        return taken | {"error": errors[-1000:]}
    try:
        return taken | {"found": json.loads(output.splitlines()[-1])}
    except (IndexError, ValueError):
        return taken | {"error": "The last line is no JSON."}


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _stop(process: subprocess.Popen[str]) -> None:
    """Let a benchmark stop its servers and delete its folders; then kill what is left of it."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def about_here() -> dict[str, Any]:
    """Return the commit, the machine and the versions."""
    git = ["git", "describe", "--always", "--dirty", "--tags"]
    found = subprocess.run(git, cwd=ROOT, capture_output=True, text=True)
    cpu = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "commit": found.stdout.strip(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": cpu[1] if cpu else platform.machine(),
            "cores": os.cpu_count(),
            "memory_gb": round(memory / 1e9, 1),
            "system": platform.system(),
            "load": round(os.getloadavg()[0], 1),
        },
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
    }


# --- Growth and ratios


@dataclass(frozen=True)
class Growth:
    """How a figure grows with the size: its exponent, and that between the two largest sizes, `last`."""

    figure: str
    counts: str
    sizes: Sequence[float]
    values: Sequence[float]
    exponent: float
    last: float

    @property
    def bends(self) -> bool:
        """Whether it grows faster than it did."""
        return self.last - self.exponent > BENDS

    @property
    def is_steep(self) -> bool:
        """Whether it grows faster than the size."""
        return self.last > 1 + BENDS

    @property
    def slopes(self) -> str:
        """Both exponents, in words."""
        said = [f"exponent {self.exponent:.2f}", f"last {self.last:.2f}"]
        return ", ".join([*said, *["bends"] * self.bends, *["steep"] * self.is_steep])


def numbers_in(found: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield the path and the value of each number in an object of JSON."""
    if isinstance(found, (dict, list)):
        for key, value in found.items() if isinstance(found, dict) else enumerate(found):
            yield from numbers_in(value, f"{path} {key}".strip())
    elif isinstance(found, (int, float)) and not isinstance(found, bool):
        yield path, float(found)


def figures_of(each: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers that a run printed by what names them at every size."""
    named = " ".join(filter(None, (each["benchmark"], each["options"])))
    # Some name a number by the size, too.
    without = re.compile(rf" {each['size']}\b")
    return {without.sub("", f"{named}: {path}"): value for path, value in numbers_in(each.get("found", {}))}


def growths_of(runs: Sequence[Mapping[str, Any]]) -> list[Growth]:
    """Return how each time and each memory grows that was measured at two sizes or more."""
    points: dict[tuple[str, str], dict[float, float]] = {}
    for each in runs:
        if each["counts"]:
            for figure, value in figures_of(each).items():
                if _GROWS.search(figure) and value > 0:
                    points.setdefault((figure, each["counts"]), {})[each["size"]] = value
    found = (growth_of(figure, counts, of) for (figure, counts), of in points.items() if len(of) > 1)
    return sorted(found, key=lambda growth: (not growth.is_steep, not growth.bends, -growth.last))


def growth_of(figure: str, counts: str, value_at: Mapping[float, float]) -> Growth:
    """Return the growth of a figure, from its value at each size."""
    sizes = sorted(value_at)
    values = [value_at[size] for size in sizes]
    x, y = np.log(sizes), np.log(values)
    exponent, last = float(np.polyfit(x, y, 1)[0]), float((y[-1] - y[-2]) / (x[-1] - x[-2]))
    return Growth(figure, counts, sizes, values, exponent, last)


def ratios_of(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return each ratio to a floor, by its benchmark, size and name."""
    return {
        f"{figure}, {each['size']:,} {each['counts']}" if each["size"] else figure: value
        for each in runs
        for figure, value in figures_of(each).items()
        if any(_IS_RATIO.match(part) for part in figure.split(": ", 1)[1].split())
    }


def worse_than(earlier: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """Return the ratios that are greater than before by more than a tenth."""
    return [name for name, ratio in now.items() if ratio > earlier.get(name, np.inf) * (1 + WORSE)]


# --- The page

_STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #0b62a8; --bad: #b3261e; --rule: #ccc }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #16181b; --line: #6db3f2; --bad: #ff8a80; --rule: #444 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem }
figure { margin: 0; overflow-wrap: anywhere } figcaption { font-size: 13px } table { border-collapse: collapse }
td, th { padding: .1rem .6rem; border-bottom: 1px solid var(--rule); text-align: left } .bad { color: var(--bad) }
svg { width: 100% } path { fill: none; stroke: var(--line); stroke-width: 2 } circle { fill: var(--line) }
.frame { stroke: var(--rule); stroke-width: 1 } text { font-size: 11px; fill: var(--ink) }
.bad path:not(.frame) { stroke: var(--bad) } .bad circle { fill: var(--bad) }
"""
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BELOW = 300, 150, 54, 36, 18


def _brief(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def draw(growth: Growth) -> str:
    """Return a figure: value against size, both on scales of logarithms, a decade as long on both."""
    x, y = np.log10(growth.sizes), np.log10(growth.values)
    unit = min((_WIDTH - _LEFT - _RIGHT) / max(np.ptp(x), 0.1), (_HEIGHT - _BELOW - 20) / max(np.ptp(y), 0.1))
    right, down = _LEFT + 10 + (x - x[0]) * unit, _HEIGHT - _BELOW - 10 - (y - y.min()) * unit
    points = [f"{a:.1f},{b:.1f}" for a, b in zip(right, down, strict=True)]
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in zip(right, down, strict=True))
    ends = "".join(
        f'<text x="{right[k]:.1f}" y="{_HEIGHT - 4}" text-anchor="middle">{growth.sizes[k]:,}</text>'
        f'<text x="{_LEFT - 4}" y="{down[k] + 4:.1f}" text-anchor="end">{_brief(growth.values[k])}</text>'
        for k in (0, -1)
    )
    return f"""<figure{' class="bad"' if growth.is_steep else ""}>
<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(growth.figure)}">
<path class="frame" d="M{_LEFT},4V{_HEIGHT - _BELOW}H{_WIDTH}"/><path d="M{" L".join(points)}"/>{dots}{ends}</svg>
<figcaption>{escape(growth.figure)} by {growth.counts}: {growth.slopes}</figcaption></figure>"""


def page_of(found: Mapping[str, Any], growths: Sequence[Growth], earlier: Mapping[str, float]) -> str:
    """Return the page: where it was measured, what did not end well, ratios and figures."""
    ratios = ratios_of(found["runs"])
    worse = set(worse_than(earlier, ratios))
    rows = "".join(
        f"<tr{' class=bad' if name in worse else ''}><td>{escape(name)}</td><td>{ratio:.2f}</td>"
        f"<td>{f'{earlier[name]:.2f}' if name in earlier else ''}</td></tr>"
        for name, ratio in ratios.items()
    )
    failed = "".join(f"<p class=bad>{escape(line)}</p>" for line in failures(found["runs"]))
    machine, versions = (", ".join(f"{k} {v}" for k, v in found[key].items()) for key in ("machine", "versions"))
    title = f"Benchmarks of {escape(found['commit'])}"
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>
<h1>{title}</h1><p>{found["at"]}; {escape(machine)}; {escape(versions)}</p>{failed}
<h2>Growth</h2><p>Scales of logarithms. An exponent of 1 is linear. Steep lines are first, in red; then what bends.</p>
<main>{"".join(map(draw, growths))}</main>
<h2>Ratios</h2><table><tr><th>ratio to a floor</th><th>now</th><th>before</th></tr>{rows}</table></html>"""


def failures(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each run that did not end well, or that counted errors."""
    lines = []
    for each in runs:
        n_errors = each.get("found", {}).get("errors", 0)
        if reason := each.get("error") or (n_errors and f"{n_errors} errors"):
            lines.append(f"{each['benchmark']} {each['options']} {each['size'] or ''}: {reason}")
    return lines


def main() -> None:
    """Run, write both files, and say what is steep, what bends and what is worse."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few benchmarks at small sizes")
    names = sorted({each.name for each in BENCHMARKS})
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "benchmarks", metavar="FOLDER")
    parser.add_argument("--against", type=Path, metavar="FILE", help="benchmarks.json of before")
    options = parser.parse_args()
    earlier = ratios_of(json.loads(options.against.read_text())["runs"]) if options.against else {}
    found: dict[str, Any] = about_here() | {"is_quick": options.quick, "runs": []}
    end = time.monotonic()
    for benchmark in BENCHMARKS:
        if benchmark.name in options.only and (benchmark.quick is not None or not options.quick):
            end += 60 * benchmark.minutes  # what one leaves of its part, those after it may take
            for each in run(benchmark, end, is_quick=options.quick):
                found["runs"].append(each)
                print(
                    *(each[key] for key in ("benchmark", "options")),
                    each["size"] or "",
                    each.get("error", "done"),
                    flush=True,
                )
    growths = growths_of(found["runs"])
    options.to.mkdir(parents=True, exist_ok=True)
    (options.to / "benchmarks.json").write_text(json.dumps(found, indent=1))
    (options.to / "benchmarks.html").write_text(page_of(found, growths, earlier))
    for growth in growths:
        if growth.is_steep or growth.bends:
            print(f"{growth.figure} by {growth.counts}: {growth.slopes}")
    now = ratios_of(found["runs"])
    worse = worse_than(earlier, now)
    for name in worse:
        print(f"worse: {name}: {earlier[name]:.2f} before, {now[name]:.2f} now")
    print(options.to / "benchmarks.html")
    if worse or failures(found["runs"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
