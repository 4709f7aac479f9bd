"""The site as the image and Compose serve it: what a real server writes into its log, and who may read its files."""

import errno
import json
import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import httpx
import pytest
from django.contrib.auth.tokens import default_token_generator
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from pytest_django import Settings

from annotation.access.tokens import token_of
from annotation.models import Assignment
from annotation.services.assignments import start_assignment
from evalsite.accounts.models import User
from evalsite.lib.masking import MaskingFormatter, mask_tokens
from evalsite.lib.private_files import PrivateConnection, make_private
from tests.annotation.open_campaigns import open_campaign
from tests.annotation.servers import Server, running_server
from tests.jobs.processes import Site
from tests.services import free_port, wait_until

ROOT = Path(__file__).parents[1]
WORKER_ID = "5f0c3d1e2b4a69788f0e1d2c"
SIGNATURE = "x2Y-Zp0qUoU3Jt_1hXQxq0n4sZ5w8k1vB7cD9eFgHiJ"


@pytest.fixture
def served(tmp_path: Path, installation: Path, transactional_db: None) -> Iterator[Server]:
    """The command of the image, on another port."""
    [command] = re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    program, *options = json.loads(command)
    assert program == "gunicorn"
    with running_server(tmp_path, installation / "static", options=options, JOBS_IN_PROCESS="0") as server:
        wait_until(lambda: "Listening at" in server.log(), 60, "the server listens")
        yield server


@pytest.fixture
def assignment(owner: User, transactional_db: None) -> Assignment:
    return start_assignment(campaign=open_campaign(owner), worker_key="ada")


def test_no_token_is_written_into_the_log(served: Server, assignment: Assignment, owner: User) -> None:
    token = token_of(assignment)
    signature = token.rpartition(".")[2]
    page = reverse("rate:hit", args=[token])
    welcome = reverse("rate:welcome", args=[assignment.campaign.public_id])
    reset_token = default_token_generator.make_token(owner)
    reset = reverse("accounts:reset_confirm", args=[urlsafe_base64_encode(force_bytes(owner.pk)), reset_token])

    with httpx.Client(base_url=served.url, headers={"Referer": served.url + page}, timeout=60) as client:
        answers = [
            client.get(page),
            client.get(page + "no-such-image.img"),
            client.get(f"/rate/{token}x/"),
            client.post(page, data={"position": "nonsense"}),
            client.get(page, headers={"Host": "other.example"}),
            client.get(welcome, params={"PROLIFIC_PID": WORKER_ID}),
            client.get(reset),
            client.post(reset, data={}),
            client.get("/campaigns/"),
        ]
    statuses = [answer.status_code for answer in answers]
    assert statuses[0] == 200
    assert statuses[1:3] == [404, 404]
    assert statuses[4] == 400
    assert statuses[6] == 302

    wait_until(lambda: "/campaigns/" in served.log(), 30, "the last request is in the log")
    log = served.log()
    for secret in (token, signature, signature[:20], reset_token, WORKER_ID):
        assert secret not in log
    for seen in ('"GET /rate/***/ HTTP/1.1" 200', "Not Found: /rate/***"):
        assert seen in log
    assert f'"GET {welcome}?*** HTTP/1.1"' in log
    assert '"GET /accounts/reset/***/***/ HTTP/1.1" 302' in log


TOKENS = [f"12.{SIGNATURE}", f"12-0123456789.{SIGNATURE}"]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "line",
    [
        "Not Found: /rate/{}/",
        '"GET /rate/{}/say/ HTTP/1.1" 200',
        '"POST https://site.example/rate/{}/?a=b HTTP/1.1" 200 12 "https://site.example/rate/{}/"',
        "Forbidden (CSRF token missing.): /rate/{}/feedback/",
        "KeyError: '{}'",
        "<WSGIRequest: GET '/rate/{}/'>",
        "/rate/{}",
        "/%72ate/{}/",
    ],
)
def test_tokens_are_masked_wherever_they_stand(line: str, token: str) -> None:
    masked = mask_tokens(line.format(token, token))
    assert SIGNATURE not in masked
    assert "***" in masked


def test_a_token_that_was_not_copied_whole_is_masked_too() -> None:
    assert mask_tokens(f"Not Found: /rate/12.{SIGNATURE[:-3]}/") == "Not Found: /rate/***/"


@pytest.mark.parametrize(
    "line",
    [
        "Not Found: /rate/c/2f1c9c1e-7b7e-4a54-9a0e-0e2c1f5e9d11/",
        '"GET /accounts/reset/ HTTP/1.1" 200',
        '"GET /accounts/reset/sent/ HTTP/1.1" 200',
        '"GET /campaigns/?page=2 HTTP/1.1" 200 7000 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0)"',
        "took 0.123 s of 12.5 s",
    ],
)
def test_other_lines_stay_as_they_are(line: str) -> None:
    assert mask_tokens(line) == line


