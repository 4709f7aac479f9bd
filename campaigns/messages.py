"""Messages of a conversation with roles, in every form that collections have, and as they are kept.

Read are messages of chat completions (OpenAI, with calls of tools; items of its Responses), content blocks (Anthropic),
contents of parts (Gemini), ShareGPT (`from`, `value`), LangChain's (`type`, `data`), and transcripts of
`campaigns.dialogues`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from campaigns.dialogues import NOT_TEXT, parse_transcript
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import shorten

Role = Literal["system", "user", "assistant", "tool"]
MOST_MESSAGES = 400
LIST_KEYS = ("messages", "conversations", "conversation", "chat", "dialogue", "dialog", "turns", "history", "contents")
"""What objects call their list of messages; the first that is there counts."""
_DEEPEST = 60
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human", "person", "customer", "worker", "prompter"), "user"),
    **dict.fromkeys(("assistant", "gpt", "chatgpt", "chatbot", "bot", "model", "ai", "agent"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "ipython", "environment", "function_response"), "tool"),
    "function_call": "assistant",
}
_TEXTS = {"text", "input_text", "output_text", "summary_text", "refusal"}
_CONTENTS = ("content", "value", "output", "text", "parts")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought")
# Parts that have no type, and what they hold.
_PARTS = {"tool_use": ("functionCall", "function_call"), "function_response": ("functionResponse", "function_response")}
# Items of a list that have a type in place of a role, and what messages they are.
_ITEMS: dict[object, Role] = {"function_call": "assistant", "function_call_output": "tool", "reasoning": "assistant"}


class UnreadableError(DomainError):
    """Why a text cannot be read, in words that follow “cannot be read:”. Code: `unreadable`."""

    def __init__(self, message: str) -> None:
        super().__init__("unreadable", message)


@dataclass(frozen=True)
class Call:
    """A call of a tool. `arguments`: as text, JSON if they are; `id` ties a result to it while a file is read."""

    name: str
    arguments: str = ""
    id: str = ""


@dataclass(frozen=True)
class Message:
    """One message. `thought`: what a model wrote for itself; `name`: the tool whose result it is, of `call`."""

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    thought: str = ""
    name: str = ""
    call: str = ""
    is_error: bool = False


def read_messages(text: str) -> tuple[Message, ...]:
    """Return the messages of a cell; raise UnreadableError."""
    data = load(text)
    if data is None:
        return _of_transcript(text)
    entries = listed(data, LIST_KEYS)
    if not entries:
        raise UnreadableError("it has no message. Write a list of them, or an object with such a list as “messages”")
    return messages_of(entries) or _of_transcript(json.dumps(entries))


def write_messages(messages: Iterable[Message]) -> str:
    """Return messages as they are kept: a JSON list, without ids and thoughts; `read_messages` reads it."""
    return json.dumps([_to_json(each) for each in messages if is_said(each)], ensure_ascii=False)


def is_said(message: Message) -> bool:
    """Return whether a message is kept: it is more than a thought."""
    return bool(message.text or message.calls) or message.role == "tool"


def load(text: str) -> Any:
    """Return what a text says in JSON, None if it is not meant as a list or an object; raise UnreadableError."""
    if not re.match(r"\s*(\[\s*[\[{\"\]]|\{)", text):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableError(f"it begins like JSON and is none ({reason})") from None
    check_depth(data)
    return data


def check_depth(data: object) -> None:
    """Raise UnreadableError for lists and objects within each other that nobody can read."""
    level = [data]
    for _ in range(_DEEPEST):
        inner = [each for each in level if isinstance(each, dict | list)]
        if not inner:
            return
        level = [each for held in inner for each in (held.values() if isinstance(held, dict) else held)]
    raise UnreadableError(f"it has more than {_DEEPEST} lists and objects within each other. Keep what is to be read")


def listed(data: object, keys: Sequence[str]) -> list[Any]:
    """Return the list that data are, or have by the first of these keys that they have; [] if there is none."""
    if isinstance(data, Mapping):
        data = next((data[key] for key in keys if isinstance(data.get(key), list)), [])
    return data if isinstance(data, list) else []


def messages_of(entries: Sequence[object]) -> tuple[Message, ...]:
    """Return messages of a list's entries, none if they are no messages; raise UnreadableError, which names one."""
    known = [_role(each) for each in entries]
    if not any(known):
        return ()
    if len(entries) > MOST_MESSAGES:
        raise UnreadableError(f"it has {len(entries):,} messages, and at most {MOST_MESSAGES} are shown")
    if all(_is_plain(each) for each in entries) and None in known:
        return ()  # a transcript whose speakers have other names
    found: list[Message] = []
    for number, (entry, role) in enumerate(zip(entries, known, strict=True), 1):
        try:
            found += _messages_of(entry, role)
        except UnreadableError as error:
            raise UnreadableError(f"message {number} {error.message}") from None
    return tuple(_with_names(found))


