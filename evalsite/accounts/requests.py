"""Requests of people who have signed in."""

from django.http import HttpRequest

from evalsite.accounts.models import User


class SignedInRequest(HttpRequest):
    """What reaches a view behind LoginRequiredMiddleware."""

    user: User