def test_a_traceback_is_masked() -> None:
    formatter = MaskingFormatter("{levelname} {message}", style="{")
    try:
        raise LookupError(TOKENS[0])
    except LookupError as error:
        record = logging.LogRecord("django.request", logging.ERROR, "", 0, "Failed: %s", (f"/rate/{TOKENS[1]}/",), None)
        record.exc_info = (LookupError, error, error.__traceback__)
        line = formatter.format(record)
    assert line.startswith("ERROR Failed: /rate/***/\nTraceback")
    assert SIGNATURE not in line


# --- Who may read the files


@pytest.fixture
def usual_umask() -> Iterator[None]:
    """New files are readable by everybody, unless the site says otherwise."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:o}"


def test_a_new_installation_is_private_and_an_old_one_becomes_so(tmp_path: Path, usual_umask: None) -> None:
    folder = tmp_path / "data"
    environment = {"EVALSITE_DATA": str(folder), "SECRET_KEY": "", "JOBS_IN_PROCESS": "0"}
    with Site(tmp_path, DJANGO_SETTINGS_MODULE="evalsite.settings", **environment) as site:
        site.manage("migrate", "sessions", "--verbosity", "0")  # as few tables as the page needs
        site.manage("collectstatic", "--noinput", "--verbosity", "0", "--ignore", "admin")
        assert mode(folder) == "711"
        private = {"db.sqlite3": "600", "media": "700", "secret_key": "600"}
        assert {path.name: mode(path) for path in folder.iterdir()} == {**private, "static": "755"}
        served = list((folder / "static").rglob("*"))
        assert {mode(path) for path in served if path.is_file()} == {"644"}
        assert {mode(path) for path in served if path.is_dir()} == {"755"}

        for name in private:
            (folder / name).chmod(0o755 if name == "media" else 0o644)
        port = free_port()
        server = ["-m", "gunicorn", "--config", "python:evalsite.gunicorn_conf", "--bind", f"127.0.0.1:{port}"]
        site.start(*server)
        wait_until(lambda: "Booting worker" in site.log() and mode(folder / "media") == "700", 60, "the site starts")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            assert client.get(reverse("accounts:sign_in")).status_code == 200
    assert {name: mode(folder / name) for name in private} == private


def test_several_web_processes_tell_together_what_they_measured(tmp_path: Path) -> None:
    token, port = "a-token-of-the-tests", free_port()
    environment = {"EVALSITE_DATA": str(tmp_path / "data"), "JOBS_IN_PROCESS": "0", "METRICS_TOKEN": token}
    with Site(tmp_path, DJANGO_SETTINGS_MODULE="evalsite.settings", WEB_CONCURRENCY="2", **environment) as site:
        server = ["-m", "gunicorn", "--config", "python:evalsite.gunicorn_conf", "--bind", f"127.0.0.1:{port}"]
        site.start(*server)
        wait_until(lambda: site.log().count("Booting worker") == 2, 60, "both processes start")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, headers={"Connection": "close"}) as client:
            for _ in range(30):
                assert client.get(reverse("probes:health")).status_code == 200
            measured = client.get(reverse("probes:metrics"), headers={"Authorization": f"Bearer {token}"}).text
    assert 'evalsite_request_seconds_count{method="GET",status="2xx",view="probes:health"} 30.0' in measured
    assert 'evalsite_ready{part="migrations"} 0.0' in measured  # there is no table yet


@pytest.mark.parametrize("code", [errno.EPERM, errno.EROFS, errno.ENOTSUP])
def test_where_no_rights_can_be_set_the_site_starts(tmp_path: Path, usual_umask: None, code: int) -> None:
    (tmp_path / "media").mkdir()
    with mock.patch.object(Path, "chmod", side_effect=OSError(code, os.strerror(code))):
        make_private(tmp_path / "media")
    assert mode(tmp_path / "media") == "755"


def test_files_beside_a_database_are_private_too(tmp_path: Path, usual_umask: None) -> None:
    path = tmp_path / "new.sqlite3"
    connection = sqlite3.connect(path, factory=PrivateConnection)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE rating (score)")
    modes = {each.name: mode(each) for each in tmp_path.iterdir()}
    connection.close()
    assert modes == {"new.sqlite3": "600", "new.sqlite3-wal": "600", "new.sqlite3-shm": "600"}


def test_an_upload_is_private(tmp_path: Path, usual_umask: None, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    name = default_storage.save("uploads/2026/ratings.csv", ContentFile(b"worker,score\n"))
    path = Path(settings.MEDIA_ROOT, name)
    assert mode(path) == "600"
    assert {mode(path.parents[0]), mode(path.parents[1]), mode(path.parents[2])} == {"700"}
