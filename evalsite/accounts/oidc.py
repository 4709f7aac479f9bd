"""Signing in at an OpenID Connect provider: the authorization code flow with PKCE (RFC 7636). Knows no account.

The id_token is verified by PyJWT. Requests go to the host of OIDC_ISSUER, wherever it leads, and to the hosts that its
discovery document names, by HTTPS and at public addresses only.

django-allauth 65 believes an id_token without its signature and nonce, prefers what userinfo says of any subject, and
calls every address that a provider names. With all of this replaced it takes more code than what is here.
"""

import hashlib
import hmac
import logging
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode, urlsplit

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from evalsite.accounts.models import LONGEST_ADDRESS, LONGEST_SUBJECT
from evalsite.lib.errors import DomainError

if TYPE_CHECKING:
    from jwt import PyJWK

logger = logging.getLogger(__name__)
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a private key; never `none`, and none by the client's secret, which a public key could be taken for."""
_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
_LEEWAY_S = 60  # clocks differ
_ATTEMPT_S = 600
_TIMEOUT_S = 10.0
_KEPT_S = 3600
_AWAY = (500, 502, 503, 504, 429)
_LONGEST_NAME = 150


@dataclass(frozen=True)
class VerifiedIdentity:
    """Somebody whom the provider has signed in.

    Attributes
    ----------
    issuer, subject : str
        Who it is: a provider never gives a subject to another person.
    email : str
        An address that the provider has verified; "" for none.
    name : str
    has_second_factor : bool
        Whether the provider asked for a second factor, as far as OIDC_SECOND_FACTOR believes it.
    """

    issuer: str
    subject: str
    email: str
    name: str
    has_second_factor: bool


def is_offered() -> bool:
    """Return whether people can sign in at a provider: all that is needed is set."""
    return bool(settings.OIDC_ISSUER and settings.OIDC_CLIENT_ID and settings.OIDC_CLIENT_SECRET)


def provider_name() -> str:
    """Return what the provider is called on pages; "" if there is none."""
    return (settings.OIDC_NAME or urlsplit(settings.OIDC_ISSUER).hostname or "") if is_offered() else ""


def begin(redirect_uri: str) -> tuple[str, dict[str, Any]]:
    """Return the provider's address for a browser, and what this browser's session has to keep until it comes back.

    Raises DomainError, as `finish` does.
    """
    endpoint = _endpoint(_discover(), "authorization_endpoint")
    verifier = secrets.token_urlsafe(64)
    attempt = {
        "state": secrets.token_urlsafe(32),
        "nonce": secrets.token_urlsafe(32),
        "verifier": verifier,
        "redirect_uri": redirect_uri,
        "until": time.time() + _ATTEMPT_S,
    }
    challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    asked = {
        "response_type": "code",
        "client_id": settings.OIDC_CLIENT_ID,
        "redirect_uri": redirect_uri,
        "scope": " ".join(settings.OIDC_SCOPES),
        "state": attempt["state"],
        "nonce": attempt["nonce"],
        "code_challenge": challenge.decode(),
        "code_challenge_method": "S256",
    }
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}", attempt


def is_answer_to(attempt: Mapping[str, Any], state: str) -> bool:
    """Return whether a state belongs to an attempt that is not over."""
    return hmac.compare_digest(attempt["state"].encode(), state.encode()) and time.time() < attempt["until"]


def finish(attempt: Mapping[str, Any], answer: Mapping[str, str]) -> VerifiedIdentity:
    """Return who has signed in, by the provider's answer to an attempt.

    Raises DomainError: `provider_away`, `provider_fault` (it answers what it may not), `sign_in_over` (to be begun
    again) or `sign_in_refused` (by the provider, or by OIDC_DOMAINS or OIDC_REQUIRED_CLAIM).
    """
    if answer.get("iss", settings.OIDC_ISSUER) != settings.OIDC_ISSUER:  # RFC 9207
        raise _fault(f"the answer says that it is of {answer['iss'][:200]!r}")
    if "code" not in answer:
        logger.warning("OpenID Connect: the provider signed nobody in: %r", answer.get("error", "")[:100])
        raise DomainError("sign_in_refused", f"{provider_name()} did not sign you in.")
    metadata = _discover()
    tokens = _redeem(answer["code"], attempt, metadata)
    claims = _verify(str(tokens.get("id_token", "")), attempt["nonce"], metadata)
    needed = {"email", *([settings.OIDC_REQUIRED_CLAIM[0]] if settings.OIDC_REQUIRED_CLAIM else [])}
    if needed - claims.keys() and "userinfo_endpoint" in metadata:
        claims = _userinfo(str(tokens.get("access_token", "")), claims["sub"], metadata) | claims
    found = VerifiedIdentity(
        settings.OIDC_ISSUER, claims["sub"], _verified_email(claims), _name(claims), _has_second_factor(claims)
    )
    _check_admitted(found, claims)
    return found