def arguments_shown(arguments: str) -> str:
    """Return the arguments of a call as people read them: a line each, longer ones below their names."""
    try:
        data = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(data, dict):
        return arguments
    values = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in data.values()]
    pairs = zip(data, values, strict=True)
    lines = "\n".join(f"{name}:\n{value}" if "\n" in value else f"{name}: {value}" for name, value in pairs)
    return lines.replace("\0", "")


def json_text(value: object) -> str:
    """Return what a tool was given or gave as text: a text as it is, or JSON in one form; raise UnreadableError."""
    if isinstance(value, str):
        try:
            data = json.loads(value) if re.match(r"\s*[\[{]", value) else None
            return tidy(value if data is None else json.dumps(data, ensure_ascii=False))
        except (ValueError, RecursionError):
            return tidy(value)
    return "" if value is None else tidy(json.dumps(value, ensure_ascii=False))


def tidy(text: str) -> str:
    """Return a text without empty lines around it; raise UnreadableError for characters that are not text."""
    if NOT_TEXT.search(text):
        raise UnreadableError("holds characters that are not text. Type it again")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()


def _of_transcript(text: str) -> tuple[Message, ...]:
    try:
        turns = parse_transcript(text)
    except DomainError as error:
        raise UnreadableError(error.message) from None
    return tuple(Message("user" if turn.by == "worker" else "assistant", turn.text) for turn in turns)


def _role(entry: object) -> Role | None:
    """Return the role of an entry, None if it has none that is known."""
    if not isinstance(entry, Mapping):
        return None
    name = next((entry[key] for key in ("role", "from", "type") if isinstance(entry.get(key), str)), "")
    return _ITEMS.get(name) or _ROLES.get(name.strip().casefold()) or _of_item(entry)


def _of_item(entry: Mapping[str, Any]) -> Role | None:
    return "user" if entry.get("type") == "message" and "role" not in entry else None


def _is_plain(entry: object) -> bool:
    return isinstance(entry, Mapping) and not any(isinstance(value, dict | list) for value in entry.values())


def _messages_of(entry: object, role: Role | None) -> Iterator[Message]:
    """Yield the messages of an entry: its own, after results of tools that stand in it."""
    if not isinstance(entry, Mapping):
        raise UnreadableError("is not an object with “role” and “content”")
    if role is None:
        said = entry.get("role", entry.get("from", ""))
        raise UnreadableError(
            f"has the role “{shorten(str(said))}”. Give it one of system, user, assistant and tool, or leave it out"
        )
    for held in ("data", "message"):
        entry = entry | entry[held] if isinstance(entry.get(held), dict) else entry
    parts = _Parts.of(next((entry[key] for key in _CONTENTS if entry.get(key) is not None), ""))
    thoughts = [text_of(entry[key]) for key in _THOUGHTS if entry.get(key)]
    if entry.get("type") == "reasoning" and isinstance(entry.get("summary"), list):
        thoughts.append(_Parts.of(entry["summary"]).text)
    calls = (*parts.calls, *_calls_of(entry)) if role == "assistant" else ()
    if entry.get("from") == "function_call":
        calls, parts = (*calls, *_calls_of({"tool_calls": [load(parts.text)]})), replace(parts, text="")
    yield from parts.results
    if role == "tool" and not parts.results:
        call = str(entry.get("tool_call_id") or entry.get("call_id") or "")
        is_error = bool(entry.get("is_error")) or entry.get("status") == "error"
        yield Message("tool", parts.text, name=text_of(entry.get("name") or ""), call=call, is_error=is_error)
        return
    thought = "\n\n".join(filter(None, [*thoughts, *parts.thoughts]))
    if parts.text or calls or thought:
        yield Message(role, parts.text, calls, thought)
    elif role not in ("system", "tool") and not parts.results and entry.get("type") != "reasoning":
        raise UnreadableError("says nothing. Write it, or leave it out")


