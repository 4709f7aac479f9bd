"""Connections of a client that is sent to addresses which somebody else has chosen. For evalsite.lib.http alone."""

import re
import socket
import ssl
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from evalsite.lib.addresses import AllowList, is_public
from evalsite.lib.env import ask_to_set

# Servers close idle connections, many after a minute; one that is about to be closed is not to be used again.
_IDLE_S = 20.0
# A wait of 0 would mean, to a socket, not to wait at all and not to time out either.
_SHORTEST_S = 0.001


class NotAllowedError(Exception):
    """A host that the admin has not allowed, or that leads where it may not."""


class Deadline:
    """The end of the time that a request may take in all."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """How long is left; 0 once it is over."""
        return max(self._end - time.monotonic(), 0.0)

    def shorten(self, seconds: float) -> None:
        """Let it be over in so many seconds, if it is not before."""
        self._end = min(self._end, time.monotonic() + seconds)


class Guard:
    """Says which addresses a host may be reached at. `setting` is the name of the setting that has the entries."""

    def __init__(self, entries: Iterable[str], setting: str) -> None:
        self._allowed = AllowList(entries)
        self._setting = setting

    def check(self, host: str, port: int) -> None:
        """Raise NotAllowedError if a host is not allowed; names are not resolved."""
        reach = self._allowed.reach_of(host, port)
        if reach == "none":
            raise NotAllowedError(f"{host} may not be called. {self._advice(host, port)}")
        if reach == "public" and _is_known(host) and not is_public(host):
            raise self._not_public(host, port)

    def is_named(self, host: str, port: int) -> bool:
        """Return whether the admin has named a host as it is, not by a star."""
        return self._allowed.reach_of(host, port) == "any"

    def addresses_of(self, host: str, port: int) -> list[str]:
        """Resolve a host and return its addresses; raise NotAllowedError unless every one of them is allowed."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise httpcore.ConnectError(f"the name {host} cannot be resolved") from None
        addresses = list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
        if self._allowed.reach_of(host, port) != "any" and not all(map(is_public, addresses)):
            raise self._not_public(host, port)
        return addresses

    def _not_public(self, host: str, port: int) -> NotAllowedError:
        return NotAllowedError(
            f"{host} leads to an address that is not public: it has to be named itself, without a star. "
            f"{self._advice(host, port)}"
        )

    def _advice(self, host: str, port: int) -> str:
        return ask_to_set(self._setting, self._allowed.with_hosts([(host, port)]))


def _is_known(host: str) -> bool:
    """Return whether it is known without a name server where a host leads: an address, however written, or this one."""
    last = host.lower().removesuffix(".").rpartition(".")[2]
    return ":" in host or last == "localhost" or last.isdecimal() or re.fullmatch("0x[0-9a-f]*", last) is not None


class ConnectionPools:
    """Connections that are used one after the other, the latest first, each in a pool of its own.

    A pool checks all of its connections for each request, which with hundreds of them costs more than the request.
    """

    def __init__(self, guard: Guard, context: ssl.SSLContext, n_most: int) -> None:
        self._guard = guard
        self._context = context
        self._places = threading.BoundedSemaphore(n_most)
        self._idle: deque[_Connection] = deque()
        self._lock = threading.Lock()

    def send(self, request: httpcore.Request) -> tuple[httpcore.Response, Callable[[], None]]:
        """Send a request; return the answer and what is to be called, once, when its body has been dealt with.

        The request's extensions may hold a `deadline`, at which everything ends. Raises the errors of httpcore and
        NotAllowedError.
        """
        deadline = request.extensions.get("deadline")
        wait_s = _shorter(request.extensions.get("timeout", {}).get("pool"), deadline)
        if not self._places.acquire(timeout=-1 if wait_s is None else wait_s):
            raise httpcore.PoolTimeout("every connection is in use")
        connection = self._take()
        connection.deadline = deadline
        try:
            answer = connection.pool.handle_request(request)
        except BaseException:
            self._give_back(connection)
            raise
        return answer, lambda: self._close(answer, connection)

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            self._idle.pop().pool.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():  # the modules may be gone by then, and the sockets go with the process
            self.close()  # a client that nobody holds any more: its sockets would wait for the garbage collector

    def _close(self, answer: httpcore.Response, connection: "_Connection") -> None:
        try:
            answer.close()
        finally:
            self._give_back(connection)

    def _take(self) -> "_Connection":
        with self._lock:
            return self._idle.pop() if self._idle else _Connection(self._guard, self._context)

    def _give_back(self, connection: "_Connection") -> None:
        connection.idle_since = now = time.monotonic()
        stale = []
        with self._lock:
            self._idle.append(connection)
            while now - self._idle[0].idle_since > _IDLE_S:
                stale.append(self._idle.popleft())
        self._places.release()
        for each in stale:
            each.pool.close()


class _Connection(httpcore.NetworkBackend):
    """One connection, open from request to request, that ends what it does at the request's deadline.

    It goes to the addresses that were checked: a name is not resolved a second time.
    """

    def __init__(self, guard: Guard, context: ssl.SSLContext) -> None:
        self._guard = guard
        self.idle_since = 0.0
        self.deadline: Deadline | None = None
        self.pool = httpcore.ConnectionPool(
            ssl_context=context, max_connections=1, keepalive_expiry=_IDLE_S, network_backend=self
        )

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        error: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in self._guard.addresses_of(host, port):
            wait_s = _shorter(timeout, self.deadline)
            try:
                stream = httpcore.SyncBackend().connect_tcp(address, port, wait_s, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failed:
                error = failed
            else:
                return _Stream(stream, self)
        raise error


class _Stream(httpcore.NetworkStream):
    """A connection whose every wait ends at the request's deadline."""

    def __init__(self, inner: httpcore.NetworkStream, connection: _Connection) -> None:
        self._inner = inner
        self._connection = connection

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._check()
        return self._inner.read(max_bytes, _shorter(timeout, self._connection.deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _shorter(timeout, self._connection.deadline))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        wait_s = _shorter(timeout, self._connection.deadline)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, wait_s), self._connection)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    def _check(self) -> None:
        """Raise ReadTimeout once the time is over: a server that never pauses would never let a wait end."""
        deadline = self._connection.deadline
        if deadline is not None and not deadline.left_s:
            raise httpcore.ReadTimeout("the time is over")


def _shorter(timeout: float | None, deadline: Deadline | None) -> float | None:
    if deadline is None:
        return timeout
    left_s = max(deadline.left_s, _SHORTEST_S)
    return left_s if timeout is None else min(timeout, left_s)
