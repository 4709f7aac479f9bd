"""What was said in the chats of a live campaign, as rows of files; in chunks of whole assignments, as in `exports`."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from annotation.chat.flags import find_flags, inputs_of
from annotation.export.rows import FINISHED, KIND_NAMES, assignment_chunks, utc_text
from annotation.models import Assignment, Conversation, Response, TopicChange, Turn
from annotation.worker_names import NameWorker, hashed_name
from campaigns.chatbots import systems_sent_topic
from campaigns.models import Campaign

DIALOGUE_COLUMNS = (
    *("worker", "assignment", "hit", "position", "system", "topic", "opinion"),
    *("worker_inputs", "worker_words", "worker_chars", "kind", "state", "minutes"),
    *("n_topic_changes", "changes_by_chatbot", "changes_by_worker", "assignment_state", "topic_sent"),
    *("words_by_input", "chars_by_input"),
)
_YES_NO = {True: "yes", False: "no"}
# A chat may hold 200 turns of 5,000 characters.
_ASSIGNMENTS_AT_ONCE = 20
# What is kept of a turn, by whom, and what it is called in files.
_OF_WORKER = {
    "typed_ms": "typed_ms",
    "n_pastes": "pastes",
    "n_pasted_chars": "pasted_chars",
    "n_focus_lost": "focus_lost",
}
_OF_CHATBOT = {
    "took_ms": "took_ms",
    "answered_ms": "answered_ms",
    "n_tries": "tries",
    "n_tokens_in": "tokens_in",
    "n_tokens_out": "tokens_out",
    "is_cut": "is_cut",
    "topic": "topic",
}


def measure_each(inputs: Iterable[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many words, and how many characters, each input of a chat has, as `measure` counts them.

    >>> measure_each(["I like  tea. ", "Ça va?"])
    ((3, 2), (11, 6))
    """
    words = [text.split() for text in inputs]
    return tuple(map(len, words)), tuple(len(" ".join(of_input)) for of_input in words)


def measure(inputs: Iterable[str]) -> tuple[int, int, int]:
    """Return how many inputs, words and characters a worker's side of a chat has.

    Words are divided by white space; characters are Unicode code points, white space between two words counted as one.

    >>> measure(["I like  tea. ", "Ça va?"])
    (2, 5, 17)
    """
    words, characters = measure_each(inputs)
    return len(words), sum(words), sum(characters)


def minutes_between(started_at: datetime, ended_at: datetime | None) -> float | None:
    """Return the minutes of a chat with two decimals; None of one that goes on."""
    return round((ended_at - started_at).total_seconds() / 60, 2) if ended_at else None


def iter_dialogues(
    campaign: Campaign, *, states: Collection[str] = FINISHED, names: NameWorker = hashed_name
) -> Iterator[tuple[Any, ...]]:
    """Yield every chat of assignments in these states as a row of DIALOGUE_COLUMNS, by assignment and position.

    Inputs, words and characters are the worker's. `minutes` are those from the topic to the end of chats that are over.
    """
    sent_topic = systems_sent_topic(campaign)
    for assignments, chats in _chunks(campaign, states):
        said: dict[int, list[str]] = {}
        inputs = Turn.objects.filter(conversation__in=chats, speaker=Turn.Speaker.WORKER).order_by("number")
        for pk, text in inputs.values_list("conversation", "text").iterator():
            said.setdefault(pk, []).append(text)
        changes = _changes_of(chats)
        for chat in chats:
            assignment = assignments[chat.assignment_id]
            changed_by = [change.by for change in changes.get(chat.pk, [])]
            n_by_chatbot = changed_by.count(TopicChange.By.CHATBOT)
            yield (
                names(assignment.worker),
                assignment.pk,
                assignment.hit.number,
                chat.item.position,
                chat.item.system.name,
                chat.topic,
                chat.opinion,
                *measure(said.get(chat.pk, [])),
                KIND_NAMES[chat.item.kind],
                chat.state,
                minutes_between(chat.started_at, chat.ended_at),
                len(changed_by),
                n_by_chatbot,
                len(changed_by) - n_by_chatbot,
                assignment.state,
                _YES_NO[chat.item.system.name in sent_topic],
                *(" ".join(map(str, sizes)) for sizes in measure_each(said.get(chat.pk, []))),
            )


