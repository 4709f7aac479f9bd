"""Backups: what was acknowledged before one began is in it, whole; and what cannot be restored is refused."""

import hashlib
import json
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import dj_database_url
import pytest
from django.apps import apps
from django.conf import settings as site_settings
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import override_settings

from analysis.models import RatingsFile
from annotation.models import Assignment, Response
from annotation.services.assignments import start_assignment
from annotation.services.ratings import save_page
from crowd.models import ReceivedNotification
from desk.backups import installation
from desk.backups.installation import restore_backup, save_backup
from evalsite.accounts.models import KeptKey, User
from evalsite.jobs.services import record_heartbeat
from evalsite.lib.errors import DomainError
from evalsite.lib.kept_keys import PURPOSES, derive_key
from evalsite.lib.media import get_media
from evalsite.lib.version import __version__
from tests import databases
from tests.annotation.open_campaigns import open_campaign, rate_items, scores_for
from tests.buckets import Bucket
from tests.campaigns.cast import make_campaign
from tests.conftest import make_owner
from tests.services import free_port, new_database, wait_until

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
N_RATERS, N_ITEMS, N_BEFORE = 3, 30, 6


@dataclass
class Place:
    """A data folder with a database of its own, in which a block works."""

    folder: Path
    database: dict[str, Any]

    @contextmanager
    def used(self) -> Iterator[None]:
        (self.folder / "media").mkdir(parents=True, exist_ok=True)
        with (
            override_settings(DATA_DIR=self.folder, MEDIA_ROOT=self.folder / "media"),
            databases.using_database(self.database),
        ):
            yield


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, session_folder: Path) -> Any:
    """Two places on each kind of database: with all tables, and with none."""
    folder = tmp_path_factory.mktemp("backups")
    request.getfixturevalue("django_db_blocker").unblock()
    try:
        if request.param == "sqlite":
            databases.sqlite_copy(session_folder, folder / "db.sqlite3")
            urls = [databases.sqlite_at(folder / name) for name in ("db.sqlite3", "new.sqlite3")]
        else:
            server = request.getfixturevalue("postgres_url")
            names = [f"{folder.name}_{name}" for name in ("old", "new")]
            made = [databases.postgres_copy(server, session_folder, names[0]), new_database(server, names[1])]
            urls = [dj_database_url.parse(url) for url in made]
        yield Place(folder / "old", urls[0]), Place(folder / "new", urls[1])
    finally:
        request.getfixturevalue("django_db_blocker").restore()


class Raters:
    """People who rate one item after the other, in threads; `acknowledged` grows as they are answered."""

    def __init__(self, owner: User) -> None:
        campaign = open_campaign(owner, n_hits=N_RATERS, size=N_ITEMS)
        self._assignments = [start_assignment(campaign=campaign, worker_key=f"w{k}") for k in range(N_RATERS)]
        self._answers = scores_for(campaign)
        self.acknowledged: list[tuple[int, int]] = []
        self._threads = [threading.Thread(target=self._rate, args=(each,)) for each in self._assignments]
        self.may_end = threading.Event()

    def __enter__(self) -> "Raters":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.may_end.set()
        for thread in self._threads:
            thread.join()

    def _rate(self, assignment: Assignment) -> None:
        try:
            for position in range(1, N_ITEMS + 1):
                if position == N_ITEMS - 5:
                    self.may_end.wait(60)  # so that some come after the backup, too
                save_page(assignment_id=assignment.pk, position=position, answers=self._answers)
                self.acknowledged.append((assignment.pk, position))
        finally:
            connection.close()


def add_upload(owner: User) -> RatingsFile:
    content = b"worker,score\n"
    digest = hashlib.sha256(content).hexdigest()
    file = ContentFile(content, "pilot.csv")
    return RatingsFile.objects.create(owner=owner, title="Pilot", file=file, size=len(content), sha256=digest)