@dataclass(frozen=True)
class _Parts:
    """What the content of a message holds."""

    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[Message, ...] = ()
    thoughts: tuple[str, ...] = ()

    @classmethod
    def of(cls, content: object) -> "_Parts":
        """Return the parts of a text, or of a list of blocks; raise UnreadableError for what is no text."""
        if not isinstance(content, list):
            return cls(text_of(content))
        texts: list[str] = []
        calls: list[Call] = []
        results: list[Message] = []
        thoughts: list[str] = []
        for part in content:
            kind = _kind_of(part)
            if not isinstance(part, Mapping):
                texts.append(text_of(part))
            elif kind in _TEXTS:
                said = part.get("refusal", "") if kind == "refusal" else part.get("text", "")
                texts.append(text_of(said.get("value", "") if isinstance(said, Mapping) else said))
            elif kind == "tool_use":
                calls.append(call_of(_held(part, kind)))
            elif kind == "function_response":
                given = _held(part, kind)
                results.append(Message("tool", json_text(given.get("response")), name=text_of(given.get("name"))))
            elif kind == "tool_result":
                inner = cls.of(part.get("content") or "")
                call = str(part.get("tool_use_id", ""))
                results.append(Message("tool", inner.text, call=call, is_error=bool(part.get("is_error"))))
            elif kind in ("thinking", "reasoning"):
                thoughts.append(text_of(part.get("thinking") or part.get("text") or ""))
            elif kind != "redacted_thinking":
                raise UnreadableError(
                    f"holds “{shorten(str(kind))}”, and messages are text. Write what it says, or leave it out"
                )
        return cls("\n\n".join(filter(None, texts)), tuple(calls), tuple(results), tuple(filter(None, thoughts)))


def _kind_of(part: object) -> object:
    """Return what a block is: its type, or that of Gemini's parts, which have none."""
    if not isinstance(part, Mapping):
        return "text"
    held = next((kind for kind in _PARTS if _held(part, kind) is not part), None)
    return held or part.get("type", "thinking" if part.get("thought") is True else "text")


def _held(part: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return what a part of Gemini holds of this kind, or the part."""
    return next((part[name] for name in _PARTS[kind] if isinstance(part.get(name), Mapping)), part)


def _calls_of(entry: Mapping[str, Any]) -> list[Call]:
    """Return the calls that stand beside the content of a message."""
    calls = entry.get("tool_calls") or []
    if entry.get("type") == "function_call":
        calls = [entry]
    elif isinstance(entry.get("function_call"), Mapping):
        calls = [*calls, entry["function_call"]]
    if not isinstance(calls, list):
        raise UnreadableError("has “tool_calls” that are no list")
    return [call_of(each) for each in calls]


def call_of(entry: object) -> Call:
    """Return a call, whatever its parts are called."""
    if not isinstance(entry, Mapping):
        raise UnreadableError("calls a tool without a name. Write it as {“name”: …, “arguments”: …}")
    id = entry.get("id") or entry.get("call_id") or entry.get("tool_call_id") or ""
    entry = entry["function"] if isinstance(entry.get("function"), Mapping) else entry
    name = entry.get("name") or entry.get("function_name") or entry.get("tool")
    if not isinstance(name, str) or not tidy(name):
        raise UnreadableError("calls a tool without a name. Write it as {“name”: …, “arguments”: …}")
    given = next((entry[key] for key in ("arguments", "args", "input", "parameters") if key in entry), None)
    return Call(tidy(name), json_text(given), str(id))


def text_of(value: object) -> str:
    """Return what is said as text, "" for nothing; what is no text as JSON. Raise UnreadableError."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return json_text(value)
    return tidy(value)


def _with_names(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield messages, results with the names of their tools: by ids or else in the order of the calls."""
    names: dict[str, str] = {}
    waiting: list[str] = []
    for each in messages:
        names |= {call.id: call.name for call in each.calls if call.id}
        waiting = [call.name for call in each.calls] if each.calls else waiting
        if each.role != "tool":
            yield each
            continue
        following = waiting.pop(0) if waiting else ""
        yield replace(each, name=each.name or names.get(each.call, "") or following)


def _to_json(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        found["tool_calls"] = [{"name": each.name, "arguments": each.arguments} for each in message.calls]
    if message.name:
        found["name"] = message.name
    if message.is_error:
        found["is_error"] = True
    return found
