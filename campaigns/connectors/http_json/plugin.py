"""A chatbot behind any address that takes JSON and answers with JSON."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from django.core.exceptions import ValidationError

from campaigns.connectors.asking import check_address, message_of, posting, read_json
from campaigns.connectors.http_json.templates import TemplateError, fill, find, parse, parse_path, placeholders
from campaigns.contracts.connector import Connector, ConnectorError, Reply, Request
from campaigns.contracts.options import Address, LongText, OptionsForm, Secret, Text
from evalsite.lib.http import Deadline

TEMPLATE = """\
{
  "text": "{{text}}",
  "turns": "{{turns}}",
  "persona": "{{persona}}",
  "chat": "{{chat}}",
  "seed": "{{seed}}"
}"""
TURN = '{"role": "{{role}}", "content": "{{text}}"}'

_NAMES = frozenset({"text", "turns", "topic", "persona", "chat", "seed"})
_NAMES_OF_TURN = frozenset({"role", "text"})
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# They say where a request goes and where it ends.
_OWN_HEADERS = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection", "upgrade"})


_parsed = lru_cache(maxsize=64)(parse)


def _check_template(text: str) -> None:
    if not placeholders(_or_refused(parse, text, _NAMES)) & {"text", "turns"}:
        raise ValidationError("Without {{text}} or {{turns}} it does not say what was said.")


def _check_turn(text: str) -> None:
    if "text" not in placeholders(_or_refused(parse, text, _NAMES_OF_TURN)):
        raise ValidationError("Without {{text}} it does not say what was said.")


def _check_path(text: str) -> None:
    _or_refused(parse_path, text)


def _check_header(name: str) -> None:
    if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
        raise ValidationError(f"“{name}” cannot be the name of the secret header.")


def _or_refused(read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except TemplateError as error:
        raise ValidationError(f"{error}.") from None


class Options(OptionsForm):
    """Where the server is, what is sent to it, and where in the answer the reply is."""

    url = Address(
        label="Address",
        help_text="The request is sent there by POST. An administrator must have allowed its host. With another host, "
        "enter the secret again.",
        validators=[check_address],
        required=True,
        is_operational=True,
    )
    template = LongText(
        label="Request",
        help_text="JSON. {{text}} is what the worker said last, {{turns}} all that was said, {{persona}} a list, "
        "{{chat}} a name for the chat that stays the same, {{seed}} a number, {{topic}} the chat's topic, "
        "where the chat rules send it.",
        initial=TEMPLATE,
        validators=[_check_template],
        required=True,
    )
    turn = LongText(
        label="A turn in {{turns}}",
        help_text="JSON with {{role}} and {{text}}.",
        initial=TURN,
        validators=[_check_turn],
        required=True,
    )
    worker_role = Text(label="{{role}} of the worker", initial="user")
    chatbot_role = Text(label="{{role}} of the chatbot", initial="assistant")
    reply_path = Text(
        label="Path of the reply",
        help_text="Names, and numbers of places in lists from 0, with dots: choices.0.message.content",
        initial="reply",
        validators=[_check_path],
        required=True,
    )
    header_name = Text(
        label="Name of a secret header",
        help_text="Sent if it has a value.",
        initial="Authorization",
        validators=[_check_header],
        is_operational=True,
    )
    header_value = Secret(label="Value of the secret header", help_text="Such as: Bearer 1234")


class HttpJson(Connector):
    """Posts JSON made of a template, and finds the reply in the JSON that comes back."""

    slug = "http-json"
    title = "JSON over HTTP"
    summary = "Any server that takes JSON and answers with JSON: you set what is sent and where the reply is."
    is_remote = True
    topic_placeholder = "{{topic}}"
    judge_settings: ClassVar[Mapping[str, Any]] = {}
    options = Options

    def reply(self, request: Request) -> Reply:
        """Return what the server answers; raise ConnectorError."""
        try:
            body = self._body(request)
            steps = parse_path(self.value_of("reply_path"))
        except TemplateError as error:
            raise ConnectorError("misconfigured", f"The request cannot be made: {error}.", is_passing=False) from None
        secret = self.setup.secrets.get("header_value", "").strip()
        headers = {self.value_of("header_name") or "Authorization": secret} if secret else {}
        deadline = Deadline(request.timeout_s)
        with posting(self.setup, self.value_of("url"), body, headers=headers, deadline=deadline) as response:
            answer = read_json(response)
        try:
            return Reply(find(answer, steps))
        except TemplateError as error:
            said = message_of(answer, self.setup.secrets.values())
            words = f"The answer has no reply where it should: {error}."
            raise ConnectorError("bad_reply", f"{words} It says: {said}" if said else words) from None

    def _body(self, request: Request) -> Any:
        roles = {"worker": self.value_of("worker_role"), "chatbot": self.value_of("chatbot_role")}
        turn = _parsed(self.value_of("turn"), _NAMES_OF_TURN)
        said = [{"role": roles[each.by], "text": each.text} for each in request.turns]
        values: dict[str, Any] = {
            "text": request.turns[-1].text if request.turns else "",
            "turns": [fill(turn, each, each) for each in said],
            "topic": request.topic,
            "persona": list(request.persona),
            "chat": request.chat,
            "seed": request.seed,
        }
        texts = {name: str(value) for name, value in values.items()} | {
            "turns": "\n".join(f"{each['role']}: {each['text']}" for each in said),
            "persona": " ".join(request.persona),
        }
        return fill(_parsed(self.value_of("template"), _NAMES), values, texts)

    @classmethod
    def takes_topic(cls, settings: Mapping[str, Any]) -> bool:
        """Return whether the request has a place for the topic; one that cannot be read has none."""
        try:
            return "topic" in placeholders(_parsed(str(settings.get("template", TEMPLATE)), _NAMES))
        except TemplateError:
            return False
