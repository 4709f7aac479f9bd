"""Lines of the log: as text or as JSON, with the ids of request and job, without tokens."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from evalsite.lib.context import ids_of
from evalsite.lib.masking import MaskingFormatter, mask_tokens


class TextFormatter(MaskingFormatter):
    """A line for people, which ends with the ids."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 the name is logging's
        """Return the line without a traceback."""
        ids = "".join(f" {name}={value}" for name, value in ids_of(record).items())
        return super().formatMessage(record) + ids


class JsonFormatter(logging.Formatter):
    """A line for programs: an object with `time`, `level`, `logger`, `message`, the ids, and any `exception`.

    What a record has as `fields`, a dict of plain values, is part of the object.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **ids_of(record),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # Before the text is quoted: the end of a token is found by what follows it.
        masked = {name: mask_tokens(value) if isinstance(value, str) else value for name, value in line.items()}
        return json.dumps(masked, ensure_ascii=False, default=str)
