"""Chats for tests, made straight through the models: what workers and chatbots leave behind, without their pages."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.models import Assignment, Conversation, Event, Response, TopicChange, Turn
from campaigns.models import Campaign
from tests.annotation.cast import make_worker

State = Assignment.State

SERIOUS = (
    "I went swimming in the sea this morning",
    "It was cold, but I liked it a lot",
    "Do you like to swim as well?",
    "I would never go when it storms",
    "My brother is afraid of deep water",
    "He sits on the beach and reads instead",
    "What kind of books do you read?",
    "I prefer stories about old ships",
    "There is a museum of them near here",
    "Let us stop now, I have to cook dinner",
)
GREETINGS = (
    "Hi",
    "Hello there!",
    "How are you?",
    "ok",
    "Thanks",
    "hiii",
    "Good morning",
    "yes",
    "Thank you",
    "Bye bye",
)
WORDS = ("Swimming", "Cold", "Often", "Never", "Brother", "Beach", "Books", "Ships", "Museum", "Dinner")
SAME = ("Tell me more about it, please", *SERIOUS[:3], *["tell me MORE about it please!"] * 3, *SERIOUS[3:6])
REPLIES = (
    "Oh, how was it, did you stay in for long?",
    "I have never been to a beach in winter.",
    "Swimming is said to be good for the back.",
    "Storms can be quite beautiful from a window.",
    "Many people are, and with good reason.",
    "That sounds like a lovely afternoon to me.",
    "Mostly poems, and now and then a cookbook.",
    "Then you must know the tale of the white whale.",
    "I should like to visit it some day with you.",
    "It was a pleasure, enjoy your meal tonight!",
)
# As people type: five characters a second.
_TYPED_MS_PER_CHAR = 200


def take_hit(
    campaign: Campaign, name: str, *, state: str = State.ACTIVE, seen_ago: timedelta = timedelta(0)
) -> Assignment:
    """Have a worker take the next free HIT; they were seen so long ago."""
    hit = campaign.hits.filter(n_places_left__gt=0).first()
    assert hit, "no place is left"
    if state in (State.ACTIVE, State.FINISHED):
        hit.n_places_left -= 1
        hit.save(update_fields=["n_places_left"])
    seen_at = timezone.now() - seen_ago
    return Assignment.objects.create(
        campaign=campaign,
        hit=hit,
        worker=make_worker(campaign, name),
        state=state,
        n_items=hit.items.count(),
        started_at=seen_at - timedelta(minutes=20),
        seen_at=seen_at,
        leased_until=seen_at + timedelta(minutes=campaign.lease_minutes),
        ended_at=None if state == State.ACTIVE else seen_at,
    )


def hold_chat(
    assignment: Assignment,
    position: int | None = None,
    inputs: Sequence[str] = SERIOUS,
    *,
    chatbot: str = "",
    state: str = Conversation.State.ENDED,
    topic: str = "the sea",
    opinion: str = "like",
    persona: Sequence[str] = (),
    replies: Sequence[str] = REPLIES,
    answered_ms: int = 1200,
    wait_s: float = 9.0,
    typed_ms: int | None = None,
    pasted: Mapping[int, int] | None = None,
    is_answered: bool = True,
    started_at: datetime | None = None,
    score: int | None = None,
) -> Conversation:
    """Hold the chat at a position, by default the next, or with a chatbot.

    Every input comes `wait_s` after a reply, every reply `answered_ms` after its input; `pasted` characters by the
    place of the input; without `is_answered` the last input has no reply. An ended chat is rated, if a score is given.
    """
    items = assignment.hit.items.select_related("output__system")
    item = (
        items.get(output__system__name=chatbot) if chatbot else items.get(position=position or assignment.n_rated + 1)
    )
    n_turns = 2 * len(inputs) - (0 if is_answered or not inputs else 1)
    length = timedelta(seconds=len(inputs) * (wait_s + answered_ms / 1000))
    at = started_at or assignment.seen_at - length
    is_open = state == Conversation.State.OPEN
    chat = Conversation.objects.create(
        assignment=assignment,
        item=item,
        state=state,
        topic=topic,
        opinion=opinion,
        persona=list(persona),
        n_turns=n_turns,
        n_inputs=len(inputs),
        started_at=at,
        ended_at=None if is_open else at + length,
    )
    turns = []
    for k, text in enumerate(inputs):
        at += timedelta(seconds=wait_s)
        typed = {"typed_ms": len(text) * _TYPED_MS_PER_CHAR if typed_ms is None else typed_ms, "n_focus_lost": 0}
        if n_pasted := (pasted or {}).get(k, 0):
            typed |= {"n_pastes": 1, "n_pasted_chars": n_pasted}
        turns.append(Turn(conversation=chat, number=2 * k + 1, speaker="worker", text=text, at=at, data=typed))
        at += timedelta(milliseconds=answered_ms)
        reported = {"took_ms": answered_ms + 20, "answered_ms": answered_ms, "n_tries": 1}
        reply = replies[k % len(replies)]
        turns.append(Turn(conversation=chat, number=2 * k + 2, speaker="chatbot", text=reply, at=at, data=reported))
    Turn.objects.bulk_create(turns[:n_turns])
    if not is_open:
        assignment.n_rated = max(assignment.n_rated, item.position)
        assignment.save(update_fields=["n_rated"])
    if score is not None:
        Response.objects.bulk_create(
            Response(assignment=assignment, item=item, criterion=criterion, value=score, score=score)
            for criterion in assignment.campaign.criteria.all()
        )
    return chat


def change_topic(chat: Conversation, after_turn: int, topic: str, by: str = "chatbot") -> TopicChange:
    """Note that the topic changed after a turn."""
    return TopicChange.objects.create(
        conversation=chat, after_turn=after_turn, topic=topic, by=by, attitude=Conversation.Opinion.AMBIVALENT
    )


def fail(
    chat: Conversation, n_tries: int = 1, *, turn: int = 1, code: str = "timeout", message: str = "No answer in 30 s."
) -> None:
    """Have tries to answer a turn fail; after more than two the reply is given up."""
    Event.objects.bulk_create(
        Event(
            assignment=chat.assignment,
            item=chat.item,
            kind=Event.Kind.UNANSWERED,
            data={"code": code, "message": message, "took_ms": 30_000, "turn": turn},
        )
        for _ in range(n_tries)
    )
    chat.n_failures += n_tries > 2
    chat.last_error = {"code": code, "message": message}
    chat.save(update_fields=["n_failures", "last_error"])


def hold_many(ann: Assignment) -> Campaign:
    """Have Ann chat seriously, with all that may happen, Bob idly, and Cem go away in the middle."""
    chat_state = Conversation.State
    whale = hold_chat(ann, chatbot="Amber", topic="Moby <Dick>", persona=["I live by the sea."], score=70)
    change_topic(whale, 6, "storms & ships")
    dead = hold_chat(ann, chatbot="Birch", inputs=SERIOUS[:2], is_answered=False, state=chat_state.DEAD, topic="birds")
    fail(dead, 3, turn=3, message="No answer in <30> s.")
    hold_chat(ann, chatbot="Coral", inputs=SERIOUS[:4], is_answered=False, state=chat_state.OPEN, topic="tea")
    campaign = ann.campaign
    bob = take_hit(campaign, "bob-the-rater", state=State.FINISHED, seen_ago=timedelta(hours=2))
    for chatbot, inputs in (("Amber", WORDS), ("Birch", SAME), ("Coral", GREETINGS)):
        hold_chat(bob, chatbot=chatbot, inputs=inputs, topic=f"idle talk with {chatbot}")
    cem = take_hit(campaign, "cem-the-rater", seen_ago=timedelta(minutes=30))
    hold_chat(cem, chatbot="Amber", inputs=SERIOUS[:3], state=chat_state.OPEN, topic="trains")
    return campaign
