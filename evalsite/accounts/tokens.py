"""Tokens of scripts: made, found, revoked."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404

from evalsite.accounts.models import ApiToken, Scope, User
from evalsite.lib.errors import DomainError

PREFIX = "evalsite_"
"""How every token begins, so that one that was published by mistake can be searched for."""
_SECRET_BYTES = 32
_SHOWN = len(PREFIX) + 3
_MOST_TOKENS = 100
# How often a use is written down.
_USE_KEPT_EVERY = timedelta(minutes=1)


@transaction.atomic
def create_token(
    *,
    user: User,
    name: str,
    scopes: Iterable[str],
    now: datetime,
    expires_at: datetime | None = None,
    by: ApiToken | None = None,
) -> tuple[ApiToken, str]:
    """Make a token; return it and its text, which cannot be had again.

    One that is made `by` another has no scope that this has not, and does not outlive it. Raises DomainError
    `name_taken`, `too_many_tokens`, `bad_scopes`, `more_scopes`, `expired` or `lives_longer`.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    chosen = [scope for scope in Scope.values if scope in set(scopes)]
    if not chosen or len(chosen) != len(set(scopes)):
        raise DomainError("bad_scopes", f"Choose what the token is for: {', '.join(Scope.values)}.")
    if expires_at and expires_at <= now:
        raise DomainError("expired", "Choose a day in the future.")
    if by and (more := [scope for scope in chosen if scope not in by.scopes]):
        raise DomainError("more_scopes", f"Your own token does not have this scope: {', '.join(more)}.")
    if by and by.expires_at and (expires_at is None or expires_at > by.expires_at):
        raise DomainError("lives_longer", f"Your own token expires on {by.expires_at:%Y-%m-%d}. Choose that day.")
    name = name.strip()
    valid = list_tokens(user)
    if valid.filter(name=name).exists():
        raise DomainError("name_taken", f"You already have a token called “{name}”. Revoke it, or choose another name.")
    if valid.count() >= _MOST_TOKENS:
        raise DomainError("too_many_tokens", f"You have {_MOST_TOKENS} tokens. Revoke one that you no longer use.")
    text = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=_digest(text),
        start=text[:_SHOWN],
        scopes=chosen,
        created_at=now,
        expires_at=expires_at,
    )
    return token, text


def list_tokens(user: User) -> QuerySet[ApiToken]:
    """Return the user's tokens that were not revoked, newest first; those that have expired are among them."""
    return user.tokens.filter(revoked_at=None)


def get_token_of(user: User, token_id: int) -> ApiToken:
    """Return a token of the user's that was not revoked; raise Http404 for any other."""
    return get_object_or_404(list_tokens(user), pk=token_id)


def find_token(text: str, now: datetime) -> ApiToken | None:
    """Return the token that this is the text of, with its user, and note its use; None if it may not be used.

    One query, and a second once a minute.
    """
    is_valid = Q(revoked_at=None, user__is_active=True) & (Q(expires_at=None) | Q(expires_at__gt=now))
    token = ApiToken.objects.select_related("user").filter(is_valid, digest=_digest(text)).first()
    if token and (token.last_used_at is None or token.last_used_at <= now - _USE_KEPT_EVERY):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def revoke_token(*, user: User, token_id: int, now: datetime) -> None:
    """End a token of the user's for good; do nothing if it was revoked before, or is somebody else's."""
    user.tokens.filter(pk=token_id, revoked_at=None).update(revoked_at=now)


def _digest(text: str) -> str:
    """Return what is kept of a token: as random as a key, it needs neither salt nor a slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()
