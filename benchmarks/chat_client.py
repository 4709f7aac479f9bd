"""The workers of `chat.py`: many chats at once from one process that does as little as it can.

    python benchmarks/chat_client.py < plan.json > measured.json

Every request has a connection of its own, as with a browser whose worker types for longer than a server keeps it open.
"""

import asyncio
import json
import random
import re
import resource
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

_TOOK = re.compile(r"It took ([\d.]+) ms")
_MS_PER_S = 1000
_LONGEST_S = 120.0


@dataclass
class Measured:
    """Of every reply, what a worker waited beyond the chatbot's own time, and all that they waited.

    `began`: when every chat was open.
    """

    overhead_ms: list[float] = field(default_factory=list)
    waited_ms: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    began: float = 0.0


async def ask(port: int, method: str, path: str, body: str = "", headers: str = "") -> tuple[int, bytes]:
    """Send a request; return status and body of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        length = len(body.encode())
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n"
        writer.write(f"{head}{headers}\r\n{body}".encode())
        answer = await reader.read(-1)
    finally:
        writer.close()
    top, _, content = answer.partition(b"\r\n\r\n")
    return int(top.split(b" ", 2)[1]), content


def form(**values: Any) -> tuple[str, str]:
    """Return the body and headers of a form that a script sends."""
    return urlencode(values), "Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json\r\n"


class Worker:
    """Somebody who chats: with the site, or, for the floor, with the chatbot itself."""

    def __init__(
        self, plan: dict[str, Any], path: str, number: int, measured: Measured, start: asyncio.Barrier
    ) -> None:
        self._plan, self._path, self._measured, self._start = plan, path, measured, start
        self._random = random.Random(number)

    async def chat(self) -> None:
        """Open the chat and, once all are open, make all inputs, thinking before each; a fault counts as an error."""
        try:
            async with asyncio.timeout(_LONGEST_S * (1 + self._plan["n_inputs"])):
                await asyncio.sleep(self._random.random() * self._plan["open_s"])
                await self._open()
                await self._start.wait()
                self._measured.began = self._measured.began or time.perf_counter()
                # As they are in the middle of their chats: not all at the same place.
                await asyncio.sleep(self._random.random() * self._plan["cycle_s"])
                for number in range(1, 2 * self._plan["n_inputs"], 2):
                    await asyncio.sleep(self._random.expovariate(1) * self._plan["think_s"])
                    began = time.perf_counter()
                    text = await self._say(number)
                    waited_ms = (time.perf_counter() - began) * _MS_PER_S
                    took = _TOOK.search(text)
                    if took is None:
                        raise RuntimeError(f"no reply but {text[:200]!r}")
                    self._measured.waited_ms.append(waited_ms)
                    self._measured.overhead_ms.append(waited_ms - float(took[1]))
        except Exception as error:
            self._measured.errors.append(f"{type(error).__name__}: {error}")
            await self._start.abort()

    async def _open(self) -> None:
        if not self._path:
            return
        for method, path, body in (
            ("GET", self._path, ("", "")),
            ("POST", f"{self._path}topic/", form(position=1, topic="the sea", opinion="like")),
            ("GET", self._path, ("", "")),
        ):
            status, content = await ask(self._plan["port"], method, path, *body)
            if status != 200:
                raise RuntimeError(f"{method} {path}: {status} {content[:200]!r}")

    async def _say(self, number: int) -> str:
        text = f"This is input {number // 2 + 1}, about as long as what people write in chats."
        if not self._path:
            body = json.dumps({"model": "floor", "messages": [{"role": "user", "content": text}] * number})
            status, content = await ask(self._plan["port"], "POST", "/v1/chat/completions", body)
            return content.decode()
        values = {"position": 1, "number": number, "text": text, "typed_ms": 9000, "n_pastes": 0, "n_focus_lost": 0}
        verb, sent = "say", form(**values)
        while True:
            status, content = await ask(self._plan["port"], "POST", f"{self._path}{verb}/", *sent)
            if status != 200:
                raise RuntimeError(f"{verb}: {status} {content[:200]!r}")
            answer = json.loads(content)
            if answer["status"] == "replied":
                return str(answer["turns"][-1]["text"])
            if answer["status"] != "waiting":
                raise RuntimeError(f"{verb}: {content[:300]!r}")
            await asyncio.sleep(answer["wait_ms"] / _MS_PER_S)
            verb, sent = "reply", form(position=1, number=answer["number"])


async def main() -> None:
    """Read the plan, have every chat at once, print what was measured."""
    plan = json.load(sys.stdin)
    measured = Measured()
    start = asyncio.Barrier(len(plan["paths"]))
    workers = [Worker(plan, path, rank, measured, start) for rank, path in enumerate(plan["paths"])]
    await asyncio.gather(*(worker.chat() for worker in workers))
    used = resource.getrusage(resource.RUSAGE_SELF)
    totals = {"seconds": time.perf_counter() - measured.began, "cpu_s": used.ru_utime + used.ru_stime}
    print(json.dumps(vars(measured) | totals))


if __name__ == "__main__":
    asyncio.run(main())
