"""What a worker's chat page shows, and how a chat begins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.models import Assignment, Conversation, Turn
from annotation.queries import pages_of
from campaigns.contracts.chat import ChatRules, Utterance
from campaigns.design.seeds import draw_below, generator, shuffled
from campaigns.models import Campaign, Chatbot
from evalsite.lib.errors import DomainError

# What a generator is for: the first number of its place under the campaign's seed.
_OPENING = 1


@dataclass(frozen=True)
class Opening:
    """What a chat begins with: the persona of this chat and, in ice-breaker campaigns, the topic that is given."""

    persona: tuple[str, ...]
    statement: str = ""


def get_opening(assignment: Assignment, position: int) -> Opening:
    """Return how the chat at a position begins: the same however often it is asked. Two queries at most.

    A persona is drawn from the chatbot's statements. A chatbot without any is given, as an ice-breaker, a statement of
    its family, else of any of the campaign's chatbots: the worker cannot tell which it is.
    """
    campaign = assignment.campaign
    chatbot = get_chatbot(pages_of(assignment)[position].items[0].id)
    rng = generator(campaign.seed, _OPENING, assignment.pk, position)
    n_wanted = chatbot.n_statements or len(chatbot.persona)
    places = shuffled(len(chatbot.persona), rng)[:n_wanted].tolist()
    persona = tuple(chatbot.persona[place] for place in sorted(places))
    if campaign.chat_rules.opening == "free":
        return Opening(persona)
    statements = persona or _statements_of_others(campaign, chatbot)
    if not statements:
        raise DomainError("no_icebreaker", "No chatbot of this campaign has a statement to talk about.")
    return Opening(persona, statements[draw_below(len(statements), rng)])


def _statements_of_others(campaign: Campaign, chatbot: Chatbot) -> list[str]:
    family = chatbot.system.family
    others = Chatbot.objects.filter(system__campaign=campaign).order_by("system__name").select_related("system")
    personas = [(each.system.family, each.persona) for each in others]
    related = [statement for name, persona in personas if family and name == family for statement in persona]
    return related or [statement for _, persona in personas for statement in persona]


def get_chatbot(item_id: int) -> Chatbot:
    """Return the chatbot of an item, with its system. One query."""
    return Chatbot.objects.select_related("system").get(system__outputs__items=item_id)


def find_conversation(assignment: Assignment) -> Conversation | None:
    """Return the chat of the item that is to be rated next, if it has begun. One query."""
    page = pages_of(assignment).get(assignment.position)
    return assignment.conversations.filter(item=page.items[0].id).first() if page else None


def is_given_up(conversation: Conversation) -> bool:
    """Return whether the chatbot was asked in vain for the reply that is awaited, as often as it may be. One query."""
    if not (conversation.awaits_reply and conversation.n_tries):
        return False
    return conversation.n_tries > get_chatbot(conversation.item_id).n_retries


def list_turns(conversation: Conversation, *, after: int = 0) -> Sequence[Turn]:
    """Return the turns of a chat after a number, in order. One query."""
    return list(conversation.turns.filter(number__gt=after))


def topic_now(conversation: Conversation) -> str:
    """Return what the chat is about at the moment. One query."""
    last = conversation.topic_changes.order_by("-pk").values_list("topic", flat=True).first()
    return last or conversation.topic


@dataclass(frozen=True)
class ChatPage:
    """A chat as its page shows it. Nothing here may tell which chatbot it is."""

    rules: ChatRules
    topic: str
    turns: Sequence[Utterance]
    awaits_reply: bool = False
    can_leave: bool = False

    @property
    def n_inputs(self) -> int:
        """How many messages the worker has sent."""
        return sum(turn.by == Turn.Speaker.WORKER for turn in self.turns)

    @property
    def can_end(self) -> bool:
        """Whether the worker has sent as many as they must, and may rate the chatbot."""
        return self.n_inputs >= self.rules.min_inputs

    @property
    def is_full(self) -> bool:
        """Whether the worker may send no more."""
        return self.n_inputs >= self.rules.max_inputs


def get_chat_page(assignment: Assignment, conversation: Conversation) -> ChatPage:
    """Return a chat as its worker sees it now. Three queries at most."""
    return ChatPage(
        rules=assignment.campaign.chat_rules,
        topic=topic_now(conversation),
        turns=said_in(list_turns(conversation)),
        awaits_reply=conversation.awaits_reply,
        can_leave=is_given_up(conversation),
    )


def said_in(turns: Iterable[Turn]) -> list[Utterance]:
    """Return what was said in these turns."""
    return [Utterance("worker" if turn.speaker == Turn.Speaker.WORKER else "chatbot", turn.text) for turn in turns]
