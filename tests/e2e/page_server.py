"""Shows pages that Django draws in this process: the browser fetches them from here, and keeps files that stay."""

import mimetypes
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch
from urllib.parse import urlsplit

from django.contrib.staticfiles import finders
from django.db import connections
from django.http import HttpResponse
from django.test import Client

CHECKS = "/checks.js"


class PageServer(ThreadingHTTPServer):
    """Answers with the page that is shown; draws what it fetches besides as its client would get it.

    It uses the database connection of the thread that made it: a fixture's transaction has what pages show. Django
    closes no old connections at the end of requests meanwhile: test clients suspend that, but of two at once in
    different threads the first resumes it for the second, whose transaction is gone then.
    """

    daemon_threads = True

    def __init__(self, scripts: list[Path]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.checks = b"\n".join(script.read_bytes() for script in scripts)
        self.connection = connections["default"]
        self._unclosed = patch.object(self.connection, "close_if_unusable_or_obsolete")
        self._drawing = threading.Lock()  # of those who share the connection, one at a time
        self._client, self._path = Client(), ""
        self._answer = HttpResponse()

    def draw(self, client: Client, path: str) -> HttpResponse:
        """Return what a client gets at a path; from now on the browser is this client."""
        with self._drawing:
            answer = client.get(path)
        self.show(client, path, answer)
        return answer

    def show(self, client: Client, path: str, answer: HttpResponse) -> None:
        """Answer so at a path."""
        self._client, self._path, self._answer = client, path, answer

    def answer(self, path: str) -> HttpResponse:
        """Return what the browser gets."""
        if path == self._path:
            return self._answer
        connections["default"] = self.connection
        with self._drawing:
            return self._client.get(path)

    def __enter__(self) -> Self:
        self.connection.inc_thread_sharing()
        self._unclosed.start()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.shutdown()
        self.server_close()
        self._unclosed.stop()
        self.connection.dec_thread_sharing()


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == CHECKS:
            self._send(200, self.server.checks, "text/javascript", "max-age=3600")
        elif path.startswith("/static/"):
            file = finders.find(path.removeprefix("/static/"))
            found = Path(file).read_bytes() if isinstance(file, str) else b""
            self._send(200 if file else 404, found, mimetypes.guess_type(path)[0] or "", "max-age=3600")
        else:
            answer = self.server.answer(self.path)
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
            self._send(answer.status_code, body, answer.headers.get("Content-Type", ""), "no-store")

    def _send(self, status: int, body: bytes, content_type: str, caching: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", content_type),
            ("Content-Length", str(len(body))),
            ("Cache-Control", caching),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""
