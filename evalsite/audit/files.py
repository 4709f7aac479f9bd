"""The audit log as a file."""

import io
from tempfile import TemporaryFile

from django.db.models import QuerySet
from django.http import FileResponse

from evalsite.audit.models import AuditEntry
from evalsite.audit.queries import COLUMNS, iter_rows
from evalsite.lib.tables.writing import write_csv


def log_file(entries: QuerySet[AuditEntry], name: str) -> FileResponse:
    """Return entries as CSV, newest first. Memory does not grow with them."""
    file = TemporaryFile()  # noqa: SIM115 the response closes it
    text = io.TextIOWrapper(file, "utf-8", newline="")
    write_csv(text, COLUMNS, iter_rows(entries))
    text.flush()
    text.detach()
    file.seek(0)
    response = FileResponse(file, as_attachment=True, filename=name, content_type="text/csv; charset=utf-8")
    response["Cache-Control"] = "private, no-store"
    return response
