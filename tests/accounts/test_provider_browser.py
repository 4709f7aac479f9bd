"""Signing in at a provider in a browser, which keeps to the content security policy and to the rules of cookies."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django import Settings

from evalsite.accounts.models import User
from tests.accounts.provider import running_provider, use_provider

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning"),
]


def test_browser_goes_to_the_provider_and_comes_back_signed_in(page: Page, live_server, settings: Settings) -> None:
    User.objects.create_user("emmy@uni.example", name="Emmy Example")
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if "Content Security" in message.text else None)
    site = live_server.url.replace("localhost", "127.0.0.1")  # another site than the provider's
    with running_provider() as provider:
        use_provider(settings, provider)
        provider.add("emmy", email="emmy@uni.example", email_verified=True)
        page.goto(f"{site}{reverse('accounts:sign_in')}?next=/analysis/")
        page.get_by_role("button", name="Sign in with Example University").click()
        page.locator("input[name=sub]").fill("emmy")
        page.locator("input[name=sub]").press("Enter")
        expect(page).to_have_url(f"{site}/analysis/")
        expect(page.get_by_text("Account of Emmy Example")).to_be_attached()
    assert found == []
