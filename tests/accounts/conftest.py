"""A provider that people sign in at, and somebody who has an account there."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from evalsite.accounts.models import User
from tests.accounts.provider import ADDRESS, WHO, Provider, running_provider, use_provider


@pytest.fixture(scope="module")
def one_provider() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(one_provider: Provider, settings: Settings, db: None) -> Provider:
    use_provider(settings, one_provider)
    one_provider.reset()
    one_provider.add(WHO, email=ADDRESS, email_verified=True, name="Emmy Example")
    cache.clear()
    return one_provider


@pytest.fixture
def invited(db: None) -> User:
    """An account that an administrator made, and that nobody has used."""
    return User.objects.create_user(ADDRESS, name="Emmy")
