"""Who may use the administrators' pages; everybody else does not find them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import Http404
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from evalsite.accounts.requests import SignedInRequest

_P = ParamSpec("_P")
View = Callable[Concatenate[SignedInRequest, _P], HttpResponseBase]


def admin_view(*methods: str) -> Callable[[View[_P]], Callable[..., HttpResponseBase]]:
    """Make a view one of administrators, by these methods."""

    def decorate(view: View[_P]) -> Callable[..., HttpResponseBase]:
        @require_http_methods(methods)
        @never_cache
        @wraps(view)
        def wrapped(request: SignedInRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_staff:
                raise Http404
            return view(request, *args, **kwargs)

        return wrapped

    return decorate
