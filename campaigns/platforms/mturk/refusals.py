"""Which of Amazon's refusals mean that what was wanted is already so."""

import re

from campaigns.contracts.account import PlatformRefusedError

_ID = re.compile(r"\b[A-Z0-9]{20,64}\b", re.ASCII)
# `The HIT with ID "3…" already exists.`, with the code AWS.MechanicalTurk.HitAlreadyExists in one spelling or another.
_HIT_EXISTS = re.compile(r"\bhit\b.*\balready exists", re.IGNORECASE | re.DOTALL)
# `The idempotency token "…" has already been processed.`
_TOKEN_USED = re.compile(r"(idempotency|request) ?token.*\balready\b", re.IGNORECASE | re.DOTALL)
_HIT_GONE = re.compile(r"\bhit [A-Z0-9]+ does not exist", re.IGNORECASE)


def existing_hit(error: PlatformRefusedError) -> str:
    """Return the id of the HIT that an earlier request with this token has made; "" if it is another refusal."""
    if _ends(error, "HitAlreadyExists") or _HIT_EXISTS.search(error.message):
        found = _ID.search(error.message)
        return found[0] if found else ""
    return ""


def is_token_used(error: PlatformRefusedError) -> bool:
    """Return whether an earlier request with this token has had its effect."""
    return bool(_TOKEN_USED.search(error.message)) or _ends(error, "HitAlreadyExists")


def is_hit_gone(error: PlatformRefusedError) -> bool:
    """Return whether there is no such HIT, or no longer."""
    return _ends(error, "HITDoesNotExist") or bool(_HIT_GONE.search(error.message))


def is_name_taken(error: PlatformRefusedError) -> bool:
    """Return whether there is a qualification type of this name."""
    return _ends(error, "QualificationTypeAlreadyExists") or "already" in error.message.lower()


def _ends(error: PlatformRefusedError, name: str) -> bool:
    return error.code.lower().endswith(name.lower())
