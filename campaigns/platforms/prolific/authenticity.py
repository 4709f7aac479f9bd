"""Who sent what: notifications and arrivals that Prolific has signed, and the completion code that we have made."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import jwt

from campaigns.contracts.account import Event
from campaigns.contracts.platform import CampaignRef, bad_link
from campaigns.platforms.prolific.client import submission_state
from evalsite.lib.errors import DomainError
from evalsite.lib.kept_keys import COMPLETION_CODES, keyed_hash

_CODE_LENGTH = 10


def completion_code(public_id: UUID) -> str:
    """Return the code with which participants of a campaign leave; nobody can know it without the key, which stays."""
    return keyed_hash(COMPLETION_CODES, str(public_id)).hexdigest()[:_CODE_LENGTH].upper()


# --- Notifications

SECRET = "hook_secret"
_SENT_AT = "x-prolific-request-timestamp"
EVENT_TYPES = ("submission.status.change", "study.status.change")
# Prolific tries for a day to deliver a notification, with the time and the signature of the first try.
MAX_AGE_S = 3 * 24 * 3600
_CLOCK_SKEW_S = 300


def check_signature(secret: str, headers: Mapping[str, str], body: bytes) -> None:
    """Raise DomainError `bad_signature` unless the headers sign this body, at most three days ago.

    The signature is base64(HMAC-SHA256(secret, time + body)), as Prolific's reference says under “Verifying”.
    """
    at = headers.get(_SENT_AT, "")
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
    return hashlib.sha256(headers.get(_SENT_AT, "").encode() + body).hexdigest()


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


# --- Arrivals: a JSON Web Token in the address, and whether it says the same as the address

KEYS = "jwks"
SITE = "site_url"
_ISSUER = "https://www.prolific.com"
# Prolific's tokens last two minutes. The first page, which may take longer to read, sends them again when work begins.
_READING_S = 30 * 60
_REQUIRED = ["exp", "iat", "iss", "aud", "sub"]


def check_arrival(campaign: CampaignRef, params: Mapping[str, str], ids: Mapping[str, str]) -> None:
    """Raise DomainError `bad_link` unless Prolific has signed these ids for this campaign, and not long ago."""
    claims = _read_token(params.get("prolific_token", ""), campaign.stored.get(KEYS) or {})
    payload = claims.get("prolific")
    is_theirs = isinstance(payload, Mapping) and all(payload.get(name) == value for name, value in ids.items())
    if not is_theirs or claims["sub"] != ids["SESSION_ID"] or not _is_for(campaign, claims["aud"]):
        raise bad_link("This link is for somebody else or for another study. Open yours on Prolific.")


def _read_token(token: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    try:
        wanted = jwt.get_unverified_header(token).get("kid")
        key = next(each for each in jwt.PyJWKSet.from_dict(dict(keys)).keys if each.key_id == wanted)
        return jwt.decode(
            token,
            key.key,
            algorithms=["RS256"],
            issuer=_ISSUER,
            leeway=_READING_S,
            options={"require": _REQUIRED, "verify_aud": False},
        )
    except jwt.ExpiredSignatureError:
        raise bad_link("This link has expired. Open the study again from Prolific: your work is kept.") from None
    except (jwt.PyJWTError, StopIteration):
        raise bad_link("Prolific has not confirmed who you are. Open the study from your list on Prolific.") from None


def _is_for(campaign: CampaignRef, audience: Any) -> bool:
    """Tell whether a token was made for the address of this campaign."""
    if not isinstance(audience, str):
        return False
    address, own = urlsplit(audience), urlsplit(str(campaign.stored.get(SITE, "")))
    is_ours = not own.netloc or (address.scheme, address.netloc) == (own.scheme, own.netloc)
    return is_ours and str(campaign.public_id) in address.path.split("/")
