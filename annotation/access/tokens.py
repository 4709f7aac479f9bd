"""The signed token that stands for an assignment in the addresses and forms of its worker. No cookies are needed.

Of an assignment that somebody came to from a crowd platform it also says with which of the platform's own: a worker who
gave that one back and accepted again goes on with another token, and the old one is worth nothing.
"""

from typing import NamedTuple

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.utils.crypto import salted_hmac

from annotation.models import Assignment
from evalsite.lib.errors import DomainError

_ARRIVAL_LENGTH = 10


class Token(NamedTuple):
    """What a token says: an assignment's id, and a mark of the platform's assignment, "" if there is none."""

    assignment_id: int
    arrival: str


def token_of(assignment: Assignment) -> str:
    """Return the token of an assignment."""
    arrival = arrival_of(assignment.platform_id)
    return _signer().sign(f"{assignment.pk}-{arrival}" if arrival else str(assignment.pk))


def arrival_of(platform_id: str, key: str | None = None) -> str:
    """Return the mark of a platform's assignment, made with SECRET_KEY or another key."""
    return salted_hmac("annotation.arrival", platform_id, key).hexdigest()[:_ARRIVAL_LENGTH] if platform_id else ""


def is_arrival(mark: str, platform_id: str) -> bool:
    """Return whether a mark is that of a platform's assignment, made with SECRET_KEY or a former key."""
    return any(mark == arrival_of(platform_id, key) for key in (None, *settings.SECRET_KEY_FALLBACKS))


def read_token(token: str) -> Token:
    """Return what a token says, whose arrival may not be the last one; raise DomainError `bad_token`."""
    try:
        assignment_id, _, arrival = _signer().unsign(token).partition("-")
        return Token(int(assignment_id), arrival)
    except (BadSignature, ValueError):
        raise DomainError(
            "bad_token", "This address is not complete. Open the link that you were sent once more."
        ) from None


def _signer() -> Signer:
    return Signer(salt="annotation.assignment", sep=".")
