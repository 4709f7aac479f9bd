"""Requests of people who have signed in, and sending the others to the sign-in page."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseBase

from evalsite.accounts.models import User


class SignedInRequest(HttpRequest):
    """What reaches a view behind SignInMiddleware."""

    user: User


class SignInMiddleware(LoginRequiredMiddleware):
    """Sends people who have not signed in to the sign-in page, unless a view is for everybody.

    Unlike Django's, it does not read the session for such a view: the pages of workers use no cookies at all.
    """

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        """Let views marked by `login_not_required` pass before anything is read."""
        if not getattr(view_func, "login_required", True):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)
