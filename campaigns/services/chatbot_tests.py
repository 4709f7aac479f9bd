"""Asking a chatbot a turn or two, to see whether it answers, how fast, and what that costs."""

import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from campaigns.chatbots import ask
from campaigns.contracts.chat import Utterance
from campaigns.contracts.connector import ConnectorError, Reply, Request
from campaigns.models import Chatbot

# What a test chat is about, where the campaign's chat rules send a topic.
_TOPIC = "everyday life"
_MS_PER_S = 1000


def try_chatbot(*, chatbot: Chatbot, texts: Sequence[str]) -> dict[str, Any]:
    """Say each text to a chatbot and wait for its reply; keep as `Chatbot.tested`, and return, what came of it.

    `at`, `ok`; `turns`, what was said; `took_ms`, the mean of a reply; `n_tokens` and `cost`; or, of a try that failed,
    `code` and `message`. What it costs counts as spent; of a chatbot that is removed meanwhile nothing is kept. Waits
    for the chatbot, however many replies it gives at once: not to be called in a transaction.
    """
    said: list[Utterance] = []
    took_ms: list[int] = []
    replies: list[Reply] = []
    failure: ConnectorError | None = None
    chat = f"test-{uuid4().hex}"  # an external chatbot must not learn the address that workers join by
    for text in texts:
        said.append(Utterance("worker", text))
        begin = time.monotonic()
        try:
            replies.append(ask(chatbot, _request(chatbot, chat, said)))
        except ConnectorError as error:
            failure = error
            replies += [error.reply] if error.reply else []
            break
        took_ms.append(round((time.monotonic() - begin) * _MS_PER_S))
        said.append(Utterance("chatbot", replies[-1].text))
    result: dict[str, Any] = {
        "at": timezone.now().isoformat(),
        "ok": failure is None,
        "turns": [{"by": turn.by, "text": turn.text} for turn in said],
        "n_tokens": [sum(each.n_tokens_in for each in replies), sum(each.n_tokens_out for each in replies)],
    }
    if failure:  # without a time: the degraded chatbot is as slow as tests that went well
        result |= {"code": failure.code, "message": failure.message}
    else:
        result |= {"took_ms": round(sum(took_ms) / len(took_ms)), "code": "", "message": ""}
    return _keep(chatbot, result, sum((_cost(chatbot, each) for each in replies), Decimal(0)))


def _request(chatbot: Chatbot, chat: str, said: Sequence[Utterance]) -> Request:
    return Request(
        chat=chat,
        turns=tuple(said),
        topic=_TOPIC if chatbot.system.campaign.chat_rules.sends_topic else "",
        persona=tuple(chatbot.persona[: chatbot.n_statements]),
        timeout_s=chatbot.timeout_s,
        max_chars=chatbot.max_chars,
    )


def _cost(chatbot: Chatbot, reply: Reply) -> Decimal:
    return chatbot.price_of(reply.n_tokens_in, reply.n_tokens_out)


@transaction.atomic
def _keep(chatbot: Chatbot, result: dict[str, Any], cost: Decimal) -> dict[str, Any]:
    """Store the result; one that another change has overtaken says so."""
    result["cost"] = str(cost)
    now = Chatbot.objects.select_for_update().filter(pk=chatbot.pk).first()
    if now is None:
        return result
    if (now.settings, now.secrets, now.dialogues.name) != (chatbot.settings, chatbot.secrets, chatbot.dialogues.name):
        result["is_outdated"] = True
    Chatbot.objects.filter(pk=chatbot.pk).update(tested=result, spent=F("spent") + cost)
    return result
