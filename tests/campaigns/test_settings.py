"""The settings page, and saving any part of a form."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign
from tests.campaigns.cast import make_campaign
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

WHOLE = {
    "name": "Spring questions",
    "is_accessible": "false",
    "offers_text": "false",
    "lease_minutes": "30",
    "worker_test": "paired-t",
    "alpha": "0.01",
    "stopping_rule": "all",
    "stopping_systems": "",
    "reward": "1.20",
    "currency": "eur",
    "minutes_per_hit": "6",
}


def url(campaign: Campaign) -> str:
    return reverse("campaigns:settings", args=[campaign.public_id])


def payment_url(campaign: Campaign) -> str:
    return reverse("campaigns:payment", args=[campaign.public_id])


def autosave(client: Client, campaign: Campaign, **sent: object):
    return client.post(url(campaign), sent, headers={"X-Autosave": "1"})


def test_the_whole_form_without_script(owner_client: Client, campaign: Campaign) -> None:
    for _ in range(2):
        assert owner_client.post(url(campaign), WHOLE)["Location"] == url(campaign)
    saved = Campaign.objects.get()
    assert (saved.name, saved.lease_minutes, saved.worker_test, saved.alpha) == (
        "Spring questions",
        30,
        "paired-t",
        0.01,
    )
    assert (saved.reward, saved.currency, saved.minutes_per_hit) == (Decimal("1.20"), "EUR", 6)
    assert owner_client.get(payment_url(campaign)).context["campaign"].hourly_reward == Decimal("12.00")


@on_both
def test_a_field_alone_changes_nothing_else(owner_client: Client, campaign: Campaign) -> None:
    owner_client.post(url(campaign), WHOLE)
    before = Campaign.objects.values().get()
    answer = autosave(owner_client, campaign, lease_minutes="45")
    assert answer.json()["saved"]
    assert Campaign.objects.values().get() == before | {"lease_minutes": 45}


@on_both
def test_two_people_do_not_overwrite_each_other(owner_client: Client, stranger_client: Client, stranger, campaign):
    campaign.memberships.create(user=stranger, role="editor")
    autosave(owner_client, campaign, name="By the owner")
    autosave(stranger_client, campaign, alpha="0.1")
    saved = Campaign.objects.get()
    assert (saved.name, saved.alpha) == ("By the owner", 0.1)


@on_both
def test_an_empty_number_is_none(owner_client: Client, campaign: Campaign) -> None:
    owner_client.post(url(campaign), WHOLE)
    autosave(owner_client, campaign, minutes_per_hit="")
    assert Campaign.objects.get().minutes_per_hit is None


@on_both
def test_a_box_is_ticked_and_cleared(owner_client: Client, campaign: Campaign) -> None:
    for sent, is_ticked in (("true", True), ("false", False), ("on", True)):
        autosave(owner_client, campaign, is_accessible=sent)
        assert Campaign.objects.get().is_accessible is is_ticked


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("name", " ", "required"),
        ("name", "x" * 201, "max_length"),
        ("lease_minutes", "0", "min_value"),
        ("lease_minutes", "many", "invalid"),
        ("worker_test", "guess", "invalid_choice"),
        ("alpha", "0", "min_value"),
        ("alpha", "1", "max_value"),
        ("alpha", "nan", "invalid"),
        ("reward", "-1", "min_value"),
        ("reward", "0.001", "max_decimal_places"),
        ("currency", "€", "invalid"),
    ],
)
def test_what_cannot_be(owner_client: Client, campaign: Campaign, field: str, value: str, code: str) -> None:
    before = Campaign.objects.values().get()
    answer = autosave(owner_client, campaign, **{field: value})
    assert answer.status_code == 422
    assert answer.json()["saved"] is False
    assert answer.json()["errors"].keys() == {field}
    response = owner_client.post(url(campaign), {field: value, "lease_minutes": "7"} | {field: value})
    assert response.context["form"].has_error(field, code)
    assert Campaign.objects.values().get() == before


def test_a_refused_form_shows_what_was_sent_and_what_was_not(owner_client: Client, campaign: Campaign) -> None:
    form = owner_client.post(url(campaign), {"alpha": "2"}).context["form"]
    assert form["alpha"].value() == "2"
    assert form["name"].value() == campaign.name


def test_after_launch_name_lease_and_offer_of_text_may_change(owner_client: Client, running: Campaign) -> None:
    for field, value in (("name", "Other"), ("lease_minutes", "15"), ("offers_text", "true")):
        assert autosave(owner_client, running, **{field: value}).json()["saved"]
    saved = Campaign.objects.get()
    assert (saved.name, saved.lease_minutes, saved.offers_text) == ("Other", 15, True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("alpha", "0.01"),
        ("worker_test", "paired-t"),
        ("reward", "3"),
        ("is_accessible", "true"),
    ],
)
def test_after_launch_the_rest_is_frozen(owner_client: Client, running: Campaign, field: str, value: str) -> None:
    before = Campaign.objects.values().get()
    answer = autosave(owner_client, running, **{field: value})
    assert answer.status_code == 422
    response = owner_client.post(url(running), {field: value})
    assert response.context["form"].has_error("__all__", "frozen")
    assert Campaign.objects.values().get() == before
    form = owner_client.get(url(running)).context["form"]
    assert form.fields[field].widget.attrs["disabled"]
    assert "disabled" not in form.fields["name"].widget.attrs


@on_both
def test_after_launch_the_form_without_script_can_be_sent_as_it_is_shown(owner_client, running: Campaign) -> None:
    """Disabled fields are not sent, nor are the hidden companions of disabled boxes."""
    Campaign.objects.update(is_accessible=True)
    assert 'type="hidden" name="is_accessible"' not in owner_client.get(url(running)).text
    sent = {"name": "Renamed", "lease_minutes": "20", "offers_text": "false"}
    assert owner_client.post(url(running), sent).status_code == 302


@on_both
def test_unpaid_volunteers_cost_nothing(owner, owner_client: Client) -> None:
    campaign = make_campaign(owner, "mrc-fluency")
    autosave(owner_client, campaign, minutes_per_hit="10")
    context = owner_client.get(payment_url(campaign)).context
    assert (context["campaign"].hourly_reward, context["total"]) == (0, 0)