def rows_of_all_tables() -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every model, but of what a restore changes."""
    models = [
        model for model in apps.get_models(include_auto_created=True) if model._meta.label != "jobs.WorkerHeartbeat"
    ]
    return {model._meta.label: sorted(model._default_manager.values_list(), key=repr) for model in models}


@dataclass(frozen=True)
class Flow:
    """What was acknowledged before and after a backup that was taken in the middle, and the place it is restored in."""

    before: set[tuple[int, int]]
    after: set[tuple[int, int]]
    place: Place
    upload: str


@pytest.fixture(scope="module")
def flow(places: tuple[Place, Place], tmp_path_factory: pytest.TempPathFactory) -> Flow:
    """Raters at work, a backup, an installation that is lost, and another in its place."""
    old, new = places
    file = tmp_path_factory.mktemp("archive") / "backup.zip"
    with old.used():
        owner = make_owner()
        upload = add_upload(owner)
        campaign = make_campaign(owner, "mrc-adequacy")
        ReceivedNotification.objects.create(campaign=campaign, fingerprint="d" * 64)
        # The version before: tables and columns had other names.
        call_command("migrate", "crowd", "0004", verbosity=0)
        with Raters(owner) as raters:
            wait_until(lambda: len(raters.acknowledged) >= N_BEFORE, 60, "some items are rated")
            before = set(raters.acknowledged)
            save_backup(file, NOW)
        after = set(raters.acknowledged)
    shutil.rmtree(old.folder)
    with new.used():
        restore_backup(file, NOW)
    return Flow(before, after, new, upload.file.name)


def test_nothing_that_was_acknowledged_before_the_backup_is_lost(flow: Flow) -> None:
    with flow.place.used():
        kept = Counter(Response.objects.values_list("assignment", "item__position"))
    assert len(flow.after) == N_RATERS * N_ITEMS > len(flow.before)
    assert flow.before <= set(kept) <= flow.after
    assert set(kept.values()) == {1}


def test_what_was_being_saved_is_there_whole_or_not_at_all(flow: Flow) -> None:
    with flow.place.used():
        for assignment in Assignment.objects.all():
            positions = Response.objects.filter(assignment=assignment).values_list("item__position", flat=True)
            assert sorted(positions) == list(range(1, assignment.n_rated + 1))
        connection.check_constraints()


def test_the_restored_installation_is_of_this_version_and_goes_on(flow: Flow) -> None:
    with flow.place.used():
        assert ("crowd", "0005_polled_received") in MigrationRecorder(connection).applied_migrations()
        assert ReceivedNotification.objects.get().fingerprint == "d" * 64
        assert (flow.place.folder / "media" / flow.upload).read_bytes() == b"worker,score\n"
        assignment = Assignment.objects.earliest("pk")
        assert rate_items(assignment).n_rated == N_ITEMS
        another = User.objects.create_user("new@example.org", "new-password", name="New")
        assert another.pk > User.objects.get(email="owner@example.org").pk


# --- What restores refuse, and what they keep


@pytest.fixture
def place(tmp_path: Path, session_folder: Path, django_db_blocker: Any) -> Iterator[Place]:
    """An installation of one person on SQLite, with an upload, in use."""
    place = Place(tmp_path / "site", databases.sqlite_at(tmp_path / "db.sqlite3"))
    databases.sqlite_copy(session_folder, tmp_path / "db.sqlite3")
    with django_db_blocker.unblock(), place.used():
        add_upload(make_owner())
        yield place


@pytest.fixture
def backup(place: Place, tmp_path: Path) -> Path:
    return save_backup(tmp_path / "backup.zip", NOW).path


def rewrite(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Return a copy of a backup whose files were changed."""
    with ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    copy = path.with_name("changed.zip")
    with ZipFile(copy, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return copy


def with_manifest(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]) | changes).encode()

    return change


