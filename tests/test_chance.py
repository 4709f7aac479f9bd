"""A failed run says what failed at its end, and seeds of campaigns do not change between runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from campaigns.services.campaigns import new_seed

# Other plug-ins take longer to start than the tests.
ALONE = {"PYTHONPATH": str(settings.BASE_DIR), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
FAILING = """
import pytest

{conftest}

@pytest.mark.parametrize("k", range({n}))
def test_it(k):
    assert k < 0, f"number {{k}} is not right"
"""


@pytest.mark.parametrize(("n", "is_split"), [(1, False), (1, True), (60, False)])
def test_a_failed_run_ends_with_names_seed_and_messages(tmp_path: Path, n: int, is_split: bool) -> None:
    (tmp_path / "conftest.py").write_text("from tests.chance import pytest_unconfigure  # noqa: F401\n")
    (tmp_path / "test_failing.py").write_text(FAILING.format(conftest="", n=n))
    kept = tmp_path / "failures.txt"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull]
    command += [f"--rootdir={tmp_path}", *(["-p", "xdist", "-n", "2"] if is_split else []), str(tmp_path)]
    environment = os.environ | {
        **ALONE,
        "TEST_SEED": "7",
        "TEST_FAILURES": str(kept),
    }
    answer = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert answer.returncode == 1
    last = answer.stdout.splitlines()[-40:]
    assert f"{n} failed, with TEST_SEED=7:" in last
    assert "test_failing.py::test_it[0]" in last
    assert any("number 0 is not right" in line for line in last)
    assert ("… and 42 more, named above." in last) == (n == 60)
    assert kept.read_text().splitlines()[0] == f"{n} failed, with TEST_SEED=7:"


def test_what_failed_in_several_processes_is_repeated_with_its_seed(tmp_path: Path) -> None:
    files = [tmp_path / f"test_failing_{k}.py" for k in range(2)]
    for file in files:
        file.write_text("from tests.chance import SEED\n\ndef test_seed(): assert SEED < 7\n\ndef test_right(): pass\n")
    (tmp_path / "conftest.py").write_text("from tests.chance import pytest_unconfigure  # noqa: F401\n")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p xdist\n")
    environment = os.environ | ALONE | {"TEST_FAILURES": ""}

    def run(*command: str | Path, **more: str) -> str:
        answer = subprocess.run(command, cwd=tmp_path, env=environment | more, capture_output=True, text=True)
        return answer.stdout

    assert "2 failed, 2 passed" in run(sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", TEST_SEED="7")
    again = ("make", "-f", settings.BASE_DIR / "Makefile", "-o", ".venv/test", "WORKERS=2", "again")
    found = run(*again)
    assert "2 failed, with TEST_SEED=7:" in found and "passed" not in found
    files[0].write_text(files[0].read_text().replace("< 7", "== 7"))
    assert "1 failed, 1 passed" in run(*again)
    found = run(*again)
    assert "1 failed, with TEST_SEED=7:" in found and "passed" not in found


def test_seeds_follow_from_the_test_and_how_many_it_drew() -> None:
    from tests.chance import Drawn

    drawn, again = Drawn(), Drawn()
    seeds = [drawn.randbits(53) for _ in range(3)]
    assert seeds == [again.randbits(53) for _ in range(3)]
    assert len(set(seeds)) == 3 and max(seeds) < 2**53
    assert new_seed() != new_seed()
    assert [drawn.random() for _ in range(2)] == [again.random() for _ in range(2)] and 0 <= drawn.random() < 1
