"""Who may see and change which page, and by which method: the same cases for each."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from campaigns.models import Campaign, Membership
from tests.campaigns.cast import add_outputs, make_campaign

PAGES = ["campaign", "systems", "criteria", "screen", "instructions", "settings", "members"]
FORMS = ["systems", "criteria", "screen", "instructions", "settings", "members"]
BUTTONS = [
    "launch",
    "pause",
    "resume",
    "close",
    "delete",
    "criteria_order",
    "criteria_undo",
    "field_add",
    "field_place",
]
OF_A_PART = ["system", "criterion", "criterion_delete", "member", "member_remove"]


def url_of(name: str, campaign: Campaign) -> str:
    parts = {
        "system": campaign.systems,
        "criterion": campaign.criteria,
        "criterion_delete": campaign.criteria,
        "member": campaign.memberships,
        "member_remove": campaign.memberships,
    }
    part = [parts[name].first().pk] if name in parts else []  # type: ignore[attr-defined]
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *part])


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("status", ["draft", "ready", "running", "paused", "closed"])
def test_members_see_the_page(viewer_client: Client, owner_client: Client, running, name: str, status: str) -> None:
    if status in ("draft", "ready"):
        running.launched_at = None
    running.status = status
    running.save()
    assert owner_client.get(url_of(name, running)).status_code == 200
    assert viewer_client.get(url_of(name, running)).status_code == 200


@pytest.mark.parametrize("name", PAGES)
def test_a_stranger_does_not_find_it(stranger_client: Client, ready: Campaign, name: str) -> None:
    assert stranger_client.get(url_of(name, ready)).status_code == 404


@pytest.mark.parametrize("name", [*FORMS, *BUTTONS, *OF_A_PART, "duplicate"])
def test_a_stranger_changes_nothing(stranger_client: Client, ready: Campaign, name: str) -> None:
    assert stranger_client.post(url_of(name, ready), {"name": "mine"}).status_code == 404
    assert Campaign.objects.get().name == ready.name


@pytest.mark.parametrize("name", [*FORMS, *BUTTONS, *OF_A_PART])
def test_a_viewer_changes_nothing(viewer_client: Client, ready: Campaign, name: str) -> None:
    assert viewer_client.post(url_of(name, ready), {"name": "mine"}).status_code == 403
    assert Campaign.objects.get().name == ready.name


@pytest.mark.parametrize("name", ["members", "member", "member_remove", "delete"])
def test_an_editor_neither_manages_members_nor_deletes(viewer_client: Client, ready: Campaign, name: str) -> None:
    ready.memberships.filter(role=Membership.Role.VIEWER).update(role=Membership.Role.EDITOR)
    assert viewer_client.post(url_of(name, ready), {"role": "owner"}).status_code == 403
    assert Campaign.objects.get().memberships.count() == 2


@pytest.mark.parametrize("name", [*BUTTONS, *OF_A_PART, "duplicate"])
def test_nothing_changes_by_looking(owner_client: Client, ready: Campaign, name: str) -> None:
    assert owner_client.get(url_of(name, ready)).status_code == 405


@pytest.mark.parametrize("name", [*PAGES, *BUTTONS, "duplicate"])
def test_nothing_is_put(owner_client: Client, ready: Campaign, name: str) -> None:
    assert owner_client.put(url_of(name, ready)).status_code == 405


@pytest.mark.parametrize("name", [*PAGES, "list", "new"])
def test_whoever_is_not_signed_in_is_asked_to(client: Client, ready: Campaign, name: str) -> None:
    url = reverse(f"campaigns:{name}") if name in ("list", "new") else url_of(name, ready)
    response = client.get(url)
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("accounts:sign_in"))


@pytest.mark.parametrize("name", [*FORMS, *BUTTONS, "duplicate"])
def test_a_form_needs_its_token(owner, ready: Campaign, name: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(url_of(name, ready), {"name": "mine"}).status_code == 403


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_was_not_sent_shows_no_error(owner_client: Client, ready: Campaign, name: str) -> None:
    text = owner_client.get(url_of(name, ready)).text
    assert "aria-invalid" not in text
    assert 'role="alert"' not in text


def test_parts_of_another_campaign_are_not_found(owner, owner_client: Client, ready: Campaign) -> None:
    other = make_campaign(owner, "qg")
    add_outputs(other, 1)
    for name in ("system", "criterion", "member"):
        pk = url_of(name, other).split("/")[-2]
        url = reverse(f"campaigns:{name}", args=[ready.public_id, pk])
        assert owner_client.post(url, {"name": "x", "role": "viewer"}).status_code == 404


QUERIES = {
    "campaign": 10,
    "systems": 4,
    "criteria": 4,
    "screen": 4,
    "instructions": 3,
    "settings": 7,
    "members": 4,
}


@pytest.mark.parametrize("name", PAGES)
def test_queries_do_not_grow_with_the_campaign(
    owner_client: Client,
    ready: Campaign,
    name: str,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(QUERIES[name]):
        owner_client.get(url_of(name, ready))
    add_outputs(ready, 10, [f"another-{n}" for n in range(9)])
    with django_assert_num_queries(QUERIES[name]):
        owner_client.get(url_of(name, ready))


def test_queries_of_the_list_do_not_grow_with_it(
    owner, owner_client: Client, ready: Campaign, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(4):
        make_campaign(owner)
    with django_assert_num_queries(5):
        owner_client.get(reverse("campaigns:list"))
