"""Degraded: answers with a random reply of the dialogues, a run of its words replaced, whatever the worker says."""

from collections.abc import Mapping
from typing import Any

from campaigns.connectors.degraded.replies import replies_of
from campaigns.connectors.dialogues import dialogues_for
from campaigns.contracts.connector import Connector, ConnectorError, Reply, Request
from campaigns.design.errors import DesignError


class Degraded(Connector):
    """The chatbot of the worker test: workers who read what it says rate it low."""

    slug = "degraded"
    title = "Degraded"
    summary = "Random replies from a file of dialogues with some of their words replaced: the worker test's chatbot."
    wants_dialogues = True
    is_for_worker_test = True

    @classmethod
    def takes_topic(cls, settings: Mapping[str, Any]) -> bool:
        """Return False: it heeds nothing that is said."""
        return False

    def reply(self, request: Request) -> Reply:
        """Return the next turn, which seed and number of turns determine; raise ConnectorError `misconfigured`."""
        replies = replies_of(dialogues_for(self.setup))
        earlier = frozenset(turn.text for turn in request.turns if turn.by == "chatbot")
        number = len(request.turns) // 2
        try:
            text = replies.degraded(request.seed, number, max_chars=request.max_chars, earlier=earlier)
        except DesignError as error:
            message = (
                f"The file of dialogues has no replies that can be degraded: {error.message}. Give it a larger one."
            )
            raise ConnectorError("misconfigured", message, is_passing=False) from error
        return Reply(text)
