"""The decorator of views of one campaign, with views that do little else."""

from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import include, path
from pytest_django import Settings

from campaigns.models import Campaign
from campaigns.queries import Role
from campaigns.views.access import back_to, campaign_view
from evalsite.lib.errors import CONFLICT, DomainError
from evalsite.urls import urlpatterns as product_urls

_ERROR = DomainError("too_late", "It is too late for that.")


def again(request, campaign, error):
    return HttpResponse(f"{campaign.name}: {error.message}")


@campaign_view("GET", "POST", to_change=Role.OWNER)
def plain(request, campaign, number):
    if request.method == "POST":
        raise _ERROR
    return HttpResponse(f"{campaign.name} {number}")


@campaign_view("POST", refused=again, status=CONFLICT)
def button(request, campaign):
    campaign.name = "changed in memory only"
    raise _ERROR


@campaign_view("POST", refused=back_to("campaigns:criterion", "criterion_id"))
def message(request, campaign, criterion_id):
    raise _ERROR


@campaign_view("GET", to_read=Role.EDITOR, check=lambda request, campaign: HttpResponse("no", status=418))
def checked(request, campaign):
    raise AssertionError


_OF_ONE = [
    path("plain/<int:number>/", plain),
    path("button/", button),
    path("message/<int:criterion_id>/", message),
    path("checked/", checked),
]
urlpatterns = [*product_urls, path("of/<uuid:public_id>/", include(_OF_ONE))]


@pytest.fixture(autouse=True)
def urls(settings: Settings) -> Iterator[None]:
    settings.ROOT_URLCONF = __name__
    yield


def of(campaign: Campaign, rest: str) -> str:
    return f"/of/{campaign.public_id}/{rest}"


def test_a_view_gets_the_campaign_and_the_rest_of_its_address(owner_client, viewer_client, stranger_client, campaign):
    url = of(campaign, "plain/7/")
    assert owner_client.get(url).text == viewer_client.get(url).text == f"{campaign.name} 7"
    assert stranger_client.get(url).status_code == 404
    assert viewer_client.post(url).status_code == 403
    assert owner_client.put(url).status_code == 405


def test_a_refusal_is_a_page_or_json(owner_client: Client, campaign: Campaign):
    page = owner_client.post(of(campaign, "plain/7/"))
    assert page.status_code == 422 and _ERROR.message in page.text and campaign.name in page.text
    data = owner_client.post(of(campaign, "plain/7/"), headers={"Accept": "application/json"})
    assert data.status_code == 422
    assert data.json() == {"error": {"code": "too_late", "message": "It is too late for that."}}


def test_a_refusal_shows_the_campaign_as_it_is_stored(owner_client: Client, campaign: Campaign):
    page = owner_client.post(of(campaign, "button/"))
    assert (page.status_code, page.text) == (409, f"{campaign.name}: {_ERROR.message}")


def test_a_refusal_is_a_message_on_the_page_of_the_button(owner_client: Client, campaign: Campaign):
    answer = owner_client.post(of(campaign, "message/3/"))
    assert answer.status_code == 302 and answer["Location"].endswith("/criteria/3/")
    assert _ERROR.message in owner_client.get(f"/campaigns/{campaign.public_id}/").text


def test_a_check_answers_those_who_have_the_role(owner_client: Client, viewer_client: Client, campaign: Campaign):
    assert owner_client.get(of(campaign, "checked/")).status_code == 418
    assert viewer_client.get(of(campaign, "checked/")).status_code == 403
    assert owner_client.head(of(campaign, "checked/")).status_code == 405
