"""Serving a simulated platform: a WSGI application on a port of this machine, by HTTP or HTTPS."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

_POLL_S = 0.05  # how soon the end of a block ends the server

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class HangUpError(Exception):
    """Raised by an application to cut the connection without an answer."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128
    address_family = socket.AF_INET

    def server_bind(self) -> None:  # without looking this machine's name up
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that has gone


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


class Served:
    """A served application; `url` is its address. Ends with its block."""

    def __init__(self, application: Application, *, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.set_app(_hanging_up(application))
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self._server.server_port
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL_S,), daemon=True)

    def __enter__(self) -> "Served":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve_forever(self) -> None:
        """Serve in this thread until it is interrupted."""
        self._server.serve_forever()


def _hanging_up(application: Application) -> Application:
    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            return application(environ, start_response)
        except HangUpError:
            raise ConnectionAbortedError from None

    return answer
