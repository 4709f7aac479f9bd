"""Keys of names that must stay the same under every SECRET_KEY: of workers in exports, codes, images.

Each purpose has a key of its own. It was made of the SECRET_KEY that the installation had when the key was stored, by
the rule of Django's `salted_hmac`: so installations of before have kept their names. EVALSITE_KEPT_KEYS names the
function that returns the stored keys; where none is stored, the present SECRET_KEY makes it.
"""

import hmac
from collections.abc import Callable, Mapping
from hashlib import sha256

from django.conf import settings
from django.utils.encoding import force_bytes

from evalsite.lib.plugins import listed, load

WORKER_NAMES = "evalsite.worker"
COMPLETION_CODES = "prolific.code"
IMAGE_NAMES = "annotation.image"
IMAGE_BYTES = "annotation.image.salt"
UNSENT_ANSWERS = "annotation.kept"
PURPOSES = (WORKER_NAMES, COMPLETION_CODES, IMAGE_NAMES, IMAGE_BYTES, UNSENT_ANSWERS)


def derive_key(purpose: str, secret: str) -> str:
    """Return the key of a purpose that follows from a SECRET_KEY: 64 hexadecimal digits, which do not tell it."""
    return sha256(force_bytes(purpose) + force_bytes(secret)).hexdigest()


def keyed_hash(purpose: str, value: str) -> "hmac.HMAC":
    """Return the HMAC-SHA256 of a value by the kept key of one of PURPOSES; ValueError for another purpose."""
    if purpose not in PURPOSES:
        raise ValueError(f"no kept key: {purpose}")
    key = _stored().get(purpose) or derive_key(purpose, settings.SECRET_KEY)
    return hmac.new(bytes.fromhex(key), value.encode(), sha256)


def _stored() -> Mapping[str, str]:
    if not settings.EVALSITE_KEPT_KEYS:
        return {}
    read: Callable[[], Mapping[str, str]] = load(listed("EVALSITE_KEPT_KEYS"))
    return read()
