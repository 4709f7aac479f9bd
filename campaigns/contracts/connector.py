"""The contract of a connector: what asks a chatbot for its next reply."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from campaigns.contracts.chat import Utterance
from campaigns.contracts.options import Address, OptionsForm
from evalsite.lib.errors import DomainError

if TYPE_CHECKING:
    from evalsite.lib.http import Client

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Setup:
    """What a connector is made of.

    `settings` and `secrets` hold the values of its options by name. `open_client` returns a client for the scheme, host
    and port of an address, shared by all who ask for the same; it raises ConnectorError `host_refused` for hosts that
    the admin has not allowed. `dialogues` is a file of dialogues (campaigns.dialogues).
    """

    settings: Mapping[str, Any]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    open_client: "Callable[[str], Client] | None" = None
    dialogues: Path | None = None


@dataclass(frozen=True)
class Attachment:
    """A file that goes with the last turn of a request, and its type, such as `image/jpeg`."""

    content: bytes = field(repr=False)
    media_type: str


@dataclass(frozen=True)
class Request:
    """What a chatbot is asked: the chat so far, whose last turn is the worker's.

    `chat` names the chat to a chatbot that remembers, and tells nothing else. `topic` is empty unless the campaign's
    chat rules send it. `persona` are the statements that the chatbot is to live up to, `seed` is the chat's own. The
    reply is wanted within `timeout_s`. Of its text no more than `max_chars` characters are kept. A server that takes
    such a limit writes at most `max_tokens`, thoughts included. `attachments` go to connectors that take them only.
    """

    chat: str
    turns: tuple[Utterance, ...]
    topic: str = ""
    persona: tuple[str, ...] = ()
    seed: int = 0
    timeout_s: float = 30.0
    max_chars: int = 1000
    max_tokens: int | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What a chatbot said, as it came: the caller strips and cuts it, and takes an empty one for no reply.

    Tokens are 0 where they are not counted. `is_cut`: there is more that was not read or not written.
    """

    text: str
    n_tokens_in: int = 0
    n_tokens_out: int = 0
    is_cut: bool = False


class ConnectorError(DomainError):
    """The chatbot gave no reply. The message is for researchers; it never holds a secret.

    `is_passing`: a retry may succeed, not before `retry_after_s`. `reply`: what came, of no use but paid for.

    Codes: `unreachable`, `timeout`, `rate_limited`, `server_error`, `cut_off`, `too_large`, `bad_reply`, `empty_reply`,
    `failed` (passing); `host_refused`, `refused` (by the server, as with a wrong key), `misconfigured` (lasting).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        is_passing: bool = True,
        retry_after_s: float = 0.0,
        reply: Reply | None = None,
    ) -> None:
        super().__init__(code, message)
        self.is_passing = is_passing
        self.retry_after_s = retry_after_s
        self.reply = reply


class Connector(ABC):
    """Asks one chatbot. Threads may share an instance; it keeps nothing of a chat.

    `is_remote`: it waits for the network, so that the caller should hold no lock or connection meanwhile.
    `wants_dialogues`: it speaks from a file of dialogues. `is_for_worker_test`: it makes the degraded chatbot, of which
    a campaign has one at most, and no other. `topic_placeholder` marks in its settings where the topic goes; empty
    where the topic needs no place in them. `judge_settings`: what of its options is fixed where it judges outputs; None
    if it cannot do what a prompt asks. `takes_attachments`: it sends pictures along.
    """

    do_not_call_in_templates: ClassVar[bool] = True
    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[type[OptionsForm]] = OptionsForm
    is_remote: ClassVar[bool] = False
    wants_dialogues: ClassVar[bool] = False
    is_for_worker_test: ClassVar[bool] = False
    topic_placeholder: ClassVar[str] = ""
    judge_settings: ClassVar[Mapping[str, Any] | None] = None
    takes_attachments: ClassVar[bool] = False

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    def value_of(self, name: str) -> Any:
        """Return what an option means that is not a secret; raise ConnectorError `misconfigured`."""
        try:
            return self.options.value_of(self.setup.settings, name)
        except DomainError as error:
            raise ConnectorError("misconfigured", error.message, is_passing=False) from None

    @classmethod
    def hosts_of(cls, settings: Mapping[str, Any]) -> list[tuple[str, str, int]]:
        """Return scheme, host and port of each address among the settings; what is not an address is left out."""
        found = []
        for value in (
            settings.get(name) for name, option in cls.options.plain().items() if isinstance(option, Address)
        ):
            try:
                parts = urlsplit(str(value or "").strip())
                if parts.hostname:
                    found.append((parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme, 0)))
            except ValueError:
                continue  # `check` says so
        return found

    @classmethod
    def takes_topic(cls, settings: Mapping[str, Any]) -> bool:
        """Return whether a chatbot with these settings is given the topic of a request."""
        return True

    @abstractmethod
    def reply(self, request: Request) -> Reply:
        """Return the chatbot's next turn; raise ConnectorError."""
