"""Everything that can be downloaded, and the replication package above all."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import openpyxl
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse

from analysis.methods.settings import custom_settings, from_protocol
from analysis.models import AnalysisRun
from analysis.results.anonymity import anonymise, anonymous_report
from analysis.results.exports import draw_figure
from analysis.results.reading import printed
from analysis.results.sections import Output
from analysis.web.services.runs import exclude_worker
from annotation.models import Response
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import CAREFUL, finish, ratings_csv
from tests.croissant import records_by
from tests.results import tables_of

ROOT = Path(django_settings.BASE_DIR)
INSTALLED = ("evalsite", "campaigns", "annotation", "analysis", "crowd", "api", "desk", "templates")


def file_of(run: AnalysisRun, name: str) -> str:
    return reverse("analysis:run_file", args=[run.pk, name])


def fetch(client: Client, url: str) -> bytes:
    response = client.get(url)
    assert response.status_code == 200, url
    return response.getvalue()


def test_every_link_of_the_page_answers(
    owner_client: Client, done_with_two_criteria: AnalysisRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `test_figures.py` writes figures in every format.
    monkeypatch.setattr("analysis.results.figures.save", lambda drawing, path: path.write_text(f"{drawing}" * 9))
    text = owner_client.get(reverse("analysis:downloads", args=[done_with_two_criteria.pk])).text
    links = [link.replace("&amp;", "&") for link in re.findall(r'<a href="([^"]+)" download', text)]
    assert len(links) == 3 + 3 * 22 + 3 * 9 + 4
    for link in links:
        assert len(fetch(owner_client, link)) > 50, link


def test_figures_of_the_pages_answer_in_both_themes(owner_client: Client, done: AnalysisRun) -> None:
    for page in ("run", "workers"):
        text = owner_client.get(reverse(f"analysis:{page}", args=[done.pk])).text
        sources = re.findall(r'<img class="only-[^"]+" loading="lazy" src="([^"]+)"', text)
        assert len(sources) == 2
        for source in sources:
            response = owner_client.get(source)
            assert response["Content-Type"] == "image/svg+xml"
            assert response.getvalue().lstrip().startswith(b"<?xml")


def test_a_figure_to_download_is_an_attachment_named_after_the_title(owner_client: Client, done) -> None:
    response = owner_client.get(file_of(done, "figures/boxes.svg") + "?download")
    response.close()
    assert response["Content-Disposition"] == 'attachment; filename="trees-boxes.svg"'


@pytest.mark.parametrize(
    "name",
    [
        "../../ratings/{file}",
        "..%2f..%2fratings%2f{file}",
        "tables/../../../ratings/{file}",
        "../{run}.json",
        "tables",
        "",
        "no-such.csv",
        "%00",
        "x" * 5000,
        "//etc/passwd",
    ],
)
def test_nothing_outside_the_run_is_sent(owner_client: Client, done: AnalysisRun, name: str) -> None:
    base = file_of(done, "x")[:-1]
    response = owner_client.get(base + name.format(file=done.ratings_file_id, run=done.pk))
    assert response.status_code == 404


def test_workers_are_hidden_unless_the_owner_asks(owner_client: Client, done: AnalysisRun) -> None:
    url = reverse("analysis:workers_csv", args=[done.pk])
    hidden, own = fetch(owner_client, url).decode(), fetch(owner_client, url + "?ids=own").decode()
    assert CAREFUL in own
    assert CAREFUL not in hidden
    assert hidden.count("\n") == own.count("\n") == 6


def test_no_file_names_a_worker(owner, owner_client: Client, upload, start) -> None:
    run = start(upload(ratings_csv()))
    run = finish(exclude_worker(run=run, user=owner, worker=CAREFUL, reason="a friend"))
    folder = Path(django_settings.MEDIA_ROOT) / run.folder
    for name in ("workers.svg", "workers-dark.svg", "workers.pdf", "boxes.svg", "significance-overall.svg"):
        assert draw_figure(folder, f"figures/{name}")
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".zip":
            assert CAREFUL.encode() not in path.read_bytes(), path
    with zipfile.ZipFile(folder / "package.zip") as package:
        for name in package.namelist():
            assert CAREFUL.encode() not in package.read(name), name


def test_cells_that_a_spreadsheet_would_run_are_neutralised(owner_client: Client, upload, start) -> None:
    names = ("=1+1", "@sum", "-minus", "fair")
    run = start(upload(ratings_csv(systems=names)))
    for table in ("systems", "pairs", "significance-overall"):
        text = fetch(owner_client, file_of(run, f"tables/{table}.csv")).decode()
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                assert not cell.startswith(("=", "@", "+")), table
                assert cell != "-minus", table


def test_a_workbook_has_every_table_with_all_digits_and_runs_no_formula(owner_client: Client, upload, start) -> None:
    names = ("=1+1", "fair", "#N/A")
    run = start(upload(ratings_csv(systems=names)))
    book = openpyxl.load_workbook(io.BytesIO(fetch(owner_client, file_of(run, "tables.xlsx"))))
    tables = tables_of(run.report, Output.FILES)
    *sheets, about = book.worksheets
    assert [row[1] for row in about.iter_rows(min_row=2, values_only=True)] == [table.title for table in tables]
    assert [row[0] for row in about.iter_rows(min_row=2, values_only=True)] == [sheet.title for sheet in sheets]
    for sheet, table in zip(sheets, tables, strict=True):
        rows = list(sheet.iter_rows(values_only=True))
        assert rows[0] == tuple(column.name for column in table.columns)
        if table.name == "workers":  # which are renamed in files
            continue
        for found, row in zip(rows[1:], table.rows, strict=True):
            for cell, value in zip(found, row, strict=True):
                assert cell == (pytest.approx(value, rel=1e-15) if isinstance(value, float) else value or cell)
        assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type in "fe"]
    alone = openpyxl.load_workbook(io.BytesIO(fetch(owner_client, file_of(run, "tables/systems.xlsx"))))
    assert alone.worksheets[0]["A2"].value in names
    z = next(cell for cell in alone.worksheets[0][2] if isinstance(cell.value, float))
    assert z.number_format == "0.000"


# --- The replication package


KERNELS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""What says how this machine multiplies matrices: last digits depend on it."""


