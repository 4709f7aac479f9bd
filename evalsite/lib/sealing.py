"""Secrets at rest: encrypted with a key made of SECRET_KEY, so that a copy of the database alone does not tell them."""

import base64
import json
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

from evalsite.lib.errors import DomainError


def seal(secrets: Mapping[str, str]) -> str:
    """Return secrets by name as one encrypted text; an empty text for none."""
    if not secrets:
        return ""
    return _cipher().encrypt(json.dumps(dict(secrets), sort_keys=True).encode()).decode()


def unseal(sealed: str) -> dict[str, str]:
    """Return the secrets of `seal`; raise DomainError `sealed_by_another_key`.

    Former keys are tried too, those of SECRET_KEY_FALLBACKS.
    """
    if not sealed:
        return {}
    try:
        return dict(json.loads(_cipher().decrypt(sealed.encode())))
    except InvalidToken:
        raise DomainError(
            "sealed_by_another_key",
            "A stored secret cannot be read: the server's SECRET_KEY has changed. Enter the secret again.",
        ) from None


def _cipher() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derive(key)) for key in keys])


def _derive(key: str | bytes) -> bytes:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"evalsite.lib.sealing").derive(force_bytes(key))
    return base64.urlsafe_b64encode(derived)
