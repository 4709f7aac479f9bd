"""The page of what workers read: study name and contact, instructions, consent text."""

import re

from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign


def url(campaign: Campaign) -> str:
    return reverse("campaigns:instructions", args=[campaign.public_id])


def test_what_is_saved_is_shown_as_workers_will_see_it(owner_client: Client, campaign: Campaign) -> None:
    sent = {"instructions": "Rate **each**.\r\n\r\n- so", "consent": "I am [18](https://example.org)."}
    assert owner_client.post(url(campaign), sent).status_code == 302
    saved = Campaign.objects.get()
    assert saved.instructions == "Rate **each**.\n\n- so"
    text = owner_client.get(url(campaign)).text
    assert "<strong>each</strong>" in text
    assert 'rel="noopener noreferrer"' in text


def test_one_of_two_texts_leaves_the_other(owner_client: Client, campaign: Campaign) -> None:
    answer = owner_client.post(url(campaign), {"consent": "Do you agree?"}, headers={"X-Autosave": "1"})
    assert answer.json() == {"saved": True, "errors": {}, "reload": "#as-shown"}
    saved = Campaign.objects.get()
    assert (saved.instructions, saved.consent) == (campaign.instructions, "Do you agree?")


def test_nothing_harmful_is_shown(owner_client: Client, campaign: Campaign) -> None:
    bad = "<script>alert(1)</script> ![x](https://example.org/x.png) [y](javascript:alert(2)) </textarea><b>"
    owner_client.post(url(campaign), {"instructions": bad, "consent": bad})
    text = owner_client.get(url(campaign)).text
    assert "<script>alert" not in text
    assert '<img src="https' not in text
    assert 'href="javascript' not in text
    assert "</textarea><b>" not in text


def test_back_to_the_default(owner_client: Client, campaign: Campaign) -> None:
    button = 'name="default"'
    assert button not in owner_client.get(url(campaign)).text
    owner_client.post(url(campaign), {"instructions": "Mine"})
    assert button in owner_client.get(url(campaign)).text
    owner_client.post(url(campaign), {"default": "1"})
    assert Campaign.objects.get().instructions == campaign.instructions


def test_too_long(owner_client: Client, campaign: Campaign) -> None:
    response = owner_client.post(url(campaign), {"instructions": "x" * 50_001})
    assert response.status_code == 422
    assert response.context["form"].has_error("instructions", "max_length")


def test_study_and_contact_are_saved_and_shown(owner_client: Client, campaign: Campaign) -> None:
    sent = {"study_name": "Reading & rating", "contact": "help@example.org"}
    for name, value in sent.items():
        answer = owner_client.post(url(campaign), {name: value}, headers={"X-Autosave": "1"})
        assert answer.json() == {"saved": True, "errors": {}, "reload": "#as-shown"}
    saved = Campaign.objects.get()
    assert {name: getattr(saved, name) for name in sent} == sent
    assert saved.instructions == campaign.instructions
    preview = reverse("monitoring:preview", args=[campaign.public_id])
    for page in (owner_client.get(url(campaign)), owner_client.get(preview)):
        assert "Reading &amp; rating</" in page.text
        assert 'href="mailto:help@example.org"' in page.text


def test_the_contact_may_change_after_the_launch(
    owner_client: Client, viewer_client: Client, running: Campaign
) -> None:
    page = owner_client.get(url(running)).text
    assert re.search(r'<input[^>]*name="study_name"[^>]*disabled', page)
    assert not re.search(r'<input[^>]*name="contact"[^>]*disabled', page)
    assert owner_client.post(url(running), {"contact": "help@example.org"}).status_code == 302
    assert Campaign.objects.get().contact == "help@example.org"
    assert viewer_client.post(url(running), {"contact": "me@example.org"}).status_code == 403
    assert re.search(r'<input[^>]*name="contact"[^>]*disabled', viewer_client.get(url(running)).text)


def test_instructions_are_frozen_after_launch(owner_client: Client, running: Campaign) -> None:
    for field in ("study_name", "instructions", "consent"):
        response = owner_client.post(url(running), {field: "Other"})
        assert response.status_code == 422
        assert response.context["form"].has_error("__all__", "frozen")
    assert Campaign.objects.get().instructions == running.instructions
