"""Signing in by the word of a proxy: it has made sure who somebody is, and says so in a header (REMOTE_USER)."""

from ipaddress import ip_address, ip_network

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest

from evalsite.accounts.models import LONGEST_ADDRESS, User


def is_proxy_believed() -> bool:
    """Return whether a header is read at all: one is named, and a proxy is in front that can set it."""
    return bool(settings.REMOTE_USER_HEADER) and settings.BEHIND_PROXY


def address_from_proxy(request: HttpRequest) -> str:
    """Return the e-mail address of whom the proxy says the request comes from; "" if it says none.

    Requests of other machines than REMOTE_USER_PROXIES, which may send any header, say nothing.
    """
    if not is_proxy_believed() or not _comes_from_proxy(request.META.get("REMOTE_ADDR", "")):
        return ""
    # Two headers of one name arrive as one, with a comma: a client's and the proxy's, which cannot be distinguished.
    said = request.headers.get(settings.REMOTE_USER_HEADER, "").strip()
    if said and "@" not in said and settings.REMOTE_USER_DOMAIN:
        said = f"{said}@{settings.REMOTE_USER_DOMAIN}"
    try:
        validate_email(said)
    except ValidationError:
        return ""
    return said if len(said) <= LONGEST_ADDRESS else ""


def find_proxy_user(request: HttpRequest) -> User | None:
    """Return the account of whom the proxy names; None if there is none that may sign in."""
    address = address_from_proxy(request)
    return User.objects.filter(email__iexact=address, is_active=True).first() if address else None


def _comes_from_proxy(address: str) -> bool:
    try:
        peer = ip_address(address)
    except ValueError:  # of a Unix socket
        return False
    peer = getattr(peer, "ipv4_mapped", None) or peer
    return any(peer in ip_network(network) for network in settings.REMOTE_USER_PROXIES)
