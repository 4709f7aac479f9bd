"""A chatbot that is a Python class in this process."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django.conf import settings as django_settings

from campaigns.connectors.python.running import chatbot_of
from campaigns.contracts.connector import Connector, ConnectorError, Reply, Request
from campaigns.contracts.option import Option
from evalsite.lib.errors import DomainError


class _Options:
    """The options, whose choices are the admin's list as it is now."""

    def __get__(self, instance: object, owner: type | None = None) -> tuple[Option, ...]:
        paths = tuple(django_settings.CHATBOT_CLASSES)
        return (
            Option(
                name="class_path",
                label="Class",
                help="The admin lists the classes in CHATBOT_CLASSES.",
                choices=tuple((path, path) for path in paths) or (("", "none: the admin has listed no class"),),
                default=paths[0] if paths else "",
                is_required=True,
            ),
            Option(
                name="arguments",
                label="Arguments",
                help='A JSON object of keyword arguments, such as {"model": "small"}. Empty: none.',
                default="",
                kind="long_text",
            ),
        )


class PythonClass(Connector):
    """Asks an instance of a class that the admin has listed."""

    slug = "python"
    title = "Python class"
    summary = "A class on this server, of those that the admin has listed in CHATBOT_CLASSES."
    is_remote = True  # it may take its time, as a server does
    options: ClassVar[tuple[Option, ...]] = cast(tuple[Option, ...], _Options())

    def reply(self, request: Request) -> Reply:
        """Return what the class's `reply` returns; raise ConnectorError."""
        path, text = str(self.value_of("class_path")), str(self.value_of("arguments") or "")
        try:
            arguments = _checked(path, text)
        except DomainError as error:
            raise ConnectorError("misconfigured", error.message, is_passing=False) from None
        said = chatbot_of(path, text, arguments).ask(
            lambda chatbot: chatbot.reply(
                request.turns, persona=request.persona, topic=request.topic, seed=request.seed
            ),
            request.timeout_s,
        )
        if not isinstance(said, str):
            raise ConnectorError("bad_reply", f"{path}.reply returned {type(said).__name__}, not a text.")
        return Reply(said)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings; raise DomainError `bad_option` for a class that is not listed, or no arguments."""
        if path := str(settings.get("class_path") or ""):  # none: not chosen yet
            _checked(path, str(settings.get("arguments") or ""))
        return settings


def _checked(path: str, text: str) -> dict[str, Any]:
    """Return the arguments; raise DomainError `bad_option` if they are none, or the class is not the admin's."""
    if path not in django_settings.CHATBOT_CLASSES:
        raise DomainError("bad_option", f"“{path}” is not among the classes that the admin has listed.")
    if not text.strip():
        return {}
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DomainError("bad_option", f"Arguments: {error}.") from None
    if not isinstance(arguments, dict):
        raise DomainError("bad_option", "Arguments: a JSON object is wanted, in braces.")
    return arguments
