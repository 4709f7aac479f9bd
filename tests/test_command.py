"""The command `evalsite`: what it lists exists, its list needs no Django, and servers are started as they should be."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands
from pytest_django import Settings

from evalsite import command, serving
from evalsite.celery import app
from evalsite.lib import folders

ROOT = Path(__file__).parents[1]
# What Django has for developers, and what is listed by `evalsite help` only.
NOT_LISTED = {"openapi"}


def test_every_command_of_ours_is_listed_and_every_listed_one_exists() -> None:
    ours = {name for name, app in get_commands().items() if not str(app).startswith(("django.", "whitenoise."))}
    listed = {command._NAMES.get(name, name) for group in command.GROUPS.values() for name in group}
    examples = {"enqueue"}  # of the tests
    assert ours - examples - NOT_LISTED <= listed <= set(get_commands())


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]])
def test_the_list_needs_no_django(arguments: list[str]) -> None:
    code = "import sys; from evalsite.command import main; main(); print('django' in sys.modules)"
    run = [sys.executable, "-c", code, *arguments]
    printed = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.endswith("False\n")
    assert ("analyse" in printed) == (arguments != ["--version"])


def test_a_wrong_word_is_refused_with_a_proposal() -> None:
    run = [sys.executable, "-c", "from evalsite.command import main; main()", "analyze"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "analyse" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("EVALSITE_DATA", "/proc/evalsite", "The data folder /proc/evalsite cannot be made"),
        ("MAX_UPLOAD_MB", "many", "MAX_UPLOAD_MB='many' is not a whole number"),
        ("DATABASE_URL", "oracle-like://x", "oracle-like"),
    ],
)
def test_a_setting_that_cannot_be_used_is_said_in_one_line(tmp_path: Path, name: str, value: str, words: str) -> None:
    environment = os.environ | {"EVALSITE_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    run = [sys.executable, "-c", "from evalsite.command import main; main()", "check"]
    done = subprocess.run(run, cwd=ROOT, env=environment | {name: value}, capture_output=True, text=True)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert words in line


@pytest.mark.parametrize(
    ("shared", "below"), [("/srv/shared", "/srv/shared"), ("", ".local/share"), ("x", ".local/share")]
)
def test_data_of_an_installed_site_are_kept_where_the_desktop_standard_says(
    monkeypatch: pytest.MonkeyPatch, shared: str, below: str
) -> None:
    """XDG Base Directory Specification: a path that is not absolute is ignored."""
    assert folders.default_data_folder() == ROOT / "var"
    monkeypatch.setattr(folders, "IS_INSTALLED", True)
    monkeypatch.setenv("XDG_DATA_HOME", shared)
    assert folders.default_data_folder() == Path.home() / below / "evalsite"


# --- Serving


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that a command would become."""
    programs: list[list[str]] = []
    monkeypatch.setattr("desk.management.commands.serve.become", programs.append)
    monkeypatch.setattr("desk.management.commands.serve.refuse_taken", lambda host, port: None)
    return programs


@pytest.mark.parametrize(
    ("host", "behind_proxy", "warns"),
    [("127.0.0.1", False, False), ("localhost", False, False), ("0.0.0.0", False, True), ("0.0.0.0", True, False)],
)
def test_the_bare_server_says_that_it_needs_a_proxy(
    started: list[list[str]], settings: Settings, host: str, behind_proxy: bool, warns: bool
) -> None:
    settings.BEHIND_PROXY = behind_proxy
    printed = StringIO()
    call_command("serve", "--host", host, "--no-migrate", stderr=printed)
    assert ("needs a proxy" in printed.getvalue()) == warns
    [program] = started
    assert program[program.index("--bind") + 1] == f"{host}:8000"
    assert program[program.index("--config") + 1] == "python:evalsite.gunicorn_conf"


def test_the_server_works_on_the_data_of_the_command(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    started = []
    monkeypatch.setenv("EVALSITE_DATA", "relative")
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(serving.os, "execv", lambda path, command: started.append(os.environ["EVALSITE_DATA"]))
    serving.become(serving.server_command("::1", 8000))
    assert started == [str(settings.DATA_DIR)]
    assert "[::1]:8000" in serving.server_command("::1", 8000)


def test_a_taken_port_is_named(live_port: int) -> None:
    with pytest.raises(CommandError, match=f"--port {live_port + 1}"):
        serving.refuse_taken("127.0.0.1", live_port)


@pytest.fixture
def live_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


# --- The worker


def test_without_redis_there_is_nothing_for_a_worker_to_do() -> None:
    with pytest.raises(CommandError, match="REDIS_URL"):
        call_command("worker")


def test_the_worker_is_the_scheduler_too_unless_another_is(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.REDIS_URL = "redis://localhost"
    started: list[list[str]] = []
    monkeypatch.setattr(app, "worker_main", started.append)
    call_command("worker", "--concurrency", "3")
    call_command("worker", "--no-scheduler")
    both, alone = started
    assert both[both.index("--concurrency") + 1] == "3"
    assert "--beat" in both and "--beat" not in alone
