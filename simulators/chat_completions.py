"""A server that chats, on this machine: OpenAI's protocol, streamed and whole, simple JSON too, and faults on demand.

    with ChatServer() as server:
        server.base_url                          # http://127.0.0.1:…/v1, for the connector openai-chat
        server.chat_url                          # http://127.0.0.1:…/chat: {"text": …} → {"reply": …}
        server.say("Hello there")                # the next reply; afterwards, and without it, “Reply 3 to …”
        server.reply_to = lambda body: "…"       # every reply that was not set by `say`
        server.behave("rate_limited", retry_after=2, times=1)    # a fault, for so many requests or until behave("well")
        server.received                          # the requests: path, headers, body, and `pictures` in it

Faults: rate_limited (retry_after), status (status, message, raw), cut_body, cut_stream, no_end, silence, dribble,
dribble_headers, not_json, wrong_shape (shape), events (chunks, end, is_hanging), long (n_chars), huge, endless,
compressed, redirect (to). Those that hang do so until the server is closed.

    python -m simulators.chat_completions PORT --delay SECONDS

serves until it is killed. Each reply takes so many seconds, by the server's own clock from the last byte of the request
to the first of the answer, says how many it took, and is sent in one piece.
"""

import argparse
import base64
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_DRIBBLE_S = 0.05