def iter_transcripts(
    campaign: Campaign, *, states: Collection[str] = FINISHED, names: NameWorker = hashed_name
) -> Iterator[dict[str, Any]]:
    """Yield every chat of assignments in these states, by assignment and position.

    Of each: what was said and when, changes of topic, flags, and the ratings that followed, those of a reply with it.
    Chats with two chatbots at once have the same `page`, and what was said of both is with the first one.
    """
    criteria, sent_topic = dict(campaign.criteria.values_list("pk", "name")), systems_sent_topic(campaign)
    for assignments, chats in _chunks(campaign, states):
        turns: dict[int, list[Turn]] = {}
        for turn in Turn.objects.filter(conversation__in=chats).order_by("conversation", "number").iterator():
            turns.setdefault(turn.conversation_id, []).append(turn)
        changes, ratings = _changes_of(chats), _ratings_of(assignments)
        for chat in chats:
            assignment, of_chat = assignments[chat.assignment_id], turns.get(chat.pk, [])
            findings = find_flags(inputs_of((each.number, each.text, each.at, each.data) for each in of_chat))
            scores = ratings.get((assignment.pk, chat.item_id), {})

            def named(turn: int, scores: Mapping[tuple[int, int], Any] = scores) -> dict[str, Any]:
                return {name: scores[turn, pk] for pk, name in criteria.items() if (turn, pk) in scores}

            yield {
                "worker": names(assignment.worker),
                "assignment": assignment.pk,
                "assignment_state": assignment.state,
                "hit": assignment.hit.number,
                "position": chat.item.position,
                **({} if chat.item.page is None else {"page": chat.item.page}),
                "system": chat.item.system.name,
                "kind": KIND_NAMES[chat.item.kind],
                "topic": chat.topic,
                "opinion": chat.opinion,
                "persona": chat.persona,
                "topic_sent": chat.item.system.name in sent_topic,
                "state": chat.state,
                "started": utc_text(chat.started_at),
                "ended": utc_text(chat.ended_at) if chat.ended_at else None,
                "n_inputs": chat.n_inputs,
                "turns": [_turn(turn, named(turn.number)) for turn in of_chat],
                "topic_changes": [_change(change) for change in changes.get(chat.pk, [])],
                "flags": [finding.flag.name for finding in findings],
                "ratings": named(0),
            }


def _chunks(
    campaign: Campaign, states: Collection[str]
) -> Iterator[tuple[Mapping[int, Assignment], list[Conversation]]]:
    """Yield some assignments by pk, and their chats by assignment and position, with items and systems."""
    for chunk in assignment_chunks(campaign, states, _ASSIGNMENTS_AT_ONCE):
        chats = Conversation.objects.filter(assignment__in=chunk).select_related("item__output__system")
        yield {each.pk: each for each in chunk}, list(chats.order_by("assignment", "item__position"))


def _changes_of(chats: Iterable[Conversation]) -> dict[int, list[TopicChange]]:
    found: dict[int, list[TopicChange]] = {}
    for change in TopicChange.objects.filter(conversation__in=chats).order_by("pk"):
        found.setdefault(change.conversation_id, []).append(change)
    return found


def _ratings_of(assignments: Iterable[int]) -> dict[tuple[int, int], dict[tuple[int, int], Any]]:
    """Return what was answered by turn and criterion, by assignment and item; None where it was not judged."""
    found: dict[tuple[int, int], dict[tuple[int, int], Any]] = {}
    responses = Response.objects.filter(assignment__in=assignments).order_by()
    columns = ("assignment", "item", "turn", "criterion", "value")
    for assignment, item, turn, criterion, value in responses.values_list(*columns):
        found.setdefault((assignment, item), {})[turn, criterion] = value
    return found


def _turn(turn: Turn, ratings: Mapping[str, Any]) -> dict[str, Any]:
    names = _OF_WORKER if turn.speaker == Turn.Speaker.WORKER else _OF_CHATBOT
    data = {called: turn.data[name] for name, called in names.items() if name in turn.data}
    said = {"number": turn.number, "by": turn.speaker, "text": turn.text, "at": utc_text(turn.at)}
    return said | data | ({"ratings": dict(ratings)} if ratings else {})


def _change(change: TopicChange) -> dict[str, Any]:
    return {
        "after_turn": change.after_turn,
        "by": change.by,
        "topic": change.topic,
        "attitude": change.attitude,
        "at": utc_text(change.at),
    }
