"""What a worker has saved of a page that they may still change, as their form would send it."""

from collections.abc import Sequence

from annotation.models import Assignment
from annotation.pages.contents import ABSTAINED, ANSWER
from annotation.pages.questions import asked_on
from annotation.queries import ShownPage, replies_shown, responses_to
from campaigns.models import Criterion


def saved_answers(assignment: Assignment, page: ShownPage, criteria: Sequence[Criterion]) -> dict[str, list[str]]:
    """Return the answers that were saved for a page, by the names of their inputs. One query."""
    responses = responses_to(assignment.pk, page)
    found = {(each.item_id, each.criterion_id, each.turn): each for each in responses}
    saved = {}
    for asked in asked_on(page, criteria, replies_shown(assignment.campaign, page, criteria)):
        response = found.get((asked.item_id, asked.criterion.pk, asked.turn))
        if response is None:
            continue
        if response.abstained:
            saved[f"{ABSTAINED}{asked.key.suffix}"] = [response.abstained]
        elif response.value is not None:
            saved[f"{ANSWER}{asked.key.suffix}"] = asked.criterion.response_kind.sent(response.value)
    return saved