def unpacked(package: bytes, folder: Path) -> list[str]:
    """Unpack a package; return the arguments of `evalsite` that its README says."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        archive.extractall(folder)
    (command,) = re.findall(r"^    evalsite (.*)", (folder / "README.txt").read_text(), re.MULTILINE)
    return command.split()


def replicated(package: bytes, folder: Path) -> tuple[bytes, bytes]:
    """Unpack a package and do what its README says; return summary.json and what the command printed.

    All tables must be the same again.
    """
    command, out = unpacked(package, folder), io.StringIO()
    with contextlib.chdir(folder):
        call_command(*command, stdout=out, stderr=io.StringIO())
    assert_same_tables(folder)
    return (folder / "summary.json").read_bytes(), out.getvalue().encode()


def replicated_elsewhere(package: bytes, folder: Path) -> tuple[bytes, bytes]:
    """Do the same with an installation of evalsite in another place, in a process that knows nothing of this one."""
    installed, command = folder / "installed", unpacked(package, folder / "package")
    for app in INSTALLED:
        # With what is compiled, but for what is being compiled now.
        shutil.copytree(ROOT / app, installed / app, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy2(ROOT / "manage.py", installed)
    done = subprocess.run(
        [sys.executable, str(installed / "manage.py"), *command],
        cwd=folder / "package",
        env={name: value for name, value in os.environ.items() if name == "PATH" or name in KERNELS},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert_same_tables(folder / "package")
    return (folder / "package/summary.json").read_bytes(), done.stdout


def assert_same_tables(folder: Path) -> None:
    """Compare every table of an unpacked package with what its command wrote, byte for byte."""
    kept, again = folder / "tables", folder / "again/tables"
    assert {path.name for path in kept.iterdir()} == {path.name for path in again.iterdir()}
    differing = [path.name for path in kept.iterdir() if path.read_bytes() != (again / path.name).read_bytes()]
    assert differing == []


def as_downloaded(client: Client, run: AnalysisRun) -> bytes:
    return fetch(client, file_of(run, "package.zip"))


def test_the_package_of_the_example_gives_its_results_again(
    owner, owner_client: Client, upload, start, tmp_path: Path
) -> None:
    first = start(upload((ROOT / "examples/ratings.csv").read_bytes()), from_protocol("mrc-adequacy"))
    worker = next(row["worker"] for row in first.report["worker_table"] if row["verdict"] == "passed")
    second = finish(exclude_worker(run=first, user=owner, worker=worker, reason="=by hand"))

    for run in (first, second):
        summary, again = replicated(as_downloaded(owner_client, run), tmp_path / str(run.pk))
        assert again == summary
        assert json.loads(summary) == printed(run.result)
    assert first.report["summary"] != second.report["summary"]


def test_the_package_of_a_campaign_rated_on_a_few_points_gives_its_results_again(
    owner: User, owner_client: Client, tmp_path: Path
) -> None:
    campaign = rated_campaign(owner, reward=Decimal("0.99"))
    Response.objects.update(score=F("score") % 5)
    run = analysed(campaign)
    summary, printed = replicated(as_downloaded(owner_client, run), tmp_path)
    assert printed == summary
    assert max(row["raw"] for row in json.loads(summary)["systems"]) < 5  # as on the slider, from 0 to 100
    tables = {path.name: path.read_bytes() for path in (tmp_path / "tables").iterdir()}
    n_hits = run.report["core"]["groups"]["all"]["n_assignments"]
    assert f"all,{n_hits * 0.99}," in tables["cost.csv"].decode()
    assert all(row.split(",")[2] for row in tables["hits-and-minutes.csv"].decode().splitlines())  # times are known


def test_the_package_of_published_dialogues_gives_its_results_again(
    owner_client: Client, upload, start, shared_data: Path, tmp_path: Path
) -> None:
    run = start(upload((shared_data / "dialogue-run1/ratings.csv").read_bytes()), from_protocol("dialogue-free"))
    summary, printed = replicated(as_downloaded(owner_client, run), tmp_path / "package")
    assert printed == summary
    assert json.loads(summary)["workers"]["passed"] == 173


def test_the_package_of_odd_names_gives_its_results_again(owner_client: Client, upload, start, tmp_path: Path) -> None:
    criteria = ("=clear", "-wordy")
    file = upload(ratings_csv(systems=("<b>x</b>", "مترجم", 'say "so", so'), criteria=criteria))
    run = start(file, custom_settings(criteria))
    summary, printed = replicated_elsewhere(as_downloaded(owner_client, run), tmp_path)
    assert printed == summary
    again = tmp_path / "package/again/tables/systems.csv"
    again.write_bytes(again.read_bytes()[:-2])
    with pytest.raises(AssertionError, match=r"systems\.csv"):
        assert_same_tables(tmp_path / "package")


def test_the_package_says_what_its_tables_are(done: AnalysisRun, owner_client: Client, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(as_downloaded(owner_client, done))) as package:
        package.extractall(tmp_path)
    with (tmp_path / "ratings.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert json.loads((tmp_path / "croissant.json").read_text())["name"] == done.ratings_file.title
    records = records_by(tmp_path / "croissant.json")["ratings"]
    assert [row["worker"] for row in records] == [row["worker"] for row in rows]
    assert [float(row["score"]) for row in records] == [float(row["score"]) for row in rows]
    (tmp_path / "ratings.csv").write_text("worker\n")
    with pytest.raises(AssertionError, match="Hash of downloaded file"):
        records_by(tmp_path / "croissant.json")


def test_the_package_holds_what_the_report_says(done: AnalysisRun, owner_client: Client) -> None:
    names = anonymise([row["worker"] for row in done.report["worker_table"]])
    with zipfile.ZipFile(io.BytesIO(as_downloaded(owner_client, done))) as package:
        assert json.loads(package.read("summary.json")) == printed(done.result)
        document = anonymous_report(done.report, names)
        assert json.loads(package.read("protocol.json")) == document["settings"]
    assert urlsplit(file_of(done, "package.zip")).query == ""
