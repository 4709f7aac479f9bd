"""Each gate of `make test` refuses a seeded violation."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
TOOLS = Path(sys.executable).parent


@pytest.fixture
def checkout(tmp_path):
    """A copy of the sources that a test may spoil."""
    for name in ("evalsite", "campaigns", "annotation", "analysis", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.?tf"))
    for name in ("pyproject.toml", "manage.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def passes(checkout, *command):
    tool = [str(TOOLS / command[0]), *command[1:]]
    return subprocess.run(tool, cwd=checkout, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("file", "violation"),
    [
        ("evalsite/jobs/models.py", "import campaigns.protocols"),
        ("analysis/stats/scores.py", "import django"),
        ("analysis/stats/scores.py", "import analysis.settings"),
        ("analysis/queries.py", "import analysis.services.runs"),
        ("analysis/report.py", "import analysis.models"),
        ("campaigns/protocols/qg/plugin.py", "import campaigns.protocols.dialogue.plugin"),
        ("campaigns/protocols/qg/plugin.py", "import evalsite.jobs.models"),
        ("analysis/services/runs.py", "import httpx"),
        ("campaigns/design/plan.py", "import campaigns.contracts.protocol"),
        ("annotation/images/layout.py", "import django"),
    ],
)
def test_import_contracts_refuse_an_import_that_goes_up_or_out(checkout, file, violation):
    with (checkout / file).open("a") as source:
        source.write(f"\n{violation}\n")
    assert not passes(checkout, "lint-imports", "--no-cache")


def test_import_contracts_hold_as_the_sources_are(checkout):
    assert passes(checkout, "lint-imports", "--no-cache")


@pytest.mark.parametrize("violation", ["print('debugging')", "def Undocumented():\n    return 1", "import os, sys"])
def test_the_linter_refuses_bad_code(checkout, violation):
    assert passes(checkout, "ruff", "check", "--no-cache", "analysis/stats")
    with (checkout / "analysis/stats/scores.py").open("a") as source:
        source.write(f"\n\n{violation}\n")
    assert not passes(checkout, "ruff", "check", "--no-cache", "analysis/stats")


def test_the_type_checker_is_strict_in_the_statistics(checkout):
    with (checkout / "analysis/stats/untyped.py").open("w") as source:
        source.write('"""Untyped."""\n\n\ndef double(x):\n    """Double."""\n    return x * 2\n')
    assert not passes(checkout, "mypy", "--cache-dir", str(checkout / "cache"), "analysis/stats/untyped.py")


def test_a_model_without_its_migration_is_refused(checkout):
    with (checkout / "analysis/models.py").open("a") as source:
        source.write('\n\nclass Forgotten(models.Model):\n    """No migration."""\n')
    command = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]
    environment = {"EVALSITE_DATA": str(checkout / "var"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "Forgotten" in done.stdout
