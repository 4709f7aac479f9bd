"""What the chat pages show, in the shapes of templates/rate, and what their script is told.

Nothing here may tell which chatbot it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.chat.replies import Outcome
from annotation.chat.services import LONGEST_TOPIC
from annotation.models import Assignment, Conversation, TopicChange, Turn
from annotation.presenters.worker import instructions_of
from campaigns.contracts.chat import ChatRules, Utterance
from campaigns.models import Campaign

# The pages' addresses, by the names of their templates' forms.
ADDRESSES = ("hit", "topic", "say", "reply", "change", "end", "leave")
_MS_PER_S = 1000

# What a worker is told of a reply that was given up. Never why: a chatbot's fault could tell which it is.
FAILED = "There is no reply at the moment. Your message is kept."
_WORKER, _CHATBOT = Turn.Speaker.WORKER.value, Turn.Speaker.CHATBOT.value
# What the page's script makes new turns of.
_BLANK = {by: {"by": by, "text": ""} for by in (_WORKER, _CHATBOT)}


def page_of(campaign: Campaign, *, position: int, n_items: int) -> dict[str, Any]:
    """Return what all pages of a chat show."""
    return {
        "is_live": True,
        "title": f"Chat {position} of {n_items}",
        "position": position,
        "n_items": n_items,
        "n_done": position - 1,
        "instructions": instructions_of(campaign),
        "opinions": [{"value": value, "label": label} for value, label in Conversation.Opinion.choices],
        "longest_topic": LONGEST_TOPIC,
    }


def topic(assignment: Assignment, statement: str, draft: Mapping[str, str]) -> dict[str, Any]:
    """Return the page before a chat: the topic that is given, or room for one, and what the worker thinks of it."""
    common = page_of(assignment.campaign, position=assignment.position, n_items=assignment.n_items)
    return common | {"statement": statement, "draft": draft}


def chat(
    assignment: Assignment,
    conversation: Conversation,
    turns: Sequence[Turn],
    topic: str,
    draft: Mapping[str, str],
    *,
    can_leave: bool,
) -> dict[str, Any]:
    """Return a chat as it stands."""
    rules = assignment.campaign.chat_rules
    return (
        page_of(assignment.campaign, position=assignment.position, n_items=assignment.n_items)
        | stand_of(rules, said_in(turns), topic)
        | {
            "method": "post",
            "awaits_reply": conversation.awaits_reply,
            "can_leave": can_leave,
            "draft": draft,
        }
    )


def said_in(turns: Iterable[Turn]) -> list[Utterance]:
    """Return what was said in these turns."""
    return [Utterance("worker" if turn.speaker == _WORKER else "chatbot", turn.text) for turn in turns]


def stand_of(rules: ChatRules, said: Sequence[Utterance], topic: str) -> dict[str, Any]:
    """Return what was said in a chat and how far the chat is."""
    n_inputs = sum(turn.by == _WORKER for turn in said)
    return {
        "topic": topic,
        "turns": said,
        "number": len(said) + 1,
        "n_inputs": n_inputs,
        "min_inputs": rules.min_inputs,
        "progress": _progress(n_inputs, rules),
        "longest_input": rules.longest_input,
        "is_full": n_inputs >= rules.max_inputs,
        "changes": [{"value": value, "label": label} for value, label in TopicChange.By.choices],
        "blank": _BLANK,
    }


def transcript(said: Sequence[Utterance]) -> dict[str, Any]:
    """Return a chat that has ended, for the page on which it is rated."""
    return {"is_live": True, "turns": said}


def answer(
    conversation: Conversation, turns: Iterable[Turn], outcome: Outcome, assignment: Assignment, *, topic: str = ""
) -> dict[str, Any]:
    """Return what the chat page's script is told: the new turns, and whether a reply is there, awaited or given up."""
    rules = assignment.campaign.chat_rules
    is_given_up = outcome.status == "failed"
    return {
        "status": outcome.status,
        "wait_ms": round(outcome.wait_s * _MS_PER_S),
        "turns": [_turn(turn) for turn in turns],
        "number": conversation.n_turns + 1,
        "n_inputs": conversation.n_inputs,
        "progress": _progress(conversation.n_inputs, rules),
        "can_end": conversation.n_inputs >= rules.min_inputs,
        "is_full": conversation.n_inputs >= rules.max_inputs,
        "can_leave": is_given_up,
        "message": FAILED if is_given_up else "",
    } | ({"topic": topic} if topic else {})


def refusal(message: str, code: str) -> dict[str, Any]:
    """Return what the script is told of something that was refused."""
    return {"status": "refused", "code": code, "message": message}


def _turn(turn: Turn) -> dict[str, Any]:
    return {"number": turn.number, "by": turn.speaker, "text": turn.text}


def _progress(n_inputs: int, rules: ChatRules) -> str:
    return f"{n_inputs} message{'s' if n_inputs != 1 else ''}, at least {rules.min_inputs}"
