"""`Idempotency-Key`: a request that is sent again, at the same time or after a crash, is done once."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.core.files.uploadedfile import UploadedFile
from django.db import OperationalError, connection, transaction
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from api.access import ApiRequest
from api.models import LONGEST_KEY, KeyedRequest
from api.problems import InvalidFieldsError, RefusedError
from evalsite.lib.errors import CONFLICT, UNPROCESSABLE, DomainError

HEADER = "Idempotency-Key"
KEPT = timedelta(days=7)
# On PostgreSQL; on SQLite it is the time-out of the connection.
LONGEST_WAIT_MS = 5_000
_RETRY_AFTER_S = 2
_LOCK_NOT_AVAILABLE = "55P03"


def once(request: ApiRequest, handle: Callable[[], Response], *, shows_names: bool = False) -> Response:
    """Return the response of `handle`, called in a transaction, or what it was when the key was sent first.

    The key's row is written in the same transaction, before anything else: of two requests at the same time the second
    waits for the first, and a crash leaves neither the row nor what was done. A refusal is not kept: the request may be
    corrected. An answer that names workers (`shows_names`) is not given again to who may not read names. Raises
    RefusedError `bad_key`, `key_reused` for another request, or `in_progress` after some seconds of waiting.
    """
    key = request.headers[HEADER].strip()
    if not 1 <= len(key) <= LONGEST_KEY:
        raise _refused(UNPROCESSABLE, "bad_key", f"{HEADER} has 1 to {LONGEST_KEY} characters.")
    digest = _digest(request, shows_names)
    is_taken = False
    try:
        with transaction.atomic():
            row, is_new = _take(request, key, digest)
            is_taken = True
            if row.digest != digest:
                text = f"This {HEADER} was sent with another request. Choose a new one."
                raise _refused(UNPROCESSABLE, "key_reused", text)
            if not is_new:
                return Response(row.content, status=row.status, headers={"Idempotent-Replayed": "true"})
            response = handle()
            row.status, row.content = response.status_code, json.loads(json.dumps(response.data, cls=JSONEncoder))
            row.save(update_fields=["status", "content"])
            return response
    except OperationalError as error:
        if is_taken or not _is_locked(error):
            raise
        text = f"A request with this {HEADER} is still being done. Send it again in a moment."
        raise _refused(CONFLICT, "in_progress", text, retry_after_s=_RETRY_AFTER_S) from None


def _take(request: ApiRequest, key: str, digest: str) -> tuple[KeyedRequest, bool]:
    """Return the row of a key, and whether it is new; a request that has it meanwhile is waited for."""
    is_postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if is_postgres:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LONGEST_WAIT_MS}ms"])
        found = KeyedRequest.objects.get_or_create(user=request.user, key=key, defaults={"digest": digest})
        if is_postgres:
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    return found


def _is_locked(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", "") == _LOCK_NOT_AVAILABLE or "locked" in str(error)


def _refused(status: int, code: str, message: str, *, retry_after_s: int | None = None) -> RefusedError:
    return RefusedError(DomainError(code, message), status, retry_after_s=retry_after_s)


def _hash_of(file: UploadedFile) -> str:
    content = hashlib.sha256()
    for chunk in file.chunks():
        content.update(chunk)
    file.seek(0)
    return content.hexdigest()


def _digest(request: ApiRequest, shows_names: bool) -> str:
    """Return a hash of what is requested."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()} {shows_names}\n".encode())
    files: dict[str, list[Any]] = {}
    for name, sent in request.FILES.lists():
        found = [[file.name, _hash_of(file)] for file in sent]
        files[name] = found[0] if len(found) == 1 else found
    data = request.data
    if request.FILES:
        data = {name: value for name, value in data.items() if not isinstance(value, UploadedFile)}
    digest.update(json.dumps([data, files], sort_keys=True, default=str).encode())
    return digest.hexdigest()


def forget_old_keys(now: datetime) -> None:
    """Delete keys that were sent long ago: by then they may be used anew."""
    KeyedRequest.objects.filter(created_at__lt=now - KEPT).delete()


def token_of(request: ApiRequest, fields: Mapping[str, Any]) -> UUID:
    """Return the `token` of a cleaned form, by which its service does a thing once; a new one for a keyed request."""
    if token := fields["token"]:
        return UUID(str(token))
    if HEADER not in request.headers:
        text = f"Send a token of your own, or an {HEADER}, so that it is done once if it is sent again."
        raise InvalidFieldsError({"token": [text]})
    return uuid4()