def refused(path: Path) -> str:
    """Return the code of a refusal that changes nothing, although replacing is allowed."""
    rows = rows_of_all_tables()
    with pytest.raises(DomainError) as caught:
        restore_backup(path, NOW, replace=True)
    assert rows_of_all_tables() == rows
    return caught.value.code


def media_of(files: dict[str, bytes]) -> str:
    return next(name for name in files if name.startswith("media/"))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda files: files.update({media_of(files): b"worker,scorf\n"}), "backup_damaged"),
        (lambda files: files.pop(media_of(files)), "backup_damaged"),
        (lambda files: files.pop("manifest.json"), "backup_damaged"),
        (with_manifest(files={"../escaped": [0, ""]}), "backup_damaged"),
        (with_manifest(files=7), "backup_damaged"),
        (with_manifest(format=99), "backup_newer"),
        (with_manifest(evalsite="99.0"), "backup_newer"),
        (with_manifest(evalsite="99.0.dev3"), "backup_newer"),
        (with_manifest(migrations=[["crowd", "9999_later"]]), "backup_newer"),
        (with_manifest(database="postgresql"), "backup_other_database"),
    ],
    ids=[
        "changed",
        "missing",
        "no manifest",
        "escaping",
        "bad manifest",
        "format",
        "version",
        "dev",
        "migration",
        "kind",
    ],
)
def test_what_cannot_be_restored_is_refused(backup: Path, change: Any, code: str) -> None:
    assert refused(rewrite(backup, change)) == code


def test_a_backup_of_a_development_version_is_restored_by_its_release(backup: Path) -> None:
    restored = restore_backup(rewrite(backup, with_manifest(evalsite=f"{__version__}.dev999")), NOW, replace=True)
    assert restored.origin.evalsite == f"{__version__}.dev999"


def test_a_cut_archive_is_refused(backup: Path) -> None:
    backup.write_bytes(backup.read_bytes()[:-100])
    assert refused(backup) == "backup_damaged"
    assert refused(backup.with_name("gone.zip")) == "backup_missing"


def test_an_installation_in_use_is_replaced_only_by_force_and_kept(place: Place, backup: Path, tmp_path: Path) -> None:
    rows = rows_of_all_tables()
    User.objects.create_user("later@example.org", "later-password", name="Later")
    later = place.folder / "media" / "later.txt"
    later.write_text("later")
    with pytest.raises(CommandError, match="--force"):
        call_command("restore", str(backup))
    assert later.exists()

    done = restore_backup(backup, NOW, replace=True)
    assert rows_of_all_tables() == rows
    assert not later.exists()
    assert not list(place.folder.rglob(".*"))

    assert done.replaced
    restore_backup(done.replaced, NOW.replace(hour=13), replace=True)
    assert User.objects.filter(email="later@example.org").exists()
    assert later.read_text() == "later"


def test_a_site_that_runs_is_not_replaced(backup: Path) -> None:
    record_heartbeat("w1")
    assert refused(backup) == "site_runs"


