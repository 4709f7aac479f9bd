"""Whose account an identity at a provider is: connected with one at its first sign-in, and known from then on.

An account with a password is never connected because of its address alone: somebody else may have made it by an
invitation and know the password, or the provider may have given the address of a former employee to a new one.
"""

import logging
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction

from evalsite.accounts.models import ProviderIdentity, User
from evalsite.accounts.oidc import VerifiedIdentity, provider_name, sign_in_over
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import listed, load

logger = logging.getLogger(__name__)


def find_identity(user: User) -> ProviderIdentity | None:
    """Return who a user is at the provider of the settings; None if the account is not connected with it."""
    return ProviderIdentity.objects.filter(user=user, issuer=settings.OIDC_ISSUER).first()


def find_or_connect_user(*, identity: VerifiedIdentity, now: datetime) -> User:
    """Return the account of somebody whom the provider has signed in; connect one, or make it, the first time.

    Raises DomainError `not_active`, `no_account`, `has_password` or `address_of_another`.
    """
    user = _known_user(identity)
    if user is None:
        try:
            with transaction.atomic():
                user = _connect_by_address(identity, now)
        except IntegrityError:  # in another tab the same person was faster
            user = _known_user(identity)
    if user is None:
        raise sign_in_over()
    if not user.is_active:
        raise DomainError("not_active", "Your account on this site is deactivated. Ask an administrator of this site.")
    return user


@transaction.atomic
def connect(*, user: User, identity: VerifiedIdentity, now: datetime) -> None:
    """Connect the account of somebody who has signed in to it; raise DomainError `connected`. Once is enough."""
    known = _known_user(identity)
    if known == user:
        return
    if known or find_identity(user):
        raise DomainError(
            "connected",
            f"You are connected with another account at {provider_name()}, or it with another account here. "
            "Disconnect that first.",
        )
    _connect(user, identity, now)


@transaction.atomic
def disconnect(*, user: User) -> None:
    """End it that a user signs in at the provider; raise DomainError `no_other_way` if no password would be left."""
    if not (user.has_usable_password() and settings.PASSWORD_SIGN_IN):
        raise DomainError("no_other_way", "Choose a password first, or you could not sign in again.")
    ProviderIdentity.objects.filter(user=user, issuer=settings.OIDC_ISSUER).delete()
    logger.info("user %d is not connected with %s any more", user.pk, settings.OIDC_ISSUER)


def _known_user(identity: VerifiedIdentity) -> User | None:
    known = ProviderIdentity.objects.select_related("user")
    found = known.filter(issuer=identity.issuer, subject=identity.subject).first()
    return found.user if found else None


def _connect_by_address(identity: VerifiedIdentity, now: datetime) -> User:
    if not identity.email:
        raise DomainError(
            "no_account",
            f"{provider_name()} did not say a verified e-mail address, so no account can be found. Ask an "
            "administrator of this site, or sign in with your password and connect your account.",
        )
    user = User.objects.select_for_update(no_key=True).filter(email__iexact=identity.email).first()
    if user is None:
        user = _make_account(identity, now)
    elif _known_user(identity) == user:  # connected in another tab, while this one waited for the lock
        return user
    elif user.is_active:
        _check_may_connect(user)
    else:
        return user
    _connect(user, identity, now)
    return user


def _make_account(identity: VerifiedIdentity, now: datetime) -> User:
    has_invitation: list[Callable[[str, datetime], bool]] = [load(each) for each in listed("EVALSITE_INVITED")]
    is_invited = any(asks(identity.email, now) for asks in has_invitation)
    if settings.OIDC_NEW_ACCOUNTS == "NONE" and not is_invited:
        raise DomainError(
            "no_account",
            f"No account has the address {identity.email}. Ask an administrator of this site, or the owner of a "
            "campaign, for an invitation to it.",
        )
    is_administrator = settings.OIDC_NEW_ACCOUNTS == "ADMINISTRATOR"
    user = User.objects.create_user(
        identity.email, name=identity.name, is_staff=is_administrator, is_superuser=is_administrator
    )
    logger.info("user %d was made at the first sign-in%s", user.pk, ", an administrator" if is_administrator else "")
    return user


def _check_may_connect(user: User) -> None:
    """Refuse to connect an account that somebody may use already."""
    if find_identity(user):
        raise DomainError(
            "address_of_another",
            f"The account with the address {user.email} is connected with somebody else at {provider_name()}. Ask an "
            "administrator of this site.",
        )
    if user.has_usable_password():
        raise DomainError("has_password", f"There is an account with the address {user.email}, and it has a password.")


def _connect(user: User, identity: VerifiedIdentity, now: datetime) -> None:
    ProviderIdentity.objects.create(user=user, issuer=identity.issuer, subject=identity.subject, created_at=now)
    logger.info("user %d was connected with %s at %s", user.pk, identity.subject, identity.issuer)
