"""What SECRET_KEY protects: secrets at rest and addresses.

A copy of the database alone does not show the secrets, and nobody else can make an address.
"""

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import models
from django.utils.encoding import force_bytes
from django.views.decorators.debug import sensitive_variables

from evalsite.lib.errors import DomainError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

# Never to be changed: what existing installations have stored could not be read any more.
_PURPOSE = b"evalsite.lib.sealing"


class EncryptedField(models.TextField):
    """Secrets as `encrypt_secrets` returns them. What checks and rotates keys finds them by the class."""

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        """Be a field of text to the database and to migrations."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


def encrypt_secrets(secrets: Mapping[str, str]) -> str:
    """Return secrets by name as one encrypted text; an empty text for none."""
    if not secrets:
        return ""
    return _cipher().encrypt(json.dumps(dict(secrets), sort_keys=True).encode()).decode()


def decrypt_secrets(encrypted: str) -> dict[str, str]:
    """Return the secrets of `encrypt_secrets`; raise DomainError `encrypted_with_another_key`.

    Former keys are tried too, those of SECRET_KEY_FALLBACKS.
    """
    if not encrypted:
        return {}
    from cryptography.fernet import InvalidToken

    try:
        return dict(json.loads(_cipher().decrypt(encrypted.encode())))
    except InvalidToken:
        raise DomainError(
            "encrypted_with_another_key",
            "A stored secret cannot be read: the server's SECRET_KEY has changed. Enter the secret again.",
        ) from None


@sensitive_variables()
def reencrypt_secrets(encrypted: str) -> str:
    """Return encrypted secrets as the present key encrypts them; raise DomainError `encrypted_with_another_key`.

    What the present key has encrypted is returned as it is.
    """
    from cryptography.fernet import Fernet, InvalidToken

    try:
        Fernet(_derive(settings.SECRET_KEY)).decrypt(encrypted.encode())
    except InvalidToken:
        return encrypt_secrets(decrypt_secrets(encrypted))
    return encrypted


@sensitive_variables()
def readable_secrets(encrypted: str) -> dict[str, str] | None:
    """Return the secrets of `encrypt_secrets`; None if they cannot be read any more."""
    try:
        return decrypt_secrets(encrypted)
    except DomainError:
        return None


@sensitive_variables()
def merge_secrets(encrypted: str, changes: Mapping[str, str | None]) -> str:
    """Return encrypted secrets with changes; None clears one. Those that cannot be read any more are lost."""
    changed = {**(readable_secrets(encrypted) or {}), **changes}
    return encrypt_secrets({name: value for name, value in changed.items() if value})


def sign(purpose: str, *parts: str) -> str:
    """Return the signature of the parts of an address; one for another `purpose` is no signature for this one."""
    return Signer(salt=purpose, sep=":").signature(":".join(parts))


def is_signed(signature: str, purpose: str, *parts: str) -> bool:
    """Tell whether a signature is the one of `sign`, made with SECRET_KEY or a former key."""
    try:
        Signer(salt=purpose, sep=":").unsign(":".join([*parts, signature]))
    except BadSignature:
        return False
    return True


def _cipher() -> "MultiFernet":
    from cryptography.fernet import Fernet, MultiFernet

    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derive(key)) for key in keys])


def _derive(key: str | bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(force_bytes(key))
    return base64.urlsafe_b64encode(derived)
