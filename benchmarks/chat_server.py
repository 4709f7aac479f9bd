"""A chatbot for `chat.py`: an OpenAI-compatible server that answers after some seconds and says how many it took.

    python benchmarks/chat_server.py PORT SECONDS

The time in its answer runs from the last byte of the request to the first of the answer, by its own clock: what is left
of the time that a worker waited is ours, and the network's.
"""

import asyncio
import json
import sys
import time


class Chatbot:
    """Answers each request after `delay_s`, as a stream where one is asked for, on connections that stay open."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
                sent = json.loads(await reader.readexactly(length))
                began = time.perf_counter()
                await asyncio.sleep(self._delay_s)
                n_turns = len(sent["messages"])
                text = f"This is what I say to turn {n_turns}, which took {(time.perf_counter() - began) * 1000:.3f} ms"
                writer.write(_streamed(text) if sent.get("stream") else _whole(text))
                await writer.drain()
                if b"connection: close" in head:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def _whole(text: str) -> bytes:
    content = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    return _answer("application/json", json.dumps(content).encode())


def _streamed(text: str) -> bytes:
    parts = [{"choices": [{"delta": {"content": f"{word} "}}]} for word in text.split()]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    events = [*(json.dumps(part) for part in (*parts, end)), "[DONE]"]
    return _answer("text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode())


def _answer(kind: str, body: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def main() -> None:
    """Serve until killed."""
    port, delay_s = int(sys.argv[1]), float(sys.argv[2])
    server = await asyncio.start_server(Chatbot(delay_s).serve, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
