"""A chatbot of the database as one that can be asked."""

import logging
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.views.decorators.debug import sensitive_variables

from campaigns.connectors import get_connector
from campaigns.contracts.chat import ChatRules
from campaigns.contracts.connector import Connector, ConnectorError, Reply, Request, Setup
from campaigns.models import Campaign, Chatbot
from evalsite.lib.encryption import decrypt_secrets
from evalsite.lib.errors import DomainError

if TYPE_CHECKING:
    from evalsite.lib.http import Client

logger = logging.getLogger(__name__)

EXAMPLE_DIALOGUES = Path(settings.BASE_DIR) / "examples" / "dialogue" / "dialogues.jsonl"
_MOST_CLIENTS, _CONNECTIONS = 32, 400


def connector_of(chatbot: Chatbot) -> Connector:
    """Return the connector that asks a chatbot; raise DomainError if it is unknown or its secrets cannot be read."""
    name = chatbot.dialogues.name
    dialogues = Path(default_storage.path(name)) if name else EXAMPLE_DIALOGUES
    return make_connector(chatbot.connector, chatbot.settings, chatbot.secrets, dialogues)


@sensitive_variables()
def make_connector(
    slug: str, settings: Mapping[str, Any], secrets: str, dialogues: Path = EXAMPLE_DIALOGUES
) -> Connector:
    """Return a connector with these settings and encrypted secrets; raise DomainError as `connector_of`."""
    setup = Setup(settings=settings, secrets=decrypt_secrets(secrets), open_client=open_client, dialogues=dialogues)
    return get_connector(slug)(setup)


def ask(chatbot: Chatbot, request: Request) -> Reply:
    """Return a chatbot's reply as `ask_connector` does; raise ConnectorError, also when its spending cap is reached."""
    if chatbot.is_spent:
        raise ConnectorError(
            "spending_cap", f"{chatbot} has reached its spending cap of {chatbot.spending_cap}.", is_passing=False
        )
    return ask_connector(partial(connector_of, chatbot), request, name=f"chatbot {chatbot.pk}")


@sensitive_variables()
def ask_connector(make: Callable[[], Connector], request: Request, *, name: str) -> Reply:
    """Return a reply, no longer than wanted; raise ConnectorError, whatever goes wrong, without any secret.

    It may wait for the network, so not to be called in a transaction; the database connection goes back to its pool
    meanwhile. No query. The log calls what was asked by its `name`.
    """
    from campaigns.connectors.asking import clean, without

    secrets: Collection[str] = ()
    try:
        connector = make()
        secrets = connector.setup.secrets.values()
        if connector.is_remote:
            release_connection()
        reply = connector.reply(request)
    except ConnectorError as error:
        error.message = without(secrets, error.message)
        error.args = (error.message,)
        raise
    except DomainError as error:
        raise ConnectorError(error.code, error.message, is_passing=False) from None
    except Exception as error:
        logger.error("the %s failed:\n%s", name, without(secrets, traceback.format_exc()))
        raise ConnectorError("failed", f"The connector failed: {type(error).__name__}.") from None
    text = clean(reply.text)
    if not text:
        raise ConnectorError("empty_reply", "The chatbot said nothing.", reply=reply)
    is_cut = reply.is_cut or len(text) > request.max_chars
    return replace(reply, text=text[: request.max_chars].rstrip(), is_cut=is_cut)


def is_sent_topic(chatbot: Chatbot, rules: ChatRules) -> bool:
    """Return whether a chatbot of a campaign with these rules is sent the topic of a chat.

    One whose connector is not installed any more may have been.
    """
    if not rules.sends_topic:
        return False
    try:
        return get_connector(chatbot.connector).takes_topic(chatbot.settings)
    except DomainError:
        return True


def systems_sent_topic(campaign: Campaign) -> frozenset[str]:
    """Return the names of the campaign's chatbots that are sent the topic. One query at most."""
    rules = campaign.chat_rules
    if not rules.sends_topic:
        return frozenset()
    chatbots = Chatbot.objects.filter(system__campaign=campaign).select_related("system")
    return frozenset(chatbot.system.name for chatbot in chatbots if is_sent_topic(chatbot, rules))


def release_connection() -> None:
    """Give the database connection back to its pool while nothing is asked of it; the next query takes one again."""
    if not connection.in_atomic_block and settings.DATABASES["default"].get("OPTIONS", {}).get("pool"):
        connection.close()


def open_client(base_url: str) -> "Client":
    """Return a client for an address that the admin has allowed, one for all who ask; raise ConnectorError."""
    from evalsite.lib.http import HostRefusedError

    try:
        return _client(base_url, tuple(settings.CHATBOT_HOSTS))
    except HostRefusedError as error:
        raise ConnectorError("host_refused", str(error), is_passing=False) from None
    except ValueError as error:
        raise ConnectorError("misconfigured", str(error), is_passing=False) from None


@lru_cache(maxsize=_MOST_CLIENTS)
def _client(base_url: str, allowed: tuple[str, ...]) -> "Client":
    from evalsite.lib.http import open_guarded_client

    return open_guarded_client(base_url, allowed=allowed, max_connections=_CONNECTIONS)
