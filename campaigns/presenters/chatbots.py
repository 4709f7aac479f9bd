"""The chatbots of a live campaign: their list, what one may be asked through, the page of one."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from campaigns.checklist import count_families
from campaigns.connectors import get_connector, list_connectors
from campaigns.contracts.connector import Connector
from campaigns.models import Campaign, Chatbot
from campaigns.navigation import campaign_context
from campaigns.queries import list_chatbots
from campaigns.services.chatbot_rows import DEGRADED
from campaigns.services.chatbots import secrets_set
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted


def chatbots_page(campaign: Campaign) -> dict[str, Any]:
    """Return what the list of chatbots shows. One query, however many there are."""
    chatbots = list(list_chatbots(campaign))
    ordinary = [chatbot for chatbot in chatbots if not chatbot.system.is_degraded]
    return campaign_context(campaign, "chatbots") | {
        "rows": [_row(chatbot) for chatbot in chatbots],
        "n_ordinary": len(ordinary),
        "n_families": count_families(ordinary),
        "has_degraded": len(ordinary) < len(chatbots),
        "degraded": DEGRADED,
    }


def _row(chatbot: Chatbot) -> dict[str, Any]:
    connector = connector_class(chatbot)
    return {
        "chatbot": chatbot,
        "connector": connector.title if connector else chatbot.connector,
        "is_missing": connector is None,
        "n_statements": len(chatbot.persona),
        "test": test_shown(chatbot),
        "spent": spent_words(chatbot),
    }


def connector_class(chatbot: Chatbot) -> type[Connector] | None:
    """Return the connector of a chatbot; None if this site does not have it any more."""
    try:
        return get_connector(chatbot.connector)
    except DomainError:
        return None


def test_shown(chatbot: Chatbot) -> dict[str, Any]:
    """Return the state of the last test: its badge and words, and all that it told."""
    tested = chatbot.tested
    if not tested:
        return {"badge": "badge-untested", "words": "not tested"}
    shown = dict(tested) | {"at": datetime.fromisoformat(tested["at"])}
    if not tested["ok"]:
        shown |= {"badge": "badge-failed", "words": "failed"}
    elif tested.get("is_outdated"):
        shown |= {"badge": "badge-untested", "words": "changed since"}
    else:
        shown |= {"badge": "badge-passed", "words": "answers"}
    n_read, n_written = tested.get("n_tokens", (0, 0))
    shown["tokens"] = f"{counted(n_read, 'token')} read, {n_written:,} written" if n_read or n_written else ""
    shown["cost"] = plain(Decimal(tested.get("cost", 0)))
    return shown


test_shown.__test__ = False  # type: ignore[attr-defined]


def spent_words(chatbot: Chatbot) -> str:
    """Return what a chatbot has cost, of its cap if it has one; "" if it costs nothing."""
    if chatbot.spending_cap is not None:
        return f"{plain(chatbot.spent)} of {plain(chatbot.spending_cap)}"
    return plain(chatbot.spent) if chatbot.spent else ""


def plain(amount: Decimal) -> str:
    """Return an amount with two decimals, or with as many as it has.

    >>> plain(Decimal("2")), plain(Decimal("0.003400")), plain(Decimal(0))
    ('2.00', '0.0034', '0')
    """
    if not amount:
        return "0"
    return f"{amount:,.2f}" if amount == amount.quantize(Decimal("0.01")) else f"{amount.normalize():,f}"


def connectors_offered(campaign: Campaign) -> list[type[Connector]]:
    """Return what a new chatbot may be asked through: the degraded connector only where that chatbot is lacking."""
    has_degraded = campaign.systems.filter(is_degraded=True).exists()
    return [each for each in list_connectors() if not (each.is_for_worker_test and has_degraded)]


def connector_shown(connector: type[Connector] | None) -> dict[str, Any] | None:
    """Return what a page shows of a connector: a template would make one of its class."""
    if connector is None:
        return None
    names = ("slug", "title", "summary", "wants_dialogues")
    return {name: getattr(connector, name) for name in names}


def chatbot_page(campaign: Campaign, chatbot: Chatbot) -> dict[str, Any]:
    """Return what the page of one chatbot shows apart from its forms. No query."""
    connector = connector_class(chatbot)
    known = secrets_set(chatbot)
    secrets = connector.options.secrets() if connector else {}
    return campaign_context(campaign, "chatbots") | {
        "chatbot": chatbot,
        "connector": connector_shown(connector),
        "row": _row(chatbot),
        "test": test_shown(chatbot),
        "secrets": [
            {"name": name, "label": option.label, "is_set": bool(known and name in known)}
            for name, option in secrets.items()
        ],
        "is_unreadable": known is None,
        "dialogues": chatbot.dialogues.name.rpartition("/")[2] if chatbot.dialogues.name else "",
    }
