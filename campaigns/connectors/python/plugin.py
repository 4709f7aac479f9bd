"""A chatbot that is a Python class in this process."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings as site

from campaigns.connectors.python.running import chatbot_of
from campaigns.contracts.connector import Connector, ConnectorError, Reply, Request
from campaigns.contracts.options import Choice, JsonObject, OptionsForm
from evalsite.lib.env import ask_to_set


def _classes() -> list[tuple[str, str]]:
    """Return the admin's list as it is now."""
    return [(path, path) for path in site.CHATBOT_CLASSES] or [("", "none: an administrator has listed no class")]


class _ClassPath(Choice):
    """One of the admin's classes, by default the first of them as they are now."""

    @property
    def initial(self) -> str:
        """The first class."""
        return _classes()[0][0]

    @initial.setter
    def initial(self, value: object) -> None:
        pass  # which Django's fields are made with


class Options(OptionsForm):
    """Which class, and what it is made with."""

    class_path = _ClassPath(
        label="Class",
        help_text="An administrator lists the classes in the setting CHATBOT_CLASSES.",
        choices=_classes,
    )
    arguments = JsonObject(
        label="Arguments",
        help_text='A JSON object of keyword arguments, such as {"model": "small"}. Empty: none.',
    )


class PythonClass(Connector):
    """Asks an instance of a class that the admin has listed."""

    slug = "python"
    title = "Python class"
    summary = "A class on this server, of those that the admin has listed in CHATBOT_CLASSES."
    is_remote = True  # it may take its time, as a server does
    judge_settings: ClassVar[Mapping[str, Any]] = {}
    options = Options

    def reply(self, request: Request) -> Reply:
        """Return what the class's `reply` returns; raise ConnectorError."""
        path, arguments = self.value_of("class_path"), self.value_of("arguments")
        if path not in site.CHATBOT_CLASSES:
            missing = ask_to_set("CHATBOT_CLASSES", [*site.CHATBOT_CLASSES, path or "package.module.Class"])
            message = f"“{path}” is not among the classes that may be used. {missing}"
            raise ConnectorError("misconfigured", message, is_passing=False)
        text = str(self.setup.settings.get("arguments") or "")
        said = chatbot_of(path, text, arguments).ask(
            lambda chatbot: chatbot.reply(
                request.turns, persona=request.persona, topic=request.topic, seed=request.seed
            ),
            request.timeout_s,
        )
        if not isinstance(said, str):
            raise ConnectorError("bad_reply", f"{path}.reply returned {type(said).__name__}, not a text.")
        return Reply(said)
