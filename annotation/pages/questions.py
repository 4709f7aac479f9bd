"""What a page asks of a worker: each criterion of each output, page and reply, and at the end of the HIT."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from annotation.queries import Reply, ShownPage
from campaigns.contracts.protocol import Scope
from campaigns.contracts.response import Subject
from campaigns.models import Criterion

OF_PAGE = 0
"""The place of what is asked of a whole page."""


class AnswerKey(NamedTuple):
    """A criterion by id, and the place on the page, from 1, of the output that it is asked of, or `OF_PAGE`.

    `turn`: the number of the reply in a chat that it is asked of, 0 if of no single one.
    """

    criterion: int
    place: int = OF_PAGE
    turn: int = 0

    @property
    def suffix(self) -> str:
        """What ends the names of its inputs."""
        if self.turn:
            return f"{self.criterion}_{self.place}_{self.turn}"
        return f"{self.criterion}_{self.place}" if self.place else str(self.criterion)


class Asked(NamedTuple):
    """A criterion as it is asked on a page, and the item that its answer is kept with."""

    criterion: Criterion
    place: int
    item_id: int
    subject: Subject
    turn: int = 0

    @property
    def key(self) -> AnswerKey:
        """What names it on its page."""
        return AnswerKey(self.criterion.pk, self.place, self.turn)

    def is_shown(self, values: Mapping[AnswerKey, Any]) -> bool:
        """Tell by the values of what is asked before it whether it is asked: by default it is."""
        before = self.criterion.shown_on_id
        if before is None:
            return True
        value = values.get(AnswerKey(before, self.place, self.turn), values.get(AnswerKey(before)))
        given = value if isinstance(value, list) else [value]
        return value is not None and any(str(each) in self.criterion.shown_values for each in given)


def asked_on(page: ShownPage, criteria: Sequence[Criterion], replies: Sequence[Reply] = ()) -> list[Asked]:
    """Return what a page asks, in the order of the page: of its outputs, then of all of it, then of each reply.

    `replies`: those of the chat that the page is about, or the replies or steps of its output.
    """
    of_outputs = [each for each in criteria if each.scope == Scope.OUTPUT]
    scopes = {Scope.PAGE, Scope.ASSIGNMENT} if page.is_last else {Scope.PAGE}
    of_page = [each for each in criteria if each.scope in scopes]
    first, whole = page.items[0], _subject_of(page, len(replies))
    if not page.has_several:
        alone = [each for each in criteria if each in of_outputs or each in of_page]
        of_replies = [each for each in criteria if each.scope == Scope.TURN]
        return [Asked(criterion, OF_PAGE, first.id, whole) for criterion in alone] + [
            Asked(criterion, OF_PAGE, first.id, Subject((reply.text,)), reply.number)
            for reply in replies
            for criterion in of_replies
        ]
    asked = [
        Asked(criterion, place, item.id, Subject((item.text,), item.fields))
        for place, item in enumerate(page.items, start=1)
        for criterion in of_outputs
    ]
    return asked + [Asked(criterion, OF_PAGE, first.id, whole) for criterion in of_page]


def _subject_of(page: ShownPage, n_turns: int) -> Subject:
    return Subject(tuple(item.text for item in page.items), page.items[0].fields, n_turns)
