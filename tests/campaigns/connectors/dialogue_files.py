"""Files of dialogues for tests, and chats with the chatbots that speak from them."""

import json
from collections.abc import Sequence
from pathlib import Path

from campaigns.contracts.chat import Utterance
from campaigns.contracts.connector import Connector, Request

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "dialogue" / "dialogues.jsonl"

INPUTS = (
    "Hi! I would like to talk about cooking.",
    "I love making pasta. Do you like to cook?",
    "My sister taught me to bake bread.",
    "Do you have any pets?",
    "What is your favourite meal?",
    "no",
    "I have two dogs and a cat.",
    "What do you do for fun?",
    "Do you remember what I told you about my sister?",
    "It was nice talking to you. Bye!",
)


def write_dialogues(path: Path, *dialogues: object) -> Path:
    """Write a dialogue on each line of `path`; return it."""
    path.write_text(
        "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in dialogues), encoding="utf-8"
    )
    return path


def said(*texts: str) -> tuple[Utterance, ...]:
    """Return turns of worker and chatbot, by turns."""
    return tuple(Utterance("chatbot" if number % 2 else "worker", text) for number, text in enumerate(texts))


def chat_with(
    chatbot: Connector, inputs: Sequence[str] = INPUTS, *, seed: int = 7, topic: str = "", persona: Sequence[str] = ()
) -> list[str]:
    """Return what a chatbot answers to these inputs, one after the other."""
    turns: list[Utterance] = []
    for text in inputs:
        turns.append(Utterance("worker", text))
        request = Request("chat", tuple(turns), topic=topic, persona=tuple(persona), seed=seed)
        turns.append(Utterance("chatbot", chatbot.reply(request).text))
    return [turn.text for turn in turns if turn.by == "chatbot"]
