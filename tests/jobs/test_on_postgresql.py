"""The same tests of jobs, on PostgreSQL."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FILES = ["test_running.py", "test_claims.py", "test_sweep.py", "test_worker.py", "test_views.py"]


def test_jobs_hold_on_postgresql_too(postgres_url: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *(str(HERE / name) for name in FILES),
        ],
        cwd=HERE.parents[1],
        env={**os.environ, "DATABASE_URL": postgres_url, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
