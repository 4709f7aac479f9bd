"""What a worker's chat page shows, and how a chat begins: with one chatbot, or with several at once.

Chats of one page take turns together: what the worker says is in all of them, and each awaits its own reply.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.models import Assignment, Conversation, Turn
from annotation.queries import ShownItem, pages_of
from campaigns.contracts.chat import ChatRules, Utterance, names_of
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


def get_opening(assignment: Assignment, item: ShownItem) -> Opening:
    """Return how the chat of an item begins: the same however often it is asked. Two queries at most.

    A persona is drawn from the chatbot's statements. A chatbot without any is given, as an ice-breaker, a statement of
    its family, else of any of the campaign's chatbots: the worker cannot tell which it is.
    """
    campaign = assignment.campaign
    chatbot = get_chatbot(item.id)
    rng = generator(campaign.seed, _OPENING, assignment.pk, item.position)
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


def find_conversations(assignment: Assignment) -> list[Conversation]:
    """Return the chats of the page that is to be rated next, in order; none before they have begun. One query."""
    page = pages_of(assignment).get(assignment.position)
    return conversations_of(assignment, page.items) if page else []


def conversations_of(
    assignment: Assignment, items: Sequence[ShownItem], *, is_locked: bool = False
) -> list[Conversation]:
    """Return the chats of items that are shown together, in their order; none before they have begun. One query."""
    found = assignment.conversations.filter(item__in=[item.id for item in items]).order_by("pk")
    by_item = {each.item_id: each for each in (found.select_for_update(no_key=True) if is_locked else found)}
    return [by_item[item.id] for item in items if item.id in by_item]


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
    """A chat as its page shows it: with one chatbot, or with several at once. Nothing here may tell which they are.

    `awaited`: the names of those whose reply is awaited, as in `names`.
    """

    rules: ChatRules
    topic: str
    turns: Sequence[Utterance]
    awaited: Sequence[str] = ()
    can_leave: bool = False
    n_chatbots: int = 1

    @property
    def n_inputs(self) -> int:
        """How many messages the worker has sent."""
        return sum(turn.by == Turn.Speaker.WORKER for turn in self.turns)

    @property
    def awaits_reply(self) -> bool:
        """Whether a reply is awaited."""
        return bool(self.awaited)

    @property
    def number(self) -> int:
        """The number of the turn that comes next."""
        return 2 * self.n_inputs + (not self.awaits_reply)

    @property
    def names(self) -> Sequence[str]:
        """What the chatbots are called, where there are several."""
        return names_of(self.n_chatbots)

    @property
    def can_end(self) -> bool:
        """Whether the worker has sent as many as they must, and may rate the chatbot."""
        return self.n_inputs >= self.rules.min_inputs

    @property
    def is_full(self) -> bool:
        """Whether the worker may send no more."""
        return self.n_inputs >= self.rules.max_inputs


def get_chat_page(assignment: Assignment, conversations: Sequence[Conversation]) -> ChatPage:
    """Return the chats of a page as their worker sees them now. Two queries, and one for each that awaits a reply."""
    names = names_of(len(conversations))
    return ChatPage(
        rules=assignment.campaign.chat_rules,
        topic=topic_now(conversations[0]),
        turns=said_on(conversations),
        awaited=[name for name, each in zip(names, conversations, strict=True) if each.awaits_reply],
        can_leave=any(is_given_up(each) for each in conversations),
        n_chatbots=len(conversations),
    )


def said_on(conversations: Sequence[Conversation]) -> list[Utterance]:
    """Return what was said in the chats of a page: of several each message once, then their replies. One query."""
    if len(conversations) == 1:
        return said_in(list_turns(conversations[0]))
    names = dict(zip((each.pk for each in conversations), names_of(len(conversations)), strict=True))
    turns = Turn.objects.filter(conversation__in=conversations)
    in_order = sorted(turns, key=lambda turn: (turn.number, names[turn.conversation_id]))
    first = conversations[0].pk
    return [
        Utterance("worker", turn.text)
        if turn.speaker == Turn.Speaker.WORKER
        else Utterance("chatbot", turn.text, names[turn.conversation_id])
        for turn in in_order
        if turn.speaker == Turn.Speaker.CHATBOT or turn.conversation_id == first
    ]


def said_in(turns: Iterable[Turn]) -> list[Utterance]:
    """Return what was said in these turns."""
    return [Utterance("worker" if turn.speaker == Turn.Speaker.WORKER else "chatbot", turn.text) for turn in turns]
