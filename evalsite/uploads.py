"""Keeping a huge upload from filling the disk."""

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler


class SizeLimit(FileUploadHandler):
    """Drop what comes after MAX_UPLOAD_MB; the file still arrives over the limit, so its form can say so."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        """Pass the chunk on, unless the limit lies before it."""
        return raw_data if start <= settings.MAX_UPLOAD_MB * 2**20 else None

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the handlers that keep it."""
