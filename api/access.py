"""Who may use an operation: tokens and browser sessions, scopes, and how many requests a minute."""

from typing import Any, cast

from django.conf import settings
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from evalsite.accounts.models import ApiToken, User
from evalsite.accounts.second_factors import must_set_up
from evalsite.accounts.tokens import find_token
from evalsite.lib.rate_limits import Limit, client_address, count_use

_MINUTE_S = 60


class ApiRequest(Request):
    """What reaches an operation: of somebody who has signed in, with a token (`auth`) or in a browser (None)."""

    user: User
    auth: ApiToken | None
    data: Any


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return user and token; None where there is no such header. Raises AuthenticationFailed `bad_token`."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        if (token := find_token(text.strip(), timezone.now())) is None:
            raise AuthenticationFailed("This token is not known, has expired or was revoked.", "bad_token")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return what a client without a token is asked for."""
        return 'Bearer realm="evalsite"'


class BrowserSession(SessionAuthentication):
    """Somebody who has signed in on the pages, with the CSRF token: for trying the API out in a browser."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Refuse who has to set up a second factor first, as the pages do."""
        found = super().authenticate(request)
        if found and must_set_up(found[0], request.session):
            raise PermissionDenied("Administrators of this site need a second factor. Set it up first.")
        return found


def may(request: ApiRequest, scope: str) -> bool:
    """Tell whether the token has a scope; a browser session has all."""
    return request.auth is None or scope in request.auth.scopes


def check_scope(request: ApiRequest, scope: str) -> None:
    """Raise PermissionDenied `no_scope` if the token does not have a scope."""
    if not may(request, scope):
        raise PermissionDenied(f"This needs a token of the scope “{scope}”.", "no_scope")


class HasScope(BasePermission):
    """The token has the operation's scope; a browser session has all."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return False for somebody who has not signed in; raise PermissionDenied `no_scope`."""
        if not request.user:
            return False
        check_scope(cast(ApiRequest, request), view.operation.scope)  # type: ignore[attr-defined]
        return True


class Throttle(BaseThrottle):
    """So many requests a minute for each token, and for each browser session's user."""

    wait_s = 0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request; return whether it is answered."""
        limit = Limit("api", settings.API_REQUESTS_PER_MINUTE, _MINUTE_S)
        self.wait_s = count_use((limit, _client(request)), now=timezone.now())
        return not self.wait_s

    def wait(self) -> float:
        """Return after how many seconds to try again."""
        return self.wait_s


def _client(request: Any) -> str:
    if request.auth is not None:
        return f"token {request.auth.pk}"
    return f"user {request.user.pk}" if request.user else client_address(request)
