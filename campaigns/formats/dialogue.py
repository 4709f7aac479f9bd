"""Dialogues of a person with a chatbot, and the reply that ends one."""

from itertools import count

from campaigns.contracts.chat import Utterance
from campaigns.contracts.format import Block, ContentFormat, Degradation, Place
from campaigns.design.degradation import STEPS_TO_29
from campaigns.dialogues import SPEAKERS, degrade_replies, parse_transcript, replies_in, write_transcript
from evalsite.lib.errors import DomainError


class Dialogue(ContentFormat):
    """A whole dialogue of a person with a chatbot. As an output, the chatbot's replies are what is rated."""

    slug = "dialogue"
    title = "Dialogue"
    summary = "Turns of a person and a chatbot, as a transcript."
    is_drawable = True
    is_one_text = False
    is_shared = False
    has_lists = True
    of_dialogue = "whole"
    has_parts = True
    turn = "Reply"
    n_words = 150
    lengths = STEPS_TO_29
    degraded = "in each reply a run of words replaced by words of another reply"
    hint = (
        "A dialogue has a turn on each line of its cell, <code>Person: …</code> or <code>Chatbot: …</code>; lines that "
        'continue a turn are indented. Or it is a JSON list: <code>[{"speaker": "…", "text": "…"}, …]</code>. Workers '
        "never see what the file calls the speakers."
    )

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return a transcript whose speakers are Person and Chatbot; raise DomainError `bad_transcript`."""
        return write_transcript(_turns_of(text, is_output=is_output))

    @classmethod
    def blocks(cls, value: str, place: Place) -> list[Block]:
        """Return its turns, each called by its place."""
        reply = count(1)
        return [
            Block(
                f"{place.name} {n}",
                SPEAKERS[turn.by],
                turn.text,
                is_output=place.is_output,
                speaker=turn.by,
                dialogue=place.label,
                is_drawn=place.is_drawn,
                turn=next(reply) if turn.by == "chatbot" else 0,
            )
            for n, turn in enumerate(parse_transcript(value, is_before_reply=not place.is_output), 1)
        ]

    @classmethod
    def turns(cls, value: str) -> list[str]:
        """Return what the chatbot says."""
        return [turn.text for turn in parse_transcript(value) if turn.by == "chatbot"]

    @classmethod
    def parts(cls, value: str) -> list[str]:
        """Return what the chatbot says in more than two words."""
        return replies_in(value)

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return the dialogue with words of each reply replaced."""
        return degrade_replies(value, lambda reply: by.replaced(reply, cls.lengths))

    @classmethod
    def example(cls, text: str) -> str:
        """Return a dialogue of three turns."""
        return f"Person: Hello.\nChatbot: This is: {text}\nPerson: Thank you."


class Reply(ContentFormat):
    """What the chatbot says next, after the dialogue above it."""

    slug = "reply"
    title = "Reply"
    summary = "A chatbot's reply to the dialogue above it."
    is_for_fields = False
    is_drawable = True
    of_dialogue = "reply"
    n_words = 15
    lengths = STEPS_TO_29

    @classmethod
    def blocks(cls, value: str, place: Place) -> list[Block]:
        """Return the reply as the last turn of the dialogue before it."""
        dialogue = (place.before[-1].dialogue if place.before else "") or place.label
        return [
            Block(
                place.name,
                place.label,
                value,
                is_output=True,
                speaker="chatbot",
                dialogue=dialogue,
                is_drawn=place.is_drawn,
            )
        ]


def _turns_of(text: str, *, is_output: bool) -> tuple[Utterance, ...]:
    """Return the turns of a dialogue; of one that is rated the chatbot must say something."""
    turns = parse_transcript(text, is_before_reply=not is_output)
    if is_output and all(turn.by == "worker" for turn in turns):
        raise DomainError("bad_transcript", "nobody in it is the chatbot. Call one speaker Chatbot")
    return turns
