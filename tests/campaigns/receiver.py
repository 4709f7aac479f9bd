"""A receiver of webhooks on this machine, which gives the answer that is set and keeps what it got."""

import json
import threading
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)


class Receiver(ThreadingHTTPServer):
    """Answers with `status`, `headers` and `body`; with a status of 0 it hangs up. Waits while `is_slow` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[Received] = []
        self.go_on = threading.Event()
        self.forget()

    def forget(self) -> None:
        """Begin anew: forget what came, and answer well."""
        self.received.clear()
        self.status, self.headers, self.body = 200, {}, b"thank you"
        self.go_on.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/events"

    def events(self, name: str = "") -> list[dict[str, Any]]:
        """Return the events that came, of one name if it is given."""
        return [each.event for each in self.received if name in ("", each.event["event"])]

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.go_on.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(Received(self.path, dict(self.headers), body))
        self.server.go_on.wait()
        self.close_connection = True
        if not self.server.status:
            return
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        with suppress(OSError):  # the first kilobyte was enough
            self.wfile.write(self.server.body)

    def log_message(self, *args: object) -> None:
        pass
