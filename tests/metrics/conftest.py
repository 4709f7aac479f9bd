import pytest

from tests.analysis.conftest import done, media, start, trees, upload

__all__ = ["done", "media", "start", "trees", "upload"]


@pytest.fixture
def folder(settings, tmp_path):
    settings.EVALSITE_MODELS = tmp_path / "models"
    return tmp_path / "models"
