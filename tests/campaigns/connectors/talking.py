"""Requests to connectors, and clients for a server on this machine."""

from typing import Any

from campaigns.contracts.chat import Utterance
from campaigns.contracts.connector import ConnectorError, Request, Setup
from evalsite.lib.http import Client, HostRefusedError, open_guarded_client

_clients: dict[str, Client] = {}


def open_local(base_url: str) -> Client:
    """Return a client as a campaign's chatbots get it, where the admin has allowed this machine and public hosts."""
    try:
        if base_url not in _clients:
            _clients[base_url] = open_guarded_client(base_url, allowed=["127.0.0.1", "*"])
        return _clients[base_url]
    except HostRefusedError as error:
        raise ConnectorError("host_refused", str(error), is_passing=False) from None
    except ValueError as error:
        raise ConnectorError("misconfigured", str(error), is_passing=False) from None


def make_setup(settings: dict[str, Any] | None = None, **secrets: str) -> Setup:
    return Setup(settings=settings or {}, secrets=secrets, open_client=open_local)


def make_request(*texts: str, **more: Any) -> Request:
    """Return a request whose turns are the worker's and the chatbot's in turn, beginning with the worker's."""
    texts = texts or ("Hello",)
    turns = tuple(Utterance("chatbot" if k % 2 else "worker", text) for k, text in enumerate(texts))
    return Request(**{"chat": "chat-1", "turns": turns, "topic": "the sea", "timeout_s": 10.0, **more})
