"""Conversations of a person with an assistant, as messages with roles."""

from campaigns.contracts.format import Block, ContentFormat, Degradation, Place
from campaigns.design.words import segment, unit_of
from campaigns.dialogues import SPEAKERS
from campaigns.formats import first_of
from campaigns.messages import Message, UnreadableError, arguments_shown, is_said, read_messages, write_messages
from evalsite.lib.errors import DomainError

_FEWEST_WORDS = 3
_WORDS_OF_FOLDED = 40
_CODE, _PROSE = ("text",), ("markdown", "text")


class Conversation(ContentFormat):
    """A conversation. As an output, the assistant's replies are what is rated.

    It is shown as text: what an image hides from copying, its folds could not.
    """

    slug = "conversation"
    title = "Conversation"
    summary = "Messages of a person, an assistant, the system and tools."
    is_one_text = False
    has_lists = True
    has_parts = True
    turn = "Reply"
    times_as_long = 10
    n_words = 300
    degraded = "one reply in three, at least one, replaced by a reply of another conversation"
    style = "css/rate_conversation.css"
    hint = (
        "A conversation is a list of messages as chat completions write them: "
        '<code>[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]</code>, with '
        "<code>tool_calls</code> and results of tools. Or it is a transcript, as of dialogues. Names of models, ids "
        "and what a model wrote for itself are left out."
    )

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return messages as a JSON list, without what tells the system; raise DomainError `bad_conversation`."""
        try:
            messages = read_messages(text)
        except UnreadableError as error:
            raise DomainError("bad_conversation", error.message) from None
        if not any(map(is_said, messages)):
            raise DomainError("bad_conversation", "it holds only what a model wrote for itself. Add what was said")
        if is_output and not any(_is_reply(each) for each in messages):
            raise DomainError("bad_conversation", "nobody in it is the assistant. Give its messages that role")
        return write_messages(messages)

    @classmethod
    def blocks(cls, value: str, place: Place) -> list[Block]:
        """Return messages as turns; the system's, calls of tools and their results are folded."""
        found: list[Block] = []
        n_replies = 0
        prose, code = first_of(*_PROSE), first_of(*_CODE)

        def add(label: str, text: str, format: str, **about: object) -> None:
            name = f"{place.name} {len(found) + 1}"
            found.append(
                Block(
                    name,
                    label,
                    text,
                    is_output=place.is_output,
                    dialogue=place.label,
                    format=format,
                    is_drawn=False,
                    **about,  # type: ignore[arg-type]
                )
            )

        for each in read_messages(value):
            if each.role == "system":
                add("System prompt", each.text, prose, fold="System prompt")
            elif each.role == "tool":
                label = f"{'Error' if each.is_error else 'Result'}{f' of {each.name}' if each.name else ''}"
                add(label, each.text or "(empty)", code, fold=label)
            elif each.role == "user":
                add(SPEAKERS["worker"], each.text, prose, speaker="worker")
            else:
                n_replies += _is_reply(each)
                if each.text:
                    add(SPEAKERS["chatbot"], each.text, prose, speaker="chatbot", turn=n_replies)
                for call in each.calls:
                    label = f"Call of {call.name}"
                    add(label, arguments_shown(call.arguments) or "(no arguments)", code, fold=label)
        return found

    @classmethod
    def turns(cls, value: str) -> list[str]:
        """Return the assistant's messages that say something."""
        return [each.text for each in read_messages(value) if _is_reply(each)]

    @classmethod
    def words(cls, value: str) -> str:
        """Return what is said, and the beginnings of what is folded."""
        texts = []
        for each in read_messages(value):
            is_folded = each.role in ("system", "tool")
            texts.append(" ".join(each.text.split()[:_WORDS_OF_FOLDED]) if is_folded else each.text)
            texts += [" ".join(call.arguments.split()[:_WORDS_OF_FOLDED]) for call in each.calls]
        return "\n".join(filter(None, texts))

    @classmethod
    def parts(cls, value: str) -> list[str]:
        """Return the replies of more than two words."""
        return [each.text for each in read_messages(value) if _is_degradable(each)]

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return the conversation with replies of others in the place of some."""
        messages = read_messages(value)
        places = [place for place, each in enumerate(messages) if _is_degradable(each)] or [
            place for place, each in enumerate(messages) if _is_reply(each)
        ]
        return write_messages(by.exchanged(messages, places, _replaced))

    @classmethod
    def example(cls, text: str) -> str:
        """Return a conversation of three messages."""
        said = (("user", "Hello."), ("assistant", f"This is: {text}"), ("user", "Thank you."))
        return write_messages(Message(role, words) for role, words in said)  # type: ignore[arg-type]


def _is_reply(message: Message) -> bool:
    return message.role == "assistant" and bool(message.text)


def _is_degradable(message: Message) -> bool:
    return _is_reply(message) and len(segment(message.text, unit_of(message.text)).units) >= _FEWEST_WORDS


def _replaced(message: Message, donor: str) -> Message | None:
    return Message(message.role, donor, message.calls) if _plain(donor) != _plain(message.text) else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
