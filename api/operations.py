"""One operation of the API: who may use it, what is sent, what is returned. A resource is a class of operations.

class Member(Resource):
    @operation(Scope.ADMIN, role=Role.OWNER, takes=RoleForm, returns=MembershipShape)
    def patch(self, request, campaign, membership_id):
        ...

An operation calls one query or one service, as a page does, and returns values: their shape makes them JSON.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from operator import attrgetter
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404
from django.http.response import HttpResponseBase
from django.utils.http import quote_etag
from rest_framework.exceptions import APIException, NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.access import ApiRequest, BrowserSession, HasScope, Throttle, TokenAuthentication, may
from api.idempotency import HEADER, once
from api.parsers import StrictJsonParser
from api.problems import RefusedError, answer
from api.shapes import shape_of
from campaigns.models import Campaign
from campaigns.queries import Role, being_deleted, get_campaign_for
from evalsite.accounts.models import Scope
from evalsite.lib.acts import note_act
from evalsite.lib.errors import CONFLICT, UNPROCESSABLE, DomainError

_PRECONDITION_FAILED = 412
Many = Literal["", "all", "pages"]


@dataclass(frozen=True)
class Operation:
    """What the decorator was given; the schema reads it.

    Attributes
    ----------
    scope : str
        What a token needs.
    role : Role or None
        What its user must be in the campaign at least; None where there is no campaign.
    takes : type or None
        The form whose fields are sent, in JSON.
    returns : type or None
        The serializer or dataclass of what is returned; None for nothing, or for a file.
    filters : type or None
        The form whose fields are read from the query.
    many : str
        "pages" of what `returns` says, with cursors; "all" for a short list; "" for one.
    status : int
        The status if all went well.
    media_type : str or tuple of str
        Of a file that is returned, or all that it may have; "" for JSON.
    is_partial : bool
        Fields that are not sent stay as they are.
    takes_key : bool
        An `Idempotency-Key` is heeded, not refused.
    """

    scope: str
    role: Role | None
    takes: type | None
    returns: type | None
    filters: type | None
    many: Many
    status: int
    is_partial: bool
    media_type: str | tuple[str, ...] = ""
    takes_key: bool = True


@dataclass(frozen=True)
class UnionRows:
    """Rows of a union, which the database cannot filter: `read` makes it of a condition that each part has to meet."""

    read: Callable[[Q], QuerySet[Any, Any]]
    condition: Q = field(default_factory=Q)
    order: tuple[str, ...] = ()

    def order_by(self, *order: str) -> "UnionRows":
        """Return the rows in another order."""
        return replace(self, order=order)

    def filter(self, **conditions: Any) -> "UnionRows":
        """Return the rows that meet these conditions, too."""
        return replace(self, condition=self.condition & Q(**conditions))

    def __getitem__(self, wanted: slice) -> list[Any]:
        return list(self.read(self.condition).order_by(*self.order)[wanted])


@dataclass(frozen=True)
class Listed:
    """What a list has pages of: rows in a fixed order, and what each page of rows becomes."""

    rows: QuerySet[Any] | UnionRows
    order: tuple[str, ...]
    values: Callable[[list[Any]], Iterable[Any]] = list


class Cursor(CursorPagination):
    """Pages that stay in order while rows are added; `limit` rows each."""

    page_size = 50
    ordering: tuple[str, ...] = ()
    page_size_query_param = "limit"
    max_page_size = 500

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any] | None:
        """Return the rows of a page; raise NotFound for a cursor that is not of this list."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, ValidationError):  # its position is no value of what the list is ordered by
            if self.cursor_query_param not in request.query_params:
                raise
            raise NotFound(self.invalid_cursor_message) from None

    def _get_position_from_instance(self, instance: Any, ordering: Sequence[str]) -> str:
        """Return the value that a row is ordered by, which may be a relation's (`campaign__created_at`)."""
        return str(attrgetter(ordering[0].lstrip("-").replace("__", "."))(instance))


class Resource(APIView):
    """Operations at one address, a method of HTTP each."""

    http_method_names = ["get", "post", "put", "patch", "delete"]
    authentication_classes = (TokenAuthentication, BrowserSession)
    permission_classes = (HasScope,)
    throttle_classes = (Throttle,)
    renderer_classes = (JSONRenderer,)
    parser_classes = (StrictJsonParser,)
    paginator_class = Cursor
    operation: Operation

    def get_exception_handler(self) -> Callable[..., Response | None]:
        """Return what answers exceptions."""
        return answer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the operation, then see who asks."""
        method = getattr(self, (request.method or "").lower(), None)
        self.operation = getattr(method, "operation", _NONE)
        super().initial(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Let go of the answer once it is written: it and this view refer to each other."""
        final = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(final, Response):
            final.add_post_render_callback(self._let_go)
        return final

    def _let_go(self, response: Response) -> None:
        vars(self).pop("response", None)
        vars(response).pop("renderer_context", None)


class Nowhere(Resource):
    """Every other address."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Answer anybody."""
        raise Http404


_NONE = Operation(Scope.READ, None, None, None, None, "", 405, False)
Method = Callable[..., Any]


