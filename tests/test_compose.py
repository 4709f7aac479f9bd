"""docker-compose.yml and Dockerfile against the Compose specification's schema and against this checkout.

The schema is `compose-spec.json` of compose-spec 2.x (Apache-2.0, see `data/compose-spec.LICENSE`).
"""

import copy
import json
import os
import re
import runpy
import secrets
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from celery.app.utils import find_app
from django.conf import settings
from django.core.management import get_commands
from jsonschema import Draft202012Validator

from evalsite import gunicorn_conf
from evalsite.celery import app

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "tests/data/compose-spec.json").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
CADDYFILE = (ROOT / "deploy/Caddyfile").read_text()
OURS = ["migrate", "web", "worker", "scheduler"]


def violations(compose: dict[str, Any]) -> list[str]:
    """Return what the schema has against it."""
    return [error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(compose)]


def broken_command(command: list[str]) -> str | None:
    """Return what in a command does not exist in this checkout."""
    program, *arguments = command
    if not (shutil.which(program) or (Path(sys.executable).parent / program).exists()):
        return program
    if program == "gunicorn":
        is_ours = arguments == ["--config", f"python:{gunicorn_conf.__name__}"]
        return None if is_ours and callable(served()) else " ".join(arguments)
    if program == "celery":
        known = find_app(arguments[1]) is app and arguments[2] in app_commands()
        return None if known else " ".join(arguments)
    known = (ROOT / arguments[0]).exists() and arguments[1] in get_commands()
    return None if known else " ".join(arguments)


def served() -> object:
    """Return what gunicorn serves by its configuration."""
    module, _, name = gunicorn_conf.wsgi_app.partition(":")
    return getattr(import_module(module), name, None)


def command_of(service: str) -> list[str]:
    """Return what a service runs: its command, or that of the image."""
    [of_image] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    command: list[str] = SERVICES[service].get("command") or json.loads(of_image)
    return command


def app_commands() -> list[str]:
    """Return the names of Celery's own commands."""
    return list(import_module("celery.bin.celery").celery.commands)


def test_the_file_keeps_to_the_specification() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert violations(COMPOSE) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [(("services", "web", "port"), ["8000:8000"]), (("services", "web", "command"), 7), (("volume",), {})],
    ids=["unknown key", "wrong type", "unknown section"],
)
def test_a_violation_of_the_specification_is_seen(path: tuple[str, ...], value: object) -> None:
    broken = copy.deepcopy(COMPOSE)
    *parents, last = path
    place = broken
    for parent in parents:
        place = place[parent]
    place[last] = value
    assert violations(broken)


@pytest.mark.parametrize("service", OURS)
def test_a_service_starts_what_exists(service: str) -> None:
    assert broken_command(command_of(service)) is None


def test_the_image_serves_the_site_and_so_does_compose() -> None:
    assert command_of("web")[0] == "gunicorn"
    assert "command" not in SERVICES["web"]


@pytest.mark.parametrize(
    "command",
    [
        "gunicorn --config python:evalsite.gunicorn",
        "celery -A evalsite labourer",
        "python manage.py migrat",
        "python mange.py migrate",
        "no-such-program",
    ],
)
def test_a_command_that_does_not_exist_is_seen(command: str) -> None:
    assert broken_command(shlex.split(command))


def test_migrations_run_before_whatever_uses_the_database() -> None:
    for service in ("web", "worker", "scheduler"):
        assert SERVICES[service]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert SERVICES["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_every_service_that_others_wait_for_tells_its_health() -> None:
    for service in ("web", "worker", "postgres", "redis"):
        assert SERVICES[service]["healthcheck"]["test"]


def test_secrets_must_be_given() -> None:
    for service in OURS:
        environment = SERVICES[service]["environment"]
        assert environment["SECRET_KEY"].startswith("${SECRET_KEY:?")
        assert "${POSTGRES_PASSWORD:?" in environment["DATABASE_URL"]


# --- Settings: documented, read and passed to the containers

# What is documented for installations of other kinds, and the Compose file decides by itself.
NOT_PASSED = {
    "EVALSITE_DATA",  # the image's volume
    "EVALSITE_MODELS",  # a folder in that volume
    "DATABASE_POOL",  # follows the process
    "SQLITE_SYNCHRONOUS",  # the database is PostgreSQL
    "JOBS_IN_PROCESS",  # a worker runs them
    "DEBUG",  # never where others can reach the site
}


def documented() -> set[str]:
    """Return the variables in the tables of docs/settings.md."""
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def read_by_settings() -> set[str]:
    """Return the variables that settings.py reads."""
    source = (ROOT / "evalsite/settings.py").read_text()
    return set(re.findall(r"""(?:environ(?:\.get\(|\[)|env_\w+\()\s*"(\w+)\"""", source))


def passed(service: str) -> set[str]:
    """Return the variables of a service, without gunicorn's own."""
    return set(SERVICES[service]["environment"]) - {"WEB_CONCURRENCY"}


def test_every_documented_setting_is_read_and_every_setting_is_documented() -> None:
    assert {"SITE_URL", "MTURK_SECRET_ACCESS_KEY", "EMAIL_URL"} < documented()
    assert documented() == read_by_settings()


@pytest.mark.parametrize("service", OURS)
def test_every_documented_setting_is_passed(service: str) -> None:
    assert passed(service) == documented() - NOT_PASSED


def test_what_is_written_into_env_reaches_the_containers() -> None:
    by_itself = {"DATABASE_URL", "REDIS_URL"}
    for name, value in SERVICES["web"]["environment"].items():
        assert name in by_itself or re.search(rf"\$\{{{name}:[-?]", value), name


def interpolated(value: str, given: dict[str, str]) -> str:
    """Return a value of the file as Compose passes it: defaults may hold variables with defaults of their own."""
    innermost = re.compile(r"\$\{(\w+):[-?]([^${}]*)\}")
    while innermost.search(value):
        value = innermost.sub(lambda match: given.get(match[1]) or match[2], value)
    return value


def test_settings_that_are_not_in_env_have_their_defaults(tmp_path: Path) -> None:
    """Compose passes a variable that .env does not hold as an empty text, or with the file's own default."""
    given = {"SECRET_KEY": secrets.token_urlsafe(), "POSTGRES_PASSWORD": "secret", "EVALSITE_DATA": str(tmp_path)}
    given |= {"DOMAIN": "eval.example.org"}
    environment = {name: interpolated(value, given) for name, value in SERVICES["web"]["environment"].items()}
    shown = ["EMAIL_BACKEND", "MAX_UPLOAD_MB", "CHATS_AT_ONCE", "BEHIND_PROXY", "SITE_URL", "ALLOWED_HOSTS"]
    show = f"from evalsite import settings as s; print(*(getattr(s, name) for name in {shown}), sep='\\n')"
    path = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", show],
        cwd=ROOT,
        env=given | environment | path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "django.core.mail.backends.dummy.EmailBackend",
        *("100", "80", "True", "https://eval.example.org", "['eval.example.org', '127.0.0.1']"),
    ]


