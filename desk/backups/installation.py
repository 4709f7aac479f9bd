"""Backing an installation up while it runs, and restoring one that does not."""

import hashlib
import math
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from desk.backups.archive import ArchiveReader, Origin, reading_archive, writing_archive
from desk.backups.databases import database_files
from evalsite.accounts.kept_keys import store_keys
from evalsite.accounts.models import User
from evalsite.jobs.models import WorkerHeartbeat
from evalsite.jobs.queries import is_any_worker_alive
from evalsite.lib.errors import DomainError
from evalsite.lib.media import get_media
from evalsite.lib.version import __version__

_DATABASE, _MEDIA, _KEY = "database", "media", "keys/secret_key"
_KEY_FILE = "secret_key"
_ROOM = 2**26
_KEPT_KEYS = ("accounts", "0003_kept_keys")  # the migration that stores them


@dataclass(frozen=True)
class Saved:
    """A backup that was written; `notes` say what it does not hold."""

    path: Path
    n_bytes: int
    n_files: int
    notes: list[str]


@dataclass(frozen=True)
class Restored:
    """A backup that was restored; `replaced` is a backup of what was there before, `notes` say what is to be done."""

    origin: Origin
    n_files: int
    replaced: Path | None
    notes: list[str]


def save_backup(path: Path, now: datetime) -> Saved:
    """Write a backup to a new file, or to one that is named by the time in an existing folder.

    The database is as it is at one moment, in the middle of this call; files that come later are no part of it.
    """
    origin = _origin(now)
    if not origin.migrations:
        text = (
            f"There is nothing to back up: no site has run with {settings.DATA_DIR} as its data folder (EVALSITE_DATA)"
        )
        raise DomainError("backup_empty", f"{text}, or its database is another (DATABASE_URL).")
    if path.is_dir():
        path = path / f"evalsite-{now:%Y-%m-%d-%H%M%S}.zip"
    if path.exists():
        raise DomainError("backup_exists", f"{path} is there already. Choose another name, or a folder.")
    try:
        with writing_archive(path) as archive, TemporaryDirectory(prefix=".backup-", dir=path.parent) as folder:
            database_files().save(Path(folder))
            # Uploads come after the database: what a row names is on the disk before the row is.
            for file in sorted(Path(folder).iterdir()):
                archive.add(f"{_DATABASE}/{file.name}", file)
            with get_media().files() as files:
                for name, file in files:
                    archive.add(f"{_MEDIA}/{name}", file)
            if not _key_is_given():
                archive.add(_KEY, settings.DATA_DIR / _KEY_FILE)
            archive.finish(origin)
    except (OSError, DatabaseError) as error:
        raise DomainError("backup_failed", f"The backup could not be written: {error}") from None
    notes = []
    if _key_is_given():
        notes.append("SECRET_KEY is set in the environment, so it is not in the backup: keep it, too.")
    return Saved(path, path.stat().st_size, len(archive.files), notes)


def restore_backup(path: Path, now: datetime, *, replace: bool = False) -> Restored:
    """Let this installation be what the backup holds, brought to this version.

    Everything is checked before anything is changed. An installation that has accounts or uploads is refused unless it
    may be replaced: then it is backed up into the data folder first.
    """
    with reading_archive(path) as archive:
        _check_version(archive.origin)
        if archive.origin.database != connection.vendor:
            text = f"The backup is of {archive.origin.database}, and this installation uses {connection.vendor}."
            raise DomainError("backup_other_database", f"{text} Set DATABASE_URL to a database of that kind.")
        archive.check_files()
        _check_idle()
        is_empty = _is_empty()
        if not (is_empty or replace):
            text = f"This installation has accounts or uploads already ({settings.DATA_DIR}). --force replaces them"
            raise DomainError("not_empty", f"{text}, after a backup of them. Or set EVALSITE_DATA to another folder.")
        _check_room(archive)
        name = f"before-restore-{now:%Y-%m-%d-%H%M%S}.zip"
        replaced = None if is_empty else save_backup(settings.DATA_DIR / name, now).path
        _put_back(archive)
        return Restored(archive.origin, len(archive.files), replaced, _key_notes(archive))


