"""How workers chat in a campaign whose systems they meet live, and what was said."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from string import ascii_uppercase
from typing import Any, Literal

Opening = Literal["free", "icebreaker"]
Speaker = Literal["worker", "chatbot"]


@dataclass(frozen=True)
class ChatRules:
    """The rules of a campaign's chats.

    `opening`: the worker types a topic (free), or is given a statement of a persona (icebreaker). A chat may end after
    `min_inputs` of the worker's, and takes no more than `max_inputs`, of at most `longest_input` characters each.
    `sends_topic`: the chatbots are sent the current topic beside the messages. Without it they see the messages only,
    and an ice-breaker is known to those that have it in their persona.

    References
    ----------
    METHOD §2: at least 10 inputs; what the chatbot knows of the topic.
    """

    opening: Opening = "free"
    min_inputs: int = 10
    max_inputs: int = 100
    longest_input: int = 5000
    sends_topic: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the rules as the JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ChatRules":
        """Return the rules that `to_json` gave."""
        return cls(**data)


@dataclass(frozen=True)
class Utterance:
    """One turn of a dialogue: who says what. In a dialogue that was collected before, the worker is its person.

    `name`: what the chatbot is called, where there are two at once.
    """

    by: Speaker
    text: str
    name: str = ""


def names_of(n_chatbots: int) -> Sequence[str]:
    """Return what chatbots of a page are called: letters, where there are several."""
    return ascii_uppercase[:n_chatbots] if n_chatbots > 1 else ("",)
