"""The chats of a campaign's finished assignments, counted: what a worker wrote stays in the database."""

from collections import Counter
from collections.abc import Collection
from itertools import groupby
from operator import itemgetter

from django.db.models import QuerySet

from analysis.dialogues.rows import NO, YES, Chat, DeadChat, LoadedDialogues, Work, in_order, left_out, without_dead
from annotation.chat.exports import measure_each, minutes_between
from annotation.models import Assignment, Conversation, TopicChange, Turn
from campaigns.chatbots import systems_sent_topic
from campaigns.design.composition import Kind
from campaigns.models import Campaign

_By = TopicChange.By


def read_dialogues(campaign: Campaign, assignments: Collection[str]) -> LoadedDialogues:
    """Return the chats of some finished assignments, by their ids as text, and how long each assignment took.

    They never change once finished, so the same assignments give the same rows. A chat whose chatbot did not answer was
    not rated and is left out. An assignment takes from its start to its last rating, less the time of such chats. Five
    queries at most.
    """
    finished = Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED).order_by()
    found = {
        each.pk: each
        for each in finished.select_related("worker").only("worker__key", "started_at", "seen_at").iterator()
        if str(each.pk) in assignments
    }
    conversations = Conversation.objects.filter(assignment__in=finished.values("pk")).order_by()
    sizes, changes = _sizes(conversations), _changes(conversations)
    sent_topic = systems_sent_topic(campaign)
    chats, dead = [], []
    for pk, state, assignment, position, system, kind, topic, opinion, began, ended in conversations.values_list(
        "pk",
        "state",
        "assignment",
        "item__position",
        "item__output__system__name",
        "item__kind",
        "topic",
        "opinion",
        "started_at",
        "ended_at",
    ).iterator():
        if assignment not in found:
            continue
        if state != Conversation.State.ENDED:
            dead.append(DeadChat(found[assignment].worker.name, str(assignment), minutes_between(began, ended)))
            continue
        words, characters = sizes.get(pk, ((), ()))
        chats.append(
            Chat(
                worker=found[assignment].worker.name,
                assignment=str(assignment),
                position=position,
                system=system,
                kind=Kind(kind).name.lower(),
                topic=topic,
                opinion=opinion,
                n_inputs=len(words),
                n_words=sum(words),
                n_characters=sum(characters),
                changes_by_chatbot=changes[pk, _By.CHATBOT],
                changes_by_worker=changes[pk, _By.WORKER_LAST] + changes[pk, _By.WORKER_NEXT],
                topic_sent=YES if system in sent_topic else NO,
                words_by_input=words,
                chars_by_input=characters,
            )
        )
    work = [
        Work(each.worker.name, str(pk), round((each.seen_at - each.started_at).total_seconds(), 3))
        for pk, each in found.items()
    ]
    return in_order(chats, without_dead(work, dead), left_out(len(dead)))


def _sizes(conversations: QuerySet[Conversation]) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return how many words and characters each input of the worker's has, in order, by chat. One query."""
    turns = Turn.objects.filter(conversation__in=conversations.values("pk"), speaker=Turn.Speaker.WORKER)
    rows = turns.order_by("conversation", "number").values_list("conversation", "text").iterator()
    return {chat: measure_each(text for _, text in of_chat) for chat, of_chat in groupby(rows, key=itemgetter(0))}


def _changes(conversations: QuerySet[Conversation]) -> Counter[tuple[int, str]]:
    """Return how often the topic changed, by chat and by whom. One query."""
    noted = TopicChange.objects.filter(conversation__in=conversations.values("pk")).order_by()
    return Counter(noted.values_list("conversation", "by").iterator())
