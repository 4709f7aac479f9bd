"""Installations of earlier versions, migrated: nothing is lost, and results are made again byte for byte."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from analysis.results.stored import current

ROOT = Path(settings.BASE_DIR)
INSTALLATIONS = Path(__file__).parent / "data" / "installations"
# What is analysed anew, in the folder that is EVALSITE_DATA; the snapshot has what the one of before had, and what has
# been added to exports since.
ANALYSE = """
import csv
from django.db import transaction
from analysis.models import AnalysisRun, RatingsFile
from analysis.web.services.campaigns import analyse_campaign
from analysis.web.services.runs import execute_run
from annotation.models import Response
from campaigns.models import Campaign, Criterion

campaign = Campaign.objects.get(name="Example: answers to questions")
def rows_of(file):
    with open(file.file.path, newline="") as lines:
        return list(csv.DictReader(lines))

[before] = map(rows_of, RatingsFile.objects.filter(campaign=campaign))
run = analyse_campaign(campaign=campaign)
now = rows_of(run.ratings_file)
assert [{name: row[name] for name in before[0]} for row in now] == before, "the ratings differ"
assert now[0].keys() - before[0].keys() <= {"output_words"}
run.report = None
execute_run(run=run, on_stage=lambda stage: None, saving=transaction.atomic)
print(run.folder, Response.objects.count(), sorted(set(Criterion.objects.values_list("response", "scope"))))
"""

# Reads every stored result as pages do.
READ = """
from analysis.models import AnalysisRun
from annotation.models import Response

runs = AnalysisRun.objects.exclude(report=None)
assert all(run.result.summary.systems for run in runs)
print(len(runs), Response.objects.count())
"""

# The stored results were made where matrices are multiplied by AVX-512: other processors round last digits otherwise.
HAS_KERNELS_OF_BEFORE = float(np.linalg.norm(np.cbrt(np.arange(1.0, 1001)))).hex() == "0x1.ea19f6a185479p+7"


def run(data: Path, script: str, *commands: tuple[str, ...]) -> str:
    """Run commands and then a script in one process, in the installation of this folder; return the last line printed.

    Each process reads all modules, which takes longer than most commands.
    """
    calls = [f"call_command(*{command!r}, verbosity=0, stdout=StringIO())" for command in commands]
    imports = ("from io import StringIO", "from django.core.management import call_command")
    code = "\n".join([*imports, *calls, script])
    environment = os.environ | {"EVALSITE_DATA": str(data), "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    for name in ("DATABASE_URL", "SECRET_KEY"):  # those of the installation itself are meant
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def restored(backup: Path, folder: Path) -> Path:
    """Return an installation with what a release had, as its backup is restored; its stored results can be read."""
    n_results, n_responses = map(int, run(folder, READ, ("restore", str(backup))).split())
    assert n_results > 0 and n_responses > 0
    return folder


def lacking(tags: Iterable[str]) -> list[str]:
    """Return the releases whose installation is not among those that are upgraded here."""
    return [tag for tag in tags if not (INSTALLATIONS / f"{tag}.zip").exists()]


def test_every_earlier_release_has_an_installation_to_upgrade() -> None:
    """`make installation` of a release writes it; the release itself cannot have it yet."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    found = subprocess.run(
        ["git", "-C", ROOT, "tag", "--list", "v[0-9]*", "--merged", "HEAD~1"], capture_output=True, text=True
    )
    assert lacking(found.stdout.split()) == []
    assert lacking(["before_response_kinds", "v0.0.0"]) == ["v0.0.0"]


@pytest.mark.parametrize("backup", sorted(INSTALLATIONS.glob("v*.zip")), ids=lambda path: path.stem)
def test_installations_of_releases_are_upgraded(backup: Path, tmp_path: Path) -> None:
    folder = restored(backup, tmp_path)
    with closing(sqlite3.connect(folder / "db.sqlite3")) as database:
        assert database.execute("SELECT DISTINCT degraded FROM campaigns_output").fetchall() == [("",)]
        assert database.execute("SELECT count(*) FROM campaigns_storedfile").fetchall() == [(0,)]


def holds(report: object, before: object) -> bool:
    """Return whether a report says all that an earlier one did; it may say more."""
    if isinstance(report, dict) and isinstance(before, dict):
        return all(name in report and holds(report[name], before[name]) for name in before)
    if isinstance(report, list) and isinstance(before, list):
        return len(report) == len(before) and all(map(holds, report, before))
    if isinstance(report, float) and isinstance(before, float) and not HAS_KERNELS_OF_BEFORE:
        return report == pytest.approx(before, rel=1e-9, abs=1e-12)
    return report == before


@pytest.fixture(scope="module")
def before_response_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's four campaigns when every answer was a number from 0 to 100."""
    folder = tmp_path_factory.mktemp("before_response_kinds")
    with zipfile.ZipFile(INSTALLATIONS / "before_response_kinds.zip") as archive:
        archive.extractall(folder)  # with its key, by which results name workers
    (folder / "secret_key").chmod(0o600)
    return folder


def test_results_of_ratings_that_became_responses_are_the_same_bytes(before_response_kinds: Path) -> None:
    printed = run(before_response_kinds, ANALYSE, ("migrate",))
    folder, n_responses, kinds = printed.split(maxsplit=2)
    assert (int(n_responses), kinds) == (2891, "[('slider', 'output')]")
    found = before_response_kinds / "media" / folder
    reports = (json.loads((folder / "report.json").read_text()) for folder in (found, before_response_kinds))
    report, before = (dict(current(each)) for each in reports)
    of_today, earlier = report.pop("questions"), before.pop("questions")
    today, known = of_today.pop("reliability"), earlier.pop("reliability")
    assert holds(report, before) and holds(of_today, earlier)
    assert all(holds(today[part], known[part]) for part in ("intra", "inter"))
    for one, other in zip(today["criteria"], known["criteria"], strict=True):
        assert holds(one["between"], {key: value for key, value in other["between"].items() if value is not None})
    tables = sorted(path.name for path in (before_response_kinds / "tables").iterdir())
    names = {path.name for path in (found / "tables").iterdir()}
    assert sorted(names - {"agreement.csv", "agreement.tex"}) == tables  # which are of repeats, too, now
    for name in tables:
        table, before = ((folder / "tables" / name).read_bytes() for folder in (found, before_response_kinds))
        assert table == before if HAS_KERNELS_OF_BEFORE else holds(_cells(table), _cells(before)), name


def test_what_it_became_is_restored_from_its_backup(before_response_kinds: Path, tmp_path: Path) -> None:
    run(before_response_kinds, "", ("migrate",), ("backup", str(tmp_path / "v.zip")))
    assert (restored(tmp_path / "v.zip", tmp_path / "restored") / "db.sqlite3").exists()


@pytest.mark.parametrize(
    ("one", "other"), [("0.5,a", "0.500000001,a"), ("0.5,a", "0.5,b"), ("0.5,a", "0.5"), ("1", "1\n2")]
)
def test_other_tables_are_found_different_on_every_processor(one: str, other: str) -> None:
    assert holds(_cells(one.encode()), _cells(one.encode()))
    assert not holds(_cells(one.encode()), _cells(other.encode()))


def _cells(table: bytes) -> list[list[str | float]]:
    """Return the cells of a table; what can be read as a number is one."""
    return [[_number(cell) for cell in re.split("[,&]", line)] for line in table.decode().splitlines()]


def _number(cell: str) -> str | float:
    try:
        return float(cell)
    except ValueError:
        return cell