def operation(
    scope: str,
    *,
    role: Role | None = None,
    takes: type | None = None,
    returns: type | None = None,
    filters: type | None = None,
    many: Many = "",
    status: int = 200,
    refused: int = UNPROCESSABLE,
    fields: dict[str, str] | None = None,
    has_names: bool = False,
    media_type: str | tuple[str, ...] = "",
    takes_key: bool = True,
    is_partial: bool = False,
    while_deleting: bool = False,
) -> Callable[[Method], Method]:
    """Make a method of a Resource an operation.

    Where the address has a `public_id`, the method gets the campaign, if the user has at least `role` in it: by default
    viewers read and editors change. A DomainError is answered with the status `refused`, at the field that `fields`
    names for its code, and then with UNPROCESSABLE. Where workers are named (`has_names`), owners with the scope
    `admin` read the workers' own ids, all others keyed hashes. `If-Match` and `Idempotency-Key` are heeded here; a key
    is refused (`takes_key`) where the answer must not be kept, or the work not be done in a transaction. No field has
    to be sent to a PATCH, or where it is said (`is_partial`).
    """

    def decorate(method: Method) -> Method:
        is_read = method.__name__ == "get"

        @wraps(method)
        def wrapped(self: Resource, request: ApiRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            shows_names = has_names and may(request, Scope.ADMIN)

            def do() -> Response:
                return _respond(self, request, method(self, request, *args, **kwargs))

            def handle() -> Response:
                has_condition = not is_read and "If-Match" in request.headers and hasattr(self, "get")
                return _if_unchanged(self, request, kwargs, do) if has_condition else do()

            if "public_id" in kwargs:
                wanted = role or (Role.VIEWER if is_read else Role.EDITOR)
                kwargs["campaign"] = campaign = get_campaign_for(request.user, kwargs.pop("public_id"), wanted)
                if campaign.is_being_deleted and not while_deleting:
                    raise RefusedError(being_deleted(), CONFLICT)
                shows_names = shows_names and campaign.my_role == Role.OWNER
                if has_names and not shows_names:
                    campaign.my_role = Role.VIEWER
            note_act(is_act=is_read and shows_names)  # to take out workers' own ids is an act, too
            try:
                if request.method == "POST" and HEADER in request.headers:
                    if not takes_key:
                        error = DomainError("key_not_taken", f"Send this request without {HEADER}.")
                        raise RefusedError(error, UNPROCESSABLE)
                    return once(request, handle, shows_names=shows_names)
                return handle()
            except DomainError as error:
                if isinstance(error, RefusedError):
                    raise
                at = (fields or {}).get(error.code)
                raise RefusedError(error, UNPROCESSABLE if at else refused, at) from None

        wrapped.operation = Operation(  # type: ignore[attr-defined]
            scope,
            role,
            takes,
            returns,
            filters,
            many,
            status,
            is_partial or method.__name__ == "patch",
            media_type,
            takes_key,
        )
        return wrapped

    return decorate


def _names_sent(request: ApiRequest) -> list[str]:
    """Return the names of what was sent, for the audit log."""
    with suppress(APIException):  # a file, or nothing, which the operation has not read as JSON
        return list(request.data) if isinstance(request.data, dict) else []
    return []


def _respond(resource: Resource, request: ApiRequest, value: Any) -> Any:
    """Return a value as the operation's shape has it; a response as it is."""
    done = resource.operation
    if request.method != "GET":
        note_act(fields=_names_sent(request))
    if isinstance(value, HttpResponseBase):
        return value
    if isinstance(value, Listed):
        return _page(resource, request, value)
    if done.returns is None:
        return Response(status=done.status if done.status != 200 else 204)
    response = Response(_shown(done, value), status=done.status)
    if done.status == 200:
        response["ETag"] = _etag(response.data)
    return response


def _etag(data: Any) -> str:
    return quote_etag(hashlib.sha256(JSONRenderer().render(data)).hexdigest()[:32])


def _if_unchanged(resource: Resource, request: ApiRequest, kwargs: dict[str, Any], handle: Callable[[], Any]) -> Any:
    """Change what the client has read last, by its ETag.

    Raises RefusedError `changed_meanwhile` if it is not that, and `no_etag` of a list that comes in pages.
    """
    read: Operation = resource.get.operation  # type: ignore[attr-defined]
    if read.returns is None or read.many == "pages":
        error = DomainError("no_etag", "What is read at this address has no ETag. Send this without If-Match.")
        raise RefusedError(error, _PRECONDITION_FAILED)
    with transaction.atomic():
        if campaign := kwargs.get("campaign"):  # who changes it, too, waits
            Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
            campaign.refresh_from_db()
        shown = resource.get.__wrapped__(resource, request, **kwargs)  # type: ignore[attr-defined]
        now = _etag(_shown(read, shown))
        wanted = {tag.strip().removeprefix("W/") for tag in request.headers["If-Match"].split(",")}
        if now not in wanted and "*" not in wanted:
            error = DomainError("changed_meanwhile", "Somebody has changed this since you read it. Read it again.")
            raise RefusedError(error, _PRECONDITION_FAILED)
        return handle()


def _page(resource: Resource, request: ApiRequest, listed: Listed) -> Response:
    paginator = Cursor()
    paginator.ordering = listed.order
    rows = paginator.paginate_queryset(listed.rows, request, view=resource)
    assert rows is not None
    response = paginator.get_paginated_response(_shown(resource.operation, list(listed.values(rows))))
    for row in rows:  # and what was read with it refer to each other
        getattr(row, "_prefetched_objects_cache", {}).clear()
    return response


def _shown(done: Operation, value: Any) -> Any:
    """Return what an operation returns as its shape has it; the shape, which refers to itself, does not keep it."""
    assert done.returns
    return shape_of(done.returns, is_shown=True)(many=bool(done.many)).to_representation(value)
