"""An administrator and their browser."""

import pytest
from django.test import Client

from evalsite.accounts.models import User
from tests.conftest import signed_in


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("admin@example.org", "admin-password", name="Ada Admin")


@pytest.fixture
def admin_client(admin: User) -> Client:
    return signed_in(admin)
