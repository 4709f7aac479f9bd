"""A failed run says what failed at its end, and seeds of campaigns do not change between runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from campaigns.services.campaigns import new_seed

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
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:django", "-c", os.devnull]
    command += [f"--rootdir={tmp_path}", *(["-n", "2"] if is_split else []), str(tmp_path)]
    environment = os.environ | {
        "PYTHONPATH": str(settings.BASE_DIR),
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


def test_seeds_follow_from_the_test_and_how_many_it_drew() -> None:
    from tests.chance import Drawn

    drawn, again = Drawn(), Drawn()
    seeds = [drawn.randbits(53) for _ in range(3)]
    assert seeds == [again.randbits(53) for _ in range(3)]
    assert len(set(seeds)) == 3 and max(seeds) < 2**53
    assert new_seed() != new_seed()
