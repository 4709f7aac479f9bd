"""The signed token that stands for an assignment in the addresses and forms of its worker. No cookies are needed."""

from django.core.signing import BadSignature, Signer

from annotation.models import Assignment
from evalsite.lib.errors import DomainError

_signer = Signer(salt="annotation.assignment", sep=".")


def token_of(assignment: Assignment) -> str:
    """Return the token of an assignment."""
    return _signer.sign(str(assignment.pk))


def read_token(token: str) -> int:
    """Return the id of the assignment that a token stands for; raise DomainError `bad_token`."""
    try:
        return int(_signer.unsign(token))
    except (BadSignature, ValueError):
        raise DomainError(
            "bad_token", "This address is not complete. Open the link that you were sent once more."
        ) from None
