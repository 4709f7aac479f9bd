"""Uploads and results in a bucket that speaks the protocol of S3, for several machines without a shared disk.

The bucket is private: no file has an access list or a public address. The site streams files after its own checks, from
copies in the data folder, which hold what was opened in the last day. A copy is used only if the bucket says that its
file is there and has not changed.
"""

import hashlib
import os
import posixpath
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files import File
from storages.backends.s3 import S3Storage

from evalsite.lib.drafts import draft_of
from evalsite.lib.media import MediaAwayError, Replacement, is_below
from evalsite.lib.private_files import PRIVATE_FOLDER

_COPIES = "media-copies"
_KEPT_S = 24 * 3600
_LONGEST_NAME = 100  # of Django's file fields
_MISSING = ("404", "NoSuchKey", "NotFound")


@contextmanager
def _reaching() -> Iterator[None]:
    """Raise MediaAwayError for what the client raises, whether the bucket is away, refuses, or is full."""
    try:
        yield
    except (BotoCoreError, ClientError, Boto3Error) as error:
        raise MediaAwayError(f"the bucket of MEDIA_BUCKET does not answer as it should: {error}") from error


class BucketStorage(S3Storage):
    """Files in the bucket of MEDIA_BUCKET; `path` copies a file to this machine.

    Requests wait seconds, not minutes: a page waits for them. Other services than Amazon's get the bucket in the path
    of addresses, and no checksums that only Amazon's knows.
    """

    def __init__(self, **options: Any) -> None:
        is_other = bool(options.get("endpoint_url"))
        config = Config(
            connect_timeout=5,
            read_timeout=30,
            retries={"mode": "standard", "max_attempts": 3},
            max_pool_connections=50,
            s3={"addressing_style": "path"} if is_other else None,
            request_checksum_calculation="when_required" if is_other else None,
            response_checksum_validation="when_required" if is_other else None,
        )
        super().__init__(**{"client_config": config, "file_overwrite": False, "default_acl": None} | options)

    @property
    def _client(self) -> Any:
        return self.connection.meta.client

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return a name that nobody else gets: of two machines that save files of one name, both files are kept."""
        folder, base = posixpath.split(name.replace("\\", "/"))
        folder = posixpath.join(folder, secrets.token_hex(8))
        room = (max_length or _LONGEST_NAME) - len(folder) - 1
        stem, suffix = posixpath.splitext(base)
        return posixpath.join(folder, base if len(base) <= room else stem[: room - len(suffix)] + suffix)

    def _save(self, name: str, content: Any) -> str:
        with _reaching():
            return super()._save(name, content)

    def _open(self, name: str, mode: str = "rb") -> File:
        return File(Path(self.path(name)).open(mode), name)

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return self._etag(name) is not None

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        return Path(self.path(name)).stat().st_size

    def delete(self, name: str) -> None:
        """Delete a file, and this machine's copies of it."""
        with _reaching():
            super().delete(name)
        for copy in _copies_folder().glob(f"{_hash(name)}-*"):
            copy.unlink(missing_ok=True)

    def path(self, name: str) -> str:
        """Return the path of a copy of the file as it is now; raise FileNotFoundError if there is none."""
        etag = self._etag(name)
        if etag is None:
            raise FileNotFoundError(f"There is no file {name} in the bucket.")
        copy = _copies_folder() / f"{_hash(name)}-{_hash(etag)}{PurePosixPath(name).suffix}"
        try:
            os.utime(copy, (time.time(), copy.stat().st_mtime))  # used now, and not changed
        except FileNotFoundError:
            _drop_old_copies()
            with draft_of(copy) as draft, _reaching():
                self._client.download_file(self.bucket_name, self._normalize_name(name), str(draft))
        return str(copy)

    def _etag(self, name: str) -> str | None:
        """Return what distinguishes the content of a file; None if there is no such file."""
        with _reaching():
            try:
                return self._client.head_object(Bucket=self.bucket_name, Key=self._normalize_name(name))["ETag"]
            except ClientError as error:
                if error.response["Error"]["Code"] not in _MISSING:
                    raise
            self._client.head_bucket(Bucket=self.bucket_name)  # a bucket that is gone has no file, either
            return None

    def find(self, folder: str, name: str) -> Path | None:
        """Return a copy of the file, if there is one."""
        try:
            return Path(self.path(f"{folder}/{name}")) if is_below(folder, name) else None
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes:
        """Return what is in the file now, without a copy."""
        with _reaching():
            try:
                return self._client.get_object(Bucket=self.bucket_name, Key=self._normalize_name(name))["Body"].read()
            except ClientError as error:
                if error.response["Error"]["Code"] not in _MISSING:
                    raise
        raise FileNotFoundError(f"There is no file {name} in the bucket.")

    def write(self, name: str, content: bytes) -> None:
        """Write the file under exactly this name."""
        with _reaching():
            self._client.put_object(Bucket=self.bucket_name, Key=self._normalize_name(name), Body=content)

    def _put(self, path: Path, name: str) -> None:
        with _reaching():
            self._client.upload_file(str(path), self.bucket_name, self._normalize_name(name))

    def sizes(self, folder: str = "") -> Iterator[tuple[str, int]]:
        """Yield names and sizes, a thousand with each request."""
        prefix = self._normalize_name(folder).rstrip("/")
        prefix = f"{prefix}/" if prefix else ""
        with _reaching():
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket_name, Prefix=prefix):
                for each in page.get("Contents", ()):
                    yield each["Key"].removeprefix(prefix), each["Size"]

    @contextmanager
    def new_folder(self, name: str) -> Iterator[Path]:
        """Give a folder on this machine."""
        with TemporaryDirectory(prefix="results-") as folder:
            yield Path(folder, PurePosixPath(name).name)

    def ready(self, draft: Path, name: str) -> Callable[[], None]:
        """Upload all files at once: nobody is shown them before what names them is stored."""
        try:
            for path in sorted(draft.rglob("*")):
                if path.is_file():
                    self._put(path, f"{name}/{path.relative_to(draft).as_posix()}")
        except MediaAwayError:
            with suppress(MediaAwayError):  # else they go with what they belong to
                self.delete_folder(name)
            raise
        return lambda: None

    def make(self, folder: str, name: str, source: str, maker: Callable[[Path, str], bool]) -> Path | None:
        """Have the file made on this machine, then upload it."""
        found = self.find(folder, source) if is_below(folder, name) else None
        if found is None:
            return None
        with TemporaryDirectory(prefix="made-") as place:
            shutil.copy(found, Path(place, source))
            if not maker(Path(place), name):
                return None
            self._put(Path(place, name), f"{folder}/{name}")
        return Path(self.path(f"{folder}/{name}"))

    def delete_folder(self, name: str) -> None:
        """Delete each file: not all services delete many with one request."""
        for each, _ in list(self.sizes(name)):
            self.delete(f"{name}/{each}")

    @contextmanager
    def files(self) -> Iterator[Iterator[tuple[str, Path]]]:
        """Give all files, one copy at a time, which does not stay."""
        with TemporaryDirectory(prefix="media-") as place:
            yield self._files(Path(place, "file"))

    def _files(self, copy: Path) -> Iterator[tuple[str, Path]]:
        for name, _ in sorted(self.sizes()):
            copy.unlink(missing_ok=True)
            with _reaching(), suppress(FileNotFoundError):
                try:
                    self._client.download_file(self.bucket_name, self._normalize_name(name), str(copy))
                except ClientError as error:  # it went away meanwhile
                    if error.response["Error"]["Code"] not in _MISSING:
                        raise
                    continue
            yield name, copy

    @contextmanager
    def replacing(self) -> Iterator[Replacement]:
        """Give a folder of the data folder."""
        with TemporaryDirectory(prefix=".restore-", dir=settings.DATA_DIR) as folder:
            yield _BucketReplacement(self, Path(folder))

    def fault(self) -> str:
        """Write, read and delete a file."""
        name = f".check/{secrets.token_hex(8)}"
        try:
            self.write(name, b"evalsite")
            is_same = self.read(name) == b"evalsite"
            self.delete(name)
        except OSError as error:
            return str(error)
        return "" if is_same else "What is written to the bucket of MEDIA_BUCKET is read as something else"


class _BucketReplacement:
    def __init__(self, storage: BucketStorage, folder: Path) -> None:
        self._storage, self.folder = storage, folder

    def _new(self) -> dict[str, Path]:
        return {each.relative_to(self.folder).as_posix(): each for each in self.folder.rglob("*") if each.is_file()}

    def prepare(self) -> None:
        for name, path in self._new().items():
            self._storage._put(path, name)

    def finish(self) -> None:
        for name in {name for name, _ in self._storage.sizes()} - self._new().keys():
            self._storage.delete(name)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _copies_folder() -> Path:
    folder = Path(settings.DATA_DIR) / _COPIES
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    return folder


def _drop_old_copies() -> None:
    """Delete the copies that nobody has used for a day; who has one open reads on."""
    for copy in _copies_folder().iterdir():
        with suppress(FileNotFoundError):
            if copy.stat().st_atime < time.time() - _KEPT_S:
                copy.unlink()