def test_waiting_chats_leave_threads_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    in_compose = re.fullmatch(r"\$\{CHATS_AT_ONCE:-(\d+)\}", SERVICES["web"]["environment"]["CHATS_AT_ONCE"])
    assert in_compose
    monkeypatch.delenv("CHATS_AT_ONCE", raising=False)
    assert runpy.run_path(gunicorn_conf.__file__)["threads"] >= settings.CHATS_AT_ONCE + 8
    monkeypatch.setenv("CHATS_AT_ONCE", in_compose[1])
    assert runpy.run_path(gunicorn_conf.__file__)["threads"] >= int(in_compose[1]) + 8


def test_named_volumes_are_declared() -> None:
    used = {volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert {name for name in used if not name.startswith("./")} == set(COMPOSE["volumes"])
    assert all((ROOT / name).is_file() for name in used if name.startswith("./"))


# --- The proxy in front


def test_the_public_ports_are_those_of_the_proxy_alone() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"proxy", "web"}
    assert [interpolated(port, {}) for port in published["web"]] == ["127.0.0.1:8000:8000"]
    assert "443:443" in [interpolated(port, {}) for port in published["proxy"]]


def test_the_proxy_reads_requests_before_it_passes_them_on_and_takes_the_largest_upload() -> None:
    [upstream] = re.findall(r"reverse_proxy (\S+) \{", CADDYFILE)
    assert upstream == "web:8000" and gunicorn_conf.bind.endswith(":8000")
    assert "request_buffers" in CADDYFILE and "response_buffers" in CADDYFILE
    largest = interpolated(SERVICES["proxy"]["environment"]["MAX_REQUEST"], {})
    assert int(largest.removesuffix("MB")) > settings.MAX_UPLOAD_MB
    assert CADDYFILE.count("{") == CADDYFILE.count("}")


def test_the_proxy_is_given_what_its_file_asks_for_and_logs_no_address() -> None:
    asked = set(re.findall(r"\{\$(\w+):", CADDYFILE))
    assert asked == set(SERVICES["proxy"]["environment"])
    assert "request>uri delete" in CADDYFILE


def test_the_example_of_env_names_what_must_be_set() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    required = set(re.findall(r"\$\{(\w+):\?", (ROOT / "docker-compose.yml").read_text()))
    assert required <= set(given)
    assert not any(given[name] for name in required)  # to be filled in: a key that is public is none
    used = set(re.findall(r"\$\{(\w+):", (ROOT / "docker-compose.yml").read_text()))
    assert set(given) <= used


def test_the_image_does_not_run_as_root() -> None:
    last_user = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)[-1]
    assert last_user not in {"root", "0"}


def test_the_readme_runs_the_image_that_it_builds_at_the_port_that_it_has() -> None:
    readme = (ROOT / "README.md").read_text()
    [tag] = re.findall(r"^docker build --tag (\S+) \.$", readme, re.MULTILINE)
    [(port, image)] = re.findall(r"^docker run .*--publish \d+:(\d+) (\S+) ", readme, re.MULTILINE)
    assert (image, port) == (tag, re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE)[-1])


def test_the_image_gets_every_app_and_no_data() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {line.strip("!/") for line in lines if line.startswith("!")}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert lines[0] == "*"
    assert packages | {"templates", "static", "docs", "examples", "manage.py", "pyproject.toml"} <= kept
    assert not kept & {"var", ".git", ".env", "tests"}
