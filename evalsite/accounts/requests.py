"""Requests of people who have signed in, and sending the others to the sign-in page."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from evalsite.accounts.models import User
from evalsite.accounts.second_factors import must_set_up

# What somebody may do who has to set up a second factor first.
_WITHOUT_SECOND_FACTOR = ("accounts:second_factor", "accounts:sign_out")


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
        if response := super().process_view(request, view_func, view_args, view_kwargs):
            return response
        name = request.resolver_match.view_name if request.resolver_match else ""
        user = request.user
        if name not in _WITHOUT_SECOND_FACTOR and isinstance(user, User) and must_set_up(user, request.session):
            return redirect("accounts:second_factor")
        return None
