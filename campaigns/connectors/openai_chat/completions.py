"""Reading chat completions, whole or streamed."""

from typing import Any

from campaigns.connectors.asking import clean, iter_lines, parse_json
from campaigns.contracts.connector import ConnectorError, Reply
from evalsite.lib.http import Deadline, RequestError, Response

_THINK, _THOUGHT = "<think>", "</think>"
# How long, and how far, a stream is read after the reply is there: the count of tokens comes last.
_LINGER_S, _LINGER_CHARS = 2.0, 256 * 1024
# How long the end of the answer is waited for after the last event: a connection that was read to its end serves again.
_END_S = 0.1
_DONE = "[DONE]"


class Completion:
    """A reply as it comes in, of which no more than `max_chars` characters are wanted.

    `error` is what the server reports instead of one. `is_there`: the model has said that it came to an end, or there
    is more text than is wanted.
    """

    def __init__(self, max_chars: int) -> None:
        self.error: Any = None
        self.is_there = False
        self._max_chars = max_chars
        self._parts: list[str] = []
        self._n_chars = 0
        self._finish_reason = ""
        self._n_tokens_in = self._n_tokens_out = 0

    def take(self, data: Any) -> None:
        """Take a whole completion; raise ConnectorError `bad_reply` if it is none."""
        if isinstance(data, dict) and not data.get("error") and not _is_message(data.get("choices")):
            raise _bad()
        self.add(data)

    def add(self, data: Any) -> None:
        """Take the next part of a streamed completion; raise ConnectorError `bad_reply` if it is none."""
        if not isinstance(data, dict):
            raise _bad()
        self._count(data.get("usage"))
        if self.is_there:
            return
        if data.get("error"):
            self.error = data
            return
        choices = data.get("choices", [])
        if not isinstance(choices, list) or not ("choices" in data or "usage" in data):
            raise _bad()
        if choices:
            self._hear(choices[0])

    def to_reply(self) -> Reply:
        """Return what was said: nothing, too, where a model has spent all its tokens on thinking."""
        return Reply(self._text(), self._n_tokens_in, self._n_tokens_out, is_cut=self._finish_reason == "length")

    def _hear(self, choice: Any) -> None:
        said = (choice.get("delta") or choice.get("message") or {}) if isinstance(choice, dict) else None
        if not isinstance(said, dict):
            raise _bad()
        text = _content(said.get("content")) or _content(said.get("refusal"))
        self._parts.append(text)
        self._n_chars += len(text)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish_reason = reason
        is_full = self._n_chars > self._max_chars and len(self._text()) > self._max_chars
        self.is_there = is_full or bool(self._finish_reason)

    def _text(self) -> str:
        """Return what was said so far, without the thoughts that some servers leave in it."""
        text = clean("".join(self._parts))
        if text.startswith(_THINK):
            text = text.partition(_THOUGHT)[2].strip()
        return text

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._n_tokens_in = _number(usage.get("prompt_tokens")) or self._n_tokens_in
            self._n_tokens_out = _number(usage.get("completion_tokens")) or self._n_tokens_out


def read_stream(response: Response, completion: Completion, deadline: Deadline) -> None:
    """Read server-sent events until the reply is there; raise ConnectorError, or RequestError if it is not whole."""
    try:
        _read(response, completion, deadline)
    except RequestError:
        if not completion.is_there:
            raise


def _read(response: Response, completion: Completion, deadline: Deadline) -> None:
    n_after = 0
    for line in iter_lines(response):
        was_there = completion.is_there
        n_after += len(line) if was_there else 0
        name, _, value = line.partition(":")
        if n_after > _LINGER_CHARS:
            return
        if name == "data" and value.strip() == _DONE:
            completion.is_there = True
            deadline.shorten(_END_S)
            continue
        if name != "data":  # a comment that keeps the connection open, or a field that says nothing here
            continue
        completion.add(parse_json(value))
        if completion.error is not None:
            return
        if completion.is_there and not was_there:
            deadline.shorten(_LINGER_S)
    if not completion.is_there:
        raise ConnectorError("cut_off", "The stream ended before the reply did.")


def _is_message(choices: Any) -> bool:
    """Return whether a whole completion has something that its model said."""
    return bool(choices) and isinstance(choices, list) and isinstance(choices[0], dict) and "message" in choices[0]


def _content(content: Any) -> str:
    """Return the text of a message: a string, or parts of which some are texts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    if content is None:
        return ""
    if not isinstance(content, str):
        raise _bad()
    return content


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0


def _bad() -> ConnectorError:
    return ConnectorError("bad_reply", "The answer is JSON, but no chat completion.")
