"""Dialogues as what is degraded: the chatbot's turns, one by one."""

from collections.abc import Callable
from dataclasses import replace

from campaigns.contracts.transcripts import Spoken, parse_transcript, write_transcript
from campaigns.design.words import segment, unit_of

_MORE_THAN_TWO = 2


def replies_in(text: str) -> list[str]:
    """Return what the chatbot says in a dialogue in more than two words: what may be degraded, and gives words."""
    return [turn.text for turn in parse_transcript(text) if _is_degradable(turn)]


def degrade_replies(text: str, degrade: Callable[[str], str]) -> str:
    """Return a dialogue with every reply of `replies_in` as `degrade` gives it, in order."""
    turns = parse_transcript(text)
    return write_transcript(replace(turn, text=degrade(turn.text)) if _is_degradable(turn) else turn for turn in turns)


def _is_degradable(turn: Spoken) -> bool:
    return turn.speaker == "chatbot" and len(segment(turn.text, unit_of(turn.text)).units) > _MORE_THAN_TWO
