"""A campaign of the owner's to which files are uploaded."""

from pathlib import Path

import pytest

from campaigns.models import Campaign
from tests.campaigns.cast import make_campaign


@pytest.fixture(autouse=True)
def media(settings, tmp_path: Path) -> Path:
    """Keep the files of each test apart."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def qg(owner) -> Campaign:
    return make_campaign(owner, "qg")
