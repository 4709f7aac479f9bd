"""Deleting files of what is deleted from the database."""

from collections.abc import Sequence
from functools import partial

from django.db import transaction

from evalsite.jobs.handlers import enqueue
from evalsite.lib.media import MediaAwayError, get_media

DELETE = "media.delete"


def delete_on_commit(*names: str, folders: Sequence[str] = ()) -> None:
    """Delete files, and folders of them, once the transaction is through: what is away, by a job when it is back."""
    transaction.on_commit(partial(_delete_or_enqueue, [name for name in names if name], list(folders)))


def _delete_or_enqueue(names: list[str], folders: list[str]) -> None:
    try:
        delete_files(names, folders)
    except MediaAwayError:
        enqueue(DELETE, args={"names": names, "folders": folders})


def delete_files(names: list[str], folders: list[str]) -> None:
    """Delete files, and folders of them; raise MediaAwayError."""
    media = get_media()
    for name in names:
        media.delete(name)
    for folder in folders:
        media.delete_folder(folder)
