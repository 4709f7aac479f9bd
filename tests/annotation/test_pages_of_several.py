"""Pages with several outputs: what is asked of each, what of all, branching, and documents that may be changed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from annotation.export.downloads import count_rows
from annotation.export.rows import ALL_STATES, RATING_COLUMNS, rating_blocks, score_blocks
from annotation.models import Assignment, Event, Response
from annotation.pages.questions import AnswerKey, asked_on
from annotation.queries import criteria_of, get_current_page, pages_of
from annotation.services.assignments import finish_assignment, start_assignment
from annotation.services.ratings import save_draft, save_page
from campaigns.models import Campaign, Criterion, HitItem
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_rows
from tests.annotation.open_campaigns import open_campaign
from tests.annotation.worker_pages import url

pytestmark = pytest.mark.django_db


@contextmanager
def refused(code: str, message: str) -> Iterator[None]:
    with pytest.raises(DomainError, match=message) as caught:
        yield
    assert caught.value.code == code


def several(owner: User, page_kind: str = "comparison", *, size: int = 6, n_at_once: int = 2) -> Campaign:
    """Return an open campaign whose HIT has `size` items, `n_at_once` on each page."""
    campaign = open_campaign(owner, size=size, page_kind=page_kind, outputs_per_page=n_at_once)
    HitItem.objects.filter(hit__campaign=campaign).update(page=(F("position") + n_at_once - 1) / n_at_once)
    campaign.criteria.all().delete()
    for order, (name, scope, fields) in enumerate(
        (
            ("fluency", "output", {}),
            ("fault", "output", {"response": "choice", "settings": {"options": "none\nsome"}}),
            ("which", "output", {"response": "text"}),
            ("overall", "page", {"response": "scale"}),
            ("effort", "assignment", {"response": "number"}),
        )
    ):
        Criterion.objects.create(
            campaign=campaign, order=order, name=name, statement=f"Its {name}.", scope=scope, **fields
        )
    campaign.criteria.filter(name="which").update(shown_on=campaign.criteria.get(name="fault"), shown_values=["some"])
    return campaign


def key(campaign: Campaign, name: str, place: int = 0) -> AnswerKey:
    return AnswerKey(campaign.criteria.get(name=name).pk, place)


def whole_page(campaign: Campaign, **changes: Any) -> dict[AnswerKey, list[str]]:
    """Return answers to all that a page of two asks; of `fault_2=…` and such, other ones or None for none."""
    answers = {"fluency_1": "10", "fault_1": "none", "fluency_2": "90", "fault_2": "none", "overall": "4"} | changes
    named = ((name.partition("_"), value) for name, value in answers.items() if value is not None)
    return {key(campaign, name, int(place or 0)): [value] for (name, _, place), value in named}


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return several(owner)


@pytest.fixture
def assignment(campaign: Campaign) -> Assignment:
    return start_assignment(campaign=campaign, worker_key="ann")


def test_what_is_asked_of_each_output_of_the_page_and_of_the_hit(assignment: Assignment) -> None:
    pages = pages_of(assignment)
    assert [(page.number, page.position, page.end) for page in pages.values()] == [(1, 1, 2), (2, 3, 4), (3, 5, 6)]
    asked = asked_on(pages[1], criteria_of(assignment.campaign))
    assert [(each.criterion.name, each.place) for each in asked] == [
        ("fluency", 1), ("fault", 1), ("which", 1), ("fluency", 2), ("fault", 2), ("which", 2), ("overall", 0)
    ]  # fmt: skip
    assert [len(each.subject.outputs) for each in asked] == [1, 1, 1, 1, 1, 1, 2]
    assert asked_on(pages[5], criteria_of(assignment.campaign))[-1].criterion.name == "effort"


def test_a_page_is_saved_at_once_and_each_answer_with_its_item(assignment: Assignment) -> None:
    campaign = assignment.campaign
    after = save_page(
        assignment_id=assignment.pk, position=1, answers=whole_page(campaign, fault_2="some", which_2="a")
    )
    assert (after.n_rated, after.position) == (2, 3)
    rows = Response.objects.order_by("item__position", "criterion__order")
    assert list(rows.values_list("item__position", "criterion__name", "value")) == [
        (1, "fluency", 10), (1, "fault", "none"), (1, "overall", 4),
        (2, "fluency", 90), (2, "fault", "some"), (2, "which", "a"),
    ]  # fmt: skip
    assert Event.objects.filter(kind=Event.Kind.RATED).count() == 1


def test_what_another_answer_does_not_ask_for_is_not_kept(assignment: Assignment) -> None:
    save_page(assignment_id=assignment.pk, position=1, answers=whole_page(assignment.campaign, which_1="a"))
    assert not Response.objects.filter(criterion__name="which").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fault_2": "some"}, "Write something for every statement: 1 of 6 have no answer"),
        ({"fluency_2": None}, "Move every slider: 1 of 5"),
        ({"fluency_2": None, "overall": None}, "Answer every statement: 2 of 5"),
    ],
)
def test_what_is_missing_is_counted_with_what_is_asked(
    assignment: Assignment, changes: dict[str, str | None], message: str
) -> None:
    with refused("bad_answer", message):
        save_page(assignment_id=assignment.pk, position=1, answers=whole_page(assignment.campaign, **changes))
    assert not Response.objects.exists()
    assert Assignment.objects.get().n_rated == 0


@pytest.mark.parametrize("place", [0, 3])
def test_an_output_that_is_not_there_is_refused(assignment: Assignment, place: int) -> None:
    answers = whole_page(assignment.campaign) | {key(assignment.campaign, "fluency", place): ["5"]}
    with refused("bad_answer", "another page"):
        save_page(assignment_id=assignment.pk, position=1, answers=answers)


def test_the_second_item_of_a_page_is_no_page(assignment: Assignment) -> None:
    save_page(assignment_id=assignment.pk, position=1, answers=whole_page(assignment.campaign))
    with refused("not_next", "Item 3 comes next, not item 4"):
        save_page(assignment_id=assignment.pk, position=4, answers=whole_page(assignment.campaign))
    assert save_page(assignment_id=assignment.pk, position=1, answers={}).n_rated == 2, "sent twice: no harm"


def test_the_whole_hit_through_its_forms(assignment: Assignment, client: Client) -> None:
    campaign = assignment.campaign
    for number in (1, 2, 3):
        page = client.get(url("hit", assignment))
        assert f"Item {number} of 3" in page.text
        assert len(re.findall(r'class="output"', page.text)) == 2
        answers = whole_page(campaign) | ({key(campaign, "effort"): ["3"]} if number == 3 else {})
        sent = {f"answer_{each.suffix}": values for each, values in answers.items()}
        client.post(url("hit", assignment), {"position": 2 * number - 1, **sent})
    assert "All 3 items are rated" in client.get(url("hit", assignment)).text
    assert get_current_page(Assignment.objects.select_related("campaign").get()).page is None
    assert finish_assignment(assignment_id=assignment.pk).state == Assignment.State.FINISHED


# --- Documents


@pytest.fixture
def document(owner: User) -> Assignment:
    return start_assignment(campaign=several(owner, "document"), worker_key="ann")


def test_a_draft_is_kept_and_the_page_begins_with_it(document: Assignment, client: Client) -> None:
    answers = whole_page(document.campaign, fluency_2=None, overall=None)
    after = save_draft(assignment_id=document.pk, position=1, answers=answers)
    assert (after.n_rated, Response.objects.count()) == (0, 3)
    page = client.get(url("hit", document))
    fluency = key(document.campaign, "fluency", 1).suffix
    assert f"&quot;answer_{fluency}&quot;: [&quot;10&quot;]" in page.text
    assert 'name="draft"' in page.text


def test_answers_that_change_keep_what_they_were(document: Assignment) -> None:
    for fluency in ("10", "20", "20"):
        answers = whole_page(document.campaign, fluency_1=fluency, overall=None)
        save_draft(assignment_id=document.pk, position=1, answers=answers)
    answers = whole_page(document.campaign, fluency_1="30", fault_2="some", which_2="b")
    after = save_page(assignment_id=document.pk, position=1, answers=answers)
    response = Response.objects.get(item__position=1, criterion__name="fluency")
    assert (after.n_rated, response.score) == (2, 30)
    assert [(each["value"], each["score"]) for each in response.earlier] == [(10, 10), (20, 20)]
    assert Response.objects.get(item__position=2, criterion__name="fluency").earlier == []


def test_an_answer_that_was_taken_back_is_kept_as_an_earlier_one(document: Assignment) -> None:
    save_draft(
        assignment_id=document.pk, position=1, answers=whole_page(document.campaign, fault_1="some", which_1="a")
    )
    save_page(assignment_id=document.pk, position=1, answers=whole_page(document.campaign))
    response = Response.objects.get(criterion__name="which")
    assert (response.value, [each["value"] for each in response.earlier]) == (None, ["a"])


def test_a_rated_document_does_not_change(document: Assignment) -> None:
    save_page(assignment_id=document.pk, position=1, answers=whole_page(document.campaign))
    save_draft(assignment_id=document.pk, position=1, answers=whole_page(document.campaign, fluency_1="99"))
    assert Response.objects.get(item__position=1, criterion__name="fluency").score == 10


def test_only_documents_can_be_saved_in_between(assignment: Assignment, client: Client) -> None:
    with refused("not_revisable", "once it is complete"):
        save_draft(assignment_id=assignment.pk, position=1, answers=whole_page(assignment.campaign))
    assert 'name="draft"' not in client.get(url("hit", assignment)).text


# --- What is exported


def test_an_answer_about_a_whole_comparison_is_of_no_system(assignment: Assignment) -> None:
    """It is kept with the first output, whose system would else get its score."""
    campaign = assignment.campaign
    for position in (1, 3, 5):
        answers = whole_page(campaign) | ({key(campaign, "effort"): ["3"]} if position == 5 else {})
        save_page(assignment_id=assignment.pk, position=position, answers=answers)
    finish_assignment(assignment_id=assignment.pk)
    assert {row[7] for row in in_rows(score_blocks(campaign))} == {"fluency"}
    campaign.criteria.update(is_required=True)
    assert count_rows(campaign, timezone.now()).n_ratings == Response.objects.count()
    rows = [dict(zip(RATING_COLUMNS, row, strict=True)) for row in in_rows(rating_blocks(campaign))]
    by_criterion = {row["criterion"]: row for row in rows if row["position"] == 5}
    of_page, of_output = by_criterion["overall"], by_criterion["fluency"]
    assert (of_page["system"], of_page["score"], of_page["response"], of_page["page"]) == ("", None, "4", 3)
    assert (of_output["system"], of_output["score"], of_output["page"]) == ("system-4", 10, 3)


def test_an_answer_about_a_document_is_of_its_system(document: Assignment) -> None:
    save_page(assignment_id=document.pk, position=1, answers=whole_page(document.campaign))
    rows = [
        dict(zip(RATING_COLUMNS, row, strict=True))
        for row in in_rows(rating_blocks(document.campaign, states=ALL_STATES))
    ]
    of_page = next(row for row in rows if row["criterion"] == "overall")
    assert (of_page["system"], of_page["score"], of_page["page"]) == ("system-0", 4, 1)
