"""A server that answers what a test has laid ready, and keeps what it was asked."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from simulators.server import HangUpError


@dataclass
class Scripted:
    """Answers in order, the last one for ever: status, body, headers. A body of None cuts the connection."""

    answers: list[tuple[str, bytes | None, dict[str, str]]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    wait_s: float = 0.0

    def will_say(self, status: str, body: Any = None, **headers: str) -> None:
        text = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        self.answers.append((status, text, headers))

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        self.requests.append({**environ, "body": environ["wsgi.input"].read(length)})
        status, body, headers = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        time.sleep(self.wait_s)
        if body is None:
            raise HangUpError
        fields = [("Content-Type", "application/x-amz-json-1.1"), ("Content-Length", str(len(body)))]
        start_response(status, fields + [(name.replace("_", "-"), value) for name, value in headers.items()])
        return [body]
