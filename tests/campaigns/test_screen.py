"""The page of what a worker is shown."""

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.contracts.protocol import Screen
from campaigns.models import Campaign
from tests.campaigns.cast import add_outputs, make_campaign
from tests.undo.button import press_undo


@pytest.fixture
def translation(owner) -> Campaign:
    return make_campaign(owner, "da-translation")


def url(campaign: Campaign, name: str = "screen") -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id])


def screen_of(campaign: Campaign) -> Screen:
    campaign.refresh_from_db()
    return Screen.from_json(campaign.screen)


def test_the_page_is_there_where_fields_may_change(owner_client: Client, campaign, translation: Campaign) -> None:
    def titles(of: Campaign) -> list[str]:
        page = owner_client.get(reverse("campaigns:criteria", args=[of.public_id]))
        return [link.title for link in page.context["side_bar"].links]

    assert "Layout" in titles(translation)
    assert "Layout" not in titles(campaign)


def test_labels_of_any_protocol_may_change(owner_client: Client, ready: Campaign) -> None:
    before = screen_of(ready)
    for sent in ({"label:passage": "Text"}, {"output_label": "Generated question"}):
        answer = owner_client.post(url(ready), sent, headers={"X-Autosave": "1"})
        assert answer.json()["saved"]
    after = screen_of(ready)
    assert [field.label for field in after.fields] == ["Text", "Answer"]
    assert after.output_label == "Generated question"
    assert (after.donor_field, after.fields[0].marks) == (before.donor_field, "answer")
    assert ready.status == "ready"


def test_fields_of_a_fixed_screen_do_not_change(owner_client: Client, campaign: Campaign) -> None:
    before = screen_of(campaign)
    owner_client.post(url(campaign), {"is_shown:answer": "true", "donor_field": ""})
    assert owner_client.post(url(campaign, "field_add"), {"name": "title"}).status_code == 422
    response = owner_client.post(url(campaign, "field_place"), {"name": "answer", "step": "0"})
    assert response.context["error"].code == "fixed_screen"
    assert screen_of(campaign) == before


def test_every_part_of_an_open_screen(owner_client: Client, translation: Campaign) -> None:
    sent = {
        "label:source": "German",
        "is_required:source": "false",
        "is_shown:reference": ["false", "on"],
        "marks:source": "reference",
        "donor_field": "reference",
        "reference_field": "",
    }
    assert owner_client.post(url(translation), sent).status_code == 302
    screen = screen_of(translation)
    source, reference = screen.fields
    assert (source.label, source.is_required, source.marks) == ("German", False, "reference")
    assert reference.is_shown
    assert (screen.reference_field, screen.donor_field) == ("", "reference")


def test_a_renamed_field_keeps_what_names_it(owner_client: Client, translation: Campaign) -> None:
    owner_client.post(url(translation), {"name:reference": "gold"})
    screen = screen_of(translation)
    assert screen.field_names == ("source", "gold")
    assert screen.reference_field == "gold"


def test_a_field_that_sources_have_is_not_renamed(owner_client: Client, translation: Campaign) -> None:
    add_outputs(translation, 1, ["a"])
    owner_client.post(url(translation), {"name:reference": "gold"})
    assert screen_of(translation).field_names == ("source", "reference")


@pytest.mark.parametrize(
    "sent", [{"name:reference": "source"}, {"name:reference": "<b>"}, {"label:source": ""}, {"donor_field": "moon"}]
)
def test_screens_that_cannot_be(owner_client: Client, translation: Campaign, sent: dict) -> None:
    before = screen_of(translation)
    assert owner_client.post(url(translation), sent).status_code == 422
    assert screen_of(translation) == before


def test_add_move_and_remove_a_field(owner_client: Client, translation: Campaign) -> None:
    for _ in range(2):
        assert owner_client.post(url(translation, "field_add"), {"name": "hint"}).status_code == 302
    assert screen_of(translation).field_names == ("source", "reference", "hint")
    assert screen_of(translation).fields[2].label == "Hint"
    owner_client.post(url(translation, "field_place"), {"name": "hint", "step": "-1"})
    assert screen_of(translation).field_names == ("source", "hint", "reference")
    for _ in range(2):
        owner_client.post(url(translation, "field_place"), {"name": "reference", "step": "0"})
    screen = screen_of(translation)
    assert screen.field_names == ("source", "hint")
    assert screen.reference_field == ""
    press_undo(owner_client, url(translation))
    screen = screen_of(translation)
    assert (screen.field_names, screen.reference_field) == (("source", "hint", "reference"), "reference")


def test_a_removed_field_stays_away_from_a_layout_that_was_changed_since(
    owner_client: Client, translation: Campaign
) -> None:
    owner_client.post(url(translation, "field_place"), {"name": "reference", "step": "0"})
    owner_client.post(url(translation), {"label:source": "German"})
    assert "The layout was changed since" in press_undo(owner_client, url(translation))
    assert screen_of(translation).field_names == ("source",)


def test_a_field_is_added_once(owner_client: Client, translation: Campaign) -> None:
    owner_client.post(url(translation), {"label:source": "German"})
    response = owner_client.post(url(translation, "field_add"), {"name": "source"})
    assert response.status_code == 422
    assert screen_of(translation).field_names == ("source", "reference")


def test_other_references_make_built_hits_stale(owner_client: Client, translation: Campaign) -> None:
    Campaign.objects.filter(pk=translation.pk).update(status="ready")
    owner_client.post(url(translation), {"label:source": "German"})
    assert Campaign.objects.get(pk=translation.pk).status == "ready"
    owner_client.post(url(translation), {"reference_field": ""})
    assert Campaign.objects.get(pk=translation.pk).status == "draft"


def test_the_screen_is_frozen_after_launch(owner_client: Client, running: Campaign) -> None:
    before = screen_of(running)
    response = owner_client.post(url(running), {"output_label": "Other"})
    assert response.status_code == 422
    assert response.context["form"].has_error("__all__", "frozen")
    assert screen_of(running) == before
