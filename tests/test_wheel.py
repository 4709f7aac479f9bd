"""The wheel, installed apart from this checkout: it serves the demo, analyses a file, is backed up and restored."""

import csv
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib.metadata import requires, version
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from packaging.requirements import Requirement

from evalsite.lib.folders import APPS
from evalsite.lib.version import __version__
from tests.databases import sqlite_copy
from tests.methods.test_by_groups import N_SOURCES, rows_of
from tests.services import free_port, site_answers, wait_until

ROOT = Path(__file__).parents[1]
SOURCES = (
    *("evalsite", *APPS),
    *("templates", "static", "docs", "examples", "setup.py", "pyproject.toml", "README.md", "LICENSE"),
)


def run_pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what it is made of: setuptools leaves folders where it builds."""
    folder = tmp_path_factory.mktemp("wheel")
    compiled = shutil.ignore_patterns("__pycache__")  # other tests write there meanwhile
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=compiled)
        else:
            shutil.copy(ROOT / name, folder / name)
    # By the backend alone, as a release is built: pip makes the metadata twice before it, and copies the wheel.
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder / 'dist')!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [path] = (folder / "dist").glob("evalsite-*.whl")
    return path


class Installed:
    """An environment with the wheel, and the dependencies of this one; commands run in a folder with decoys."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        run_pip("--python", str(folder / "venv/bin/python"), "install", "--no-deps", "--no-index", str(wheel))
        [self.packages] = (folder / "venv").glob("lib/python*/site-packages")
        (self.packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
        self.program = folder / "venv/bin/evalsite"
        self.folder = folder / "work"
        # Folders of a researcher that have the names of packages of ours.
        for name in ("analysis", "api", "campaigns"):
            (self.folder / name).mkdir(parents=True)
            (self.folder / name / "__init__.py").write_text("raise SystemExit('a folder of somebody else')")
        self.home = folder / "home"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(self.folder)}

    def run(self, *arguments: str, **environment: str) -> str:
        """Run `evalsite arguments…`; return what it printed."""
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


@pytest.fixture(scope="module")
def demo(installed: Installed, django_db_setup: None, session_folder: Path) -> Iterator[str]:
    """The address of the demo, served by the installed command with its data in the user's home.

    It has one campaign: outputs, HITs, ratings, files of results. `analysis/test_demo.py` loads others. Its tables are
    copied: `campaigns/test_migrations.py` makes them by migrations, which takes longer than all else.
    """
    data = installed.home / ".local/share/evalsite"
    data.mkdir(parents=True, exist_ok=True)
    sqlite_copy(session_folder, data / "db.sqlite3")
    port, log = free_port(), installed.folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [installed.program, "demo", "--only", "esa", "--port", str(port)],
            cwd=installed.folder,
            env=installed.environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: process.poll() is not None or site_answers(url), 300, "the demo answers")
        assert process.poll() is None, log.read_text()
        yield url
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def test_uvx_runs_the_command(wheel: Path, tmp_path: Path) -> None:
    program = ROOT / ".tools/bin/uvx"
    if not program.exists():
        pytest.skip("uvx is not installed: make .tools/ready")
    # What the command needs in order to start is in the wheel; the rest would come by the network.
    needed = [Requirement(line).name for line in requires("evalsite") or []]
    (tmp_path / "none.txt").write_text("".join(f"{name} ; python_version < '3'\n" for name in needed))
    environment = {
        "UV_OVERRIDE": str(tmp_path / "none.txt"),
        "UV_OFFLINE": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_TOOL_DIR": str(tmp_path / "tools"),
    }
    command = [program, "--python", sys.executable, "--from", wheel, "evalsite", "--version"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    assert done.stdout == f"{__version__}\n", done.stderr


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "db.sqlite3", timeout=20)) as connection:
        return connection.execute(sql).fetchall()


def contents(folder: Path) -> tuple[list[str], dict[str, bytes]]:
    """Return the rows of an installation's database as SQL, but for heartbeats, and its uploads."""
    with closing(sqlite3.connect(folder / "db.sqlite3")) as connection:
        lines = [line for line in connection.iterdump() if "jobs_workerheartbeat" not in line]
    media = folder / "media"
    return sorted(lines), {
        str(path.relative_to(media)): path.read_bytes() for path in media.rglob("*") if path.is_file()
    }


