"""Nothing in a run of the tests is left to chance but its number, and a failed run ends with what failed.

Campaigns draw their seeds, and HITs their workers, by the seed of the run: `TEST_SEED`, 1 if nobody
says another. `python -m tests.chance` runs the tests that draw anything with many of them.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SEED = int(os.environ.get("TEST_SEED", "1"))
RECORD = os.environ.get("TEST_SEEDS_RECORD", "")
"""A file that gets the name of each test that draws."""
FAILURES = os.environ.get("TEST_FAILURES", "")
"""A file that gets the last lines of a failed run."""
_MOST_LINES = 38
_LONGEST = 160


def _test() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


def _record() -> None:
    if RECORD and (test := _test()):
        with Path(RECORD).open("a", encoding="utf-8") as record:
            record.write(test + "\n")


class Drawn:
    """What the site draws: it follows from the test, how many it has drawn before, and the seed of the run."""

    def __init__(self) -> None:
        self._test, self._n = "", 0

    def randbits(self, n_bits: int) -> int:
        """Return the next seed of a campaign."""
        _record()
        self._n = self._n + 1 if _test() == self._test else 0
        self._test = _test()
        digest = hashlib.sha256(f"{SEED} {self._test} {self._n}".encode()).digest()
        return int.from_bytes(digest[:16]) % 2**n_bits

    def random(self) -> float:
        """Return the next number from 0 to 1, which chooses a HIT."""
        return self.randbits(53) / 2**53


@pytest.fixture(scope="session", autouse=True)
def fixed_seeds() -> Iterator[None]:
    """Draw seeds of campaigns, and which HIT comes next, by the seed of the run."""
    from annotation.services import drawing
    from campaigns.services import campaigns

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(campaigns, "secrets", Drawn())
        patch.setattr(drawing, "_random", Drawn())
        yield


def pytest_unconfigure(config: pytest.Config) -> None:
    """End a failed run with the names and messages of what failed, and the seed, in less than forty lines."""
    terminalreporter = config.pluginmanager.get_plugin("terminalreporter")
    if terminalreporter is None:  # a process of several
        return
    failed = [*terminalreporter.stats.get("failed", []), *terminalreporter.stats.get("error", [])]
    if not failed:
        return
    lines = [f"{len(failed)} failed, with TEST_SEED={SEED}:"]
    n_shown = min(len(failed), (_MOST_LINES - 2) // 2)
    for report in failed[:n_shown]:
        lines += [report.nodeid[:_LONGEST], f"    {_message(report)[:_LONGEST]}"]
    if len(failed) > n_shown:
        lines.append(f"… and {len(failed) - n_shown} more, named above.")
    terminalreporter.write_sep("=", "what failed")
    terminalreporter.write("\n".join(lines) + "\n")
    if cache := getattr(config, "cache", None):  # for `make again`
        cache.set("evalsite/seed", SEED)
    if FAILURES:
        with Path(FAILURES).open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def _message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash else str(report.longrepr or "")
    return " ".join(next((line for line in message.splitlines() if line.strip()), "").split())


def main(n_seeds: int, arguments: list[str]) -> int:
    """Run the tests that draw anything with so many seeds; return how many seeds had a failure."""
    record = Path("var") / "drawing-tests.txt"
    record.parent.mkdir(exist_ok=True)
    record.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", os.environ.get("WORKERS", "auto")]
    command += ["--dist", "loadfile"]
    first = subprocess.run([*command, *arguments], env=os.environ | {"TEST_SEEDS_RECORD": str(record.resolve())})
    tests = sorted(set(record.read_text(encoding="utf-8").splitlines())) if record.exists() else []
    files = sorted({test.partition("::")[0] for test in tests})
    n_failed = int(first.returncode != 0)
    for seed in range(2, n_seeds + 1):
        environment = os.environ | {"TEST_SEED": str(seed), "DRAWING_TESTS": str(record.resolve())}
        n_failed += subprocess.run([*command, *files], env=environment).returncode != 0
    sys.stdout.write(f"{len(tests)} tests that draw, {n_seeds} seeds: {n_failed} of them with a failure.\n")
    return n_failed


def keep_drawing_tests(items: list[pytest.Item]) -> None:
    """Keep the tests that draw, where a file names them."""
    if named := os.environ.get("DRAWING_TESTS"):
        wanted = set(Path(named).read_text(encoding="utf-8").splitlines())
        items[:] = [item for item in items if item.nodeid in wanted]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50, sys.argv[2:] or ["tests"]))
