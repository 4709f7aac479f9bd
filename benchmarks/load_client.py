"""The workers of `benchmarks/load.py`: each opens an item, then saves one every few seconds and reads the next.

Reads a plan from standard input: `port`, `open_s` in which all open their pages, `period_s` between two saves of a
worker, `n_saves` of each that are counted after that, and for each of the `workers` its page's `path` and the `bodies`
that it posts, in order. Prints `save_ms` and `image_ms`, each a list, `errors`, `n_bytes` and `n_saved` in all. A
worker does what a browser does: one connection for each page and its images, each image asked for once.
"""

import asyncio
import gzip
import json
import random
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

_IMAGE = re.compile(rb'<img[^>]* src="([^"]+)"')
_TIMEOUT_S = 60
_FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


@dataclass
class Measured:
    """What all workers have seen."""

    save_ms: list[float] = field(default_factory=list)
    image_ms: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    n_bytes: int = 0
    n_saved: int = 0


class Connection:
    """A connection to the site, for one page and its images."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> "Connection":
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self, path: str, body: str | None = None) -> tuple[int, bytes, int]:
        """Return status, body and bytes that came."""
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        head += "Accept-Encoding: gzip\r\nAccept: text/html,image/webp\r\n"
        if body is not None:
            head += f"{_FORM}Content-Length: {len(body)}\r\n"
        self._writer.write(f"{head}\r\n{body or ''}".encode())
        raw = await self._reader.readuntil(b"\r\n\r\n")
        status, headers = int(raw.split(b" ", 2)[1]), raw.lower()
        length = re.search(rb"content-length: (\d+)", headers)
        content = await self._reader.readexactly(int(length[1])) if length else b""
        is_packed = b"content-encoding: gzip" in headers
        return status, gzip.decompress(content) if is_packed else content, len(raw) + len(content)


async def work(worker: dict[str, Any], plan: dict[str, Any], opens_at: float, begin: float, measured: Measured) -> None:
    """Open the page, then save until the plan ends; what fails is written down, and the worker goes on."""
    seen: set[str] = set()
    for k, body in enumerate([None, *worker["bodies"]]):
        at = opens_at + k * plan["period_s"]
        if at >= begin + plan["n_saves"] * plan["period_s"]:
            return
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        page = _page(worker["path"], body, plan["port"], seen, measured, is_counted=at >= begin)
        try:
            await asyncio.wait_for(page, _TIMEOUT_S)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            measured.errors.append(f"{type(error).__name__} {error}")


async def _page(
    path: str, body: str | None, port: int, seen: set[str], measured: Measured, *, is_counted: bool
) -> None:
    sent_at = time.monotonic()
    async with Connection(port) as connection:
        status, page, n_bytes = await connection.ask(path, body)
        measured.n_saved += body is not None and status == 200
        if is_counted:
            measured.save_ms.append((time.monotonic() - sent_at) * 1000)
        if status != 200:
            measured.errors.append(f"{status} {path}")
        measured.n_bytes += n_bytes
        for url in dict.fromkeys(urljoin(path, match.decode()) for match in _IMAGE.findall(page)):
            if url not in seen:
                seen.add(url)
                asked_at = time.monotonic()
                status, _, n_bytes = await connection.ask(url)
                if is_counted:
                    measured.image_ms.append((time.monotonic() - asked_at) * 1000)
                measured.n_bytes += n_bytes
                if status != 200:
                    measured.errors.append(f"{status} {url}")


async def main() -> None:
    """Let all workers work; they open their pages one after the other, and what is saved after that is counted."""
    plan = json.load(sys.stdin)
    measured, rng = Measured(), random.Random(1)
    start = time.monotonic() + 0.5
    begin = start + plan["open_s"] + plan["period_s"]
    opened = [start + rng.uniform(0, plan["open_s"]) for _ in plan["workers"]]
    each = zip(plan["workers"], opened, strict=True)
    await asyncio.gather(*(work(worker, plan, at, begin, measured) for worker, at in each))
    print(json.dumps(vars(measured)))


if __name__ == "__main__":
    asyncio.run(main())
