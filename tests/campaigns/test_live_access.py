"""Who may see and change which page of a live campaign, and by which method: the same cases for each."""

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign, Chatbot, Membership
from evalsite.accounts.models import User
from tests.campaigns.cast import add_member
from tests.campaigns.live import build, chatbot_of, launch, make_live
from tests.campaigns.live import url_of as page_of

PAGES = ["chatbots", "chatbot", "chat"]
FORMS = ["chatbot", "chat"]
OF_EDITORS = ["chatbot_choose", "chatbot_add"]
BUTTONS = ["chatbot_secrets", "chatbot_dialogues", "chatbot_test", "chatbot_duplicate", "chatbot_remove"]
SENT = {"name": "mine", "min_inputs": "1", "text": "Hello", "secret_api_key": "mine", "reset": "1"}


@pytest.fixture
def campaign(owner: User, colleague: User) -> Campaign:
    campaign = make_live(owner)
    add_member(campaign, colleague, Membership.Role.VIEWER)
    build(campaign)
    return campaign


def url_of(campaign: Campaign, name: str) -> str:
    if name == "chatbot_add":
        return page_of(campaign, name, "retrieval")
    if name in ("chatbot", *BUTTONS):
        return page_of(campaign, name, chatbot_of(campaign).pk)
    return page_of(campaign, name)


def all_of(campaign: Campaign) -> tuple[object, ...]:
    chatbots = Chatbot.objects.order_by("pk").values()
    return list(chatbots), list(campaign.systems.values()), Campaign.objects.values().get()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("is_launched", [False, True])
def test_members_see_the_page(
    owner_client: Client, colleague_client: Client, campaign: Campaign, name: str, is_launched: bool
) -> None:
    if is_launched:
        launch(campaign)
    assert owner_client.get(url_of(campaign, name)).status_code == 200
    page = colleague_client.get(url_of(campaign, name))
    assert page.status_code == 200
    assert "<button" not in page.text.partition("<div data-tabs>")[2].partition("</main>")[0]


@pytest.mark.parametrize("name", OF_EDITORS)
def test_adding_is_for_editors(owner_client: Client, colleague_client: Client, campaign: Campaign, name: str) -> None:
    assert owner_client.get(url_of(campaign, name)).status_code == 200
    assert colleague_client.get(url_of(campaign, name)).status_code == 403


@pytest.mark.parametrize("name", [*PAGES, *OF_EDITORS])
def test_a_stranger_does_not_find_it(stranger_client: Client, campaign: Campaign, name: str) -> None:
    assert stranger_client.get(url_of(campaign, name)).status_code == 404


@pytest.mark.parametrize("name", [*FORMS, *BUTTONS, "chatbot_add"])
def test_a_stranger_and_a_viewer_change_nothing(
    stranger_client: Client, colleague_client: Client, campaign: Campaign, name: str
) -> None:
    before = all_of(campaign)
    assert stranger_client.post(url_of(campaign, name), SENT).status_code == 404
    assert colleague_client.post(url_of(campaign, name), SENT).status_code == 403
    assert all_of(campaign) == before


@pytest.mark.parametrize("name", ["chatbot", "chat", "chatbot_secrets", "chatbot_duplicate", "chatbot_remove"])
def test_an_editor_does_what_an_owner_does(colleague_client: Client, campaign: Campaign, name: str) -> None:
    campaign.memberships.filter(role="viewer").update(role="editor")
    sent = SENT if name != "chatbot_secrets" else {}
    assert colleague_client.post(url_of(campaign, name), sent).status_code == 302


@pytest.mark.parametrize("name", [name for name in BUTTONS if name != "chatbot_dialogues"])
def test_nothing_changes_by_looking(owner_client: Client, campaign: Campaign, name: str) -> None:
    assert owner_client.get(url_of(campaign, name)).status_code == 405


@pytest.mark.parametrize("name", [*PAGES, *OF_EDITORS, *BUTTONS])
def test_nothing_is_put(owner_client: Client, campaign: Campaign, name: str) -> None:
    assert owner_client.put(url_of(campaign, name)).status_code == 405


@pytest.mark.parametrize("name", [*PAGES, *OF_EDITORS])
def test_whoever_is_not_signed_in_is_asked_to(client: Client, campaign: Campaign, name: str) -> None:
    answer = client.get(url_of(campaign, name))
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("accounts:sign_in"))


@pytest.mark.parametrize("name", [*FORMS, *BUTTONS, "chatbot_add"])
def test_a_form_needs_its_token(owner: User, campaign: Campaign, name: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(url_of(campaign, name), SENT).status_code == 403


@pytest.mark.parametrize("name", ["chatbot", "chat", "chatbot_add"])
def test_a_form_that_was_not_sent_shows_no_error(owner_client: Client, campaign: Campaign, name: str) -> None:
    text = owner_client.get(url_of(campaign, name)).text
    assert "aria-invalid" not in text
    assert 'role="alert"' not in text.replace('data-drop-error role="alert" hidden', "")
