"""Notifications of Prolific: whether they are its own, and what they tell."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping

from campaigns.contracts.account import Event
from campaigns.platforms.prolific.states import submission_state
from evalsite.lib.errors import DomainError

SECRET = "hook_secret"
_TIME = "x-prolific-request-timestamp"
EVENT_TYPES = ("submission.status.change", "study.status.change")
# Prolific tries for a day to deliver a notification, with the time and the signature of the first try.
MAX_AGE_S = 3 * 24 * 3600
_CLOCK_SKEW_S = 300


def check_signature(secret: str, headers: Mapping[str, str], body: bytes) -> None:
    """Raise DomainError `bad_signature` unless the headers sign this body, at most three days ago.

    The signature is base64(HMAC-SHA256(secret, time + body)), as Prolific's reference says under “Verifying”.
    """
    at = headers.get(_TIME, "")
    digest = hmac.new(secret.encode(), at.encode() + body, hashlib.sha256).digest()
    given = headers.get("x-prolific-request-signature", "")
    is_own = hmac.compare_digest(base64.b64encode(digest), given.encode())
    # Read as a time only once it is signed: a stranger may send more digits than a number can have.
    if not secret or not is_own or not _is_recent(at):
        raise DomainError("bad_signature", "This notification is not signed by Prolific, or it is too old.")


def _is_recent(at: str) -> bool:
    return at.isdecimal() and -_CLOCK_SKEW_S <= time.time() - int(at) <= MAX_AGE_S


def fingerprint(headers: Mapping[str, str], body: bytes) -> str:
    """Return a digest of what is signed."""
    return hashlib.sha256(headers.get(_TIME, "").encode() + body).hexdigest()


def read_events(body: bytes) -> list[Event]:
    """Return what a notification tells, nothing if it is of another kind.

    Of a submission Prolific does not say which study it belongs to.
    """
    try:
        payload = json.loads(body)
    except ValueError:
        return []
    if not isinstance(payload, dict) or not isinstance(resource := payload.get("resource_id"), str):
        return []
    if payload.get("event_type") == "submission.status.change":
        return [Event("", resource, submission_state(str(payload.get("status", ""))))]
    return [Event(resource)] if str(payload.get("event_type", "")).startswith("study.") else []
