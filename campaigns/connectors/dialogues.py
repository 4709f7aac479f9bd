"""What connectors that speak from a file of dialogues share."""

from pathlib import Path

from campaigns.contracts.connector import ConnectorError, Setup
from campaigns.dialogues import read_dialogues
from evalsite.lib.errors import DomainError


def dialogues_for(setup: Setup) -> Path:
    """Return the file from which a chatbot is to speak, which can be read; raise ConnectorError `misconfigured`."""
    if setup.dialogues is None:
        raise ConnectorError("misconfigured", "The chatbot needs a file of dialogues.", is_passing=False)
    try:
        read_dialogues(setup.dialogues)
    except DomainError as error:
        raise ConnectorError("misconfigured", error.message, is_passing=False) from error
    return setup.dialogues
