"""Writing the audit log: every request of somebody signed in that may change something, and has not been refused.

Views need not think of it. What `acts.NOT_RECORDED` names, with reasons, is left out.
"""

import logging
import re
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Any
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import DatabaseError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from evalsite.accounts.models import ApiToken, User
from evalsite.audit.acts import SAYS_SUCCESS_BY_REDIRECT, is_left_out
from evalsite.audit.models import AuditEntry
from evalsite.lib.acts import notes_of
from evalsite.lib.context import current_work
from evalsite.lib.rate_limits import client_address

logger = logging.getLogger(__name__)
_READING = ("GET", "HEAD", "OPTIONS", "TRACE")
_SIGN_IN = "accounts:sign_in"
_BEFORE = "evalsite.audit.user"
# Values that the log repeats: of accounts, never of workers, who may be erased. Of all other fields it has the names.
_SHOWN_VALUES = {
    "campaigns:members": ("email", "role"),
    "campaigns:member": ("role",),
    "desk:invite": ("email", "is_administrator"),
    "desk:person": ("email",),
    "desk:person_role": ("role",),
    "accounts:tokens": ("scopes",),
    "crowd:platform": ("platform",),
    "crowd:bonus": ("amount",),
    "analysis:share": ("ends_on",),
}
_SECRET_PARAMETERS = ("token", "uidb64", "public_id")
_FIELD = re.compile(r"[A-Za-z][\w-]{0,39}")
_MOST_FIELDS, _LONGEST_VALUE = 20, 200
_CAMPAIGN = re.compile(r"/campaigns/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")


class AuditMiddleware:
    """Adds an entry after each act. The session of a worker's page is not read."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, then write down what was done."""
        response = self.get_response(request)
        if entry := _find_entry(request, response):
            try:
                entry.save()
            except DatabaseError:  # what was done is done
                logger.exception("Not in the audit log: %s of %s by %s", entry.act, entry.campaign, entry.who)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        """Keep who asks: who signs out is nobody afterwards."""
        if request.method not in _READING and not is_left_out(_name(request)):
            request.META[_BEFORE] = request.user if request.user.is_authenticated else None


def _find_entry(request: HttpRequest, response: HttpResponseBase) -> AuditEntry | None:
    """Return the entry of a request that was an act; None for one that was none, or refused."""
    name, notes = _name(request), notes_of(request)
    is_act = notes.is_act or request.method not in _READING
    if not name or not is_act or is_left_out(name) or notes.is_refused or response.status_code >= 400:
        return None
    entry = AuditEntry(act=name, method=request.method or "", request_id=current_work().request_id)
    if name in SAYS_SUCCESS_BY_REDIRECT and response.status_code != 302:
        if name != _SIGN_IN:
            return None
        entry.is_failed, entry.who = True, _known_address(request.POST.get("username", ""))
    else:
        user = notes.user or request.META.get(_BEFORE) or getattr(request, "user", None)
        if not isinstance(user, AbstractBaseUser) or not user.is_authenticated:
            return None
        entry.user_id, entry.who = user.pk, str(user.get_username())
        token = getattr(request, "auth", None)
        entry.token = token.name if isinstance(token, ApiToken) else ""
    entry.campaign = notes.campaign or _campaign(request, response)
    entry.about, entry.details = notes.about[:254], _details(request, name, notes.fields)
    entry.network = network_of(client_address(request))
    return entry


def _name(request: HttpRequest) -> str:
    match = request.resolver_match
    return (match.view_name or match.route) if match else ""


def _campaign(request: HttpRequest, response: HttpResponseBase) -> UUID | None:
    """Return the campaign of the address, or the one that was made and is led to."""
    assert request.resolver_match
    if found := request.resolver_match.kwargs.get("public_id"):
        return UUID(str(found))
    led_to = _CAMPAIGN.search(response.headers.get("Location", ""))
    return UUID(led_to[1]) if led_to else None


def _known_address(address: str) -> str:
    """Return the address of the account that somebody tried; "" for none: it may be a password in the wrong place."""
    try:
        return User.objects.get_by_natural_key(address).email
    except User.DoesNotExist:
        return ""


def _details(request: HttpRequest, name: str, fields: list[str]) -> dict[str, Any]:
    """Return ids in the address, names of the fields that were sent, and the values that may be shown."""
    assert request.resolver_match
    found: dict[str, Any] = {
        key: str(value) for key, value in request.resolver_match.kwargs.items() if key not in _SECRET_PARAMETERS
    }
    if not name.startswith("api:") and request.method == "POST" and name != _SIGN_IN:
        fields = [key for key in request.POST if key != "csrfmiddlewaretoken"]
        found |= {
            key: ", ".join(request.POST.getlist(key))[:_LONGEST_VALUE]
            for key in _SHOWN_VALUES.get(name, ())
            if key in request.POST
        }
    names = [key for key in fields if _FIELD.fullmatch(key)]
    if names:
        found["fields"] = names[:_MOST_FIELDS]
    return found


def network_of(address: str) -> str:
    """Return the network of an address, in which no single client can be recognised: IPv4 by /24, IPv6 by /48."""
    try:
        version = ip_address(address.partition("/")[0]).version
    except ValueError:
        return ""
    return str(ip_network(f"{address.partition('/')[0]}/{24 if version == 4 else 48}", strict=False))