def _origin(now: datetime) -> Origin:
    applied = sorted(MigrationRecorder(connection).applied_migrations())
    return Origin(__version__, now.isoformat(timespec="seconds"), connection.vendor, applied, _fingerprint())


def _fingerprint() -> str:
    """Return what distinguishes this SECRET_KEY from others, and does not give it away."""
    return hashlib.sha256(f"evalsite backup {settings.SECRET_KEY}".encode()).hexdigest()[:16]


def _key_is_given() -> bool:
    return bool(os.environ.get("SECRET_KEY", "").strip())


def _check_version(origin: Origin) -> None:
    loader = MigrationLoader(None)
    known = {*loader.disk_migrations, *loader.replacements}
    apps = {app for app, _ in known}
    unknown = [f"{app}.{name}" for app, name in origin.migrations if app in apps and (app, name) not in known]
    if unknown or _order(origin.evalsite) > _order(__version__):
        text = f"A newer version made this backup (evalsite {origin.evalsite}; this is {__version__})."
        if unknown:
            text += f" Its database has changes that this version does not know: {', '.join(unknown[:3])}."
        raise DomainError("backup_newer", f"{text} Install that version or a later one, then restore.")


def _order(version: str) -> tuple[list[int], float]:
    """Return what versions are compared by: 1.2.0.dev3 comes before 1.2.0."""
    release, _, dev = version.partition(".dev")
    return [int(number) for number in re.findall(r"\d+", release)], int(dev) if dev.isdecimal() else math.inf


def _check_idle() -> None:
    try:
        is_running = is_any_worker_alive()
    except DatabaseError:  # no tables yet
        return
    if is_running:
        text = "The site runs, or ran until half a minute ago: what it saves during a restore would be lost."
        raise DomainError("site_runs", f"{text} Stop its web processes and workers, wait half a minute, and try again.")


def _is_empty() -> bool:
    try:
        has_accounts = User.objects.exists()
    except DatabaseError:  # no tables yet
        has_accounts = False
    if has_accounts:
        return False
    with get_media().files() as files:
        return next(files, None) is None


def _check_room(archive: ArchiveReader) -> None:
    needed, free = archive.n_bytes + _ROOM, shutil.disk_usage(settings.DATA_DIR).free
    if free < needed:
        text = f"Restoring takes {needed / 2**20:.0f} MB, and {settings.DATA_DIR} has {free / 2**20:.0f} MB left."
        raise DomainError("disk_full", f"{text} Free some, then try again.")


def _put_back(archive: ArchiveReader) -> None:
    """Take everything out of the archive, then load the database, then move uploads and key into place.

    A bucket gets the uploads before, beside those that it has, which are deleted at the end.
    """
    with (
        TemporaryDirectory(prefix=".restore-", dir=settings.DATA_DIR) as folder,
        get_media().replacing() as uploads,
    ):
        for name in archive.below(_DATABASE):
            archive.extract(name, Path(folder, name))
        for name in archive.below(_MEDIA):
            archive.extract(name, uploads.folder / name.removeprefix(f"{_MEDIA}/"))
        uploads.prepare()
        database_files().load(Path(folder, _DATABASE), archive.origin.migrations)
        key = None
        if _KEY in archive.files and not _key_is_given():
            key = Path(folder, _KEY_FILE)
            archive.extract(_KEY, key)
        if _KEPT_KEYS not in archive.origin.migrations:  # made just now, of the key that this process began with
            store_keys(key.read_text() if key else settings.SECRET_KEY, replace=True)
        WorkerHeartbeat.objects.all().delete()  # those of then do not live
        uploads.finish()
        if key:
            key.replace(settings.DATA_DIR / _KEY_FILE)


def _key_notes(archive: ArchiveReader) -> list[str]:
    """Return what is to be done about SECRET_KEY."""
    if archive.origin.key == _fingerprint() or (_KEY in archive.files and not _key_is_given()):
        return []
    text = "SECRET_KEY is not the one of the backup: workers' links and stored secrets need that one."
    where = f"It is in the backup, as {_KEY}: set" if _KEY in archive.files else "It is not in the backup. Set"
    return [f"{text} {where} SECRET_KEY to it, or SECRET_KEY_FALLBACKS."]