@dataclass(frozen=True)
class Received:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def pictures(self) -> list[bytes]:
        """The pictures of its last message; raise ValueError for one that is no data URL."""
        content = self.body["messages"][-1]["content"]
        parts = content if isinstance(content, list) else []
        return [_picture(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]


def _picture(url: str) -> bytes:
    head, _, data = url.partition(",")
    if not re.fullmatch(r"data:image/(jpeg|png|webp|gif);base64", head):
        raise ValueError(f"no data URL of a picture: {url[:60]}")
    return base64.b64decode(data, validate=True)


class ChatServer:
    """Answers from threads of its own until it is closed; other threads may change how.

    `tokens` are those that each reply is said to have read and written. With `delay_s` a reply takes so long.
    """

    def __init__(self, *, port: int = 0, tokens: tuple[int, int] = (21, 7), delay_s: float = 0.0) -> None:
        self.received: list[Received] = []
        self.usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
        self.delay_s = delay_s
        self.is_closed = threading.Event()
        self._lock = threading.Lock()
        self.reply_to: Callable[[Any], str] | None = None
        self._replies: deque[str] = deque()
        self._fault: str = "well"
        self._details: dict[str, Any] = {}
        self._times: int | None = None
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        """Return host and port, as CHATBOT_HOSTS takes them."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def base_url(self) -> str:
        """Return the address for the connector openai-chat."""
        return f"http://{self.host}/v1"

    @property
    def chat_url(self) -> str:
        """Return the address for the connector http-json."""
        return f"http://{self.host}/chat"

    def say(self, *texts: str) -> None:
        """Say these texts next, one a request."""
        self._replies.extend(texts)

    def behave(self, how: str, *, times: int | None = None, **details: Any) -> None:
        """Answer with a fault, so many times or for ever; `well` ends it."""
        with self._lock:
            self._fault, self._details, self._times = how, details, times

    def take(self, request: Received) -> tuple[str, dict[str, Any], str]:
        """Keep a request; return how to behave, the details, and what to say. Called by the server's own threads."""
        with self._lock:
            self.received.append(request)
            how, details = self._fault, self._details
            if self._times is not None and how != "well":
                self._times -= 1
                if self._times <= 0:
                    self._fault, self._details, self._times = "well", {}, None
            if how == "long":
                return "well", {}, ("All work and no play. " * (details["n_chars"] // 22 + 1))[: details["n_chars"]]
            if how == "well" and self._replies:
                return how, details, self._replies.popleft()
            text = f"Reply {len(self.received)}: I see."
        return how, details, self.reply_to(request.body) if self.reply_to and how == "well" else text


class _Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True
    owner: ChatServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that has had enough


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer in parts waits 40 ms for an acknowledgement
    server: _Server

    def do_POST(self) -> None:
        """Answer a message, well or with a fault."""
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw
        began = time.perf_counter()
        how, details, text = self.server.owner.take(Received(self.path, dict(self.headers), body))
        is_streamed = isinstance(body, dict) and body.get("stream") is True
        if delay_s := self.server.owner.delay_s:
            time.sleep(delay_s)
            text += f" It took {(time.perf_counter() - began) * 1000:.3f} ms"
        if how == "well":
            self._stream(self._chunks(text, body)) if is_streamed else self._json(self._whole(text))
        else:
            getattr(self, f"_{how}")(text, body, is_streamed, **details)

    def do_GET(self) -> None:
        """Answer what is not a message."""
        self._json({"reply": "This is not a chat."})

    # --- Answers

    def _whole(self, text: str) -> dict[str, Any]:
        if not self.path.startswith("/v1"):
            return {"reply": text}
        message = {"role": "assistant", "content": text, "reasoning_content": "Let me think about this."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": self.server.owner.usage}

    def _json(self, data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | dict(headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, chunks: list[Any], end: str = "data: [DONE]\n\n") -> None:
        self._begin_stream()
        events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + [end]
        for part in ["".join(events)] if self.server.owner.delay_s else events:
            self._send(part)
        self.wfile.write(b"0\r\n\r\n")

    def _chunks(self, text: str, body: Any) -> list[Any]:
        """Return a reply as the parts of a stream: a thought, the words, the end, and the tokens if they are wanted."""

        def part(delta: Mapping[str, str], finish_reason: str | None = None) -> dict[str, Any]:
            return {"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}

        step = max(len(text) // 4000, 4)
        words = [part({"content": text[at : at + step]}) for at in range(0, len(text), step)]
        chunks = [part({"role": "assistant", "reasoning_content": "Let me think."}), *words, part({}, "stop")]
        if isinstance(body, dict) and (body.get("stream_options") or {}).get("include_usage"):
            chunks.append({"id": "1", "choices": [], "usage": self.server.owner.usage})
        return chunks

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._send(": a comment keeps the line open\n\n")

    def _event(self, chunk: Any) -> None:
        self._send(f"data: {json.dumps(chunk)}\n\n")

    def _send(self, text: str) -> None:
        raw = text.encode()
        if raw:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))

    def _break_off(self) -> None:
        self.close_connection = True
        self.wfile.flush()

    def _hang(self) -> None:
        self.server.owner.is_closed.wait()
        self._break_off()

    # --- Faults

    def _rate_limited(self, text: str, body: Any, is_streamed: bool, retry_after: object = 1) -> None:
        error = {"error": {"message": "Rate limit reached.", "type": "requests"}}
        self._json(error, 429, {"Retry-After": str(retry_after)})

    def _status(
        self, text: str, body: Any, is_streamed: bool, status: int = 500, message: str = "No.", raw: bytes | None = None
    ) -> None:
        said = message.replace("{key}", self.headers.get("Authorization", ""))
        self._json(raw if raw is not None else {"error": {"message": said}}, status)

    def _cut_body(self, text: str, body: Any, is_streamed: bool) -> None:
        raw = json.dumps(self._whole(text)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2])
        self._break_off()

    def _cut_stream(self, text: str, body: Any, is_streamed: bool) -> None:
        self._begin_stream()
        for chunk in self._chunks(text, body)[:2]:
            self._event(chunk)
        self._break_off()

    def _no_end(self, text: str, body: Any, is_streamed: bool, n_chunks: int = 2) -> None:
        self._stream(self._chunks(text, body)[:n_chunks], end="")

    def _silence(self, text: str, body: Any, is_streamed: bool) -> None:
        self._hang()

    def _dribble(self, text: str, body: Any, is_streamed: bool) -> None:
        if is_streamed:
            self._begin_stream()
            while not self.server.owner.is_closed.wait(_DRIBBLE_S):
                self._event({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]})
        else:
            self._json_head(10_000)
            while not self.server.owner.is_closed.wait(_DRIBBLE_S):
                self.wfile.write(b" ")
        self._break_off()

    def _dribble_headers(self, text: str, body: Any, is_streamed: bool) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not self.server.owner.is_closed.wait(_DRIBBLE_S):
            self.wfile.write(b"X-Slow: 1\r\n")
        self._break_off()

    def _json_head(self, length: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _not_json(self, text: str, body: Any, is_streamed: bool) -> None:
        self._json(b"<html>Welcome to nginx</html>")

    def _wrong_shape(self, text: str, body: Any, is_streamed: bool, shape: Any = None) -> None:
        self._stream([shape]) if is_streamed else self._json(shape)

    def _events(
        self,
        text: str,
        body: Any,
        is_streamed: bool,
        chunks: list[Any],
        end: str = "data: [DONE]\n\n",
        is_hanging: bool = False,
    ) -> None:
        if not is_hanging:
            self._stream(chunks, end)
            return
        self._begin_stream()
        for chunk in chunks:
            self._event(chunk)
        self._hang()

    def _endless(self, text: str, body: Any, is_streamed: bool) -> None:
        self._begin_stream()
        filler = {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm. " * 2000}, "finish_reason": None}]}
        while not self.server.owner.is_closed.is_set():
            self._event(filler)
        self._break_off()

    def _huge(self, text: str, body: Any, is_streamed: bool) -> None:
        self._json(self._whole("a" * 5_000_000))

    def _compressed(self, text: str, body: Any, is_streamed: bool) -> None:
        self._json(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})

    def _redirect(self, text: str, body: Any, is_streamed: bool, to: str = "") -> None:
        self._json({}, 307, {"Location": to})

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that each reply takes (0)")
    options = parser.parse_args()
    with ChatServer(port=options.port, delay_s=options.delay):
        threading.Event().wait()


if __name__ == "__main__":
    main()
