"""Chat completions, as OpenAI's API has them and vLLM, Ollama, llama.cpp and many hosts have taken over."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.core.exceptions import ValidationError

from campaigns.connectors.asking import check_address, message_of, posting, read_json
from campaigns.connectors.openai_chat.completions import Completion, read_stream
from campaigns.contracts.connector import Attachment, Connector, ConnectorError, Reply, Request
from campaigns.contracts.options import Address, Choice, JsonObject, LongText, Number, OptionsForm, Secret, Text
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
# What newer servers call `max_tokens`; they refuse the former name.
_MAX_COMPLETION_TOKENS = "max_completion_tokens"


class Temperature(Text):
    """A number from 0 to 2, or none: the server's own."""

    def clean(self, value: Any) -> Any:
        """Refuse what is none."""
        self.read(value)
        return super().clean(value)

    def read(self, value: Any) -> Any:
        """Return the temperature."""
        text = super().read(value)
        try:
            temperature = float(text) if text else None
        except ValueError:
            temperature = -1.0
        if temperature is not None and not 0 <= temperature <= _WARMEST:
            raise ValidationError(f"A number from 0 to 2, not “{value}”.")
        return temperature


def _check_fields(text: str) -> None:
    if own := sorted(_OWN_FIELDS & JsonObject().read(text).keys()):
        raise ValidationError(f"“{own[0]}” is set by the connector itself.")


class Options(OptionsForm):
    """Where the model is, and what it is asked."""

    base_url = Address(
        label="Address",
        help_text="Up to what comes before /chat/completions, such as https://api.openai.com/v1. "
        "An administrator must have allowed its host. With another host, enter the key again.",
        initial="https://api.openai.com/v1",
        validators=[check_address],
        required=True,
        is_operational=True,
    )
    model = Text(label="Model", help_text="As the server calls it.", required=True)
    api_key = Secret(label="API key", help_text="Empty for servers that want none.")
    system_prompt = LongText(
        label="System prompt",
        help_text="{persona} stands for the chatbot's statements, {topic} for the chat's topic, where the chat rules "
        "send it. A line with one of them is left out of chats that have none.",
        initial=SYSTEM_PROMPT,
    )
    temperature = Temperature(label="Temperature", help_text="0 to 2. Empty: the server's own.")
    max_tokens = Number(
        label="Longest reply in tokens",
        help_text="Empty: the server's own. Workers see at most as many characters as “Longest reply” says.",
        min_value=0,
    )
    is_streaming = Choice(
        label="Streaming",
        help_text="Streamed replies are read as they are written, so that one that is too long can be left early.",
        choices=(("yes", "yes"), ("no", "no")),
        initial="yes",
    )
    more_fields = JsonObject(
        label="Further fields of the request",
        help_text='A JSON object, such as {"top_p": 0.9, "max_completion_tokens": 400}. Empty: none.',
        validators=[_check_fields],
    )


class OpenAIChat(Connector):
    """Asks a server for a chat completion."""

    slug = "openai-chat"
    title = "OpenAI-compatible"
    summary = "A model behind a chat completions API: OpenAI, vLLM, Ollama, llama.cpp, and many hosts."
    is_remote = True
    topic_placeholder = _TOPIC
    judge_settings: ClassVar[Mapping[str, Any]] = {"system_prompt": "", "max_tokens": None, "is_streaming": "no"}
    takes_attachments = True
    options = Options

    def reply(self, request: Request) -> Reply:
        """Return the model's next turn; raise ConnectorError."""
        deadline = Deadline(request.timeout_s)
        key = self.setup.secrets.get("api_key", "").strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = f"{self.value_of('base_url').rstrip('/')}/chat/completions"
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
        prompt = fill(self.value_of("system_prompt"), topic=request.topic, persona=request.persona)
        system = [{"role": "system", "content": prompt}] if prompt else []
        roles = {"worker": "user", "chatbot": "assistant"}
        messages: list[dict[str, Any]] = [{"role": roles[turn.by], "content": turn.text} for turn in request.turns]
        if request.attachments:
            pictures = [{"type": "image_url", "image_url": {"url": _data_url(each)}} for each in request.attachments]
            messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"]}, *pictures]
        body: dict[str, Any] = {"model": self.value_of("model"), "messages": [*system, *messages]}
        if (temperature := self.value_of("temperature")) is not None:
            body["temperature"] = temperature
        more = self.value_of("more_fields")
        if n_most := request.max_tokens or self.value_of("max_tokens"):
            is_newer = request.max_tokens and _MAX_COMPLETION_TOKENS in more
            body[_MAX_COMPLETION_TOKENS if is_newer else "max_tokens"] = n_most
        if self.value_of("is_streaming") != "no":
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return more | body

    @classmethod
    def takes_topic(cls, settings: Mapping[str, Any]) -> bool:
        """Return whether the system prompt has a place for the topic."""
        return _TOPIC in str(settings.get("system_prompt", SYSTEM_PROMPT) or "")


def _data_url(attachment: Attachment) -> str:
    return f"data:{attachment.media_type};base64,{b64encode(attachment.content).decode()}"


def fill(prompt: str, *, topic: str, persona: Sequence[str]) -> str:
    """Return a prompt with topic and statements in their places, without the lines whose place stays empty."""
    values = {_TOPIC: topic, _PERSONA: " ".join(persona)}
    empty = [name for name, value in values.items() if not value]
    lines = [line for line in prompt.splitlines() if not any(name in line for name in empty)]
    # At once, so that a topic called “{persona}” stays what the worker typed.
    return re.sub(r"\{(topic|persona)\}", lambda found: values[found[0]], "\n".join(lines)).strip()
