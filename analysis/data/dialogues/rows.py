"""Chats and working times, one row each, whether they come from files or from a campaign."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from analysis.stats.dialogues import Opinion
from evalsite.lib.words import counted

OPINIONS = tuple(opinion.name.lower() for opinion in Opinion)
YES, NO = "yes", "no"
CHAT_COLUMNS = (
    *("worker", "assignment", "position", "system", "kind", "topic", "opinion"),
    *("worker_inputs", "worker_words", "worker_chars", "changes_by_chatbot", "changes_by_worker", "topic_sent"),
    *("words_by_input", "chars_by_input"),
)
"""The columns of a file of chats, one row a chat."""
WORK_COLUMNS = ("worker", "assignment", "work_seconds")
"""The columns of a file of assignments, one row an assignment; `WEIGHT` as well where HITs were not drawn evenly."""
WEIGHT = "weight"
_S_PER_MIN = 60


class Chat(NamedTuple):
    """A chat, as a row of CHAT_COLUMNS. Empty text and None: not known.

    Inputs, words and characters are sums over the worker's inputs: words by white space; characters as Unicode code
    points, white space between two words counted as one. `topic_sent`: whether the chatbot was sent the topic, YES or
    NO. `words_by_input` and `chars_by_input` are those of each input, in order.
    """

    worker: str
    assignment: str
    position: int | None = None
    system: str = ""
    kind: str = ""
    topic: str = ""
    opinion: str = ""
    n_inputs: int | None = None
    n_words: int | None = None
    n_characters: int | None = None
    changes_by_chatbot: int | None = None
    changes_by_worker: int | None = None
    topic_sent: str = ""
    words_by_input: tuple[int, ...] | None = None
    chars_by_input: tuple[int, ...] | None = None


class Work(NamedTuple):
    """How long an assignment took, as a row of WORK_COLUMNS and WEIGHT; None: not known.

    `weight` is what its ratings weigh in comparisons, because HITs were not drawn with equal probabilities.
    """

    worker: str
    assignment: str
    seconds: float | None
    weight: float | None = None


class DeadChat(NamedTuple):
    """A chat that does not count, since its chatbot did not answer; None: how long it took is not known."""

    worker: str
    assignment: str
    minutes: float | None


@dataclass(frozen=True)
class LoadedDialogues:
    """Chats and working times, ordered by worker and assignment, and what a person should know about them."""

    chats: tuple[Chat, ...]
    work: tuple[Work, ...]
    notices: tuple[str, ...] = ()

    @property
    def workers(self) -> set[str]:
        """Everyone who has a chat or an assignment."""
        return {chat.worker for chat in self.chats} | {work.worker for work in self.work}


def cells_of(row: Chat | Work) -> list[object]:
    """Return a row as the cells of a file: numbers of each input with spaces between them."""
    return [" ".join(map(str, cell)) if isinstance(cell, tuple) else cell for cell in row]


def in_order(chats: Iterable[Chat], work: Iterable[Work], notices: Iterable[str] = ()) -> LoadedDialogues:
    """Return the rows, in whatever order they come, as dialogues."""
    return LoadedDialogues(tuple(sorted(chats, key=_key)), tuple(sorted(work, key=lambda row: row[:2])), tuple(notices))


def without_dead(work: Iterable[Work], dead: Iterable[DeadChat]) -> list[Work]:
    """Return working times less those of dead chats, as far as both are known; none is below 0."""
    lost: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for chat in dead:
        lost[chat.worker, chat.assignment].append(_S_PER_MIN * (chat.minutes or 0.0))
    return [
        # Summed exactly: no result depends on the order of the chats.
        each if each.seconds is None else each._replace(seconds=max(each.seconds - math.fsum(lost[each[:2]]), 0.0))
        for each in work
    ]


def left_out(n_dead: int, n_open: int = 0, n_unfinished: int = 0) -> list[str]:
    """Return what a person should know of chats that do not count."""
    sentences = {
        f"Chats that are left out because their chatbot did not answer: {counted(n_dead, 'chat')}.": n_dead,
        f"Chats that are left out because they have not ended: {counted(n_open, 'chat')}.": n_open,
        f"Chats that are left out because their assignment was not finished: {counted(n_unfinished, 'chat')}.": (
            n_unfinished
        ),
    }
    return [sentence for sentence, n in sentences.items() if n]


def _key(chat: Chat) -> tuple[object, ...]:
    known = (chat.worker, chat.assignment, chat.position is None, chat.position or 0, chat.system, chat.topic)
    return (*known, tuple(map(str, chat)))
