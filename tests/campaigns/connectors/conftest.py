"""What tests of connectors share."""

from collections.abc import Iterator

import pytest

from simulators.chat_completions import ChatServer


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server
