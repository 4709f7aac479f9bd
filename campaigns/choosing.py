"""Which protocols fit what systems wrote, what people are to do, a name, and the columns of a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from campaigns.building.pace import seconds_per_output
from campaigns.contracts.protocol import Protocol, Task, Written
from campaigns.importing.guessing import guess_layout
from campaigns.importing.layout import check_layout, missing_fields
from campaigns.protocols import list_protocols
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Preview
from evalsite.lib.words import listed, long_duration

WRITTEN: Mapping[Written, str] = {
    "answers": "Answers",
    "questions": "Questions",
    "translations": "Translations",
    "summaries": "Summaries",
    "texts": "Free text",
    "documents": "Documents",
    "replies": "Replies",
    "dialogues": "Whole dialogues",
    "chats": "People chat with them",
    "traces": "Traces of agents",
    "code": "Code",
    "captions": "Captions of pictures",
}
TASKS: Mapping[Task, str] = {
    "slider": "Move a slider",
    "points": "Choose points",
    "compare": "Compare two",
    "rank": "Rank several",
    "best-worst": "Choose best and worst",
    "mark": "Mark errors",
    "correct": "Correct",
    "count": "Count",
    "choose": "Choose options",
    "chat": "Chat",
}
_HUNDRED = 100


@dataclass(frozen=True)
class Card:
    """A protocol to choose. `time` is that of 100 outputs, or chats; `reason`: why it does not fit, "" if it does.

    `can_use`: it can be chosen all the same.
    """

    protocol: type[Protocol]
    time: timedelta
    reason: str = ""
    can_use: bool = True

    @property
    def time_in_words(self) -> str:
        """How long 100 outputs take."""
        return long_duration(self.time)


def list_cards(
    *, written: str = "", task: str = "", search: str = "", preview: Preview | None = None, is_batch: bool = False
) -> list[Card]:
    """Return the protocols that a search finds: first those that fit, the more special ones before the others.

    `written` of `WRITTEN`, `task` of `TASKS`, "" for any; `preview`: the beginning of a file of outputs. `is_batch`:
    the file brings its own HITs and has no columns.
    """
    wanted = search.casefold().split()
    found = [each for each in list_protocols() if all(word in _searched(each) for word in wanted)]
    cards = [_card(each, written, task, preview, is_batch) for each in found]
    return sorted(cards, key=lambda card: (bool(card.reason), len(card.protocol.writes) or len(WRITTEN)))


def _searched(protocol: type[Protocol]) -> str:
    paper = protocol.paper.cite if protocol.paper else ""
    return " ".join((protocol.title, protocol.slug, *protocol.names, protocol.summary, paper)).casefold()


def _card(protocol: type[Protocol], written: str, task: str, preview: Preview | None, is_batch: bool) -> Card:
    items: list[tuple[dict[str, str], str]] = []
    reasons = []
    if written and protocol.writes and written not in protocol.writes:
        kinds = [WRITTEN[each].lower() for each in protocol.writes]
        reasons.append("People chat with the systems themselves." if protocol.chat else f"It is for {listed(kinds)}.")
    if task and protocol.tasks and task not in protocol.tasks:
        reasons.append(f"Here people {listed([TASKS[each].lower() for each in protocol.tasks])}.")
    has_file = preview is not None or is_batch
    if has_file and protocol.chat:
        reasons = ["People chat with the systems themselves: a file of outputs is not used."]
    elif preview:
        layout = guess_layout(preview, protocol.screen)
        try:
            check_layout(layout, protocol.screen, is_open=protocol.has_open_screen)
        except DomainError:
            reasons.append("The columns do not tell which are the systems and the outputs.")
        if lacking := missing_fields(layout, protocol.screen):
            reasons.append(f"Your file has no column for {listed([f'“{each.label}”' for each in lacking])}.")
        rows = [dict(zip(preview.columns, row, strict=False)) for row in preview.rows]
        of_fields, output = layout.fields(protocol.screen), layout.output or next(iter(layout.systems), "")
        items = [({name: row.get(own, "") for name, own in of_fields.items()}, row.get(output, "")) for row in rows]
    time = timedelta(seconds=_HUNDRED * seconds_per_output(protocol, items))
    return Card(protocol, time, " ".join(reasons), can_use=not (has_file and protocol.chat))
