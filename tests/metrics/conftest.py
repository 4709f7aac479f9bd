import pytest

from simulators.chat_completions import ChatServer
from tests.analysis.campaigns import rated_campaign
from tests.analysis.conftest import done, media, start, trees, upload
from tests.metrics.judges import TOKENS, rating

__all__ = ["done", "media", "start", "trees", "upload"]


@pytest.fixture
def folder(settings, tmp_path):
    settings.EVALSITE_MODELS = tmp_path / "models"
    return tmp_path / "models"


@pytest.fixture
def rated(owner, media):
    """A campaign whose outputs can be judged; agreement with one of its criteria is bad."""
    return rated_campaign(owner, negative="answerability")


@pytest.fixture
def server(settings):
    """A server of this machine that judges, and counts tokens."""
    with ChatServer(tokens=TOKENS) as server:
        settings.CHATBOT_HOSTS = [server.host]
        server.reply_to = rating
        yield server
