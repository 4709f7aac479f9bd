"""Arrivals that Prolific has signed: a JSON Web Token in the address, and whether it says the same as the address."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import jwt

from campaigns.contracts.platform import CampaignRef
from evalsite.lib.errors import DomainError

KEYS = "jwks"
SITE = "site_url"
_ISSUER = "https://www.prolific.com"
# Prolific's tokens last two minutes. The first page, which may take longer to read, sends them again when work begins.
_READING_S = 30 * 60
_REQUIRED = ["exp", "iat", "iss", "aud", "sub"]


def check_arrival(campaign: CampaignRef, params: Mapping[str, str], ids: Mapping[str, str]) -> None:
    """Raise DomainError `bad_link` unless Prolific has signed these ids for this campaign, and not long ago."""
    claims = _read(params.get("prolific_token", ""), campaign.stored.get(KEYS) or {})
    payload = claims.get("prolific")
    is_theirs = isinstance(payload, Mapping) and all(payload.get(name) == value for name, value in ids.items())
    if not is_theirs or claims["sub"] != ids["SESSION_ID"] or not _is_for(campaign, claims["aud"]):
        raise _bad_link("This link was made for somebody else or for another study. Open yours on Prolific.")


def _read(token: str, keys: Mapping[str, Any]) -> dict[str, Any]:
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
        raise _bad_link("This link has expired. Open the study again from Prolific: your work is kept.") from None
    except (jwt.PyJWTError, StopIteration):
        raise _bad_link("Prolific has not confirmed who you are. Open the study from your list on Prolific.") from None


def _is_for(campaign: CampaignRef, audience: Any) -> bool:
    """Tell whether a token was made for the address of this campaign."""
    if not isinstance(audience, str):
        return False
    address, own = urlsplit(audience), urlsplit(str(campaign.stored.get(SITE, "")))
    is_ours = not own.netloc or (address.scheme, address.netloc) == (own.scheme, own.netloc)
    return is_ours and str(campaign.public_id) in address.path.split("/")


def _bad_link(message: str) -> DomainError:
    return DomainError("bad_link", message)
