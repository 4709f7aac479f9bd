"""What administrators change of accounts: invitations, links to choose a password, who may sign in, who administers."""

import logging
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from evalsite.accounts.models import User
from evalsite.accounts.tokens import list_tokens
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)


class PasswordLink(NamedTuple):
    """A link to choose a password, from the root of the site. It works once; each password that is set ends it."""

    path: str
    expires_at: datetime


@transaction.atomic
def invite_user(*, email: str, name: str, is_administrator: bool, by: User) -> User:
    """Make an account that nobody can sign in to before a password is chosen; raise DomainError `address_taken`."""
    _check_address(email)
    user = User.objects.create_user(email, name=name, is_staff=is_administrator, is_superuser=is_administrator)
    logger.info("%s invited user %d%s", by.email, user.pk, ", an administrator" if is_administrator else "")
    return user


@transaction.atomic
def create_account(*, email: str, name: str, password: str) -> User:
    """Make an account of a researcher who chooses the password; raise DomainError `address_taken`."""
    _check_address(email)
    user = User.objects.create_user(email, password, name=name)
    logger.info("user %d has made an account", user.pk)
    return user


def make_password_link(*, user: User, now: datetime, by: User) -> PasswordLink:
    """Return a new link for a user; raise DomainError `not_active` for one who may not sign in."""
    if not user.is_active:
        raise DomainError("not_active", f"{user} is deactivated. Reactivate the account first.")
    token = default_token_generator.make_token(user)
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    logger.info("%s made a link to choose a password for user %d", by.email, user.pk)
    return PasswordLink(
        reverse("accounts:reset_confirm", args=[uid, token]), now + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)
    )


@transaction.atomic
def change_user(*, user: User, email: str, name: str, by: User) -> None:
    """Give a user another name or address; raise DomainError `address_taken`."""
    _check_address(email, without=user)
    User.objects.filter(pk=user.pk).update(email=User.objects.normalize_email(email), name=name)
    logger.info("%s changed the name or the address of user %d", by.email, user.pk)


@transaction.atomic
def deactivate_user(*, user: User, now: datetime, by: User) -> None:
    """End what a user can do here: password, sessions, links, tokens, identities at providers. Their campaigns stay.

    Raises DomainError `last_administrator`. Once is enough.
    """
    _keep_an_administrator(without=user)
    locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    locked.is_active = False
    # Sessions and links are bound to the password: without it they do not come back when the account does.
    locked.set_unusable_password()
    locked.save(update_fields=["is_active", "password"])
    list_tokens(locked).update(revoked_at=now)
    locked.identities.all().delete()
    logger.info("%s deactivated user %d", by.email, user.pk)


@transaction.atomic
def reactivate_user(*, user: User, by: User) -> None:
    """Let a user sign in again, by a new password that a link lets them choose, or at a provider."""
    User.objects.filter(pk=user.pk).update(is_active=True)
    logger.info("%s reactivated user %d", by.email, user.pk)


@transaction.atomic
def set_administrator(*, user: User, is_administrator: bool, by: User) -> None:
    """Give a user the role of an administrator, or take it; raise DomainError `last_administrator`."""
    if not is_administrator:
        _keep_an_administrator(without=user)
    User.objects.filter(pk=user.pk).update(is_staff=is_administrator, is_superuser=is_administrator)
    logger.info("%s made user %d %s", by.email, user.pk, "an administrator" if is_administrator else "a researcher")


def _keep_an_administrator(*, without: User) -> None:
    """Refuse to go on if no other administrator can sign in: by a password, or at the provider."""
    administrators = User.objects.filter(is_staff=True, is_active=True).order_by("pk")
    # All are locked, so that of two who remove each other one comes second and sees what the first has done.
    able = [each.pk for each in administrators.select_for_update(no_key=True) if can_sign_in(each)]
    if without.pk in able and able == [without.pk]:
        raise DomainError(
            "last_administrator",
            f"{without} is the last administrator who can sign in. Make somebody else an administrator first.",
        )


def can_sign_in(user: User) -> bool:
    """Tell whether somebody has ever chosen a password or signed in at a provider. One query, or none."""
    return user.has_usable_password() or user.identities.exists()


def _check_address(email: str, without: User | None = None) -> None:
    taken = User.objects.filter(email__iexact=email)
    if (taken.exclude(pk=without.pk) if without else taken).exists():
        raise DomainError("address_taken", f"There is an account with the address {email} already.")
