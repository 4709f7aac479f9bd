"""The only door to the network: one host, bounded answers, and no settings from the environment.

Callers import the client's types and errors from here too; import-linter keeps `httpx` out of every other module.
"""

from collections.abc import Iterator
from typing import Any

from httpx import (
    URL,
    BaseTransport,
    Client,
    HTTPTransport,
    InvalidURL,
    Limits,
    Request,
    RequestError,
    Response,
    SyncByteStream,
    Timeout,
    WSGITransport,
)

__all__ = ["Client", "RefusedError", "RequestError", "Response", "in_process", "open_client"]

MAX_RESPONSE_BYTES = 20 * 1024 * 1024
TIMEOUT_S, CONNECT_S = 30.0, 5.0
_MAX_REDIRECTS = 5


class RefusedError(RequestError):
    """The door stays shut: another host, or an answer that is too large or compressed unasked. No retry mends it."""


def open_client(
    base_url: str,
    *,
    timeout_s: float = TIMEOUT_S,
    transport: BaseTransport | None = None,
    max_bytes: int = MAX_RESPONSE_BYTES,
    max_connections: int = 100,
) -> Client:
    """Return a client that talks to the scheme, host and port of `base_url` and to nothing else.

    Threads may share it. It waits `timeout_s` for an answer to begin and for each next part of it, and 5 s at most
    for a connection. Redirects are followed, on this host. Proxies and passwords of the environment are not used.
    `transport` takes the place of the network.

    Raises ValueError if `base_url` is no address. The client raises `RequestError` for whatever goes wrong on the way.
    """
    origin = _parse(base_url)
    limits = Limits(max_connections=max_connections, max_keepalive_connections=max_connections)
    return Client(
        base_url=origin,
        transport=_Door(transport or HTTPTransport(trust_env=False, limits=limits), origin, max_bytes),
        timeout=Timeout(timeout_s, connect=min(timeout_s, CONNECT_S)),
        follow_redirects=True,
        max_redirects=_MAX_REDIRECTS,
        trust_env=False,
        headers={"Accept-Encoding": "identity"},  # a compressed answer may be far larger than what comes in
    )


def in_process(application: Any) -> BaseTransport:
    """Return a transport that calls a WSGI application instead of the network."""
    return WSGITransport(app=application, raise_app_exceptions=False)


def _parse(base_url: str) -> URL:
    try:
        url = URL(base_url)
    except InvalidURL as error:
        raise ValueError(f"{base_url!r} is not an address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"An address begins with http:// or https:// and names a host; {base_url!r} does not.")
    return url


class _Door(BaseTransport):
    """Lets requests to one origin out and answers of bounded size in. Redirects come through here too."""

    def __init__(self, inner: BaseTransport, origin: URL, max_bytes: int) -> None:
        self._inner = inner
        self._origin = origin
        self._max_bytes = max_bytes

    def handle_request(self, request: Request) -> Response:
        if _origin(request.url) != _origin(self._origin):
            raise RefusedError(f"{request.url.host} is not the host that this client is for", request=request)
        response = self._inner.handle_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            response.close()
            raise RefusedError("the answer is compressed, which was not asked for", request=request)
        assert isinstance(response.stream, SyncByteStream)
        response.stream = _Bounded(response.stream, self._max_bytes, request)
        return response

    def close(self) -> None:
        self._inner.close()


class _Bounded(SyncByteStream):
    """The body of an answer, cut off with an error once it is too long."""

    def __init__(self, inner: SyncByteStream, max_bytes: int, request: Request) -> None:
        self._inner = inner
        self._left = max_bytes
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            self._left -= len(part)
            if self._left < 0:
                raise RefusedError("the answer is longer than this client takes", request=self._request)
            yield part

    def close(self) -> None:
        self._inner.close()


def _origin(url: URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