def test_a_full_disk_is_noticed_before_anything_is_changed(backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(installation.shutil, "disk_usage", lambda _: usage)
    assert refused(backup) == "disk_full"


def test_a_backup_replaces_no_file_and_only_its_owner_may_read_it(place: Place, backup: Path, tmp_path: Path) -> None:
    assert backup.stat().st_mode & 0o077 == 0
    with pytest.raises(DomainError, match="already"):
        save_backup(backup, NOW)
    assert save_backup(tmp_path, NOW).path == tmp_path / "evalsite-2026-03-01-120000.zip"
    assert not list(tmp_path.glob(".backup-*"))


def test_an_empty_installation_is_not_backed_up(tmp_path: Path, django_db_blocker: Any) -> None:
    empty = Place(tmp_path / "site", databases.sqlite_at(tmp_path / "empty.sqlite3"))
    with django_db_blocker.unblock(), empty.used(), pytest.raises(DomainError, match="EVALSITE_DATA"):
        save_backup(tmp_path / "backup.zip", NOW)


def test_files_of_a_bucket_are_saved_and_come_back(place: Place, bucket: Bucket, tmp_path: Path) -> None:
    upload = add_upload(User.objects.get())
    saved = save_backup(tmp_path / "backup.zip", NOW)
    kept = bucket.files()
    assert list(kept.values()) == [b"worker,score\n"]
    get_media().delete(upload.file.name or "")
    get_media().write("uploads/later", b"later")

    done = restore_backup(saved.path, NOW, replace=True)
    assert bucket.files() == kept
    assert Path(RatingsFile.objects.get(pk=upload.pk).file.path).read_bytes() == b"worker,score\n"
    assert done.replaced
    restore_backup(done.replaced, NOW.replace(hour=13), replace=True)
    assert list(bucket.files().values()) == [b"later"]


def test_a_backup_moves_files_from_the_disk_into_a_bucket(place: Place, backup: Path, bucket: Bucket) -> None:
    restore_backup(backup, NOW, replace=True)
    assert list(bucket.files().values()) == [b"worker,score\n"]


def test_a_bucket_that_is_away_fails_a_backup_in_words(place: Place, bucket: Bucket, tmp_path: Path) -> None:
    saved = save_backup(tmp_path / "backup.zip", NOW).path
    with bucket.used(url=f"http://127.0.0.1:{free_port()}"):
        with pytest.raises(DomainError, match="MEDIA_BUCKET"):
            save_backup(tmp_path / "another.zip", NOW)
        with pytest.raises(DomainError, match="MEDIA_BUCKET"):
            restore_backup(saved, NOW, replace=True)
    assert User.objects.exists()
    assert not (tmp_path / "another.zip").exists()


# --- The key


def test_a_key_of_the_data_folder_comes_back(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    key = place.folder / "secret_key"
    key.write_text(site_settings.SECRET_KEY)
    saved = save_backup(tmp_path / "with-key.zip", NOW)
    assert saved.notes == []
    key.write_text("a key that was made since then, for nothing")
    assert restore_backup(saved.path, NOW, replace=True).notes == []
    assert key.read_text() == site_settings.SECRET_KEY
    assert key.stat().st_mode & 0o077 == 0


def test_a_key_of_the_environment_is_asked_for(backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", site_settings.SECRET_KEY)
    assert restore_backup(backup, NOW, replace=True).notes == []
    with override_settings(SECRET_KEY="another key, as long as the first one was"):
        [note] = restore_backup(backup, NOW.replace(hour=13), replace=True).notes
    assert "SECRET_KEY_FALLBACKS" in note


def test_a_backup_of_before_keys_were_stored_keeps_the_names_that_it_had(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were made with the key that is in the backup, and the process that restores it has begun with another."""
    monkeypatch.delenv("SECRET_KEY", raising=False)
    (place.folder / "secret_key").write_text("the key by which names were made, until it is restored")
    before = MigrationLoader(connection).project_state([("accounts", "0002_api_tokens")]).models
    with connection.cursor() as cursor:
        for model in apps.get_app_config("accounts").get_models():
            if ("accounts", model._meta.model_name) not in before:
                cursor.execute(f"DROP TABLE {model._meta.db_table}")
        cursor.execute("DELETE FROM django_migrations WHERE app = 'accounts' AND name >= '0003_kept_keys'")
    saved = save_backup(tmp_path / "before.zip", NOW)
    restore_backup(saved.path, NOW, replace=True)
    stored = dict(KeptKey.objects.values_list("purpose", "key"))
    former = "the key by which names were made, until it is restored"
    assert stored == {purpose: derive_key(purpose, former) for purpose in PURPOSES}
    again = save_backup(tmp_path / "after.zip", NOW)
    KeptKey.objects.update(key="0" * 64)
    (place.folder / "secret_key").write_text("one that has nothing to do with names any more")
    restore_backup(again.path, NOW.replace(hour=13), replace=True)
    assert dict(KeptKey.objects.values_list("purpose", "key")) == stored
