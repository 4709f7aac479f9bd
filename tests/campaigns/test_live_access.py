"""What holds for every page of a live campaign: before and after the launch, for editors, before anything is sent."""

import pytest
from django.test import Client

from campaigns.models import Campaign, Membership
from evalsite.accounts.models import User
from tests.campaigns.cast import add_member
from tests.campaigns.live import build, chatbot_of, launch, make_live
from tests.campaigns.live import url_of as page_of
from tests.conftest import make_owner

PAGES = ["chatbots", "chatbot", "chat"]
OF_ONE = ["chatbot", "chatbot_secrets", "chatbot_duplicate", "chatbot_remove"]
SENT = {"name": "mine", "min_inputs": "1", "text": "Hello", "secret_api_key": "mine", "reset": "1"}


@pytest.fixture(scope="module")
def built(module_db: None) -> Campaign:
    campaign = make_live(make_owner())
    build(campaign)
    return campaign


@pytest.fixture
def campaign(built: Campaign, colleague: User) -> Campaign:
    """The campaign that the tests share, with the colleague as a viewer; what a test changes is undone."""
    campaign = Campaign.objects.get(pk=built.pk)
    add_member(campaign, colleague, Membership.Role.VIEWER)
    return campaign


def url_of(campaign: Campaign, name: str) -> str:
    if name == "chatbot_add":
        return page_of(campaign, name, "retrieval")
    if name in OF_ONE:
        return page_of(campaign, name, chatbot_of(campaign).pk)
    return page_of(campaign, name)


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
    assert "<button" not in page.text.partition("<main")[2].partition("</main>")[0]


@pytest.mark.parametrize("name", [*OF_ONE, "chat"])
def test_an_editor_does_what_an_owner_does(colleague_client: Client, campaign: Campaign, name: str) -> None:
    campaign.memberships.filter(role="viewer").update(role="editor")
    sent = SENT if name != "chatbot_secrets" else {}
    assert colleague_client.post(url_of(campaign, name), sent).status_code == 302


@pytest.mark.parametrize("name", ["chatbot", "chat", "chatbot_add"])
def test_a_form_that_was_not_sent_shows_no_error(owner_client: Client, campaign: Campaign, name: str) -> None:
    text = owner_client.get(url_of(campaign, name)).text
    assert "aria-invalid" not in text
    assert 'role="alert"' not in text.replace('data-drop-error role="alert" hidden', "")
