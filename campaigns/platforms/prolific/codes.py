"""The completion code of a campaign, which its studies are made with and its participants leave with."""

from uuid import UUID

from django.utils.crypto import salted_hmac

_LENGTH = 10


def completion_code(public_id: UUID) -> str:
    """Return the code; whoever does not have SECRET_KEY cannot know it."""
    return salted_hmac("prolific.code", str(public_id), algorithm="sha256").hexdigest()[:_LENGTH].upper()
