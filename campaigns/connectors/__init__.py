"""The connectors that ship with evalsite, a folder each."""

from campaigns.contracts.connector import Connector
from evalsite.lib.plugins import Registry

_connectors: Registry[type[Connector]] = Registry("connector", "EVALSITE_CONNECTORS")


def get_connector(slug: str) -> type[Connector]:
    """Return the connector of `slug`; raise DomainError `unknown_connector`."""
    return _connectors[slug]


def find_connector(slug: str) -> type[Connector] | None:
    """Return the connector of `slug`; None if this site does not have it any more."""
    return _connectors.all().get(slug)


def list_connectors() -> list[type[Connector]]:
    """Return every connector in the order of the settings."""
    return list(_connectors.all().values())
