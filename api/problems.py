"""Everything that goes wrong, answered as RFC 9457 says: `application/problem+json` with a stable `code`."""

import logging
from dataclasses import asdict
from typing import Any

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404
from rest_framework import exceptions, serializers
from rest_framework.response import Response

from evalsite.lib.errors import CONFLICT, UNPROCESSABLE, DomainError
from evalsite.lib.outages import outage_of
from evalsite.lib.tables import TableError

logger = logging.getLogger("django.request")
MEDIA_TYPE = "application/problem+json"
_OF_STATE = frozenset({"frozen", "given_hits", "live", "not_live"})
_TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    412: "Changed meanwhile",
    413: "Too large",
    415: "Unsupported media type",
    422: "Refused",
    428: "A condition is missing",
    429: "Too many requests",
    500: "Server error",
    503: "Not available",
    507: "No room",
}


class RowProblem(serializers.Serializer[Any]):
    """The same thing that is wrong in one row of a file, or in many."""

    rows = serializers.ListField(
        child=serializers.IntegerField(), help_text="The first five; the header is row 1; none for the whole file."
    )
    column = serializers.CharField(allow_null=True)
    message = serializers.CharField(help_text="What is wrong in the first row, and how to fix it.")
    code = serializers.CharField()
    n = serializers.IntegerField(help_text="In how many rows.")


class Problem(serializers.Serializer[Any]):
    """What is wrong, where, and how to fix it."""

    type = serializers.CharField(help_text="Always about:blank: `code` says what it is.")
    title = serializers.CharField(help_text="The status in words.")
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="Stable; for programs.")
    detail = serializers.CharField(help_text="For people.")
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="What is wrong with single fields, by name.",
    )
    rows = RowProblem(many=True, required=False, help_text="What is wrong with a file.")


class InvalidFieldsError(Exception):
    """Fields that were sent cannot be accepted; `errors` has a list of messages for each, `""` for all together."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__(errors)
        self.errors = errors


class RefusedError(DomainError):
    """A DomainError with the status of its answer, and the field it belongs to if there is one.

    What the state of a campaign does not allow is a conflict, whatever the operation. `retry_after_s`: after how many
    seconds the same request may succeed.
    """

    def __init__(
        self, error: DomainError, status: int, field: str | None = None, *, retry_after_s: int | None = None
    ) -> None:
        super().__init__(error.code, error.message)
        self.status = CONFLICT if error.code in _OF_STATE else status
        self.field, self.retry_after_s = field, retry_after_s
        self.rows = [asdict(each) for each in error.faults] if isinstance(error, TableError) else []


def answer(error: Exception, context: dict[str, Any]) -> Response:
    """Return the answer to an exception of a view; a fault of ours is logged."""
    match error:
        case InvalidFieldsError(errors=errors):
            return _problem(UNPROCESSABLE, "invalid", _summary(errors), errors={k: v for k, v in errors.items() if k})
        case RefusedError(status=status, field=field, rows=rows) if rows:
            return _problem(status, error.code, error.message, rows=rows)
        case RefusedError(status=status, field=field):
            response = _problem(status, error.code, error.message, errors={field: [error.message]} if field else None)
            if error.retry_after_s:
                response["Retry-After"] = str(error.retry_after_s)
            return response
        case DomainError():
            return _problem(UNPROCESSABLE, error.code, error.message)
        case Http404():
            return _problem(404, "not_found", "There is nothing of yours at this address.")
        case DjangoPermissionDenied():
            return _problem(403, "not_allowed", str(error) or "Your role does not allow this.")
        case RequestDataTooBig():
            return _problem(413, "too_large", "This is more than one request may send. Send a file, or less at a time.")
        case SuspiciousOperation():
            return _problem(400, "bad_request", "The request is not one that this site answers.")
        case exceptions.APIException():
            return _of_framework(error)
    if outage := outage_of(error):
        logger.error("%s: %s", outage.title, context["request"].path, exc_info=error)
        return _problem(outage.status, outage.code, f"{outage.title}. {outage.text}")
    got_request_exception.send(sender=answer, request=context["request"])
    logger.error("Internal Server Error: %s", context["request"].path, exc_info=error)
    return _problem(500, "server_error", "Something broke on the server. It is in the log.")


def _of_framework(error: exceptions.APIException) -> Response:
    response = _problem(error.status_code, str(error.get_codes()), str(error.detail))
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(wait)
    return response


def _summary(errors: dict[str, list[str]]) -> str:
    return " ".join(f"{name}: {' '.join(texts)}" if name else " ".join(texts) for name, texts in errors.items())


def _problem(status: int, code: str, detail: str, **more: Any) -> Response:
    problem = {"type": "about:blank", "title": _TITLES.get(status, "Error"), "status": status, "code": code}
    problem |= {"detail": detail} | {name: value for name, value in more.items() if value}
    return Response(problem, status=status, content_type=MEDIA_TYPE)
