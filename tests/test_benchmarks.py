"""`benchmarks/all.py`: which benchmarks it runs, what it makes of what they print, and two of the smallest."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.all import BENCHMARKS, ROOT, growth_of, growths_of, page_of, ratios_of, run_one, worse_than

PARTS = {"all", "chat_client", "load_client", "million_ratings", "outputs", "worlds"}
"""What is no benchmark of its own."""


def test_every_benchmark_runs_within_the_hour() -> None:
    """A new one is named there, too."""
    there = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - PARTS
    assert {each.name for each in BENCHMARKS} == there
    assert sum(each.minutes for each in BENCHMARKS) <= 60


@pytest.mark.parametrize(
    ("values", "exponent", "last", "bends", "is_steep"),
    [
        ((2, 20, 200), 1, 1, False, False),
        ((1, 100, 10_000), 2, 2, False, True),
        ((1, 10, 1000), 1.5, 2, True, True),
        ((8, 8, 80), 0.5, 1, True, False),
        ((8, 8, 8), 0, 0, False, False),
    ],
)
def test_a_line_that_bends_upward_or_is_steep(
    values: tuple[float, ...], exponent: float, last: float, bends: bool, is_steep: bool
) -> None:
    """The exponent is that of all sizes, beside that of the two largest."""
    found = growth_of("seconds", "items", dict(zip((10, 100, 1000), values, strict=True)))
    assert (found.exponent, found.last) == (pytest.approx(exponent), pytest.approx(last))
    assert (found.bends, found.is_steep) == (bends, is_steep)


def runs_of(**seconds_at: float) -> list[dict[str, Any]]:
    """Return runs of one benchmark at sizes 10, 100 …, with their seconds, and those of a file named by the size."""
    return [
        {
            "benchmark": "b", "options": "", "counts": "items", "size": size,
            "found": {"seconds": value, "ratio": value / 2, "n": 5, "files": {str(size): {"cpu_s": 1.0}}},
        }
        for size, value in zip((10, 100, 1000), seconds_at.values(), strict=False)
    ]  # fmt: skip


def test_times_are_figures_and_ratios_are_compared() -> None:
    """A count is neither; a figure that has the size in its name is one figure at all sizes."""
    runs = runs_of(a=1, b=10)
    assert {growth.figure: growth.sizes for growth in growths_of(runs)} == {
        "b: seconds": [10, 100],
        "b: files cpu_s": [10, 100],
    }
    ratios = ratios_of(runs)
    assert ratios == {"b: ratio, 10 items": 0.5, "b: ratio, 100 items": 5}
    assert worse_than(ratios, ratios_of(runs_of(a=1.09, b=11.2))) == ["b: ratio, 100 items"]
    assert not worse_than({}, ratios)


def test_the_page_says_what_failed_what_bends_and_what_is_worse() -> None:
    """It is one file, without scripts, and loads nothing."""
    runs = [*runs_of(a=1, b=10, c=1000), {"benchmark": "x", "options": "", "counts": "", "size": None, "error": "<no>"}]
    about = {"commit": "1", "at": "today", "machine": {"cores": 2}, "versions": {"python": "3"}, "runs": runs}
    page = page_of(about, growths_of(runs), {"b: ratio, 1,000 items": 300})
    assert "exponent 1.50, last 2.00, bends, steep" in page
    assert page.index("last 2.00") < page.index("last 0.00")
    assert "x  : &lt;no&gt;" in page
    assert page.count("<tr class=bad>") == 1
    assert page.count("<svg") == 2
    assert "http" not in page and "<script" not in page


def test_what_does_not_end_well_is_said(tmp_path: Path) -> None:
    """A benchmark that fails, prints no JSON, or takes longer than it may."""
    program = tmp_path / "benchmark.py"
    for code, error in (
        ("raise SystemExit('no disk')", "no disk"),
        ("print('fast')", "no JSON"),
        ("import time\ntime.sleep(60)", "out of time"),
    ):
        program.write_text(code)
        assert error in run_one([str(program)], 5 if "sleep" not in code else 0.5)["error"]


def test_two_small_benchmarks(tmp_path: Path) -> None:
    """The file has what they printed; ratios of half as much before are worse now."""
    command = [sys.executable, "benchmarks/all.py", "--quick", "--only", "spans", "preference", "--to", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    written = tmp_path / "benchmarks.json"
    found = json.loads(written.read_text())
    assert [(each["benchmark"], each["size"]) for each in found["runs"]] == [
        ("spans", 3000),
        ("spans", 10_000),
        ("preference", 10_000),
        ("preference", 100_000),
    ]
    assert found["commit"] and found["machine"]["cores"] and found["versions"]["numpy"]
    assert len(ratios_of(found["runs"])) == 6
    assert (tmp_path / "benchmarks.html").read_text().count("<figure") == 5
    for each in found["runs"]:
        for part in ("arrays", "speed"):
            if part in each["found"]:
                each["found"][part]["ratio"] /= 1000
    written.write_text(json.dumps(found))
    again = subprocess.run([*command, "--against", str(written)], cwd=ROOT, capture_output=True, text=True)
    assert again.returncode == 1
    assert again.stdout.count("worse: spans --only arrays: arrays ratio") == 2
