"""A second factor: codes of an app on the phone (TOTP, RFC 6238), and recovery codes that work once each.

A code that was used is known to every process and after a restart, and of recovery codes only hashes are stored.
django-allauth 65 notes used codes in the cache, which each process has for itself, and can read recovery codes again.
"""

import hashlib
import hmac
import logging
import secrets
from datetime import datetime

import pyotp
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction

from evalsite.accounts.models import SecondFactor, User
from evalsite.lib.encryption import decrypt_secrets, encrypt_secrets
from evalsite.lib.errors import DomainError

logger = logging.getLogger(__name__)
ISSUER = "evalsite"
_BY_PROVIDER = "second_factor_by_provider"
_N_RECOVERY_CODES = 10
_RECOVERY_BYTES = 8  # too many to be guessed, so that a plain hash is kept
_STEPS = (-1, 0, 1)  # a phone's clock may be half a minute off, either way


def has_second_factor(user: User) -> bool:
    """Tell whether the user is asked for a code at the sign-in. One query."""
    return SecondFactor.objects.filter(user=user).exists()


def must_set_up(user: User, session: SessionBase) -> bool:
    """Tell whether the user may do nothing in this session before a second factor is set up."""
    is_asked = settings.ADMINS_NEED_SECOND_FACTOR and user.is_staff and not session.get(_BY_PROVIDER)
    return is_asked and not has_second_factor(user)


def note_provider(session: SessionBase, had_second_factor: bool) -> None:
    """Keep with a session whether the provider that signed its user in has asked for a second factor."""
    if had_second_factor:
        session[_BY_PROVIDER] = True
    else:
        session.pop(_BY_PROVIDER, None)


def new_secret() -> str:
    """Return a secret for an app, encrypted."""
    return encrypt_secrets({"totp": pyotp.random_base32()})


def text_of(secret: str) -> str:
    """Return an encrypted secret as it is typed into an app."""
    return decrypt_secrets(secret)["totp"]


def address_for_app(user: User, secret: str) -> str:
    """Return what the QR code of an encrypted secret says."""
    return pyotp.TOTP(text_of(secret)).provisioning_uri(name=user.email, issuer_name=ISSUER)


@transaction.atomic
def set_up(*, user: User, secret: str, code: str, now: datetime) -> list[str]:
    """Have the user asked for codes of this secret from now on; return recovery codes, which cannot be had again.

    Raises DomainError `wrong_code`, or `already_set_up`.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if has_second_factor(user):
        raise DomainError("already_set_up", "A second factor is set up already. Turn it off first.")
    if (step := _find_step(secret, code, now)) is None:
        raise _wrong_code()
    codes, hashes = _make_recovery_codes()
    SecondFactor.objects.create(user=user, secret=secret, last_step=step, recovery_codes=hashes, created_at=now)
    logger.info("user %d has set up a second factor", user.pk)
    return codes


@transaction.atomic
def use_code(*, user: User, code: str, now: datetime) -> None:
    """Take a code of the app or a recovery code, once; raise DomainError `wrong_code`."""
    factor = SecondFactor.objects.select_for_update().filter(user=user).first()
    if factor is None:
        raise _wrong_code()
    if (digest := _digest(code)) in factor.recovery_codes:
        factor.recovery_codes.remove(digest)
        logger.info("user %d has used a recovery code, %d are left", user.pk, len(factor.recovery_codes))
    else:
        step = _find_step(factor.secret, code, now)
        if step is None or step <= factor.last_step:  # each code works once: somebody may have seen it
            raise _wrong_code()
        factor.last_step = step
    factor.save(update_fields=["last_step", "recovery_codes"])


@transaction.atomic
def replace_recovery_codes(*, user: User, code: str, now: datetime) -> list[str]:
    """Return new recovery codes; the former ones end. Raises DomainError `wrong_code`."""
    use_code(user=user, code=code, now=now)
    codes, hashes = _make_recovery_codes()
    SecondFactor.objects.filter(user=user).update(recovery_codes=hashes)
    return codes


@transaction.atomic
def turn_off(*, user: User, code: str, now: datetime) -> None:
    """Ask the user for codes no more; raise DomainError `wrong_code`."""
    use_code(user=user, code=code, now=now)
    reset(user=user)


def reset(*, user: User) -> bool:
    """Take a user's second factor away, without a code; return whether there was one."""
    n_deleted, _ = SecondFactor.objects.filter(user=user).delete()
    if n_deleted:
        logger.info("the second factor of user %d was taken away", user.pk)
    return bool(n_deleted)


def _find_step(secret: str, code: str, now: datetime) -> int | None:
    """Return the half minute that a code is of; None for a wrong one."""
    totp, digits = pyotp.TOTP(text_of(secret)), "".join(code.split())
    present = totp.timecode(now)
    found = [step for step in (present + each for each in _STEPS) if _is_same(totp.generate_otp(step), digits)]
    return found[-1] if found else None


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _make_recovery_codes() -> tuple[list[str], list[str]]:
    texts = [secrets.token_hex(_RECOVERY_BYTES) for _ in range(_N_RECOVERY_CODES)]
    codes = ["-".join(text[k : k + 4] for k in range(0, len(text), 4)) for text in texts]
    return codes, [_digest(code) for code in codes]


def _digest(code: str) -> str:
    return hashlib.sha256("".join(code.lower().split()).replace("-", "").encode()).hexdigest()


def _wrong_code() -> DomainError:
    return DomainError(
        "wrong_code", "This code is wrong, or was used before. Wait for the next one, and check the clock."
    )
