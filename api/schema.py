"""The OpenAPI schema of the operations."""

import json
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from django import forms
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from api.access import BrowserSession, TokenAuthentication
from api.idempotency import HEADER
from api.problems import MEDIA_TYPE, Problem
from api.shapes import shape_of
from campaigns.queries import Role

if TYPE_CHECKING:
    from api.operations import Operation

_TYPES: list[tuple[type[forms.Field], Any]] = [
    (forms.BooleanField, OpenApiTypes.BOOL),
    (forms.IntegerField, OpenApiTypes.INT),
    (forms.Field, OpenApiTypes.STR),
]


class TokenScheme(OpenApiAuthenticationExtension):
    """How a token is sent."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """Return the scheme."""
        return {"type": "http", "scheme": "bearer", "description": "An API token of an account."}


class SessionScheme(OpenApiAuthenticationExtension):
    """The session of somebody who has signed in on the pages."""

    target_class = BrowserSession
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """Return the scheme."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}


class OperationSchema(AutoSchema):
    """Reads everything from the operation."""

    @property
    def _operation(self) -> "Operation":
        return getattr(self.view, self.method.lower()).operation

    def get_request_serializer(self) -> Any:
        """Return what is sent."""
        if self._operation.takes is None:
            return None
        return shape_of(self._operation.takes)(partial=self._operation.is_partial)

    def get_response_serializers(self) -> Any:
        """Return what is returned, and the problem that everything that goes wrong is answered by."""
        done = self._operation
        problem = OpenApiResponse(Problem, description="What is wrong.")
        if done.media_type:
            media_types = (done.media_type,) if isinstance(done.media_type, str) else done.media_type
            of_json = {"application/json": OpenApiTypes.ANY}
            files = {(200, each): of_json.get(each, OpenApiTypes.BINARY) for each in media_types}
            return files | {("default", MEDIA_TYPE): problem}
        if done.returns is None:
            return {(204 if done.status == 200 else done.status): None, ("default", MEDIA_TYPE): problem}
        shape = shape_of(done.returns, is_shown=True)(many=bool(done.many))
        return {done.status: shape, ("default", MEDIA_TYPE): problem}

    def _is_list_view(self, serializer: Any = None) -> bool:
        return bool(self._operation.many)

    def _get_paginator(self) -> Any:
        is_paged = self._operation.many == "pages"
        return self.view.paginator_class() if is_paged else None  # type: ignore[attr-defined]

    def get_filter_backends(self) -> list[Any]:
        """Return none: `filters` of the operation says what may be asked for."""
        return []

    def get_override_parameters(self) -> list[Any]:
        """Return the headers and what may be asked for in the query."""
        found = []
        if self.method == "POST" and self._operation.takes_key:
            text = "Sent again with the same key, within a week, the request is not done again but answered as before."
            found.append(OpenApiParameter(HEADER, OpenApiTypes.STR, "header", description=text))
        if self.method in ("PUT", "PATCH", "DELETE"):
            text = "The ETag of what you have read: the request is refused (412) if it has changed since."
            found.append(OpenApiParameter("If-Match", OpenApiTypes.STR, "header", description=text))
        if form := self._operation.filters:
            for name, field in form.base_fields.items():  # type: ignore[attr-defined]
                kind = next(kind for of, kind in _TYPES if isinstance(field, of))
                values = [value for value, _ in getattr(field, "choices", ())] or None
                about = str(field.help_text)
                found.append(OpenApiParameter(name, kind, enum=values, description=about, required=field.required))
        return found

    def get_operation_id(self) -> str:
        """Return a name that a list and a file beside it do not share."""
        name = super().get_operation_id()
        return name.removesuffix("retrieve") + "download" if self._operation.media_type else name

    def get_tags(self) -> list[str]:
        """Return the module that the resource is in."""
        return [self.view.__module__.rpartition(".")[2]]

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation, with the scope and the role that it needs, for programs, too."""
        found = super().get_operation(*args, **kwargs)
        if found is not None:
            found["x-scope"] = self._operation.scope
            if role := self._role():
                found["x-role"] = role
        return found

    def get_description(self) -> str:  # type: ignore[override]  # drf-spectacular calls it so
        """Return the docstring, and what the caller needs."""
        text = super().get_description()
        needs = f"Scope: {self._operation.scope}."
        if role := self._role():
            needs += f" Role: {role}."
        return f"{text}\n\n{needs}"

    def _role(self) -> str:
        """Return what the caller must be in the campaign at least; "" where the address names none."""
        if "{public_id}" not in self.path:
            return ""
        return str(self._operation.role or (Role.VIEWER if self.method == "GET" else Role.EDITOR))


def only_operations(endpoints: list[tuple[str, str, str, Any]]) -> list[tuple[str, str, str, Any]]:
    """Leave out methods that are no operations."""
    return [each for each in endpoints if hasattr(getattr(each[3].cls, each[2].lower(), None), "operation")]


def any_or_null(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Have what may be any JSON, null too, say so: `oneOf` any JSON and null would refuse null."""

    def simplify(part: Any) -> Any:
        if isinstance(part, list):
            return [simplify(each) for each in part]
        if not isinstance(part, dict):
            return part
        part = {name: simplify(value) for name, value in part.items()}
        if part.get("oneOf") == [{}, {"type": "null"}]:
            del part["oneOf"]
        return part

    return cast(dict[str, Any], simplify(result))


def describe_groups(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Name the groups of operations, in the order of their addresses, as the modules of their resources do."""
    found = dict.fromkeys(each["tags"][0] for path in result["paths"].values() for each in path.values())
    texts = {name: (import_module(f"..resources.{name}", __name__).__doc__ or "").partition("\n")[0] for name in found}
    return result | {"tags": [{"name": name, "description": text} for name, text in texts.items()]}


@cache
def get_document() -> dict[str, Any]:
    """Return the schema of the whole API. It is made once."""
    from drf_spectacular.generators import SchemaGenerator  # it is large, and only read here

    document = SchemaGenerator().get_schema(request=None, public=True)
    return cast(dict[str, Any], json.loads(json.dumps(document)))