def find_fault() -> str:
    """Return what is wrong with the provider, in words; "" if its discovery document and its keys can be read."""
    try:
        metadata = _discover(is_fresh=True)
        for name in ("authorization_endpoint", "token_endpoint"):
            _endpoint(metadata, name)
        _read_keys(metadata, is_fresh=True)
    except DomainError as error:
        return error.__notes__[0]
    return ""


# --- The provider's documents


def _discover(*, is_fresh: bool = False) -> dict[str, Any]:
    key = f"oidc-metadata:{settings.OIDC_ISSUER}"
    found: dict[str, Any] | None = None if is_fresh else cache.get(key)
    if found is None:
        found = _request("GET", f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration")
        if (issuer := found.get("issuer")) != settings.OIDC_ISSUER:
            raise _fault(f"the provider calls itself {issuer!r}, and OIDC_ISSUER is {settings.OIDC_ISSUER!r}")
        cache.set(key, found, _KEPT_S)
    return found


def _endpoint(metadata: Mapping[str, Any], name: str) -> str:
    from evalsite.lib.http import HostRefusedError, check_address

    url = metadata.get(name)
    try:
        check_address(str(url), allowed=_allowed(), setting="OIDC_ISSUER", needs_https=True)
    except (ValueError, HostRefusedError) as error:
        raise _fault(f"{name} of the discovery document is {url!r}: {error}") from error
    return str(url)


def _read_keys(metadata: Mapping[str, Any], *, is_fresh: bool = False) -> list[dict[str, Any]]:
    url = _endpoint(metadata, "jwks_uri")
    key = f"oidc-keys:{url}"
    found: list[Any] | None = None if is_fresh else cache.get(key)
    if found is None:
        found = _request("GET", url).get("keys")
        if not isinstance(found, list):
            raise _fault("the keys of the provider are no list")
        cache.set(key, found, _KEPT_S)
    return [each for each in found if isinstance(each, dict)]


def _allowed() -> list[str]:
    return [urlsplit(settings.OIDC_ISSUER).netloc, "*"]


def _request(method: str, url: str, **options: Any) -> dict[str, Any]:
    """Return the object that the provider answers with."""
    from evalsite.lib.http import Deadline, HostRefusedError, RequestError, open_guarded_client

    try:
        with open_guarded_client(url, allowed=_allowed(), setting="OIDC_ISSUER", needs_https=True) as client:
            deadline = {"deadline": Deadline(_TIMEOUT_S)}
            response = client.request(method, url, extensions=deadline, timeout=_TIMEOUT_S, **options)
    except (ValueError, HostRefusedError) as error:
        raise _fault(f"{url} may not be called: {error}") from error
    except RequestError as error:
        raise _away(f"{url}: {type(error).__name__}: {error}") from error
    if response.status_code in _AWAY:
        raise _away(f"{url} answers {response.status_code}")
    try:
        found = response.json()
    except ValueError:
        raise _fault(f"{url} answers {response.status_code}, and no JSON") from None
    if not isinstance(found, dict):
        raise _fault(f"{url} answers no object")
    if response.status_code != 200:
        code = str(found.get("error", ""))[:100]
        if code == "invalid_grant":  # the code was used before, or is too old
            logger.warning("OpenID Connect: %s refuses the code", url)
            raise sign_in_over()
        raise _fault(f"{url} answers {response.status_code}, {code!r}")
    return found


# --- Tokens


def _redeem(code: str, attempt: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Exchange the code for tokens."""
    client_id, secret = settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET
    sent = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": attempt["redirect_uri"],
        "code_verifier": attempt["verifier"],
    }
    methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    options: dict[str, Any] = {}
    if "client_secret_basic" in methods:
        options["auth"] = (quote_plus(client_id), quote_plus(secret))  # RFC 6749, 2.3.1
    else:
        sent |= {"client_id": client_id, "client_secret": secret}
    return _request("POST", _endpoint(metadata, "token_endpoint"), data=sent, **options)


def _verify(token: str, nonce: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of an id_token: by this provider, for this site, for this attempt, and not expired."""
    import jwt

    try:
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in _ALGORITHMS:
            raise _fault(f"the id_token is signed by {str(header.get('alg'))[:20]!r}")
        key = _find_key(header, _read_keys(metadata)) or _find_key(header, _read_keys(metadata, is_fresh=True))
        if key is None:
            raise _fault("the id_token is signed with a key that the provider does not publish")
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[header["alg"]],
            audience=settings.OIDC_CLIENT_ID,
            issuer=settings.OIDC_ISSUER,
            leeway=_LEEWAY_S,
            options={"require": list(_REQUIRED)},
        )
    except jwt.PyJWTError as error:
        raise _fault(f"the id_token is not valid: {error}") from error
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise _fault("the id_token has the nonce of another attempt")
    is_for_many = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", "" if is_for_many else settings.OIDC_CLIENT_ID) != settings.OIDC_CLIENT_ID:
        raise _fault(f"the id_token was issued to {str(claims.get('azp'))[:200]!r}")
    if not 0 < len(claims["sub"]) <= LONGEST_SUBJECT:
        raise _fault("the id_token has no subject, or one that is too long")
    return claims


def _find_key(header: Mapping[str, Any], keys: list[dict[str, Any]]) -> "PyJWK | None":
    """Return the key that an id_token names; without a name, the only one that fits its algorithm."""
    import jwt

    found = []
    for each in keys:
        is_named = "kid" not in header or each.get("kid") == header["kid"]
        if is_named and each.get("use", "sig") == "sig" and each.get("alg", header["alg"]) == header["alg"]:
            try:
                found.append(jwt.PyJWK(each, algorithm=header["alg"]))
            except jwt.PyJWTError:  # of another kind
                continue
    return found[0] if len(found) == 1 else None


def _userinfo(access_token: str, subject: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what some providers say here only, such as the address."""
    headers = {"Authorization": f"Bearer {access_token}"}
    found = _request("GET", _endpoint(metadata, "userinfo_endpoint"), headers=headers)
    if found.get("sub") != subject:
        raise _fault("userinfo is about somebody else")
    return found


# --- What is believed


def _verified_email(claims: Mapping[str, Any]) -> str:
    """Return the address, if it is verified. One that is not ASCII could be taken for another in upper case."""
    email = str(claims.get("email", ""))
    if claims.get("email_verified", settings.OIDC_EMAIL_IS_VERIFIED) is not True:
        return ""
    try:
        validate_email(email)
    except ValidationError:
        return ""
    return email if email.isascii() and len(email) <= LONGEST_ADDRESS else ""


def _name(claims: Mapping[str, Any]) -> str:
    return " ".join(str(claims.get("name", "")).split())[:_LONGEST_NAME]


def _has_second_factor(claims: Mapping[str, Any]) -> bool:
    methods = claims.get("amr")
    says_so = isinstance(methods, list) and "mfa" in methods  # RFC 8176
    return settings.OIDC_SECOND_FACTOR == "PROVIDER" or (settings.OIDC_SECOND_FACTOR == "AMR" and says_so)


def _check_admitted(found: VerifiedIdentity, claims: Mapping[str, Any]) -> None:
    """Refuse whom OIDC_DOMAINS or OIDC_REQUIRED_CLAIM keep out."""
    domain = found.email.rpartition("@")[2].lower()
    is_admitted = not settings.OIDC_DOMAINS or domain in [each.lower() for each in settings.OIDC_DOMAINS]
    if settings.OIDC_REQUIRED_CLAIM:
        name, value = settings.OIDC_REQUIRED_CLAIM
        has = claims.get(name)
        is_admitted = is_admitted and value in ([str(each) for each in has] if isinstance(has, list) else [str(has)])
    if not is_admitted:
        logger.warning("OpenID Connect: %r is not admitted to this site", found.subject)
        raise DomainError("sign_in_refused", f"Your account at {provider_name()} is not admitted to this site.")


def sign_in_over() -> DomainError:
    """Return the refusal of an answer that belongs to no attempt of this browser, or comes too late."""
    return DomainError("sign_in_over", "This sign-in is over, or was begun in another browser. Begin again.")


def _away(reason: str) -> DomainError:
    logger.error("OpenID Connect: the provider cannot be reached: %s", reason)
    return _with_reason(
        "provider_away", f"{provider_name()} cannot be reached now. Try again in a few minutes.", reason
    )


def _fault(reason: str) -> DomainError:
    logger.error("OpenID Connect: nobody was signed in: %s", reason)
    text = f"{provider_name()} answered in a way that this site does not accept. Tell an administrator of this site."
    return _with_reason("provider_fault", text, reason)


def _with_reason(code: str, message: str, reason: str) -> DomainError:
    error = DomainError(code, message)
    error.add_note(reason)
    return error