def test_the_wheel_has_what_is_read_and_nothing_of_the_tests(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/") and ".dist-info/" not in name}
    folders = {"evalsite": ""} | dict.fromkeys(APPS, "evalsite/")
    folders |= dict.fromkeys(("templates", "static", "docs", "examples"), "evalsite/files/")
    files = {path: place for name, place in folders.items() for path in (ROOT / name).rglob("*") if path.is_file()}
    assert names == {
        place + path.relative_to(ROOT).as_posix() for path, place in files.items() if "__pycache__" not in path.parts
    }


def test_packages_are_installed_in_one_whose_modules_import_from_it(installed: Installed) -> None:
    ours = {path.name for path in installed.packages.iterdir()} - {"dependencies.pth", "__pycache__"}
    assert {name.partition("-")[0] for name in ours} == {"evalsite"}
    for path in (installed.packages / "evalsite").rglob("*.py"):
        if "files" not in path.relative_to(installed.packages / "evalsite").parts:
            found = re.findall(rf"^\s*(?:from|import) ({'|'.join(APPS)})\b", path.read_text("utf-8"), re.MULTILINE)
            assert not found, f"{path} imports {found[0]}, which may be somebody else's"


def test_the_command_of_a_checkout_runs_in_any_folder(tmp_path: Path) -> None:
    command = [Path(sys.executable).with_name("evalsite"), "plan", "--help"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_is_analysed_where_folders_have_the_names_of_our_packages(installed: Installed) -> None:
    shutil.copy(ROOT / "examples/ratings.csv", installed.folder)
    printed = installed.run("analyse", "ratings.csv", "--protocol", "mrc-adequacy", "--format", "json")
    assert '"systems"' in printed


def test_the_library_and_modules_of_the_same_names_live_in_one_process(installed: Installed, tmp_path: Path) -> None:
    for name in ("analysis", "campaigns"):
        (tmp_path / f"{name}.py").write_text("OF = 'a researcher'\n")
    script = (
        "import analysis, evalsite as ev\n"
        f"result = ev.analyse({str(ROOT / 'examples/ratings.csv')!r}, 'mrc-adequacy', brief=True)\n"
        "import campaigns\n"
        "print(result.findings[0], analysis.OF, campaigns.OF)\n"
    )
    python = installed.folder.parent / "venv/bin/python"
    environment = installed.environment | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([python, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("human is the best of 6 systems"), done.stderr
    assert done.stdout.endswith("a researcher a researcher\n")


def test_a_package_of_plug_ins_is_found_and_does_what_contracts_promise(installed: Installed, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/plugin", tmp_path / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
    python = installed.folder.parent / "venv/bin/python"
    has_setuptools = int(version("setuptools").partition(".")[0]) >= 77
    offline = ["--no-deps", *["--no-build-isolation"] * has_setuptools]
    run_pip("--python", str(python), "install", *offline, str(tmp_path / "plugin"))
    tests = [python, "-m", "pytest", "-q", "-p", "no:django", "-p", "no:cacheprovider", str(tmp_path / "plugin/tests")]
    done = subprocess.run(tests, cwd=tmp_path, env=installed.environment, capture_output=True, text=True)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout + done.stderr
    script = (
        "from evalsite.campaigns.formats import get_format\n"
        "from evalsite.campaigns.platforms import platforms\n"
        "from evalsite.campaigns.responses import get_response_kind\n"
        "from evalsite.analysis.methods import get_method\n"
        "from django.contrib.staticfiles.finders import find\n"
        "print(get_format('poem').__module__, platforms['classroom'].title, get_response_kind('thumbs').title,\n"
        "      get_method('approval').title, find('thumbs/poem.css'))\n"
    )
    printed = installed.run("shell", "--no-imports", "-c", script)
    assert printed.startswith("evalsite_thumbs.poem Classroom Thumb up or down Approval /"), printed
    run_pip("--python", str(python), "uninstall", "--yes", "evalsite-thumbs")


def test_the_demo_is_served_and_its_data_are_backed_up_and_restored(
    installed: Installed, demo: str, tmp_path: Path
) -> None:
    page = httpx.get(f"{demo}/accounts/sign-in/")
    [style] = {part.partition('"')[0] for part in page.text.split('href="')[1:] if ".css" in part.partition('"')[0]}
    assert httpx.get(f"{demo}{style}").status_code == 200
    assert "EVALSITE_DATA" in httpx.get(f"{demo}/help/settings/").text
    assert "Nothing must be fixed" in installed.run("check")

    data = installed.home / ".local/share/evalsite"
    assert rows(data, "SELECT protocol, status FROM campaigns_campaign") == [("esa", "closed")]
    assert not rows(data, "SELECT kind FROM jobs_job WHERE status != 'succeeded'")
    wait_until(lambda: rows(data, "SELECT * FROM jobs_workerheartbeat"), 60, "the server runs jobs")
    installed.run("backup", str(tmp_path / "backup.zip"))
    if kept := os.environ.get("KEEP_BACKUP"):  # `make installation`
        shutil.copy(tmp_path / "backup.zip", kept)
    restored = tmp_path / "restored"
    assert "Restored" in installed.run("restore", str(tmp_path / "backup.zip"), EVALSITE_DATA=str(restored))
    assert contents(restored) == contents(data)
    assert (restored / "secret_key").read_text() == (data / "secret_key").read_text()


def test_the_lines_that_the_library_was_made_for_run_without_settings(installed: Installed, demo: str) -> None:
    folder = installed.folder / "notebook"
    folder.mkdir()
    tables = {
        "ratings.csv": list(rows_of("likert")),
        "scores.csv": [
            {"metric": metric, "system": system, "source": f"s{k}", "score": k % n + (system == "beta")}
            for metric, n in (("chrf", 5), ("bleu", 3))
            for system in ("alpha", "beta")
            for k in range(N_SOURCES)
        ],
    }
    for name, rows in tables.items():
        with (folder / name).open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    shutil.copy(ROOT / "examples/esa/outputs.csv", folder)
    lines = shutil.copy(ROOT / "tests/library/first_steps.txt", folder)
    scopes = [argument for scope in ("read", "edit", "launch") for argument in ("--scope", scope)]
    token = installed.run("create_token", "demo@evalsite.example", "notebook", *scopes).strip()
    done = subprocess.run(
        [installed.folder.parent / "venv/bin/python", "-m", "doctest", "-o", "ELLIPSIS", lines],
        cwd=folder,
        env=installed.environment | {"SITE": demo, "TOKEN": token},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
