"""The page of criteria."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from campaigns.models import Campaign, Criterion
from campaigns.services.criteria import (
    MOST,
    add_criterion,
    change_criterion,
    delete_criterion,
    move_criterion,
    order_criteria,
)
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import make_campaign
from tests.undo.button import offers, press_undo

FIELDS = {"name": "style", "statement": "The question has style.", "response": "slider"}
NAMES = ["understandability", "relevancy", "answerability", "appropriateness"]


def url(campaign: Campaign, name: str = "criteria", *args: int) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def names(campaign: Campaign) -> list[str]:
    return list(campaign.criteria.values_list("name", flat=True))


def first(campaign: Campaign) -> Criterion:
    return campaign.criteria.all()[0]


def test_add(owner_client: Client, campaign: Campaign) -> None:
    assert owner_client.post(url(campaign), FIELDS | {"is_negative": "on"}).status_code == 302
    added = campaign.criteria.get(name="style")
    assert names(campaign) == [*NAMES, "style"]
    assert (added.response, added.settings["left_label"]) == ("slider", "strongly disagree")
    assert added.is_negative


def test_adding_twice_adds_once(owner_client: Client, campaign: Campaign) -> None:
    for _ in range(2):
        assert owner_client.post(url(campaign), FIELDS).status_code == 302
    assert names(campaign) == [*NAMES, "style"]


@pytest.mark.parametrize(
    ("changed", "field", "code"),
    [
        ({"name": ""}, "name", "required"),
        ({"statement": ""}, "statement", "required"),
        ({"statement": "x" * 501}, "statement", "max_length"),
        ({"name": "relevancy"}, "name", "name_taken"),
        ({"name": "Relevancy"}, "name", "name_taken"),  # the analysis does not tell capitals apart
    ],
)
def test_what_cannot_be_added(owner_client: Client, campaign: Campaign, changed: dict, field: str, code: str) -> None:
    response = owner_client.post(url(campaign), FIELDS | changed)
    assert response.status_code == 422
    assert response.context["new"].has_error(field, code)
    assert names(campaign) == NAMES


def test_there_is_an_end_to_criteria(campaign: Campaign) -> None:
    rows = [Criterion(campaign=campaign, order=n, **FIELDS | {"name": f"c{n}"}) for n in range(len(NAMES), MOST - 1)]
    Criterion.objects.bulk_create(rows)
    add_criterion(campaign=campaign, fields=FIELDS | {"name": "the last"})
    with pytest.raises(DomainError) as error:
        add_criterion(campaign=campaign, fields=FIELDS)
    assert error.value.code == "too_many"


def test_one_field_sent_changes_one_field(owner_client: Client, campaign: Campaign) -> None:
    before = first(campaign)
    to = url(campaign, "criterion", before.pk)
    answer = owner_client.post(to, {"is_negative": "true"}, headers={"X-Autosave": "1"})
    assert answer.json() == {"saved": True, "errors": {}}
    after = first(campaign)
    assert after.is_negative
    assert (after.name, after.statement, after.is_in_worker_test) == (before.name, before.statement, True)
    owner_client.post(to, {"is_negative": "false"}, headers={"X-Autosave": "1"})
    assert not first(campaign).is_negative


def test_a_whole_form_without_script_clears_boxes_too(owner_client: Client, campaign: Campaign) -> None:
    criterion = first(campaign)
    # An empty box is sent by the hidden field before it, a ticked one by both.
    sent = FIELDS | {"is_negative": ["false", "on"], "is_in_worker_test": "false"}
    assert owner_client.post(url(campaign, "criterion", criterion.pk), sent).status_code == 302
    criterion.refresh_from_db()
    assert (criterion.name, criterion.is_negative, criterion.is_in_worker_test) == ("style", True, False)


def test_a_change_that_cannot_be_says_where(owner_client: Client, campaign: Campaign) -> None:
    to = url(campaign, "criterion", first(campaign).pk)
    answer = owner_client.post(to, {"name": "relevancy"}, headers={"X-Autosave": "1"})
    assert answer.status_code == 422
    assert answer.json()["errors"].keys() == {"name"}
    response = owner_client.post(to, {"statement": ""})
    assert response.status_code == 422
    assert response.context["rows"][0].has_error("statement", "required")
    assert names(campaign) == NAMES


def test_delete_and_undo_leave_all_as_it_was(owner_client: Client, campaign: Campaign) -> None:
    second = campaign.criteria.all()[1]
    Criterion.objects.filter(pk=second.pk).update(
        is_negative=True, settings={"left_label": "never", "right_label": "ever", "labels_between": ""}
    )
    before = list(campaign.criteria.values_list("order", "name", "statement", "settings", "is_negative"))
    assert owner_client.post(url(campaign, "criterion_delete", second.pk)).status_code == 302
    assert names(campaign) == [NAMES[0], *NAMES[2:]]
    press_undo(owner_client, url(campaign))
    after = list(campaign.criteria.values_list("order", "name", "statement", "settings", "is_negative"))
    assert after == before
    assert offers(owner_client, url(campaign)) == []


def test_what_is_shown_on_a_deleted_criterion_is_always_shown_until_it_is_undone(
    owner_client: Client, campaign: Campaign
) -> None:
    before, after, *_ = campaign.criteria.all()
    campaign.criteria.filter(pk=after.pk).update(shown_on=before, shown_values=["1"], scope="page")

    def branch() -> list[tuple]:
        found = campaign.criteria.filter(name=after.name)
        return list(found.values_list("shown_on__name", "shown_values", "scope"))

    for deleted, meanwhile in ((before.name, [(None, ["1"], "page")]), (after.name, [])):
        owner_client.post(url(campaign, "criterion_delete", campaign.criteria.get(name=deleted).pk))
        assert branch() == meanwhile
        press_undo(owner_client, url(campaign))
        assert branch() == [(before.name, ["1"], "page")]
    after = campaign.criteria.get(name=after.name)
    fields = delete_criterion(campaign=campaign, criterion_id=after.pk) or {}
    delete_criterion(campaign=campaign, criterion_id=after.shown_on_id)
    assert add_criterion(campaign=campaign, fields=fields).shown_on_id is None


def test_deleting_twice_is_deleting_once(owner_client: Client, campaign: Campaign) -> None:
    gone = url(campaign, "criterion_delete", first(campaign).pk)
    for _ in range(2):
        assert owner_client.post(gone).status_code == 302
    press_undo(owner_client, url(campaign))
    assert names(campaign) == NAMES


def test_an_undo_whose_name_is_taken_is_refused(owner_client: Client, campaign: Campaign) -> None:
    owner_client.post(url(campaign, "criterion_delete", first(campaign).pk))
    owner_client.post(url(campaign), FIELDS | {"name": NAMES[0]})
    assert "Criteria need different names" in press_undo(owner_client, url(campaign))
    assert names(campaign).count(NAMES[0]) == 1


def test_up_and_down(owner_client: Client, campaign: Campaign) -> None:
    move = url(campaign, "criteria_order")
    assert owner_client.post(move, {"criterion": first(campaign).pk, "step": "1"}).status_code == 302
    assert names(campaign) == [NAMES[1], NAMES[0], *NAMES[2:]]
    owner_client.post(move, {"criterion": campaign.criteria.get(name=NAMES[0]).pk, "step": "-1"})
    assert names(campaign) == NAMES
    owner_client.post(move, {"criterion": first(campaign).pk, "step": "-1"})
    assert names(campaign) == NAMES


def test_a_new_order_at_once(owner_client: Client, campaign: Campaign) -> None:
    order = list(reversed(campaign.criteria.values_list("pk", flat=True)))
    answer = owner_client.post(url(campaign, "criteria_order"), {"order": order}, headers={"X-Autosave": "1"})
    assert answer.status_code == 204
    assert names(campaign) == NAMES[::-1]


@pytest.mark.parametrize("sent", [{}, {"order": ["1", "2"]}, {"order": ["x"]}, {"criterion": "1"}, {"step": "1"}])
def test_orders_that_are_none(owner_client: Client, campaign: Campaign, sent: dict) -> None:
    response = owner_client.post(url(campaign, "criteria_order"), sent)
    assert response.status_code == 422
    assert response.context["error"].code == "bad_order"
    assert names(campaign) == NAMES


def test_criteria_are_frozen_after_launch(owner_client: Client, running: Campaign) -> None:
    pk = first(running).pk
    for to, sent in [
        (url(running), FIELDS),
        (url(running, "criterion", pk), {"statement": "Other."}),
        (url(running, "criterion_delete", pk), {}),
        (url(running, "criteria_order"), {"criterion": pk, "step": "1"}),
    ]:
        response = owner_client.post(to, sent)
        assert response.status_code == 422
        assert "frozen" in response.text
    assert names(running) == NAMES
    assert first(running).statement == "The question is easy to understand."


class Orders(TestCase):
    """Whatever is moved, no criterion is lost and numbers stay 0, 1, 2, …"""

    @classmethod
    def setUpTestData(cls) -> None:
        cls.campaign = make_campaign(User.objects.create_user("owner@example.org"), "qg")

    @settings(max_examples=40)
    @given(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1, 1])), max_size=8), st.permutations(list(range(4)))
    )
    def test_moves(self, moves: list[tuple[int, int]], order: list[int]) -> None:
        campaign = self.campaign
        expected = [criterion.pk for criterion in campaign.criteria.all()]
        for place, step in moves:
            move_criterion(campaign=campaign, criterion_id=expected[place], step=step)
            expected.insert(max(0, place + step), expected.pop(place))
        assert list(campaign.criteria.values_list("pk", flat=True)) == expected
        order_criteria(campaign=campaign, order=[expected[place] for place in order])
        assert [expected.index(pk) for pk in campaign.criteria.values_list("pk", flat=True)] == order
        assert list(campaign.criteria.values_list("order", flat=True)) == [0, 1, 2, 3]


# --- What a criterion is asked of, and after which answer


def changed(campaign: Campaign, name: str, **changes: Any) -> Criterion:
    change_criterion(campaign=campaign, criterion=campaign.criteria.get(name=name), changes=changes)
    return campaign.criteria.get(name=name)


def test_a_criterion_may_depend_on_one_before_it(owner_client: Client, campaign: Campaign) -> None:
    before, after = campaign.criteria.all()[:2]
    sent = {"scope": "page", "shown_on": before.pk, "shown_values": "50\n 60 \n\n50"}
    Criterion.objects.filter(pk=before.pk).update(scope="page")
    answer = owner_client.post(url(campaign, "criterion", after.pk), sent, headers={"X-Autosave": "1"})
    assert answer.json() == {"saved": True, "errors": {}}
    after.refresh_from_db()
    assert (after.scope, after.shown_on, after.shown_values) == ("page", before, ["50", "60"])
    page = owner_client.get(url(campaign, "criteria")).text
    assert f'<option value="{before.pk}" selected>{before.name}</option>' in page
    assert changed(campaign, after.name, shown_on=None).shown_on is None


def test_no_criterion_depends_on_one_after_it(owner_client: Client, campaign: Campaign) -> None:
    first_one, second = campaign.criteria.all()[:2]
    with pytest.raises(DomainError, match="only depend on an answer to one before it"):
        changed(campaign, first_one.name, shown_on=second.pk)
    changed(campaign, second.name, shown_on=first_one.pk, shown_values=["5"])
    with pytest.raises(DomainError, match="has to come after it"):
        move_criterion(campaign=campaign, criterion_id=second.pk, step=-1)
    to = url(campaign, "criterion", first_one.pk)
    assert owner_client.post(to, {"shown_on": second.pk}).context["rows"][0].has_error("shown_on")


def test_what_depends_is_asked_of_the_same(campaign: Campaign) -> None:
    first_one, second = campaign.criteria.all()[:2]
    changed(campaign, first_one.name, scope="output")
    with pytest.raises(DomainError, match="asked of something else"):
        changed(campaign, second.name, scope="page", shown_on=first_one.pk)
    changed(campaign, second.name, shown_on=first_one.pk)
    with pytest.raises(DomainError, match="depends on this criterion"):
        changed(campaign, first_one.name, scope="assignment")
    assert changed(campaign, first_one.name, scope="page").scope == "page"


def test_what_depended_on_a_deleted_criterion_is_always_asked(owner_client: Client, campaign: Campaign) -> None:
    first_one, second = campaign.criteria.all()[:2]
    changed(campaign, second.name, shown_on=first_one.pk, shown_values=["5"])
    owner_client.post(url(campaign, "criterion_delete", first_one.pk))
    second.refresh_from_db()
    assert second.shown_on is None
    press_undo(owner_client, url(campaign))
    assert names(campaign) == NAMES
