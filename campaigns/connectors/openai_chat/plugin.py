"""Chat completions, as OpenAI's API has them and vLLM, Ollama, llama.cpp and many hosts have taken over."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.connectors.asking import check_address, message_of, posting, read_json
from campaigns.connectors.openai_chat.completions import Completion, read_stream
from campaigns.contracts.connector import Connector, ConnectorError, Reply, Request
from campaigns.contracts.option import Option
from evalsite.lib.errors import DomainError
from evalsite.lib.http import Deadline

SYSTEM_PROMPT = """\
You are chatting with another person online. Write as people do in a chat: one to three short sentences of plain text, \
without lists or headings. Talk about what the other person says, and ask something back now and then.
This is you; live up to every one of these statements in all that you say: {persona}"""

_EVENT_STREAM = "text/event-stream"
# What the connector sets itself.
_OWN_FIELDS = frozenset({"model", "messages", "stream", "stream_options"})
_WARMEST = 2.0
_TOPIC, _PERSONA = "{topic}", "{persona}"


class OpenAIChat(Connector):
    """Asks a server for a chat completion."""

    slug = "openai-chat"
    title = "OpenAI-compatible"
    summary = "A model behind a chat completions API: OpenAI, vLLM, Ollama, llama.cpp, and many hosts."
    is_remote = True
    topic_placeholder = _TOPIC
    options = (
        Option(
            name="base_url",
            label="Address",
            help="Up to what comes before /chat/completions, such as https://api.openai.com/v1. "
            "The admin must have allowed its host. With another host, enter the key again.",
            default="https://api.openai.com/v1",
            kind="address",
            is_required=True,
            is_operational=True,
        ),
        Option(name="model", label="Model", help="As the server calls it.", default="", kind="text", is_required=True),
        Option(name="api_key", label="API key", help="Empty for servers that want none.", kind="secret"),
        Option(
            name="system_prompt",
            label="System prompt",
            help="{persona} stands for the chatbot's statements, {topic} for the chat's topic, where the chat rules "
            "send it. A line with one of them is left out of chats that have none.",
            default=SYSTEM_PROMPT,
            kind="long_text",
        ),
        Option(
            name="temperature", label="Temperature", help="0 to 2. Empty: the server's own.", default="", kind="text"
        ),
        Option(
            name="max_tokens",
            label="Longest reply in tokens",
            help="Empty: the server's own. Workers see at most as many characters as “Longest reply” says.",
            default=None,
        ),
        Option(
            name="is_streaming",
            label="Streaming",
            help="Streamed replies are read as they are written, so that one that is too long can be left early.",
            choices=(("yes", "yes"), ("no", "no")),
            default="yes",
        ),
        Option(
            name="more_fields",
            label="Further fields of the request",
            help='A JSON object, such as {"top_p": 0.9, "max_completion_tokens": 400}. Empty: none.',
            default="",
            kind="long_text",
        ),
    )

    def reply(self, request: Request) -> Reply:
        """Return the model's next turn; raise ConnectorError."""
        deadline = Deadline(request.timeout_s)
        key = self.setup.secrets.get("api_key", "").strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = f"{str(self.value_of('base_url')).rstrip('/')}/chat/completions"
        completion = Completion(request.max_chars)
        with posting(self.setup, url, self._body(request), headers=headers, deadline=deadline) as response:
            if response.headers.get("Content-Type", "").startswith(_EVENT_STREAM):
                read_stream(response, completion, deadline)
            else:  # which some servers send though a stream was asked for
                completion.take(read_json(response))
        if completion.error is not None:
            said = message_of(completion.error, self.setup.secrets.values())
            raise ConnectorError("server_error", f"The server reports an error: {said or 'it does not say which'}.")
        return completion.to_reply()

    def _body(self, request: Request) -> dict[str, Any]:
        prompt = fill(str(self.value_of("system_prompt") or ""), topic=request.topic, persona=request.persona)
        system = [{"role": "system", "content": prompt}] if prompt else []
        roles = {"worker": "user", "chatbot": "assistant"}
        body: dict[str, Any] = {
            "model": self.value_of("model"),
            "messages": [*system, *({"role": roles[turn.by], "content": turn.text} for turn in request.turns)],
        }
        if (warmth := _temperature(self.value_of("temperature"))) is not None:
            body["temperature"] = warmth
        if n_most := self.value_of("max_tokens"):
            body["max_tokens"] = n_most
        if self.value_of("is_streaming") != "no":
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return _object(self.value_of("more_fields")) | body

    @classmethod
    def takes_topic(cls, settings: Mapping[str, Any]) -> bool:
        """Return whether the system prompt has a place for the topic."""
        return _TOPIC in str(settings.get("system_prompt", SYSTEM_PROMPT) or "")

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings; raise DomainError `bad_option` for an address, temperature or fields that are none."""
        check_address("Address", settings.get("base_url"))
        try:
            _temperature(settings.get("temperature"))
            fields = _object(settings.get("more_fields"))
        except ConnectorError as error:
            raise DomainError("bad_option", error.message) from None
        if own := sorted(_OWN_FIELDS & fields.keys()):
            raise DomainError("bad_option", f"Further fields: “{own[0]}” is set by the connector itself.")
        return settings


def fill(prompt: str, *, topic: str, persona: Sequence[str]) -> str:
    """Return a prompt with topic and statements in their places, without the lines whose place stays empty."""
    values = {_TOPIC: topic, _PERSONA: " ".join(persona)}
    empty = [name for name, value in values.items() if not value]
    lines = [line for line in prompt.splitlines() if not any(name in line for name in empty)]
    # In one go, so that a topic called “{persona}” stays what the worker typed.
    return re.sub(r"\{(topic|persona)\}", lambda found: values[found[0]], "\n".join(lines)).strip()


def _temperature(value: Any) -> float | None:
    """Return the temperature; None for the server's own."""
    if value is None or value == "":
        return None
    try:
        warmth = float(value)
    except (TypeError, ValueError):
        warmth = -1.0
    if not 0 <= warmth <= _WARMEST:
        raise ConnectorError(
            "misconfigured", f"The temperature is a number from 0 to 2; it is “{value}”.", is_passing=False
        )
    return warmth


def _object(text: Any) -> dict[str, Any]:
    """Return the object that a JSON text spells; an empty one for an empty text."""
    if not text:
        return {}
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConnectorError("misconfigured", f"Further fields are not JSON: {error}.", is_passing=False) from None
    if not isinstance(found, dict):
        raise ConnectorError("misconfigured", "Further fields are a JSON object, in braces.", is_passing=False)
    return found
