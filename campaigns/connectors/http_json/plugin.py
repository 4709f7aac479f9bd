"""A chatbot behind any address that takes JSON and answers with JSON."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from campaigns.connectors.asking import check_address, message_of, posting, read_json
from campaigns.connectors.http_json.templates import TemplateError, fill, find, parse, parse_path, placeholders
from campaigns.contracts.connector import Connector, ConnectorError, Reply, Request
from campaigns.contracts.option import Option
from evalsite.lib.errors import DomainError
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


class HttpJson(Connector):
    """Posts JSON made of a template, and finds the reply in the JSON that comes back."""

    slug = "http-json"
    title = "JSON over HTTP"
    summary = "Any server that takes JSON and answers with JSON: you say what is sent and where the reply stands."
    is_remote = True
    topic_placeholder = "{{topic}}"
    options = (
        Option(
            name="url",
            label="Address",
            help="The request is sent there by POST. The admin must have allowed its host. With another host, "
            "enter the secret again.",
            default="",
            kind="address",
            is_required=True,
            is_operational=True,
        ),
        Option(
            name="template",
            label="Request",
            help="JSON. {{text}} is what the worker said last, {{turns}} all that was said, {{persona}} a list, "
            "{{chat}} a name for the chat that stays the same, {{seed}} a number, {{topic}} the chat's topic, "
            "where the chat rules send it.",
            default=TEMPLATE,
            kind="long_text",
            is_required=True,
        ),
        Option(
            name="turn",
            label="A turn in {{turns}}",
            help="JSON with {{role}} and {{text}}.",
            default=TURN,
            kind="long_text",
            is_required=True,
        ),
        Option(name="worker_role", label="{{role}} of the worker", default="user", kind="text"),
        Option(name="chatbot_role", label="{{role}} of the chatbot", default="assistant", kind="text"),
        Option(
            name="reply_path",
            label="Where the reply stands",
            help="Names, and numbers of places in lists from 0, with dots: choices.0.message.content",
            default="reply",
            kind="text",
            is_required=True,
        ),
        Option(
            name="header_name",
            label="Name of a secret header",
            help="Sent if it has a value.",
            default="Authorization",
            kind="text",
            is_operational=True,
        ),
        Option(name="header_value", label="Value of the secret header", help="Such as: Bearer 1234", kind="secret"),
    )

    def reply(self, request: Request) -> Reply:
        """Return what the server answers; raise ConnectorError."""
        try:
            body = self._body(request)
            steps = parse_path(str(self.value_of("reply_path")))
        except TemplateError as error:
            raise ConnectorError("misconfigured", f"The request cannot be made: {error}.", is_passing=False) from None
        secret = self.setup.secrets.get("header_value", "").strip()
        headers = {str(self.value_of("header_name")): secret} if secret else {}
        deadline = Deadline(request.timeout_s)
        with posting(self.setup, str(self.value_of("url")), body, headers=headers, deadline=deadline) as response:
            answer = read_json(response)
        try:
            return Reply(find(answer, steps))
        except TemplateError as error:
            said = message_of(answer, self.setup.secrets.values())
            words = f"The answer has no reply where it should: {error}."
            raise ConnectorError("bad_reply", f"{words} It says: {said}" if said else words) from None

    def _body(self, request: Request) -> Any:
        roles = {"worker": self.value_of("worker_role"), "chatbot": self.value_of("chatbot_role")}
        turn = _parsed(str(self.value_of("turn")), _NAMES_OF_TURN)
        said = [{"role": str(roles[each.by]), "text": each.text} for each in request.turns]
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
        return fill(_parsed(str(self.value_of("template")), _NAMES), values, texts)

    @classmethod
    def takes_topic(cls, settings: Mapping[str, Any]) -> bool:
        """Return whether the request has a place for the topic; one that cannot be read has none."""
        try:
            return "topic" in placeholders(_parsed(str(settings.get("template", TEMPLATE)), _NAMES))
        except TemplateError:
            return False

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings; raise DomainError `bad_option` that says where a template, path or name is none."""
        check_address("Address", settings.get("url"))
        template = _check("Request", parse, settings.get("template", TEMPLATE), _NAMES)
        if not placeholders(template) & {"text", "turns"}:
            raise DomainError("bad_option", "Request: without {{text}} or {{turns}} it does not tell what was said.")
        turn = _check("A turn in {{turns}}", parse, settings.get("turn", TURN), _NAMES_OF_TURN)
        if "text" not in placeholders(turn):
            raise DomainError("bad_option", "A turn in {{turns}}: without {{text}} it does not tell what was said.")
        _check("Where the reply stands", parse_path, settings.get("reply_path", "reply"))
        header = str(settings.get("header_name") or "Authorization")
        if not _HEADER.fullmatch(header) or header.lower() in _OWN_HEADERS:
            raise DomainError("bad_option", f"“{header}” cannot be the name of the secret header.")
        return settings


def _check(label: str, read: Any, text: Any, *more: Any) -> Any:
    try:
        return read(str(text or ""), *more)
    except TemplateError as error:
        raise DomainError("bad_option", f"{label}: {error}.") from None


_parsed = lru_cache(maxsize=64)(parse)
